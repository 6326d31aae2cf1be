#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The inputs of bench/bench_adbench.c and its peers: arrays by name, and as raw files.

    bench/peers/adbench_inputs.py FOLDER"""
import pathlib
import sys

import numpy as np

GROUPS, DIMENSIONS, POINTS = 25, 10, 1000
CAMERAS, MARKS, SEEN = 49, 7776, 31843
LAYERS, BITS, CHARACTERS = 2, 14, 1024


def arrays():
    draws = np.random.RandomState(1)
    below = DIMENSIONS * (DIMENSIONS - 1) // 2
    found = {
        "gmm_alphas": draws.randn(GROUPS), "gmm_means": draws.randn(GROUPS, DIMENSIONS),
        "gmm_factors": .3 * draws.randn(GROUPS, DIMENSIONS + below), "gmm_points": draws.randn(POINTS, DIMENSIONS),
        "ba_cameras": np.concatenate([.1 * draws.randn(CAMERAS, 3), draws.randn(CAMERAS, 3) + [0, 0, -8], 500 + draws.randn(CAMERAS, 1),
                                      draws.randn(CAMERAS, 2), .01 * draws.randn(CAMERAS, 2)], 1),
        "ba_points": draws.randn(MARKS, 3), "ba_weights": draws.rand(SEEN) + .5,
        "ba_camera_of": draws.randint(0, CAMERAS, SEEN), "ba_point_of": draws.randint(0, MARKS, SEEN), "ba_seen": 10 * draws.randn(SEEN, 2),
        "lstm_gates": .3 * draws.randn(LAYERS, 2, 4, BITS), "lstm_ends": .3 * draws.randn(3, BITS),
        "lstm_state": .3 * draws.randn(LAYERS, 2, BITS), "lstm_text": (draws.rand(CHARACTERS, BITS) > .5).astype(np.float64)}
    return {name: array.astype(np.int64 if array.dtype.kind == "i" else np.float64) for name, array in found.items()}


if __name__ == "__main__":
    for name, array in arrays().items():
        array.tofile(pathlib.Path(sys.argv[1]) / name)
