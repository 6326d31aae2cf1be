#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# cmake/cmocka_aarch64.sh PREFIX
#
# cmocka for AArch64 at PREFIX, built from the distribution's source package. Nothing is done where it is there, or where libcmocka-dev:arm64 is
# installed. The lists of source packages stay in PREFIX: the machine's own are not touched.
set -eu
prefix=$1
source=$(dirname "$0")
[ ! -f /usr/lib/aarch64-linux-gnu/pkgconfig/cmocka.pc ] && [ ! -f "$prefix/lib/pkgconfig/cmocka.pc" ] || exit 0

refuse() {
    echo "The tests of AArch64 need cmocka for it ($1): install libcmocka-dev:arm64, or cmocka at $prefix" >&2
    exit 1
}

[ "${WENGERT_OFFLINE:-0}" != 1 ] || refuse "WENGERT_OFFLINE=1: nothing is fetched"
command -v apt-get >/dev/null || refuse "there is no apt-get here"
. /etc/os-release
case $ID in
debian) list="deb-src http://deb.debian.org/debian $VERSION_CODENAME main" ;;
ubuntu) list="deb-src http://archive.ubuntu.com/ubuntu $VERSION_CODENAME universe" ;;
*) refuse "it is not known where $ID has its sources" ;;
esac

echo "Building cmocka for AArch64 in $prefix"
mkdir -p "$prefix/lists/partial" "$prefix/source"
prefix=$(cd "$prefix" && pwd)
source=$(cd "$source" && pwd)
echo "$list" >"$prefix/sources.list"
apt() {
    apt-get -qq -o Dir::Etc::sourcelist="$prefix/sources.list" -o Dir::Etc::sourceparts=/dev/null -o Dir::State::lists="$prefix/lists" \
        -o Dir::Cache::srcpkgcache= -o Dir::Cache::pkgcache= -o APT::Sandbox::User= "$@" </dev/null
}
apt update || refuse "the list of sources cannot be had"
(cd "$prefix" && apt source --download-only cmocka) || refuse "its source cannot be had"
for archive in "$prefix"/cmocka_*.orig.tar.?z; do tar xf "$archive" -C "$prefix/source" --strip-components=1; done
cmake -S "$prefix/source" -B "$prefix/made" -DCMAKE_TOOLCHAIN_FILE="$source/aarch64.cmake" -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib \
    -DUNIT_TESTING=OFF -DWITH_EXAMPLES=OFF -DCMAKE_POLICY_VERSION_MINIMUM=3.5 --no-warn-unused-cli --log-level=ERROR >/dev/null
cmake --build "$prefix/made" >/dev/null
cmake --install "$prefix/made" >/dev/null
