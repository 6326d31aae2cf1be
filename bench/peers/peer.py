#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The rows of a table in one peer, served line by line as bench/served.h says.

    bench/peers/peer.py PEER TABLE THREADS

TABLE_rows.py answers rows(PEER, THREADS): by the row's name a function that makes it, which answers the turn to be timed (it computes and
waits) and a function for the numbers to be checked. prepare(ROW), where there is one, makes what the row is given, untimed."""
import gc
import importlib
import sys
import time

import inputs


def resident(name):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith(name))


def fastest(turn, seconds):
    start = time.perf_counter()
    end = start + seconds
    turn()
    once = time.perf_counter() - start
    times, best = max(1, int(1e-3 / once)), 1e30
    while True:
        start = time.perf_counter()
        for _ in range(times):
            turn()
        best = min(best, (time.perf_counter() - start) / times)
        if time.perf_counter() >= end:
            return best


def costs(turn, ready, first, before):
    with open("/proc/self/clear_refs", "w") as forget:
        forget.write("5")
    turn()
    return f"{ready:.9g} {first:.9g} {resident('VmHWM:') - before}"


def main():
    peer, table, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
    if peer == "torch":
        import torch
        torch.set_num_threads(threads)
    module = importlib.import_module(table + "_rows")
    rows, prepare = module.rows(peer, threads), getattr(module, "prepare", lambda row: None)
    before = resident("VmRSS:")
    turn = check = ready = first = None
    for line in sys.stdin:
        word, _, rest = line.strip().partition(" ")
        if word == "row":
            turn = check = None
            gc.collect()
            if rest in rows:
                prepare(rest)
                start = time.perf_counter()
                turn, check = rows[rest]()
                ready = time.perf_counter() - start
                inputs.array.cache_clear()
            print("ready" if turn else "none", flush=True)
        elif word == "check":
            start = time.perf_counter()
            numbers = check()
            first = time.perf_counter() - start
            print(*(repr(float(number)) for number in numbers), flush=True)
        elif word == "costs":
            print(costs(turn, ready, first, before), flush=True)
        else:
            print(f"{fastest(turn, float(rest)):.9g}", flush=True)


if __name__ == "__main__":
    main()
