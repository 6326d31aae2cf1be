#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# bench/compare_numpy.sh [BUILD]
#
# Trains the network of examples/fashion.wg and the same network in NumPy (bench/peer_fashion_numpy.py) on the first 6,400 pictures, a
# batch of 128, two threads each where there are two, turn about; prints each one's fastest round as rows of the table: other work on the machine
# only slows. ROUNDS (default 5) may be set.
# Prints why, and no row, where NumPy or the data are missing.
set -eu
cd "$(dirname "$0")/.."
build=${1:-build}
data=${FASHION_MNIST:-/usr/share/datasets/fashion-mnist}
rounds=${ROUNDS:-5}

printf '\n## Training beside NumPy (the fastest of %s rounds, turn about)\n\n' "$rounds"
[ -f "$data/train-images-idx3-ubyte.gz" ] || { echo "skipped: no Fashion-MNIST in $data; install dataset-fashion-mnist"; exit 0; }
python=
for candidate in python3 /usr/bin/python3; do
    "$candidate" -c 'import numpy' 2>/dev/null && { python=$candidate; break; }
done
[ -n "$python" ] || { echo "skipped: no python3 with NumPy; install python3-numpy"; exit 0; }

exec "$python" - "$build/wengert" "$data" "$rounds" <<'PYTHON'
import gzip, json, os, struct, subprocess, sys, tempfile

command, data, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
rows, batch = 6400, 128
threads = str(min(2, len(os.sched_getaffinity(0))))
environment = {name: value for name, value in os.environ.items() if name not in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")}
environment.update(WENGERT_THREADS=threads, OPENBLAS_NUM_THREADS=threads)


def answer(*arguments):
    return json.loads(subprocess.run(arguments, env=environment, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)


def row(what, figure, goal="", verdict=""):
    print(f"{what:<66} | {figure:<32} | {goal:<10} | {verdict}")


with tempfile.TemporaryDirectory() as folder:
    for kind in "images-idx3", "labels-idx1":
        data_bytes = gzip.open(f"{data}/train-{kind}-ubyte.gz").read()
        axes = data_bytes[3]
        items = rows * (784 if axes == 3 else 1)
        head = 4 + 4 * axes
        with open(f"{folder}/{kind}", "wb") as file:
            file.write(data_bytes[:4] + struct.pack(">I", rows) + data_bytes[8:head + items])
    ours, peers = [], []
    for _ in range(rounds):
        result = answer(command, "train", "examples/fashion.wg", "--entry", "train", "--optimizer", "adam", "--rate", "1e-3", "--batch", str(batch),
                        "--data", f"images={folder}/images-idx3", "--data", f"labels={folder}/labels-idx1",
                        "--out", f"{folder}/model.safetensors", "--json")
        peer = answer(sys.executable, "bench/peer_fashion_numpy.py", data, "--batch", str(batch), "--steps", str(rows // batch), "--json")
        if result["steps"] != peer["steps"] or not result["loss"] < 2.3 or not peer["loss"] < 2.3:
            sys.exit(f"bench: a training did not learn: {result}, {peer}")
        ours.append(result["items_per_second"])
        peers.append(peer["items_per_second"])
own, peer = max(ours), max(peers)
row(f"wengert, {threads} threads", f"{own:,.0f} img/s")
row(f"NumPy, {threads} threads", f"{peer:,.0f} img/s")
row("time of wengert by NumPy's for the same pictures", f"{peer / own:.2f}", "<= 2", "met" if peer <= 2 * own else "MISSED")
PYTHON
