# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# examples/arrays/<name>.c becomes <name> in the build's examples/, on request (target `examples`).
add_custom_target(examples)
file(GLOB example_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/examples/arrays/*.c")
foreach(source IN LISTS example_sources)
    get_filename_component(name "${source}" NAME_WE)
    add_executable(example_${name} EXCLUDE_FROM_ALL "${source}")
    set_target_properties(example_${name} PROPERTIES OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/examples")
    target_link_libraries(example_${name} PRIVATE wengert_lazy_shared m)
    add_dependencies(examples example_${name})
endforeach()
