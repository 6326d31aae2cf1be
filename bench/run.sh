#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# bench/run.sh [BUILD]
#
# Prints every figure as one table, the machine first: what is measured | figure | goal | met or MISSED. BUILD (default build) holds the
# built bench programs and the command. Ends with a count of figures; a missed goal does not fail, a wrong result does.
set -eu
cd "$(dirname "$0")/.."
build=${1:-build}

machine() {
    model=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
    echo "machine: ${model:-$(uname -m)}, $(getconf _NPROCESSORS_ONLN) processors, $(uname -sr)"
    echo "built:   $("$build/wengert" version | tr '\n' ';' | sed 's/;$//; s/;/; /g')"
    echo "load:    $(cut -d ' ' -f 1-3 /proc/loadavg) before the first figure"
}

# Instructions of N runs of the small graph, all else included.
instructions() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$build/bench/bench_run" --runs "$1" 2>&1 | sed -n 's/.*Collected : *//p'
}

small_run() {
    command -v valgrind >/dev/null || { echo "skipped: instructions of one run; install valgrind"; return 0; }
    few=$(instructions 1000)
    many=$(instructions 3000)
    printf '%-66s | %-32s | %-10s | \n' "the same run: instructions" "$(((many - few) / 2000))" ""
}

figures() {
    "$build/bench/bench_plan" && "$build/bench/bench_counts" examples/fashion.wg train && "$build/bench/bench_growth" &&
        "$build/bench/bench_run" && small_run && bench/compare_numpy.sh "$build"
}

machine
table=$(mktemp)
trap 'rm -f "$table"' EXIT
{ figures || echo failed; } | tee "$table"
! tail -n 1 "$table" | grep -qx failed || { echo "bench: a program failed" >&2; exit 1; }
echo
echo "$(grep -c ' | met$' "$table" || true) goals met, $(grep -c ' | MISSED$' "$table" || true) missed"
