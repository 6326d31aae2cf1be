# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# What a person may choose, and the flags that follow.
option(WENGERT_TESTS "Build the tests, where cmocka is installed" ${PROJECT_IS_TOP_LEVEL})
option(WENGERT_WERROR "Treat warnings as errors" ${PROJECT_IS_TOP_LEVEL})
set(WENGERT_SANITIZE "" CACHE STRING "Sanitizers of this build: address,undefined or thread")
set(WENGERT_SANITIZED_ROOMS base graph interp grad text CACHE STRING "The chosen third: rooms whose tests `make test` repeats under address,undefined")

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# The optimisation level of CFLAGS wins over that of the build type.
if(CMAKE_C_FLAGS MATCHES "(^| )-O")
    set(CMAKE_C_FLAGS_RELEASE "")
endif()

# The bits of the results depend on these two, so they come after CFLAGS. The prefix map keeps the directory of the build out of
# what is built.
add_compile_options(
    -ffp-contract=off -fno-math-errno
    -fno-semantic-interposition
    "-ffile-prefix-map=${PROJECT_SOURCE_DIR}/="
    -Wall -Wextra
    "$<$<C_COMPILER_ID:Clang>:-Wno-bitwise-instead-of-logical>") # formulas join masks, which are bool where lanes are one

if(WENGERT_SANITIZE)
    add_compile_options("-fsanitize=${WENGERT_SANITIZE}" -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
    add_link_options("-fsanitize=${WENGERT_SANITIZE}")
elseif(WENGERT_WERROR)
    # Not with sanitizers: their code makes the compiler's flow warnings guess wrong.
    add_compile_options(-Werror)
endif()

find_package(Threads REQUIRED)
