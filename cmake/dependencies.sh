#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# cmake/dependencies.sh build|test|demo|demo-kjv|aarch64
#
# Looks for what a job needs and installs what is missing with apt-get, after saying what. WENGERT_OFFLINE=1 forbids installing:
# then a missing tool is an error, and a missing library of pictures, of dense algebra or of long numbers, or valgrind, or what the Python
# package is built with, only a line that names what will be off.
set -eu

missing=
optional=
need() { missing="$missing $1"; }

have() { command -v "$1" >/dev/null 2>&1; }
package() { have pkg-config && pkg-config --exists "$1"; }

cmake_is_new_enough() {
    have cmake || return 1
    version=$(cmake --version | sed -n '1s/^cmake version \([0-9]*\)\.\([0-9]*\).*/\1 \2/p')
    set -- $version
    [ "$1" -gt 3 ] || { [ "$1" -eq 3 ] && [ "$2" -ge 25 ]; }
}

look_for_build() {
    have cc && have make || need build-essential
    cmake_is_new_enough || need cmake
    have ninja || need ninja-build
    have pkg-config || need pkg-config
    package zlib || optional="$optional zlib1g-dev"
    package libpng || optional="$optional libpng-dev"
    package libjpeg || optional="$optional libjpeg-dev"
    package gmp || optional="$optional libgmp-dev"
    package libpcre2-8 || optional="$optional libpcre2-dev"
    package libutf8proc || optional="$optional libutf8proc-dev"
    package libedit || optional="$optional libedit-dev"
}

# Opened at run time: what the linker of a build knows does not matter.
lapacke() { ldconfig -p 2>/dev/null | grep -q 'liblapacke\.so\.3 ' || /sbin/ldconfig -p 2>/dev/null | grep -q 'liblapacke\.so\.3 '; }

look_for_test() {
    look_for_build
    have c++ || case "$missing" in *build-essential*) ;; *) need build-essential ;; esac
    have python3 || need python3
    package cmocka || need libcmocka-dev
    lapacke || optional="$optional liblapacke"
    have valgrind || optional="$optional valgrind"
    package mpfr || optional="$optional libmpfr-dev"
    look_for_python
}

# What the Python package is built with; without them it is not tested.
look_for_python() {
    headers='import os, sys, sysconfig; sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))'
    [ -x /usr/bin/python3 ] || return 0
    /usr/bin/python3 -c "$headers" 2>/dev/null || optional="$optional python3-dev"
    for module in setuptools wheel numpy; do
        /usr/bin/python3 -c "import $module" 2>/dev/null || optional="$optional python3-$module"
    done
    /usr/bin/python3 -c 'import ensurepip' 2>/dev/null || optional="$optional python3-venv"
}

look_for_demo() {
    look_for_build
    have python3 || need python3
    lapacke || optional="$optional liblapacke"
    for python in /usr/bin/python3 python3; do
        "$python" -c 'import numpy' 2>/dev/null && numpy=yes
    done
    # With the reference BLAS, which it would have without the second package, NumPy is no fair comparison.
    [ "${numpy:-no}" = yes ] || { need python3-numpy; need libopenblas0-pthread; }
    [ -f /usr/share/datasets/fashion-mnist/train-images-idx3-ubyte.gz ] || need dataset-fashion-mnist
}

look_for_demo_kjv() {
    look_for_build
    PATH=$PATH:/usr/games
    have bible || { need bible-kjv; need bible-kjv-text; }
}

look_for_aarch64() {
    look_for_build
    have python3 || need python3
    have aarch64-linux-gnu-gcc || need gcc-aarch64-linux-gnu
    { have aarch64-linux-gnu-gcc && aarch64-linux-gnu-gcc -print-file-name=crti.o | grep -q /; } || need libc6-dev-arm64-cross # only recommended by it
    have qemu-aarch64 || need qemu-user
}

case "${1:-build}" in
build) look_for_build ;;
test) look_for_test ;;
demo) look_for_demo ;;
demo-kjv) look_for_demo_kjv ;;
aarch64) look_for_aarch64 ;;
*)
    echo "usage: cmake/dependencies.sh build|test|demo|demo-kjv|aarch64" >&2
    exit 2
    ;;
esac
[ -n "$missing$optional" ] || exit 0

refuse() {
    if [ -z "$missing" ]; then
        echo "Missing, so what they are for is off:$optional ($1)"
        exit 0
    fi
    echo "Missing Debian packages:$missing$optional ($1)" >&2
    exit 1
}

[ "${WENGERT_OFFLINE:-0}" != 1 ] || refuse "WENGERT_OFFLINE=1: nothing is installed"
have apt-get || refuse "there is no apt-get here: install their equivalents"
as_root=
if [ "$(id -u)" -ne 0 ]; then
    have sudo || refuse "not root and no sudo: run apt-get install for them as root"
    as_root=sudo
fi

echo "Installing Debian packages:$missing$optional"
install_them() {
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing $optional </dev/null
}
# The lists of packages may be absent or stale: one update, when the first attempt fails.
install_them || { $as_root apt-get update </dev/null && install_them; } || refuse "apt-get could not install them"
