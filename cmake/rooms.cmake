# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# The rooms of the library in the order in which they link, and one static library room_<name> for each that has sources. text stands above
# exec in the house but uses nothing of exec and plan, so its tests need not wait for the kernels. lazy and model are libraries of their own,
# which stand on libwengert, and bpl one above lazy.
set(wengert_rooms bpl model lazy nn exec plan text grad batch compose interp graph base)

# Kernels for one level of x86-64 carry the level at the end of their file's name; who calls them asks the processor first. GNU
# vector extensions are allowed there and nowhere else.
function(wengert_kernel_flags)
    foreach(source IN LISTS ARGN)
        get_filename_component(name "${source}" NAME_WE)
        set(flags "")
        if(name MATCHES "_v3$")
            set(flags -mavx2 -mfma -mbmi2)
        elseif(name MATCHES "_v4$")
            set(flags -march=x86-64-v4)
        elseif(name MATCHES "_fma$")
            set(flags -mfma -mavx2)
        endif()
        if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
            set(flags "")
        endif()
        # Thousands of small loops that call nobody's code: nothing unwinds through them, and the tables for it are a tenth of the library.
        # With -g the debugger has its own.
        if(name MATCHES "^kernel_" AND CMAKE_BUILD_TYPE STREQUAL "Release")
            list(APPEND flags -fno-asynchronous-unwind-tables)
        endif()
        if(flags)
            set_source_files_properties("${source}" PROPERTIES COMPILE_OPTIONS "${flags}")
        endif()
    endforeach()
endfunction()

function(wengert_room room)
    file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/${room}/*.c")
    if(NOT sources)
        return()
    endif()
    wengert_kernel_flags(${sources})
    if(CMAKE_BUILD_TYPE STREQUAL "Release")
        # What runs once a program, a plan or a file, or drives kernels that do the work, the oracle and what only it calls: small rather than fast.
        set(small base/scalar.c base/formula.c base/headroom.c base/control_group.c base/lapack_leaving.c base/json.c base/npy.c base/safetensors.c graph/describe.c graph/parameters.c
            grad/terms_dense.c plan/report.c plan/serve.c exec/attention.c exec/run_pattern.c
            exec/run_convolution.c exec/run_windows.c exec/run_planes.c exec/run_filters.c exec/windows.c
            exec/run_cells.c exec/run_copy.c exec/run_fold.c exec/run_sort.c exec/run_dense.c exec/run_complex.c exec/run_relay.c exec/run_index.c
            exec/run_product.c exec/run_quant.c exec/run_draw.c exec/run_attention.c exec/prepared.c base/csv.c base/file.c base/incomplete_gamma.c base/incomplete_beta.c
            base/diagnostic.c base/complex.c plan/pieces_network.c plan/verify.c plan/remat.c graph/verify.c)
        set(quick grad/share.c) # what each call of a derivative walks
        list(TRANSFORM small PREPEND "${PROJECT_SOURCE_DIR}/src/")
        list(TRANSFORM quick PREPEND "${PROJECT_SOURCE_DIR}/src/")
        foreach(source IN LISTS sources)
            if((room MATCHES "^(text|nn|compose|interp|batch|grad)$" AND NOT source IN_LIST quick) OR source IN_LIST small)
                set_source_files_properties("${source}" PROPERTIES COMPILE_OPTIONS "-Os")
            endif()
        endforeach()
    endif()
    add_library(room_${room} STATIC ${sources})
    # Nothing unwinds through these: what they call of a caller's returns. With -g the debugger has its own tables.
    if(CMAKE_BUILD_TYPE STREQUAL "Release" AND room MATCHES "^(base|graph|interp|compose|batch|grad|exec|plan|text|nn)$")
        target_compile_options(room_${room} PRIVATE -fno-asynchronous-unwind-tables -fno-unwind-tables)
    endif()
    target_include_directories(room_${room} PUBLIC "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src")
    target_compile_definitions(room_${room} PRIVATE "WENGERT_VERSION=\"${PROJECT_VERSION}\"")
    target_link_libraries(room_${room} PUBLIC Threads::Threads ${CMAKE_DL_LIBS})
endfunction()

# The rooms with sources among `room` and those below it, top to bottom. A name that is no room of the library answers all of them.
function(wengert_rooms_from room answer)
    list(FIND wengert_rooms "${room}" first)
    if(first LESS 0)
        set(first 0)
    endif()
    list(SUBLIST wengert_rooms ${first} -1 candidates)
    set(found "")
    foreach(candidate IN LISTS candidates)
        if(TARGET room_${candidate})
            list(APPEND found room_${candidate})
        endif()
    endforeach()
    set(${answer} "${found}" PARENT_SCOPE)
endfunction()

foreach(room IN LISTS wengert_rooms)
    wengert_room(${room})
endforeach()

# What a room takes from other people's libraries, where pkg-config finds them: HAVE_NAME, and what a static library of the room then needs.
# Without one of them the room builds, and says at run time what is off.
find_package(PkgConfig QUIET)
set(wengert_off "")
macro(wengert_uses room name module meaning)
    if(PkgConfig_FOUND)
        pkg_check_modules(${name} QUIET IMPORTED_TARGET ${module})
    endif()
    if(${name}_FOUND AND TARGET room_${room})
        target_compile_definitions(room_${room} PUBLIC HAVE_${name}=1)
        target_link_libraries(room_${room} PUBLIC PkgConfig::${name})
        list(APPEND wengert_${room}_needs ${${name}_LIBRARIES})
    else()
        list(APPEND wengert_off "${meaning}")
    endif()
endmacro()
wengert_uses(bpl GMP gmp "unbounded numbers (libgmp-dev)")
wengert_uses(bpl PCRE2 libpcre2-8 "regular expressions (libpcre2-dev)")
wengert_uses(bpl UTF8PROC libutf8proc "Unicode case and width (libutf8proc-dev)")
wengert_uses(model UTF8PROC libutf8proc "tokenizers that compose characters (libutf8proc-dev)")
