#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The inputs of the programs in bench/models by name, the same for every peer, and as the raw files that bench_model reads.

    bench/peers/inputs.py FOLDER MODEL...

Names, kinds and shapes are those of the programs; what the items are is said here."""
import functools
import pathlib
import re
import sys
import zlib

import ml_dtypes
import numpy as np

MODELS = pathlib.Path(__file__).resolve().parent.parent / "models"
KINDS = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64, "i8": np.int8, "i32": np.int32}
CLASSES = {"mlp": 10, "cnn": 10, "gpt": 65, "lstm": 65, "decode": 65}
KEPT = 128  # tokens whose keys and values a decode step finds


def declared(model):
    """Kind and shape of each input of a program, by name."""
    found, repeated = {}, None
    for line in (MODELS / f"{model}.wg").read_text().splitlines():
        if match := re.match(r"repeat (\w+) = (\d+) to (\d+)", line):
            repeated = match[1], range(int(match[2]), int(match[3]) + 1)
        elif line == "end":
            repeated = None
        elif match := re.match(r" *input (\S+) (?:(\w+) )?\[([\d, ]*)\]", line):
            names = [match[1]] if repeated is None else [match[1].replace("{%s}" % repeated[0], str(i)) for i in repeated[1]]
            for name in names:
                found[name] = match[2] or "f32", tuple(int(extent) for extent in match[3].split(","))
    return found


def items(model, name, kind, shape):
    draws = np.random.RandomState(zlib.crc32(name.encode()))
    last = name.rsplit(".", 1)[-1]
    if model == "elementwise" and kind == "i32":
        return draws.randint(0, shape[0], shape)
    if kind == "i32":
        return draws.randint(0, CLASSES[model], shape)
    if kind == "i8":
        return draws.randint(-127, 128, shape)
    if model == "elementwise":
        normal = draws.randn(*shape)
        return np.abs(normal) + 0.01 if name == "p" else normal
    if model == "products" or name == "x":
        return draws.randn(*shape)
    if last in ("g1", "g2", "lng"):
        return np.ones(shape)
    if name.startswith(("keys", "values")):
        return np.concatenate([draws.randn(shape[0], KEPT, shape[2]) / 2, np.zeros((shape[0], shape[1] - KEPT, shape[2]))], 1)
    if len(shape) == 1:
        return np.zeros(shape)
    if model in ("gpt", "decode"):
        return draws.randn(*shape) * 0.02
    inputs = shape[0] if len(shape) == 2 else np.prod(shape[1:])
    return draws.randn(*shape) / np.sqrt(inputs)


@functools.cache
def array(model, name):
    kind, shape = declared(model)[name]
    return np.ascontiguousarray(items(model, name, kind, shape).astype(KINDS[kind]))


def arrays(model):
    return {name: array(model, name) for name in declared(model)}


def write(folder, model):
    for name, found in arrays(model).items():
        found.tofile(pathlib.Path(folder) / f"{model}.{name}")


if __name__ == "__main__":
    for each in sys.argv[2:]:
        write(sys.argv[1], each)
