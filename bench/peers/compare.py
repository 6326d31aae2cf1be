#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Lazy arrays beside NumPy, PyTorch and JAX as one table: `make bench-peers`.

    bench/peers/compare.py BUILD PEERS [ROUNDS]

BUILD holds the bench programs, PEERS what bench/peers/setup.sh made. Every program serves its rows on one processor and one thread, with one
setting of the allocator for all. A row's results are compared first; then the programs take turns, ROUNDS (default 5) each, and the
medians stand in the table. Times within 5% of each other are the same: a goal is met up to that."""
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from adbench_inputs import arrays

MARGIN = 1.05
SECONDS = "0.15"
# Large blocks stay with the process: fresh pages for every result would be most of the rows of 10,000,000 items.
ALLOCATOR = "glibc.malloc.hugetlb=1:glibc.malloc.mmap_threshold=4294967296:glibc.malloc.trim_threshold=8589934592:glibc.malloc.top_pad=268435456"
# Row, title, tolerance of the check, goals: (peer, our time at most this share of the peer's).
ROWS = [
    ("scalars", "two scalars added and read", 1e-6, []),
    ("vectors", "two vectors of 100 items added and read", 1e-5, [("numpy", 1)]),
    ("gradient", "tanh(x y + z) of 100 items, its sum and gradient, traced anew", 1e-5, []),
    ("compiled", "the same compiled", 1e-5, [("jax", 0.25)]),
    ("twenty", "a chain of 20 calls on 1,000 items", 1e-5, [("torch", 1 / 10), ("numpy", 1 / 3)]),
    ("add", "x + x of 10,000,000 items", 1e-5, []),
    ("fused", "tanh(a x + b) a + exp(-x x) of 10,000,000 items", 1e-5, []),
    ("gmm value", "mixture of 25 Gaussians, 10 dimensions, 1,000 points", 1e-9, []),
    ("gmm derivative", "its gradient", 1e-9, [("jax", 1)]),
    ("ba value", "bundle adjustment, 49 cameras, 31,843 observations", 1e-9, []),
    ("ba derivative", "its Jacobian", 1e-8, [("jax", 1)]),
    ("lstm value", "recurrent network, 2 layers of 14, 1,024 characters", 1e-9, []),
    ("lstm derivative", "its gradient", 1e-9, [("jax", 1)]),
]


class Program:
    def __init__(self, name, argv, environment):
        self.name = name
        self.process = subprocess.Popen(argv, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        if not answer:
            sys.exit(f"bench: {self.name} ended at `{line}`")
        return answer

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def one_processor():
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-1:])


def text(seconds):
    return f"{seconds * 1e9:.0f} ns" if seconds < 1e-6 else f"{seconds * 1e6:.2f} us" if seconds < 1e-3 else f"{seconds * 1e3:.2f} ms"


def print_row(title, figure, goal="", verdict=""):
    print(f"{title:<66} | {figure:<32} | {goal:<10} | {verdict}", flush=True)


def measure(row, tolerance, programs, rounds):
    """Medians by program of those that have the row, once they agree."""
    have = [program for program in programs if program.ask(f"row {row}") == "ready"]
    checks = {program.name: float(program.ask("check")) for program in have}
    own = checks["wengert"]
    for name, number in checks.items():
        if not abs(number - own) <= tolerance * (1 + abs(own)):
            sys.exit(f"bench: {row}: {name} computes {number!r}, wengert {own!r}")
    times = {program.name: [] for program in have}
    for _ in range(rounds):
        for program in have:
            times[program.name].append(float(program.ask(f"time {SECONDS}")))
    return {name: statistics.median(found) for name, found in times.items()}


def print_figures(title, medians, goals):
    own = medians["wengert"]
    print_row(title, text(own))
    for name, seconds in medians.items():
        if name == "wengert":
            continue
        most = dict(goals).get(name)
        verdict = "" if most is None else "met" if own <= MARGIN * most * seconds else "MISSED"
        print_row(f"  beside {name}", f"{text(seconds)}, ours by it {own / seconds:.2f}", "" if most is None else f"<= {most:.2g}", verdict)


def main():
    build, peers = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    one_processor()
    environment = {name: value for name, value in os.environ.items() if name not in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")}
    environment.update({name: "1" for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "WENGERT_THREADS")})
    environment.update(GLIBC_TUNABLES=ALLOCATOR, LD_LIBRARY_PATH=str(peers / "empty"))
    peer = pathlib.Path(__file__).resolve().parent / "peer.py"
    with tempfile.TemporaryDirectory() as folder:
        for name, array in arrays().items():
            array.tofile(pathlib.Path(folder) / name)
        lazy = Program("wengert", [build / "bench" / "bench_lazy", "--serve"], environment)
        adbench = Program("wengert", [build / "bench" / "bench_adbench", "--serve", folder], environment)
        others = [Program(name, [sys.executable, peer, name], environment) for name in ("numpy", "torch", "jax")]
        print(f"\n## Lazy arrays beside NumPy, PyTorch and JAX (one thread, turn about, medians of {rounds}, 5% are nothing)\n")
        for row, title, tolerance, goals in ROWS:
            print_figures(title, measure(row, tolerance, [adbench if " " in row else lazy] + others, rounds), goals)
        for program in [lazy, adbench] + others:
            program.end()


if __name__ == "__main__":
    main()
