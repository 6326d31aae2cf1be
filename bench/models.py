#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Language models of 110M parameters, llama's shape, beside llama.cpp: models.py BUILD PEERS.

A prompt of 512 tokens, 64 tokens one by one, and 64 of each of eight sequences side by side, of matrices in f32, f16, q8_0 and q4_0, on one
processor and on two. llama.cpp rounds the left sides of quantised products to 8 bits a block; ours does where `--q8-activation` says so, which is
compared (the other figure stands beside it). The programs take turns; the medians stand in the table. Where PEERS has no llama.cpp, ours stands alone.

From the environment: ROUNDS (default 3); THREADS (default "1 2"); BENCH_LOCK, a file that is locked while a row is timed."""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from start import make
from turns import locked

KINDS = {"f32": 0.90, "f16": 0.90, "q8_0": 0.90, "q4_0": 0.75} # of read bandwidth
PROMPT, GENERATE, BATCH = 512, 64, 8
TESTS = f"prompt of {PROMPT}", "one by one", f"{BATCH} side by side"
HERE = pathlib.Path(__file__).resolve().parent


def run(command, threads):
    environment = os.environ | {"OMP_NUM_THREADS": str(threads), "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
    with locked():
        done = subprocess.run(command, capture_output=True, text=True, env=environment, preexec_fn=lambda: os.sched_setaffinity(0, range(threads)))
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed: {done.stderr}")
    return done.stdout


def ours(wengert, model, threads, *options):
    words = [wengert, "model", "bench", model, "--threads", threads, "--prompt", PROMPT, "--generate", GENERATE, "--batch", BATCH, "--repeat", 1, "--format", "json", *options]
    return [test["avg_ts"] for test in json.loads(run([str(word) for word in words], threads))]


def theirs(python, model, threads):
    words = [python, HERE / "peers" / "llama.py", model, threads, PROMPT, GENERATE, BATCH]
    return [float(number) for number in run([str(word) for word in words], threads).split()]


def roofs(build):
    """Bytes read a second by one thread, and by two."""
    lines = run([str(build / "bench" / "bench_roofs"), "--plain", "0.3"], 2).splitlines()
    found = {name: float(number) for name, number in (line.rsplit(" ", 1) for line in lines)}
    return {1: found["read.1"], 2: found["read.2"]}


def medians(rounds):
    return [statistics.median(numbers) for numbers in zip(*rounds)] if rounds else []


def verdict(good):
    return "met" if good else "MISSED"


def rows(kind, size, roof, mine, rounded, peer):
    """rounded: ours with left sides of 8 bits; [] of floats."""
    like = rounded or mine
    goals = 1.3, 1.1, None
    for at, test in enumerate(TESTS):
        both = f"{mine[at]:.0f} | {f'{rounded[at]:.0f}' if rounded else '-'}"
        ratio = like[at] / peer[at] if peer else 0
        told = (f">= {goals[at]}", verdict(ratio >= goals[at])) if peer and goals[at] else ("", "")
        print(f"{kind}, {test} | {both} | {f'{peer[at]:.0f} | {ratio:.2f}' if peer else '- | -'} | {told[0]} | {told[1]}")
    share = like[1] * size / roof
    print(f"{kind}, one by one: weights read, of bandwidth | {mine[1] * size / roof:.2f} | {f'{share:.2f}' if rounded else '-'} | "
          f"{f'{peer[1] * size / roof:.2f}' if peer else '-'} | - | >= {KINDS[kind]} | {verdict(share >= KINDS[kind])}")
    times = like[2] / like[1]
    print(f"{kind}, {BATCH} side by side, by one | {mine[2] / mine[1]:.2f} | {f'{times:.2f}' if rounded else '-'} | {f'{peer[2] / peer[1]:.2f}' if peer else '-'} | - | >= 3 | "
          f"{verdict(times >= 3)}", flush=True)


def main():
    build, peers = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    wengert, python = build / "wengert", peers / "venv" / "bin" / "python"
    there = python.exists() and subprocess.run([str(python), "-c", "import llama_cpp"], capture_output=True).returncode == 0
    turns = int(os.environ.get("ROUNDS", "3"))
    read = roofs(build)
    if not there:
        print("\nskipped: llama.cpp beside ours; make bench-peers installs it")
    with tempfile.TemporaryDirectory() as directory:
        folder = pathlib.Path(directory)
        make(folder / "model", 12)
        models = {kind: folder / f"{kind}.gguf" for kind in KINDS}
        for kind, path in models.items():
            subprocess.run([str(wengert), "model", "quantize", str(folder / "model"), str(path), "--kind", kind], check=True, capture_output=True)
        for threads in map(int, os.environ.get("THREADS", "1 2").split()):
            print(f"\n## Language models of 110M, tokens a second, {threads} thread{'s' * (threads > 1)} (turn about, medians of {turns}; memory read at {read[threads] / 1e9:.1f} GB/s)\n")
            print("columns: work | wengert | with --q8-activation | llama.cpp | ours / theirs | goal | ")
            for kind, path in models.items():
                mine, rounded, peer = [], [], []
                for _ in range(turns):
                    mine.append(ours(wengert, path, threads))
                    if kind.startswith("q"):
                        rounded.append(ours(wengert, path, threads, "--q8-activation"))
                    if there:
                        peer.append(theirs(python, path, threads))
                rows(kind, path.stat().st_size, read[threads], medians(mine), medians(rounded), medians(peer))


if __name__ == "__main__":
    main()
