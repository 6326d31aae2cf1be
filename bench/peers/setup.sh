#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# bench/peers/setup.sh FOLDER
#
# Makes FOLDER/venv with NumPy, JAX, ONNX Runtime, IREE, basedpl, llama.cpp and PyTorch for the processor, once. The package index's PyTorch wants the libraries of a graphics
# card when it is loaded; libraries of those names whose every function says that there is none (FOLDER/empty)
# are enough for work on the processor. WENGERT_OFFLINE=1 forbids installing.
set -eu
folder=$1
[ -f "$folder/ready" ] && exit 0
[ "${WENGERT_OFFLINE:-0}" != 1 ] || { echo "WENGERT_OFFLINE=1: the peers are not installed" >&2; exit 1; }
mkdir -p "$folder/empty"
python3 -m venv "$folder/venv"
pip="$folder/venv/bin/python -m pip install --quiet --no-input --disable-pip-version-check"
$pip numpy jax onnx onnxruntime iree-base-compiler iree-base-runtime
$pip basedpl==0.1.75 || echo "basedpl 0.1.75 is not there for this machine: make bench TABLE=bpl skips" >&2
# _tile_loadconfig of gcc before 13 reads 8 bytes of its 64: llama.cpp ends by a signal where the processor has tiles.
tiles=
[ "$(c++ -dumpversion | cut -d . -f 1)" -ge 13 ] || tiles=-U__AMX_INT8__
CMAKE_ARGS="-DGGML_NATIVE=ON -DCMAKE_C_FLAGS=$tiles -DCMAKE_CXX_FLAGS=$tiles" $pip --no-binary llama-cpp-python llama-cpp-python==0.3.36 || echo "llama-cpp-python 0.3.36 could not be built: make bench TABLE=models has no peer" >&2
$pip --no-deps torch filelock fsspec jinja2 markupsafe mpmath networkx sympy typing_extensions
libraries=$(echo "$folder"/venv/lib/python3*/site-packages/torch/lib)
for library in "$libraries"/*.so; do objdump -p "$library"; done |
    awk '/^ *NEEDED/ { print $2, $2 } /required from/ { file = $3; sub(":", "", file); next } / 0x[0-9a-f]+ 0x/ && file { print file, $4 } /^$/ { file = "" }' |
    grep -E '^lib(cu|nccl|nvrtc|nvshmem)' | sort -u >"$folder/needed" # library, version of symbols
for library in "$libraries"/*.so; do nm -D --undefined-only "$library" | sed -n 's/^ *U //p'; done | sort -u >"$folder/undefined"
# Every function that is asked for answers "no device" (100).
cut -d ' ' -f 1 "$folder/needed" | sort -u | while read -r name; do
    [ ! -e "$libraries/$name" ] || continue
    echo 'extern int unused;' >"$folder/functions.c"
    : >"$folder/versions"
    sed -n "s/^$name //p" "$folder/needed" | while read -r version; do
        sed -n "s/^\(.*\)@$version\$/int \1(void) { return 100; }/p" "$folder/undefined" >>"$folder/functions.c"
        [ "$version" != "$name" ] || case $name in libcudart*) # and what is asked for without a version
            sed -nE 's/^((cu|nccl|nvrtc|nvshmem)[A-Za-z0-9_]+)$/int \1(void) { return 100; }/p' "$folder/undefined" >>"$folder/functions.c" ;;
        esac
        { echo "$version { global: unused_$(echo "$version" | tr -c 'a-zA-Z0-9\n' _);"; sed -n "s/@$version\$/;/p" "$folder/undefined"; echo '};'; } >>"$folder/versions"
    done
    cc -w -fno-builtin -shared -fPIC -Wl,-soname,"$name" -Wl,--version-script="$folder/versions" -o "$folder/empty/$name" "$folder/functions.c"
done
LD_LIBRARY_PATH="$folder/empty" "$folder/venv/bin/python" -c 'import iree.compiler, iree.runtime, jax, numpy, onnx, onnxruntime, torch; torch.ones(2).sum()'
touch "$folder/ready"
