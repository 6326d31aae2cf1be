# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# libwengert from the objects of the rooms from nn down: compiled once, linked twice. It needs libc and threads alone; LAPACKE is opened at run time.
#
# The ABI rule: before 1.0 each minor release may change the ABI, so the SONAME ends in 0.MINOR; from 1.0 on it ends in MAJOR, and
# within one MAJOR nothing that src/wengert.exports lists goes or changes.
if(PROJECT_VERSION_MAJOR EQUAL 0)
    set(wengert_abi "0.${PROJECT_VERSION_MINOR}")
else()
    set(wengert_abi "${PROJECT_VERSION_MAJOR}")
endif()

wengert_rooms_from(nn library_rooms)
set(library_objects "")
foreach(room IN LISTS library_rooms)
    list(APPEND library_objects "$<TARGET_OBJECTS:${room}>")
endforeach()

add_library(wengert_shared SHARED ${library_objects})
add_library(wengert_static STATIC ${library_objects})
set_target_properties(wengert_shared PROPERTIES VERSION "${PROJECT_VERSION}" SOVERSION "${wengert_abi}" EXPORT_NAME wengert)
foreach(library wengert_shared wengert_static)
    set_target_properties(${library} PROPERTIES OUTPUT_NAME wengert LINKER_LANGUAGE C)
    target_link_libraries(${library} PUBLIC Threads::Threads ${CMAKE_DL_LIBS})
    target_include_directories(${library} INTERFACE
        "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>" "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
endforeach()

# libwengert-<room>, over a library below it. It uses what that one exports, has its own copy of the small helpers of base/, and whoever finds
# the one library finds the other: a program's own rpath is not asked for what its libraries need.
function(wengert_library room below)
    set(name wengert_${room})
    add_library(${name}_shared SHARED $<TARGET_OBJECTS:room_${room}>)
    add_library(${name}_static STATIC $<TARGET_OBJECTS:room_${room}>)
    foreach(kind shared static)
        set_target_properties(${name}_${kind} PROPERTIES OUTPUT_NAME wengert-${room} LINKER_LANGUAGE C EXPORT_NAME ${name}_${kind})
        target_link_libraries(${name}_${kind} PUBLIC ${below}_${kind})
        target_link_libraries(${name}_${kind} PRIVATE "$<BUILD_INTERFACE:$<TARGET_PROPERTY:room_${room},LINK_LIBRARIES>>")
        target_include_directories(${name}_${kind} INTERFACE
            "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>" "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
    endforeach()
    set_target_properties(${name}_shared PROPERTIES VERSION "${PROJECT_VERSION}" SOVERSION "${wengert_abi}" EXPORT_NAME ${name} INSTALL_RPATH "$ORIGIN")
    target_link_libraries(${name}_shared PRIVATE "$<BUILD_INTERFACE:room_base>")
    target_link_options(${name}_shared PRIVATE -Wl,--exclude-libs,ALL)
    add_library(wengert::${name} ALIAS ${name}_shared)
    add_library(wengert::${name}_static ALIAS ${name}_static)
endfunction()
wengert_library(lazy wengert)       # arrays that wait
wengert_library(model wengert)      # language models as programs
wengert_library(bpl wengert_lazy)   # the array language

set(wengert_libraries wengert wengert_lazy wengert_model wengert_bpl)

# What a static library needs beyond ours, for whoever links it once it is installed: here, and as Libs.private in the package files.
foreach(room bpl model)
    set(wengert_${room}_private "")
    foreach(library IN LISTS wengert_${room}_needs)
        string(APPEND wengert_${room}_private " -l${library}")
        target_link_libraries(wengert_${room}_static INTERFACE "$<INSTALL_INTERFACE:-l${library}>")
    endforeach()
endforeach()

# Tables of pointers take 24 bytes an entry to relocate, or a bit where loader and linker know how (glibc 2.36, binutils 2.38).
include(CheckCSourceCompiles)
set(CMAKE_REQUIRED_LINK_OPTIONS -Wl,-z,pack-relative-relocs -Werror)
check_c_source_compiles("#include <features.h>
#if !defined __GLIBC__ || !__GLIBC_PREREQ(2, 36)
#error no packed relocations
#endif
int main(void) { return 0; }" PACKED_RELOCATIONS)
unset(CMAKE_REQUIRED_LINK_OPTIONS)
if(PACKED_RELOCATIONS)
    foreach(library IN LISTS wengert_libraries)
        target_link_options(${library}_shared PRIVATE -Wl,-z,pack-relative-relocs)
    endforeach()
endif()

if(NOT WENGERT_SANITIZE)
    # A call of our own public functions is direct, as -fno-semantic-interposition promises the compiler already.
    target_link_options(wengert_shared PRIVATE -Wl,-Bsymbolic-functions)
    foreach(library IN LISTS wengert_libraries)
        target_link_options(${library}_shared PRIVATE -Wl,-z,defs)
    endforeach()
endif()

add_library(wengert::wengert ALIAS wengert_shared)
add_library(wengert::wengert_static ALIAS wengert_static)

# What `make` builds: the libraries, and the command (command.cmake adds it).
add_custom_target(product)
foreach(library IN LISTS wengert_libraries)
    add_dependencies(product ${library}_shared ${library}_static)
endforeach()
