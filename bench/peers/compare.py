#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Wengert beside its peers, a table at a time.

    bench/peers/compare.py BUILD PEERS [TABLE...]

BUILD holds the bench programs, PEERS what bench/peers/setup.sh made; tables.py says what stands in a table (none named: all). Every program
serves its rows (bench/served.h) on one processor, then on two. A row's results are compared first; then the programs take turns, ROUNDS each,
one beginning when the threads of the one before rest, and the medians stand in the table. All have one setting of the allocator. A goal is met up
to 5%.

From the environment: ROUNDS (default 5); THREADS (default "1 2"); STATISTIC=least on a machine that others use too (default median); BENCH_LOCK, a file that is locked
while a row is timed."""
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))

import inputs
import tables
from adbench_inputs import arrays
from turns import favoured, locked, rest

MARGIN = 1.05
SECONDS = "0.05"
# Large blocks stay with the process: fresh pages for every result would be most of the rows of 10,000,000 items.
ALLOCATOR = "glibc.malloc.hugetlb=1:glibc.malloc.mmap_threshold=4294967296:glibc.malloc.trim_threshold=8589934592:glibc.malloc.top_pad=268435456"
HERE = pathlib.Path(__file__).resolve().parent


class Program:
    """One that serves rows."""

    def __init__(self, name, argv, environment, processors):
        self.name = name
        def begin():
            favoured()
            os.sched_setaffinity(0, processors)
        self.process = subprocess.Popen(argv, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, preexec_fn=begin)

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        if not answer:
            sys.exit(f"bench: {self.name} ended at `{line}`")
        return answer

    def numbers(self, line):
        return [float(number) for number in self.ask(line).split()]

    def end(self):
        self.process.stdin.close()
        self.process.wait()


class Bench:
    def __init__(self, build, peers, data):
        self.build, self.peers, self.data = build, peers, data
        self.rounds = int(os.environ.get("ROUNDS", "5"))
        self.least = os.environ.get("STATISTIC", "median") == "least"
        self.threads = [int(count) for count in os.environ.get("THREADS", "1 2").split()]
        self.roofs = {}

    def how(self):
        return f"turn about, {'the least' if self.least else 'medians'} of {self.rounds}"

    def environment(self, threads, tuned):
        found = {name: value for name, value in os.environ.items() if name not in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")}
        found.update({name: str(threads) for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "WENGERT_THREADS")})
        found.update(LD_LIBRARY_PATH=str(self.peers / "empty"), TF_CPP_MIN_LOG_LEVEL="2")
        if tuned:
            found["GLIBC_TUNABLES"] = ALLOCATOR
        return found

    def program(self, name, table, threads, tuned=True):
        processors = sorted(os.sched_getaffinity(0))[-threads:]
        own = self.build / "bench"
        argv = {"wengert": [own / "bench_model", "--serve", HERE.parent / "models", self.data], "lazy": [own / "bench_lazy", "--serve"],
                "adbench": [own / "bench_adbench", "--serve", self.data]}.get(name)
        return Program("wengert" if argv else name, argv or [sys.executable, HERE / "peer.py", name, table, str(threads)],
                       self.environment(threads, tuned), processors)

    def roof(self, name, threads):
        """Operations or bytes a second of this machine now."""
        if not self.roofs:
            with locked():
                lines = subprocess.run([self.build / "bench" / "bench_roofs", "--plain", "0.1"], check=True, capture_output=True, text=True, preexec_fn=favoured).stdout.split("\n")
            self.roofs = {key: float(value) for key, value in (line.split() for line in lines if line)}
        return self.roofs[f"{name}.{threads}"]


def text(seconds):
    if seconds is None:
        return "-"
    return next(f"{seconds * scale:.3g} {unit}" for scale, unit in ((1e9, "ns"), (1e6, "us"), (1e3, "ms"), (1, "s")) if seconds * scale < 1000 or unit == "s")


def agree(row, checks, tolerance, named):
    """Up to the tolerance, and what sums of f64 in two orders may differ by."""
    own = checks["wengert"]
    scale = max(abs(number) for number in own) + (1 if named == "lazy" else 1e-30)
    for name, found in checks.items():
        if len(found) != len(own) or any(not abs(a - b) <= (tolerance + 1e-12) * scale for a, b in zip(found, own)):
            worst = max((abs(a - b) / scale for a, b in zip(found, own)), default=0)
            sys.exit(f"bench: {row}: {name} computes something else than wengert ({worst:.2g} of the greatest, {len(found)} and {len(own)} numbers)")


def measure(bench, named, row, tolerance, programs):
    """Medians by program of those that have the row, once they agree."""
    have = [program for program in programs if program.ask(f"row {row}") == "ready"]
    agree(row, {program.name: program.numbers("check") for program in have}, tolerance, named)
    times = {program.name: [] for program in have}
    with locked():
        for program in have:
            rest(program.process.pid)
        for _ in range(bench.rounds):
            for program in have:
                times[program.name].append(program.numbers(f"time {SECONDS}")[0])
                rest(program.process.pid)
    return {name: (min if bench.least else statistics.median)(found) for name, found in times.items()}


def print_row(*cells):
    print(" | ".join(str(cell) for cell in cells), flush=True)


def verdict(figure, goal):
    """Whether a figure that should be at least its goal is."""
    return "" if goal is None or figure is None else "met" if figure * MARGIN >= goal else "MISSED"


def print_times(bench, table, threads, row, medians, peers):
    own = medians["wengert"]
    best = min((seconds for name, seconds in medians.items() if name != "wengert"), default=None)
    cells = [row.title, text(own), *(text(medians.get(name)) for name in peers), "-" if best is None else f"{best / own:.2f}"]
    goal, figure = row.goal, None
    if row.gflop:
        share = row.gflop * 1e9 / own / bench.roof(row.roof, threads)
        cells.append(f"{share:.2f}")
    elif table.floors:
        cells.append("-")
    if row.against == "roof":
        figure, goal = share, goal[threads - 1]
    elif goal is not None:
        against = [medians[name] for name in row.against or medians if name != "wengert" and name in medians]
        figure = min(against) / own if against else None
    print_row(*cells, "" if goal is None else f">= {goal:g}", verdict(figure, goal))


def times(bench, table):
    """A table of times: ours and those of the peers, the best peer's by ours, and the share of the floor where there is one."""
    for threads in bench.threads:
        print(f"\n## {table.title}, {threads} thread{'s' * (threads > 1)} ({bench.how()}; a margin of 5%)\n")
        print("columns: " + " | ".join(["work", "wengert", *table.peers, "best peer / ours", *(["of peak"] if table.floors else []), "goal", ""]), flush=True)
        programs = {name: bench.program(name, table.module, threads) for name in (*table.own, *table.peers)}
        for row in table.rows:
            serving = [programs[row.own or "wengert"], *(programs[name] for name in table.peers)]
            print_times(bench, table, threads, row, measure(bench, table.name, row.name, row.tolerance, serving), table.peers)
        for program in programs.values():
            program.end()


def print_kept(bench, table, row, title, threads, least):
    """Ours with values kept to so many bytes: its memory beside the least peer's, and its turn beside that without a bound."""
    programs = [bench.program("wengert", table.module, threads, tuned=False) for _ in range(2)]
    checks = []
    for program, name in zip(programs, (row.name, f"{row.name} {row.kept}")):
        program.ask(f"row {name}")
        checks.append(program.numbers("check"))
    if checks[0] != checks[1]:
        sys.exit(f"bench: {row.name}: other bits within {row.kept} bytes")
    kept = programs[1].numbers("costs")[2]
    with locked():
        turns = [[program.numbers("time 1")[0] for program in programs] for _ in range(bench.rounds)]
    for program in programs:
        program.end()
    blank = ["-"] * len(table.peers)
    print_row(f"{title}: memory, values kept to {row.kept >> 20} MiB", f"{kept / 2**20:.0f} MiB", *blank, f"{least / kept:.2f}", ">= 1.67", verdict(least / kept, 1 / 0.6))
    print_row(f"{title}: that turn by the turn above", f"{statistics.median(within / free for free, within in turns):.2f}", *blank, "-", "", "")


def costs(bench, table):
    """Greatest memory of a training step above that of the loaded library, and the time to the first step; a process a row, the usual allocator."""
    peers = table.peers
    print(f"\n## {table.title}\n")
    print("columns: " + " | ".join(["work", "wengert", *peers, "least peer / ours", "goal", ""]), flush=True)
    for threads in bench.threads:
        for row in table.rows:
            found = {}
            for name in ("wengert", *peers):
                program = bench.program(name, table.module, threads, tuned=False)
                if program.ask(f"row {row.name}") == "ready":
                    program.ask("check")
                    found[name] = program.numbers("costs")
                program.end()
            title = f"{row.title}, {threads} thread{'s' * (threads > 1)}"
            least = min(each[2] for name, each in found.items() if name != "wengert")
            print_row(f"{title}: memory", *(f"{each[2] / 2**20:.0f} MiB" for each in found.values()), f"{least / found['wengert'][2]:.2f}", ">= 1.67",
                      verdict(least / found["wengert"][2], 1 / 0.6))
            print_row(f"{title}: until the first turn", *(text(each[0]) for each in found.values()), "-", "<= 20 ms",
                      verdict(0.02 / found["wengert"][0], 1))
            print_row(f"{title}: the first turn", *(text(each[1]) for each in found.values()), "-", "", "")
            if row.kept:
                print_kept(bench, table, row, title, threads, least)


def ratios(bench, table):
    """Time of value and derivative together over that of the value."""
    for threads in bench.threads:
        print(f"\n## {table.title}, {threads} thread{'s' * (threads > 1)} ({bench.how()})\n")
        print("columns: " + " | ".join(["work", *(f"{name}{part}" for name in ("wengert", *table.peers) for part in (" value", " derivative", " ratio")), "goal", ""]),
              flush=True)
        programs = [bench.program(name, table.module, threads) for name in ("wengert", *table.peers)]
        for row in table.rows:
            value, derivative = (measure(bench, table.name, f"{row.name} {part}", row.tolerance, programs) for part in ("loss", "gradient"))
            cells = [cell for name in value for cell in (text(value[name]), text(derivative[name]), f"{derivative[name] / value[name]:.2f}")]
            print_row(row.title, *cells, "<= 3", verdict(3 * value["wengert"] / derivative["wengert"], 1))
        for program in programs:
            program.end()


def main():
    build, peers = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    wanted = sys.argv[3:] or [table.name for table in tables.TABLES]
    chosen = [table for table in tables.TABLES if table.name in wanted]
    if len(chosen) < len(wanted):
        sys.exit(f"bench: the tables beside peers are {' '.join(table.name for table in tables.TABLES)}")
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(build, peers, pathlib.Path(folder))
        for name, array in arrays().items():
            array.tofile(bench.data / name)
        for model in sorted({model for table in chosen for model in table.models}):
            inputs.write(folder, model)
        for table in chosen:
            {"times": times, "costs": costs, "ratios": ratios}[table.kind](bench, table)


if __name__ == "__main__":
    main()
