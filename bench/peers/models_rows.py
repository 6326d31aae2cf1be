# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The models of bench/models in PyTorch, JAX and ONNX Runtime: `forward`, `loss`, `gradient` and `step` of each, `token` of decode.

Weights are a dictionary by the names of the programs."""
import importlib

import inputs

RATE = 0.01
MODELS = ("mlp", "cnn", "gpt", "lstm")
LAYERS, WIDTH, HEADS, PLACES, CLASSES, BATCH = 6, 384, 6, 256, 65, 8  # of gpt
STEPS, CELLS = 100, 256  # of lstm


def given(model):
    """Weights, x and y."""
    arrays = inputs.arrays(model)
    return {name: array for name, array in arrays.items() if name not in "xy"}, arrays["x"], arrays.get("y")


def prepare(row):
    given(row.split()[0])


def rows(peer, threads):
    return importlib.import_module("models_" + peer).rows(threads)
