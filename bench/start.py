#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""How long a compiled model takes to its first token, in a warm page cache, and what stays resident: start.py BUILD.

Rows: what | figure | goal | met or MISSED. Models are llama of random weights: 110M parameters in f32 (438 MB), the same with more layers (1 GB)."""
import array
import json
import pathlib
import random
import resource
import statistics
import struct
import subprocess
import sys
import tempfile
import time

WIDTH, INNER, HEADS, VOCABULARY = 768, 2048, 12, 32000
RUNS = 7


def make(folder, layers):
    """config.json and model.safetensors; one block of random numbers is repeated, since their values cost no time."""
    shapes = {"model.embed_tokens.weight": [VOCABULARY, WIDTH], "model.norm.weight": [WIDTH]}
    for layer in range(layers):
        name = f"model.layers.{layer}."
        shapes |= {f"{name}self_attn.{part}_proj.weight": [WIDTH, WIDTH] for part in "qkvo"}
        shapes |= {f"{name}mlp.gate_proj.weight": [INNER, WIDTH], f"{name}mlp.up_proj.weight": [INNER, WIDTH], f"{name}mlp.down_proj.weight": [WIDTH, INNER]}
        shapes |= {f"{name}input_layernorm.weight": [WIDTH], f"{name}post_attention_layernorm.weight": [WIDTH]}
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({
        "model_type": "llama", "hidden_size": WIDTH, "num_hidden_layers": layers, "num_attention_heads": HEADS, "num_key_value_heads": HEADS, "vocab_size": VOCABULARY,
        "intermediate_size": INNER, "max_position_embeddings": 2048, "rms_norm_eps": 1e-5, "tie_word_embeddings": True}))
    header, at = {}, 0
    for name, shape in shapes.items():
        size = 4 * shape[0] * (shape[1] if len(shape) == 2 else 1)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    draw = random.Random(1)
    block = array.array("f", (draw.gauss(0, 0.02) for _ in range(1 << 18))).tobytes()
    with open(folder / "model.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for left in range(at, 0, -len(block)):
            file.write(block[:left])
    return at


def seconds(*command):
    times = []
    for _ in range(RUNS + 1):
        begin = time.perf_counter()
        done = subprocess.run(command, stdout=subprocess.DEVNULL)
        times.append(time.perf_counter() - begin)
        if done.returncode:
            sys.exit(f"{' '.join(command)} failed")
    return statistics.median(times[1:])


def row(what, value, goal, good):
    print(f"{what:<66} | {value:<32} | {goal:<10} | {'met' if good else 'MISSED'}")


def main():
    wengert = str(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build", "wengert"))
    print(f"\n## Compiled models, llama of width {WIDTH} in f32 (medians of {RUNS})\n", flush=True)
    with tempfile.TemporaryDirectory() as directory:
        folder = pathlib.Path(directory)
        weights = {}
        for name, layers in ("small", 12), ("large", 33):
            weights[name] = make(folder / name, layers)
            subprocess.run([wengert, "model", "compile", str(folder / name), str(folder / f"{name}.wgm")], check=True, stderr=subprocess.DEVNULL)
        small, large = (str(folder / f"{name}.wgm") for name in ("small", "large"))
        first = 1e3 * seconds(wengert, "model", "logits", small, "--tokens", "5")
        row(f"logits of the first token of an image of {weights['small'] / 1e6:.0f} MB", f"{first:.0f} ms", "100 ms", first <= 100)
        opened = 1e3 * seconds(wengert, "model", "identity", large)
        row(f"an image of {weights['large'] / 1e9:.2f} GB opened, checked and identified", f"{opened:.1f} ms", "50 ms", opened <= 50)
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        subprocess.run([wengert, "model", "bench", large, "--prompt", "0", "--generate", "64", "--repeat", "1"], check=True, stdout=subprocess.DEVNULL)
        resident = 1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        caches = 2 * 33 * WIDTH * 4 * 256
        share = resident / (weights["large"] + caches)
        row("resident after 64 tokens, by weights and caches", f"{resident / 1e6:.0f} MB, {share:.3f}" if resident > before else "?", "1.05", share <= 1.05)
        config = json.loads((folder / "small" / "config.json").read_text()) | {"num_hidden_layers": 1000}
        (folder / "deep.json").write_text(json.dumps(config))
        authored = 1e3 * seconds(wengert, "model", "author", str(folder / "deep.json"), "--cut", "decode")
        row("the text of 1,000 layers authored", f"{authored:.0f} ms", "100 ms", authored <= 100)


if __name__ == "__main__":
    main()
