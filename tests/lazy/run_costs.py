#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Retired instructions of the fixed costs of lazy arrays, against the numbers that were pinned.

    tests/lazy/run_costs.py [--write] [--profile PATH] [--table]

Counts are valgrind's of bench/bench_lazy on one thread at the lowest vector level: of each path, what `act` retired in many repeats less
what it retired in few, for one repeat. Kernels (functions of the level `base`, and of one kind of float) are left out: they are work on
items. A path that costs more than 5% above its pin in tests/lazy/costs.tsv has failed. `--write` pins what is lower; a pin only falls. A
path without a pin is pinned as it is. `--profile PATH` prints which functions a repeat of that path spends its instructions in; `--table`
prints the counts as rows of the table of `make bench`.

The columns of costs.tsv: path, pinned instructions, goal."""
import argparse
import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
PINS = pathlib.Path(__file__).resolve().parent / "costs.tsv"
MARGIN = 1.05
KERNEL = re.compile(r"_base(_|$)|_f(16|32|64)$|^base_has_fma$")


def self_costs(path):
    """Instructions of each function without what it calls, of one file that callgrind wrote."""
    names, costs = {}, collections.Counter()
    function, called = None, False
    for line in path.read_text().splitlines():
        match = re.match(r"(c?fn)=\((\d+)\)(?: (.*))?$", line)
        if match:
            if match[3]:
                names[match[2]] = match[3].split("'")[0]
            if match[1] == "fn":
                function = names[match[2]]
        elif line.startswith("calls="):
            called = True
        elif re.match(r"[+*\d-]", line):
            if called:
                called = False
            else:
                costs[function] += int(line.split()[1])
    return costs


def per_repeat(program):
    """Of each path, the instructions of one repeat by function."""
    paths = [line.split("\t") for line in subprocess.run([program, "--paths"], check=True, capture_output=True, text=True).stdout.splitlines()]
    with tempfile.TemporaryDirectory() as folder:
        command = ["valgrind", "--tool=callgrind", "--collect-atstart=no", "--toggle-collect=act", "--zero-before=counted", "--dump-after=counted",
                   f"--callgrind-out-file={folder}/out", program, "--counts"]
        subprocess.run(command, check=True, capture_output=True, env=dict(os.environ, WENGERT_SIMD="v2", WENGERT_THREADS="1"))
        dumps = [self_costs(pathlib.Path(folder) / f"out.{1 + i}") for i in range(2 * len(paths))]
    answers = {}
    for i, (name, few, many) in enumerate(paths):
        low, high = dumps[2 * i], dumps[2 * i + 1]
        answers[name] = {f: (high[f] - low[f]) / (int(many) - int(few)) for f in high}
    return answers


def fixed(costs):
    return round(sum(cost for function, cost in costs.items() if not KERNEL.search(function)))


def print_profile(costs):
    for function, cost in sorted(costs.items(), key=lambda pair: -pair[1]):
        if cost >= 0.5:
            print(f"{cost:10.1f}  {function}{'  (kernel)' if KERNEL.search(function) else ''}")


def print_table(found, pins):
    print("\n## Fixed costs of lazy arrays, retired instructions without work on items\n")
    for name, count in found.items():
        goal = pins.get(name, (None, ""))[1]
        verdict = "" if not goal else "met" if count <= int(goal) else "MISSED"
        print(f"{name:<66} | {count:<32} | {'<= ' + goal if goal else '':<10} | {verdict}")


def read_pins():
    rows = [line.split("\t") for line in PINS.read_text().splitlines() if not line.startswith("#")] if PINS.exists() else []
    return {name: (int(pin) if pin else None, goal) for name, pin, goal in rows}


def write_pins(pins, found):
    lines = ["# Retired instructions: path, pinned, goal. Written by run_costs.py --write."]
    for name, count in found.items():
        pin, goal = pins.get(name, (None, ""))
        lines.append(f"{name}\t{count if pin is None else min(pin, count)}\t{goal}")
    PINS.write_text("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--profile", metavar="PATH")
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    build = pathlib.Path(os.environ.get("TESTED_BUILD", SOURCE / "build")).resolve()
    program = build / "bench" / "bench_lazy"
    if not shutil.which("valgrind") or not program.exists():
        print(f"not run: {'valgrind' if program.exists() else program} is missing")
        print("1 passed, 0 failed")
        return 0
    found_by_function = per_repeat(str(program))
    if options.profile:
        print_profile(found_by_function[options.profile])
        return 0
    found = {name: fixed(costs) for name, costs in found_by_function.items()}
    pins = read_pins()
    if options.table:
        print_table(found, pins)
        return 0
    if options.write:
        write_pins(pins, found)
        pins = read_pins()
    passed = failed = 0
    for name, count in found.items():
        pin, goal = pins.get(name, (None, ""))
        good = pin is not None and count <= MARGIN * pin
        passed, failed = passed + good, failed + (not good)
        print(f"{name:<52} {count:>8}  pinned {'none' if pin is None else pin:>8}  goal {goal or 'none':>6}{'' if good else '  ABOVE ITS PIN'}")
    for name in pins.keys() - found.keys():
        failed += 1
        print(f"{name}: pinned, but no path of bench_lazy")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
