# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# The command `wengert` from src/tools, left at the top of the build directory. gzip, PNG and JPEG come from the system's libraries;
# without one of them the command builds, and says at run time what is off.
wengert_room(tools)
if(NOT TARGET room_tools)
    return()
endif()

macro(wengert_optional package definition target meaning)
    find_package(${package} QUIET)
    if(TARGET ${target})
        target_compile_definitions(room_tools PRIVATE ${definition}=1)
        target_link_libraries(room_tools PUBLIC ${target})
    else()
        list(APPEND wengert_off "${meaning}")
    endif()
endmacro()
wengert_uses(tools LIBEDIT libedit "editing at the prompt of bpl (libedit-dev)")
wengert_optional(ZLIB HAVE_ZLIB ZLIB::ZLIB "gzip (zlib1g-dev)")
wengert_optional(PNG HAVE_PNG PNG::PNG "PNG (libpng-dev)")
wengert_optional(JPEG HAVE_JPEG JPEG::JPEG "JPEG (libjpeg-dev)")
if(wengert_off)
    list(JOIN wengert_off ", " text)
    message(STATUS "Built without ${text}")
endif()

wengert_rooms_from(all command_rooms)
list(JOIN command_rooms "," command_group)
add_executable(wengert_command $<TARGET_OBJECTS:room_tools>)
set_target_properties(wengert_command PROPERTIES
    OUTPUT_NAME wengert LINKER_LANGUAGE C RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
target_link_libraries(wengert_command PRIVATE "$<LINK_GROUP:RESCAN,room_tools,${command_group}>")
add_dependencies(product wengert_command)
