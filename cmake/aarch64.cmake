# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Toolchain file: AArch64 Linux by Debian's cross compiler; what is built runs under qemu-aarch64.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
get_property(trying GLOBAL PROPERTY IN_TRY_COMPILE)
if(NOT trying) # this file is read again for trials, which have directories of their own
    set(ENV{PKG_CONFIG_LIBDIR} "/usr/lib/aarch64-linux-gnu/pkgconfig:${CMAKE_BINARY_DIR}/cmocka/lib/pkgconfig")
endif()
