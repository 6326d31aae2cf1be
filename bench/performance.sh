#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# bench/performance.sh [BUILD [PRINTED]]
#
# PRINTED: what bench/run.sh has printed; without it, it is run.
#
# Writes docs/performance-LEVEL.md: what bench/run.sh prints, as tables, LEVEL the vector level that this machine has; and docs/performance.md,
# with the plans of the demo's program. Nothing in those pages is typed by hand but the sentences here. An interrupted or failed run leaves
# the old pages.
set -eu
cd "$(dirname "$0")/.."
build=${1:-build}
page=$(mktemp)
figures=$(mktemp)
output=$(mktemp)
trap 'rm -f "$page" "$figures" "$output"' EXIT

if [ $# -gt 1 ]; then cat "$2" >"$output"
else bench/run.sh "$build" >"$output"; fi

# A console block that the documentation's test runs again.
shown() {
    echo "\$ $1"
    PATH="$(cd "$build" && pwd):$PATH" sh -c "$1"
}

level=$(sed -n 's/^built:.*kernels \([a-z0-9]*\).*/\1/p' "$output" | head -n 1)
[ -n "$level" ] || { echo "bench/performance.sh: the output names no vector level; it begins with what bench/run.sh prints first" >&2; exit 1; }

{
    cat <<TEXT
# Figures at vector level $level

Written by \`make performance\` from the output of \`make bench\`, on the machine named below; [performance](performance.md) says how it is measured and what costs.

TEXT
    sed -n '/^machine: /,/^load: /p' "$output" | sed 's/^\([a-z]*\): */- \1: /'
    # Sections of the table become tables of their own.
    awk -F ' *[|] *' '
        /^## / { print "\n" $0; open = 0; next }
        function row(line) { gsub(/ *[|] */, " | ", line); sub(/ *$/, "", line); return "| " line " |" }
        function rule(line) { gsub(/[^|]+/, "---", line); return line }
        function head(line) { print "\n" row(line) "\n" rule(row(line)); open = 1 }
        /^columns: / { head(substr($0, 10)); next }
        / [|] .* [|] / {
            if (!open) head("figure | value | goal | ")
            print row($0)
            next
        }
        /^skipped: / { print "\n" $0 }
        / goals met, / { print "\n" $0 "." }
    ' "$output"
} >"$figures"

{
    cat <<'TEXT'
# Performance

Figures, ours and those of peers in turns, by the longest vectors that the machine has: [v4](performance-v4.md), AVX-512; [v3](performance-v3.md), AVX2. `make performance` writes such a page, of the code as it is then: the older of the two is older than the code.

Figures belong to a machine and to what else it does; run the command to have yours, or `make bench TABLE=products` for one table (`bench/run.sh` says which there are). A bench checks its result before it times it.
Times are the least of several runs (beside peers: medians of such, the programs taking turns; times within 5% of each other are the same), those of plans and of growing calls in time of the processor. *Growth* is
that of the time when the size grows eight times; twelve is the most allowed.

## Before it runs

What a plan takes is known before it runs. `classify` evaluates less than `train`, and holds less:

TEXT
    echo '```console'
    for entry in train classify; do
        shown "wengert plan examples/fashion.wg --entry $entry | grep -E '^(patterns|stages|layout|live)'"
    done
    echo '```'
    cat <<'TEXT'

Each stage of the report says what it reads and writes in bytes, so memory traffic can be added up by hand.

What costs and what does not:

- Planning happens once; binding another extent lays offsets again and plans nothing.
- Elementwise chains run a block at a time in the first-level cache, and at v4 on f32 eight vectors at a time in registers, with the sums of lines
  (of up to 4,096 items); layout rows (reshape, permute, broadcast, narrow ...) are read through
  where the reader can follow them.
- What follows a product item by item runs on its results while they are in the cache, through a reshape too: GELU of a reshaped linear layer takes no
  pass of its own.
- A product reads f16 and bf16 through `convert` to f32: items are widened in registers, and nothing is stored. Whatever else reads the converted value
  has it stored.
- A convolution reads its windows where they lie, in groups too, and so do both gradients; pools too, whether their windows overlap or not. Nothing is
  unfolded: a thread has a piece of an image at a time, padded, and what a step has between its windows in planes of their own.
- Attention reads the keys and values that its mask admits. What is hidden counts too where it is not finite (zero times infinity is NaN), so it is
  looked over: in each run where keys and values are fed or computed; once where `carry` keeps them and the run writes a slice into them in
  place (`wengert plan` says "in place of carried"): writes are then looked over as they are made. A mask that is added needs that of keys as well, one that selects of values alone.
- The slopes of attention by q, k and v are one stage where keys are many (`src/plan/costs.def`): the weights are made again of q and k, 256 rows at a
  time, and nothing of the size of all scores is kept from the forward pass. With 1,024 causal places a training step's attention takes 0.65 of the time
  that its rows take, with 256 the same time.
- `WENGERT_SIMD=v2` (or `v3`) measures a lower vector level, `--threads 1` a single thread; neither changes a bit.
TEXT
} >"$page"
cat "$figures" >"docs/performance-$level.md"
cat "$page" >docs/performance.md
echo "docs/performance-$level.md and docs/performance.md written"
