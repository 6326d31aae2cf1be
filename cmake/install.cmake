# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# `cmake --install`: headers, the libraries, the command, pkg-config and CMake package files, man pages, completions, licences.
# The package files find the rest from where they stand, so --prefix and DESTDIR may differ from what was configured.
include(CMakePackageConfigHelpers)

file(GLOB public_headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/include/wengert/*.h" "${PROJECT_SOURCE_DIR}/include/wengert/*.def")
install(FILES ${public_headers} DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/wengert")
foreach(library IN LISTS wengert_libraries)
    install(TARGETS ${library}_shared ${library}_static EXPORT wengert)
endforeach()
if(TARGET wengert_command)
    install(TARGETS wengert_command)
endif()

set(package_directory "${CMAKE_INSTALL_LIBDIR}/cmake/wengert")
install(EXPORT wengert NAMESPACE wengert:: FILE wengert-targets.cmake DESTINATION "${package_directory}")
configure_package_config_file(cmake/wengert-config.cmake.in "${PROJECT_BINARY_DIR}/wengert-config.cmake"
    INSTALL_DESTINATION "${package_directory}" NO_SET_AND_CHECK_MACRO)
# Before 1.0 a minor release may break, as its SONAME says.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/wengert-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/wengert-config.cmake" "${PROJECT_BINARY_DIR}/wengert-config-version.cmake"
    DESTINATION "${package_directory}")

set(pkgconfig_directory "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
file(RELATIVE_PATH pkgconfig_to_prefix "/prefix/${pkgconfig_directory}" "/prefix")
string(REGEX REPLACE "/$" "" pkgconfig_to_prefix "${pkgconfig_to_prefix}")
# A package and what it needs: the package below, and what a program that links its archive must name.
function(wengert_package name description requires private)
    if(requires)
        set(requires " ${requires} = ${PROJECT_VERSION}")
    endif()
    configure_file(cmake/library.pc.in "${PROJECT_BINARY_DIR}/${name}.pc" @ONLY)
    install(FILES "${PROJECT_BINARY_DIR}/${name}.pc" DESTINATION "${pkgconfig_directory}")
endfunction()
wengert_package(wengert "${PROJECT_DESCRIPTION}" "" " -pthread -ldl")
wengert_package(wengert-lazy "Arrays that wait, on libwengert" wengert "")
wengert_package(wengert-model "Language models as programs, on libwengert" wengert "${wengert_model_private}")
wengert_package(wengert-bpl "The array language BPL, on libwengert-lazy" wengert-lazy "${wengert_bpl_private}")

file(GLOB man_pages CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/docs/man/*.1")
install(FILES ${man_pages} DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
install(FILES LICENSE-APACHE LICENSE-MIT THIRD-PARTY.md DESTINATION "${CMAKE_INSTALL_DOCDIR}")

macro(wengert_completion file directory name)
    if(EXISTS "${PROJECT_SOURCE_DIR}/completions/${file}")
        install(FILES "${PROJECT_SOURCE_DIR}/completions/${file}" DESTINATION "${CMAKE_INSTALL_DATADIR}/${directory}" RENAME "${name}")
    endif()
endmacro()
wengert_completion(wengert.bash bash-completion/completions wengert)
wengert_completion(_wengert zsh/site-functions _wengert)
wengert_completion(wengert.fish fish/vendor_completions.d wengert.fish)
