#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# bench/accuracy.sh [BUILD [sample]]
#
# Writes docs/accuracy.md from what `accuracy --full` of the build's tests prints (which needs MPFR and takes some twenty minutes), or from
# the sample that the tests judge, and says which. A failed run leaves the old page.
set -eu
cd "$(dirname "$0")/.."
build=${1:-build}
how=${2:-full}
output=$(mktemp)
page=$(mktemp)
if [ "$how" = sample ]; then "$build/tests/accuracy" | grep -v '^[0-9]* passed' >"$output"
else "$build/tests/accuracy" --full >"$output"; fi
{
    cat <<'TEXT'
# Accuracy

Written by `make accuracy`. The greatest errors of the elementary functions that were found, in ulps of the exact result (0.5 is correct
rounding), with the argument where each was. MPFR is the judge. They are the same on every machine, at every vector width and number of
threads, because the bits are. f16 and bf16 are computed in f32 and rounded once more.

*every*: all 2^32 floats. Functions of which f32 is the f64 text rounded once, functions of more arguments, and f64 are judged on samples:
dense where a function bends, and around edges, multiples of pi/2 and the powers of two. `lgamma` and `digamma` have roots that are no
floats: near those the error stands in eps (the distance from 1 to the next float).

TEXT
    if [ "$how" = sample ]; then printf '%s\n\n' "This page is of the sample that \`make test\` judges; the whole measurement may find more."; fi
    cat <<'TEXT'
| function | kind | greatest error, ulps | promised | places | at |
|---|---|---|---|---|---|
TEXT
    awk '{
        at = $7
        for (i = 8; i <= NF && $i != "and"; i++) at = at ", " $i
        note = ""
        for (; i <= NF; i++) note = note " " $i
        print "| " $1 " | " $2 " | " $3 note " | " $4 " | " ($5 == "every" ? "every" : $6) " | " at " |"
    }' "$output"
} >"$page"
chmod 644 "$page"
mv "$page" docs/accuracy.md
rm -f "$output"
