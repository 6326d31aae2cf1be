#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The network of examples/fashion.wg in NumPy: the same layers, Adam, float32, the same batches in number and size.

    bench/peer_fashion_numpy.py DIR [--batch 128] [--steps N] [--epochs 2] [--seconds S] [--json]

Convolutions are one matrix product each over gathered windows (im2col by strides, back by nine slice additions), which is how NumPy is
fast at them. With --seconds or --steps it stops early and prints the rate of what it did; a first step outside of the clock warms up.
DIR holds the four files of Fashion-MNIST. The environment's OPENBLAS_CORETYPE and OPENBLAS_L2_SIZE, where set, should be unset: they
slow NumPy down."""
import argparse
import gzip
import json
import struct
import time
from pathlib import Path

import numpy as np


def read_idx(path):
    data = gzip.open(path).read()
    shape = struct.unpack(f">{data[3]}I", data[4:4 + 4 * data[3]])
    return np.frombuffer(data, np.uint8, offset=4 + 4 * data[3]).reshape(shape)


def windows(x):
    """Pictures [n, h, w, c] as the rows [n, h-2, w-2, 9c] of all 3x3 windows; channels last keeps each row's copies long."""
    n, h, w, c = x.shape
    view = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(1, 2))  # [n, h-2, w-2, c, 3, 3]
    return np.ascontiguousarray(view.transpose(0, 1, 2, 4, 5, 3)).reshape(n, h - 2, w - 2, 9 * c)


def windows_back(rows, shape):
    """The transpose of windows: each window's items added to the pixel that they came from."""
    n, h, w, c = shape
    x = np.zeros(shape, rows.dtype)
    rows = rows.reshape(n, h - 2, w - 2, 3, 3, c)
    for i in range(3):
        for j in range(3):
            x[:, i:i + h - 2, j:j + w - 2] += rows[:, :, :, i, j]
    return x


def pool(x):
    """Maxima of 2x2 blocks; an odd last row or column is left out."""
    n, h, w, c = x.shape
    blocks = x[:, :h // 2 * 2, :w // 2 * 2].reshape(n, h // 2, 2, w // 2, 2, c)
    return blocks.max(axis=(2, 4))


def pool_back(gradient, x, maxima):
    n, h, w, c = x.shape
    out = np.zeros_like(x)
    h, w = h // 2, w // 2
    left = np.ones(maxima.shape, bool)  # the first of equal maxima takes it all
    for i in range(2):
        for j in range(2):
            hit = (x[:, i:2 * h:2, j:2 * w:2] == maxima) & left
            left &= ~hit
            out[:, i:2 * h:2, j:2 * w:2] = np.where(hit, gradient, np.float32(0))
    return out


class Network:
    def __init__(self, seed=1):
        draw = np.random.default_rng(seed)
        he = lambda *shape: (draw.standard_normal(shape) * np.sqrt(2 / shape[0])).astype(np.float32)
        limit = np.sqrt(6 / 810)
        self.parameters = [he(9, 16), np.zeros(16, np.float32), he(144, 32), np.zeros(32, np.float32),
                           draw.uniform(-limit, limit, (800, 10)).astype(np.float32), np.zeros(10, np.float32)]

    def forward(self, images):
        w1, b1, w2, b2, w3, b3 = self.parameters
        x = (images.astype(np.float32) / np.float32(255))[..., None]
        r1 = windows(x)
        a1 = np.maximum(r1.reshape(-1, 9) @ w1 + b1, 0).reshape(*r1.shape[:3], 16)
        p1 = pool(a1)
        r2 = windows(p1)
        a2 = np.maximum(r2.reshape(-1, 144) @ w2 + b2, 0).reshape(*r2.shape[:3], 32)
        p2 = pool(a2)
        flat = p2.reshape(len(images), -1)
        return flat @ w3 + b3, (r1, a1, p1, r2, a2, p2, flat)

    def loss_and_gradients(self, images, labels):
        w1, b1, w2, b2, w3, b3 = self.parameters
        logits, (r1, a1, p1, r2, a2, p2, flat) = self.forward(images)
        n = len(images)
        shifted = logits - logits.max(axis=1, keepdims=True)
        exponentials = np.exp(shifted)
        sums = exponentials.sum(axis=1, keepdims=True)
        loss = float(np.mean(np.log(sums[:, 0]) - shifted[np.arange(n), labels]))
        d_logits = exponentials / sums
        d_logits[np.arange(n), labels] -= 1
        d_logits /= np.float32(n)
        d_p2 = (d_logits @ w3.T).reshape(p2.shape)
        d_a2 = (pool_back(d_p2, a2, p2) * (a2 > 0)).reshape(-1, 32)
        d_p1 = windows_back(d_a2 @ w2.T, p1.shape)
        d_a1 = (pool_back(d_p1, a1, p1) * (a1 > 0)).reshape(-1, 16)
        return loss, [r1.reshape(-1, 9).T @ d_a1, d_a1.sum(axis=0), r2.reshape(-1, 144).T @ d_a2, d_a2.sum(axis=0),
                      flat.T @ d_logits, d_logits.sum(axis=0)]


class Adam:
    def __init__(self, parameters, rate=1e-3):
        self.parameters, self.rate, self.steps = parameters, rate, 0
        self.first = [np.zeros_like(p) for p in parameters]
        self.second = [np.zeros_like(p) for p in parameters]

    def step(self, gradients):
        self.steps += 1
        correction1, correction2 = 1 - 0.9 ** self.steps, 1 - 0.999 ** self.steps
        for p, g, m, v in zip(self.parameters, gradients, self.first, self.second):
            m += np.float32(0.1) * (g - m)
            v += np.float32(0.001) * (g * g - v)
            p -= np.float32(self.rate / correction1) * m / (np.sqrt(v / np.float32(correction2)) + np.float32(1e-8))


def batches(draw, images, labels, size, epochs):
    for _ in range(epochs):
        order = draw.permutation(len(images))
        for at in range(0, len(order), size):
            rows = order[at:at + size]
            yield images[rows], labels[rows]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("directory", type=Path)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--steps", type=int)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    images = read_idx(options.directory / "train-images-idx3-ubyte.gz")
    labels = read_idx(options.directory / "train-labels-idx1-ubyte.gz")
    network = Network()
    adam = Adam(network.parameters)
    network.loss_and_gradients(images[:options.batch], labels[:options.batch])
    rows = steps = 0
    start = time.perf_counter()
    for some_images, some_labels in batches(np.random.default_rng(1), images, labels, options.batch, options.epochs):
        loss, gradients = network.loss_and_gradients(some_images, some_labels)
        adam.step(gradients)
        rows += len(some_images)
        steps += 1
        if steps == options.steps or (options.seconds and time.perf_counter() - start >= options.seconds):
            break
    seconds = time.perf_counter() - start
    result = {"steps": steps, "seconds": seconds, "items_per_second": rows / seconds, "loss": loss}
    if options.steps is None and options.seconds is None:
        test_images = read_idx(options.directory / "t10k-images-idx3-ubyte.gz")
        test_labels = read_idx(options.directory / "t10k-labels-idx1-ubyte.gz")
        right = sum(int((network.forward(test_images[i:i + 1000])[0].argmax(axis=1) == test_labels[i:i + 1000]).sum())
                    for i in range(0, len(test_images), 1000))
        result["accuracy"] = right / len(test_images)
    if options.json:
        print(json.dumps(result))
    else:
        print(f"numpy {np.__version__}: {steps} steps in {seconds:.1f} s, {result['items_per_second']:,.0f} img/s, last loss {loss:.4f}"
              + (f", accuracy {result['accuracy']:.4f}" if "accuracy" in result else ""))


if __name__ == "__main__":
    main()
