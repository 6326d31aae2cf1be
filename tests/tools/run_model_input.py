#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What strangers hand to `wengert model ...`: files that are cut, wrong or of another model, and disks that are full. One clear line each, and
what was there before is kept."""
import json
import os
import pathlib
import random
import shutil
import struct
import subprocess
import tempfile

from model_command import COMMAND, MODELS, STORIES, TIED, good, refused, report, run

SHARDED = MODELS / "llama" / "sharded"
GGUF = MODELS / "gguf" / "llama-q4_0.gguf"
BYTES = ["--tokenizer", "bytes", "--seed", 7, "--ctx", 64]


def copied(folder, source, name="copy"):
    target = folder / name
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target)
    return target


def header_of(path):
    raw = path.read_bytes()
    length = struct.unpack("<Q", raw[:8])[0]
    return json.loads(raw[8 : 8 + length]), raw[8 + length :]


def put_safetensors(path, header, data):
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def weights(folder):
    """A configuration and weights that disagree."""
    model = copied(folder, TIED)
    file = model / "model.safetensors"
    header, data = header_of(file)
    some = "model.layers.1.mlp.up_proj.weight"
    for change, mentions in (
        (lambda h: h.pop(some), "a hole"),
        (lambda h: h[some].update(shape=h[some]["shape"][::-1]), some),
        (lambda h: h[some].update(dtype="I32"), some),
        (lambda h: h[some].update(data_offsets=[h[some]["data_offsets"][0], h[some]["data_offsets"][1] + 4]), some),
    ):
        changed = json.loads(json.dumps(header))
        change(changed)
        put_safetensors(file, changed, data)
        for verb in (["identity"], ["logits", "--tokens", "1"]):
            refused(1, verb[0], model, *verb[1:], mentions=mentions)
    put_safetensors(file, header, data)
    whole = file.read_bytes()
    for length in (0, 4, 8, 100, len(whole) // 2, len(whole) - 1):
        file.write_bytes(whole[:length])
        refused(1, "inspect", model, mentions="model.safetensors")
    file.write_bytes(whole + b"x")
    refused(1, "inspect", model, mentions="model.safetensors")
    file.write_bytes(whole)
    config = json.loads((model / "config.json").read_text())
    for key, value, mentions in (
        ("vocab_size", 255, "embed_tokens"),
        ("num_hidden_layers", 3, "layers.2"),
        ("intermediate_size", 2**31, "intermediate_size"),
        ("num_key_value_heads", 0, "num_key_value_heads"),
        ("hidden_size", "wide", "hidden_size"),
        ("max_position_embeddings", 0, "trained length"),
        ("tie_word_embeddings", False, "lm_head"),
    ):
        (model / "config.json").write_text(json.dumps({**config, key: value}))
        refused(1, "inspect", model, mentions=mentions)
    (model / "config.json").write_text("[" * 100000)
    refused(1, "inspect", model, mentions="config.json")
    (model / "config.json").unlink()
    refused(1, "inspect", model, mentions="config.json")


def shards(folder):
    model = copied(folder, SHARDED)
    index = model / "model.safetensors.index.json"
    whole = json.loads(index.read_text())
    first = sorted(whole["weight_map"])[0]
    for value, mentions in ((["x"], "plain name"), ("../copy/model-00001-of-00003.safetensors", "plain name"), ("absent.safetensors", "absent"), ("config.json", "config.json")):
        index.write_text(json.dumps({"weight_map": {**whole["weight_map"], first: value}}))
        refused(1, "inspect", model, mentions=mentions)
    index.write_text(json.dumps({"weight_map": {**whole["weight_map"], "no.such.tensor": whole["weight_map"][first]}}))
    refused(1, "inspect", model, mentions="no.such.tensor")
    index.write_text("{}")
    refused(1, "inspect", model, mentions="weight_map")
    index.write_text(json.dumps(whole))
    (model / whole["weight_map"][first]).unlink()
    refused(1, "inspect", model, mentions=whole["weight_map"][first])


def cut_files(folder):
    """GGUF files and checkpoints of llama2.c, cut anywhere and with bytes changed: never a signal, never more than a line."""
    draw = random.Random(5)
    for source in (GGUF, STORIES):
        whole = source.read_bytes()
        file = folder / f"cut{source.suffix}"
        for length in [0, 3, 4, 20, 27, 28, 100] + [draw.randrange(len(whole)) for _ in range(8)]:
            file.write_bytes(whole[:length])
            refused(1, "inspect", file, mentions=file.name)
        for _ in range(40):
            bent = bytearray(whole)
            for _ in range(1 + draw.randrange(4)):
                bent[draw.randrange(600)] = draw.randrange(256)
            file.write_bytes(bent)
            done = run("logits", file, "--tokens", "1,2")
            lines = done.stderr.splitlines()
            report.check(done.returncode in (0, 1) and len(lines) == (done.returncode == 1), f"bytes changed in {source.name}: exit {done.returncode}, {done.stderr[:300]!r}")


def tokens(folder):
    refused(1, "logits", TIED, "--tokens", "1,256", mentions="256")
    refused(1, "logits", TIED, "--tokens", "-1", mentions="-1")
    refused(2, "logits", TIED, "--tokens", "1,x", mentions="1,x")
    refused(1, "detokenize", "bytes", "--tokens", "256", mentions="256")
    refused(1, "tokenize", folder / "absent.json", "x", mentions="absent.json")
    for text in ("{", '{"model": {"type": "BPE", "vocab": {"a": -1}, "merges": []}}', '{"model": {"type": "BPE", "vocab": {"a": 0, "b": 7}, "merges": []}}',
                 '{"model": {"type": "WordPiece", "vocab": {}}}', '{"model": {"type": "BPE", "vocab": {"a": 0}, "merges": ["a b"]}}',
                 '{"model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}, "added_tokens": [{"content": "x"}]}', "[" * 1000, "\ud800".encode("utf-8", "surrogatepass")):
        file = folder / "tokenizer.json"
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        refused(1, "tokenize", file, "a", mentions="tokenizer.json")


def running(folder):
    """Positions that are full, a draft of another vocabulary, sessions and receipts of others."""
    refused(1, "generate", TIED, "x" * 80, *BYTES, mentions="never cut")
    report.check(len(json.loads(good("generate", TIED, "x", *BYTES, "--json"))["ids"]) == 63, "without --max-tokens the positions are not filled")
    refused(1, "generate", TIED, "x", *BYTES, "--draft", STORIES, mentions="they must be the same")
    refused(1, "generate", TIED, "x", *BYTES, "--adapter", TIED / "model.safetensors", mentions="adapter of no weight")
    session, receipt = folder / "session", folder / "receipt.json"
    words = [TIED, "some text", *BYTES, "--max-tokens", 8]
    good("generate", *words, "--session", session, "--receipt", receipt)
    whole = session.read_bytes()
    for length in (0, 7, 64, len(whole) - 1):
        session.write_bytes(whole[:length])
        refused(1, "generate", *words, "--session", session, mentions="session")
    session.write_bytes(whole)
    header, data = header_of(session)
    for change, mentions in (
        (lambda h: h.pop("tokens"), "session"),
        (lambda h: h.pop("cache.k.0"), "session"),
        (lambda h: h["__metadata__"].pop("wengert.sha256"), "identity"),
        (lambda h: h["__metadata__"].update({"wengert.sha256": "0" * 64}), "program text"),
    ):
        changed = json.loads(json.dumps(header))
        change(changed)
        put_safetensors(session, changed, data)
        refused(1, "generate", *words, "--session", session, mentions=mentions)
    session.write_bytes(whole)
    refused(1, "generate", TIED, "x", "--tokenizer", "bytes", "--ctx", 4, "--session", session, mentions="positions")
    told = json.loads(receipt.read_text())
    for change, mentions in (
        (lambda r: r.pop("sampler"), "sampler"),
        (lambda r: r["sampler"].update({"top-k": 1e300}), "top-k"),
        (lambda r: r["sampler"].update({"top-p": 2}), "top-p"),
        (lambda r: r.update(tokens=[-1]), "tokens"),
        (lambda r: r.update(prompt=[999]), "999"),
        (lambda r: r.update(prompt=[]), "prompt"),
        (lambda r: r["identity"].update(sha256="0"), "identity"),
        (lambda r: r["identity"].update(chips=1 + 2**32), "identity"),
        (lambda r: r.update(weights="0" * 64), "weights differ"),
    ):
        changed = json.loads(json.dumps(told))
        change(changed)
        receipt.write_text(json.dumps(changed))
        refused(1, "verify", receipt, TIED, mentions=mentions)
    refused(1, "verify", folder / "absent", TIED, mentions="absent")


def lines_that_cannot_be_read(folder):
    """The lines of standard input end at its end, and not where it cannot be read."""
    model = copied(folder, TIED)
    (model / "tokenizer.bytes").write_text("")
    (model / "chat_template.jinja").write_text("{{ messages[0].content }}")
    for words in ["tokenize", "bytes", "--stdin"], ["detokenize", "bytes", "--stdin"], ["chat", model]:
        file = os.open(folder, os.O_RDONLY)
        done = subprocess.run([str(COMMAND), "model", *map(str, words)], stdin=file, capture_output=True, text=True, timeout=60)
        os.close(file)
        report.check(done.returncode == 1 and "standard input cannot be read: Is a directory" in done.stderr, f"a folder as lines of {words[0]}: {done}")


def templates(folder):
    model = copied(folder, TIED)
    (model / "tokenizer.bytes").write_text("")
    for source, mentions in (
        ("{% set ns = namespace(a=1) %}{% set ns.a = ns %}{{ ns }}", "nested deeper"),
        ("{% for i in range(9999) %}{% for j in range(9999) %}{{ i }}{% endfor %}{% endfor %}", "more than"),
        ("{% macro f() %}", "macro"),
        ("{{ raise_exception('one\nand two') }}", "one"),
    ):
        (model / "chat_template.jinja").write_text(source)
        refused(1, "generate", model, "hi", "--chat", mentions=mentions)


def full_disks(folder):
    session, receipt = folder / "full.session", folder / "full.json"
    words = [TIED, "some text", *BYTES, "--max-tokens", 8]
    refused(1, "generate", *words, "--session", session, mentions="full.session", full=True, text=True)
    refused(1, "generate", *words, "--receipt", receipt, mentions="full.json", full=True, text=True)
    refused(1, "generate", *words, "--receipt", "/dev/full", mentions="/dev/full", text=True)
    report.check(not session.exists() and not receipt.exists(), "a file is there although the disk was full")
    good("generate", *words, "--session", session)
    before = session.read_bytes()
    refused(1, "generate", *words, "--session", session, mentions="full.session", full=True, text=True)
    report.check(session.read_bytes() == before, "a full disk spoilt the session")
    refused(1, "quantize", TIED, folder / "full.gguf", mentions="full.gguf", full=True)
    refused(1, "convert", GGUF, folder / "full", mentions=str(folder / "full"), full=True)
    report.check(not (folder / "full.gguf").exists(), "half a GGUF file is there")
    text, model = folder / "text.txt", folder / "trained"
    text.write_text("the cat sat on the mat. " * 40)
    lesson = ["train", model, "--text", text, "--shape", "1x16x2", "--rows", 2, "--length", 16, "--steps", 3]
    good(*lesson)
    kept = {path.name: path.read_bytes() for path in model.iterdir()}
    done = run(*lesson, "--seed", 2, full=True)
    report.check(done.returncode == 1 and "trained" in done.stderr.splitlines()[-1], f"training on a full disk: exit {done.returncode}, {done.stderr!r}")
    report.check({path.name: path.read_bytes() for path in model.iterdir()} == kept, "a full disk spoilt the trained model")
    state = model / "training.safetensors"
    state.write_bytes(kept[state.name][:-5])
    refused(1, *lesson, "--resume", mentions="training.safetensors")


def main():
    for part in (weights, shards, cut_files, tokens, running, lines_that_cannot_be_read, templates, full_disks):
        with tempfile.TemporaryDirectory() as directory:
            part(pathlib.Path(directory))
    report.finish()


if __name__ == "__main__":
    main()
