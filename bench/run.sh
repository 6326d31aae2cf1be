#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# bench/run.sh [BUILD [TABLE...]]
#
# PEERS (default BUILD/peers) is where make bench-peers installed the peers.
#
# Prints tables, the machine first: rows of what is measured | figure | goal | met or MISSED, or under the names that a line of columns gives.
# TABLE: roofs plan counts growth run arrays costs adbench fashion start models, and those beside peers: products training forward windows
# elementwise memory derivatives lazy bpl. None named: all. BUILD (default build) holds the built bench programs and the command. Ends with a count of figures; a
# missed goal does not fail, a wrong result does.
set -eu
cd "$(dirname "$0")/.."
build=${1:-build}
[ $# -eq 0 ] || shift

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

# Tables beside peers, by name.
peers() {
    peers=${PEERS:-$build/peers}
    [ -f "$peers/ready" ] || { printf '\nskipped: %s beside peers; make bench-peers installs them\n' "$*"; return 0; }
    "$peers/venv/bin/python" bench/peers/compare.py "$build" "$peers" "$@"
}

# The array language beside basedpl and NumPy.
bpl() {
    peers=${PEERS:-$build/peers}
    [ -x "$peers/venv/bin/bpl" ] || { printf '\nskipped: bpl beside basedpl and NumPy; make bench-peers installs them\n'; return 0; }
    "$peers/venv/bin/python" bench/bpl.py "$build" "$peers"
}

# Fixed costs of lazy arrays and of BPL in instructions, beside their goals.
costs() {
    command -v valgrind >/dev/null || { printf '\nskipped: fixed costs of lazy arrays and of BPL; install valgrind\n'; return 0; }
    TESTED_BUILD=$build python3 tests/lazy/run_costs.py --table
    python3 bench/bpl_costs.py "$build"
}

table() {
    case $1 in
    roofs | plan | growth) "$build/bench/bench_$1" ;;
    counts) "$build/bench/bench_counts" examples/fashion.wg train ;;
    run) "$build/bench/bench_run" && small_run ;;
    arrays) "$build/bench/bench_lazy" ;;
    costs) costs ;;
    bpl) bpl ;;
    adbench) "$build/bench/bench_adbench" ;;
    fashion) bench/compare_numpy.sh "$build" ;;
    start) python3 bench/start.py "$build" ;;
    models) python3 bench/models.py "$build" "${PEERS:-$build/peers}" ;;
    *) peers "$1" ;;
    esac
}

figures() {
    for name in "$@"; do table "$name" || return 1; done
}

machine
table=$(mktemp)
trap 'rm -f "$table"' EXIT
[ $# -gt 0 ] || set -- roofs plan counts growth run arrays costs adbench products training forward windows elementwise memory derivatives lazy bpl fashion start models
{ figures "$@" || echo failed; } | tee "$table"
! tail -n 1 "$table" | grep -qx failed || { echo "bench: a program failed" >&2; exit 1; }
echo
echo "$(grep -c ' | met$' "$table" || true) goals met, $(grep -c ' | MISSED$' "$table" || true) missed"
