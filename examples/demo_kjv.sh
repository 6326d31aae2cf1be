#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# examples/demo_kjv.sh [STEPS]
#
# A model over characters learns the King James Bible (Debian's bible-kjv-text, in the public domain) from nothing in about two minutes on two
# cores: four layers of width 192. Then it goes on from a few words. WENGERT and FOLDER may be set.
set -eu
cd "$(dirname "$0")/.."

wengert=${WENGERT:-build/wengert}
folder=${FOLDER:-build/kjv}
steps=${1:-1000}
[ -x "$wengert" ] || { echo "demo-kjv: $wengert is missing; run make first" >&2; exit 1; }
PATH=$PATH:/usr/games
command -v bible >/dev/null || { echo "demo-kjv: no bible; install bible-kjv and bible-kjv-text" >&2; exit 1; }
mkdir -p "$folder"
rm -rf "$folder/model"
bible -f 'Gen1:1-Rev22:21' | sed 's/^[0-9A-Za-z]*:[0-9]* *//' >"$folder/kjv.txt"
echo "$(wc -c <"$folder/kjv.txt") characters, a model of four layers, $steps steps"
"$wengert" model train "$folder/model" --text "$folder/kjv.txt" --tokenizer bytes --shape 4x192x6 --rows 16 --length 128 --rate 2e-3 --steps "$steps" --every 250 --sample 'And God said'
for start in 'In the beginning' 'And Moses said unto the people, ' 'Blessed are they that '; do
    printf '\n> %s' "$start"
    "$wengert" model generate "$folder/model" "$start" --max-tokens 160 --temperature 0.7 --seed 1
    echo
done
