#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# examples/demo.sh
#
# Trains examples/fashion.wg on all of Fashion-MNIST (Debian's dataset-fashion-mnist, or the folder in FASHION_MNIST), sums up the
# plans of two of its entries, judges and saves the model, writes build/demo/report.html, asks the model about one picture, and runs the same
# network in NumPy beside it. EPOCHS and PEER_SECONDS may be set. Fails where accuracy or speed are not what they must be.
set -eu
cd "$(dirname "$0")/.."

wengert=build/wengert
data=${FASHION_MNIST:-/usr/share/datasets/fashion-mnist}
out=build/demo
[ -x "$wengert" ] || { echo "demo: $wengert is missing; run make first" >&2; exit 1; }
[ -f "$data/train-images-idx3-ubyte.gz" ] || { echo "demo: no Fashion-MNIST in $data; install dataset-fashion-mnist" >&2; exit 1; }

python=
for candidate in python3 /usr/bin/python3; do
    "$candidate" -c 'import numpy' 2>/dev/null && { python=$candidate; break; }
done
[ -n "$python" ] || { echo "demo: no python3 with NumPy; install python3-numpy" >&2; exit 1; }

# The data beside the names of the classes, which the report then uses.
mkdir -p "$out/data"
for file in "$data"/*-ubyte.gz; do ln -sf "$file" "$out/data/"; done
printf '%s\n' T-shirt Trouser Pullover Dress Coat Sandal Shirt Sneaker Bag 'Ankle boot' >"$out/data/classes.txt"

step() { printf '\n== %s\n' "$1"; }

step 'What the plan of each entry leaves out'
for entry in train classify; do
    # The stages one by one stand in the report.
    echo "$ wengert plan examples/fashion.wg --entry $entry | grep '^[^ ]'"
    "$wengert" plan examples/fashion.wg --entry "$entry" | grep '^[^ ]'
    "$wengert" describe examples/fashion.wg --entry "$entry" | grep '^plan:'
done

step 'Training'
rm -f "$out/fashion.safetensors" "$out/log.jsonl"
"$wengert" train examples/fashion.wg \
    --data images="$out/data/train-images-idx3-ubyte.gz" --data labels="$out/data/train-labels-idx1-ubyte.gz" \
    --test images="$out/data/t10k-images-idx3-ubyte.gz" --test labels="$out/data/t10k-labels-idx1-ubyte.gz" \
    --entry train --optimizer adam --rate 1e-2 --schedule cosine --warmup 60 --epochs "${EPOCHS:-2}" --batch 128 --seed 1 \
    --out "$out/fashion.safetensors" --report "$out/report.html" --log "$out/log.jsonl" --json >"$out/summary.json"
cat "$out/summary.json"

step 'One picture of the test set'
"$python" - "$out" <<'PYTHON'
import gzip, struct, sys, zlib
folder = sys.argv[1]
pixels = gzip.open(folder + "/data/t10k-images-idx3-ubyte.gz").read()[16:16 + 784]
label = gzip.open(folder + "/data/t10k-labels-idx1-ubyte.gz").read()[8]
chunk = lambda name, data: struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
rows = b"".join(b"\0" + pixels[28 * i:28 * i + 28] for i in range(28))
with open(folder + "/picture.png", "wb") as file:
    file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 28, 28, 8, 0, 0, 0, 0)) +
               chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
names = open(folder + "/data/classes.txt").read().split("\n")
print(f"{folder}/picture.png: class {label}, {names[label]}")
PYTHON
echo "$ wengert run $out/fashion.safetensors --entry classify --extent n=1 --feed images=$out/picture.png"
"$wengert" run "$out/fashion.safetensors" --entry classify --extent n=1 --feed images="$out/picture.png"

step 'The same network in NumPy'
env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE \
    "$python" bench/peer_fashion_numpy.py "$data" --batch 128 --seconds "${PEER_SECONDS:-20}" --json \
    >"$out/numpy.json"
"$python" - "$out" <<'PYTHON'
import json, sys
folder = sys.argv[1]
ours, peer = json.load(open(folder + "/summary.json")), json.load(open(folder + "/numpy.json"))
rate, peer_rate, accuracy = ours["items_per_second"], peer["items_per_second"], ours["held_out"]["accuracy"]
print(f"wengert: {ours['steps']} steps in {ours['seconds']:.1f} s, {rate:,.0f} img/s, "
      f"accuracy {accuracy:.4f} on {ours['held_out']['rows']:,} held-out pictures")
print(f"numpy:   {peer['steps']} steps in {peer['seconds']:.1f} s, {peer_rate:,.0f} img/s")
print(f"time against NumPy's for the same pictures: {peer_rate / rate:.2f}")
judged = (accuracy < 0.88, "accuracy is below 0.88"), (peer_rate > 2 * rate, "more than twice NumPy's time")
faults = [text for bad, text in judged if bad]
print(f"\nmodel: {folder}/fashion.safetensors\nreport: {folder}/report.html")
sys.exit("demo: " + "; ".join(faults) if faults else 0)
PYTHON
