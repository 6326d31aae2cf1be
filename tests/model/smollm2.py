#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""smollm2.py WENGERT MODEL: the real model against measured facts.

Token ids of texts, greedy continuations and the ten greatest logits of SmolLM2-135M-Instruct, as an independent computation in f64 on the
dequantised weights has them (tests/model/data/smollm2-135m.json). Needs the file, so it is no part of `make test`; `make demo-lm` runs it."""
import json
import pathlib
import subprocess
import sys

FACTS = json.loads((pathlib.Path(__file__).parent / "data" / "smollm2-135m.json").read_text())


def run(*words, text=None):
    done = subprocess.run([str(word) for word in words], input=text, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}: {done.stderr}")
    return done.stdout


def main():
    wengert, model = sys.argv[1:3]
    texts = "".join(json.dumps(case["text"]) + "\n" for case in FACTS["tokenizer"])
    answers = run(wengert, "model", "tokenize", model, "--stdin", "--json", text=texts).splitlines()
    wrong = [case["text"] for case, answer in zip(FACTS["tokenizer"], answers) if json.loads(answer)["ids"] != case["ids"]]
    print(f"token ids: {len(answers) - len(wrong)} of {len(FACTS['tokenizer'])} texts as they must be")
    for text in wrong:
        print(f"  wrong: {text!r}")
    failed = len(wrong)
    for case in FACTS["generation"]:
        if "greedy_ids" in case:
            words = ["--max-tokens", len(case["greedy_ids"]), "--temperature", 0, "--json"]
            answer = json.loads(run(wengert, "model", "generate", model, case["prompt"], *words))
            good = answer["ids"] == case["greedy_ids"][:len(answer["ids"])] and len(answer["ids"]) >= len(case["greedy_ids"]) - 1
            print(f"{case['prompt']!r}: {'as it must be' if good else 'WRONG'}: {answer['text']!r}")
            failed += not good
        if "top10" in case:
            logits = json.loads(run(wengert, "model", "logits", model, "--tokens", ",".join(map(str, case["ids"])), "--json"))["logits"][-1]
            off = max(abs(logits[token] - value) for token, value in case["top10"])
            print(f"  its ten greatest logits are within {off:.1e}")
            failed += off > 1e-3
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
