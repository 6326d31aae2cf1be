# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The forward passes of the models, and decode, in ONNX Runtime."""
import numpy as np

import array_rows
import onnx_session
from models_rows import BATCH, CELLS, HEADS, LAYERS, MODELS, PLACES, WIDTH, given
from inputs import KEPT
from onnx_session import node


def dense(x, weight, bias, out):
    return [node("MatMul", f"{x} {weight}", out + ".product"), node("Add", f"{out}.product {bias}", out)]


def mlp(x):
    return [*dense("x", "w0", "b0", "a"), node("Relu", "a", "b"), *dense("b", "w1", "b1", "c"), node("Relu", "c", "d"), *dense("d", "w2", "b2", "out")], {}


def cnn(x):
    def stage(x, filters, bias, out):
        return [node("Conv", f"{x} {filters} {bias}", out + ".conv", pads=[2, 2, 2, 2]), node("Relu", out + ".conv", out + ".relu"),
                node("MaxPool", out + ".relu", out, kernel_shape=[2, 2], strides=[2, 2])]
    return [*stage("x", "k0", "c0", "a"), *stage("a", "k1", "c1", "b"), node("Flatten", "b", "c"), *dense("c", "w0", "b0", "d"), node("Relu", "d", "e"),
            *dense("e", "w1", "b1", "out")], {}


def norm(x, scale, shift, out):
    return node("LayerNormalization", f"{x} {scale} {shift}", out, axis=-1, epsilon=1e-5)


def block(i, decodes):
    """From a.I to a.I+1."""
    n = f"layer.{i}."
    nodes = [norm(f"a.{i}", n + "g1", n + "h1", n + "normed"), *dense(n + "normed", n + "qkv", n + "qkvb", n + "all"),
             node("Split", n + "all", f"{n}q0 {n}k0 {n}v0", axis=-1, num_outputs=3)]
    for part in "qkv":
        nodes += [node("Reshape", f"{n}{part}0 apart", f"{n}{part}1"), node("Transpose", f"{n}{part}1", f"{n}{part}2", perm=[0, 2, 1, 3])]
    keys, values = n + "k2", n + "v2"
    if decodes:
        nodes += [node("Concat", f"keys.{i} {keys}", n + "keys", axis=2), node("Concat", f"values.{i} {values}", n + "values", axis=2)]
        keys, values = n + "keys", n + "values"
    nodes += [node("Transpose", keys, n + "turned", perm=[0, 1, 3, 2]), node("MatMul", f"{n}q2 {n}turned", n + "scores"),
              node("Mul", f"{n}scores scale", n + "scaled")]
    if not decodes:
        nodes += [node("Add", f"{n}scaled mask", n + "seen")]
    nodes += [node("Softmax", n + ("scaled" if decodes else "seen"), n + "shares", axis=-1), node("MatMul", f"{n}shares {values}", n + "found"),
              node("Transpose", n + "found", n + "placed", perm=[0, 2, 1, 3]), node("Reshape", f"{n}placed together", n + "joined"),
              *dense(n + "joined", n + "o", n + "ob", n + "attended"), node("Add", f"a.{i} {n}attended", n + "middle"),
              norm(n + "middle", n + "g2", n + "h2", n + "normed2"), *dense(n + "normed2", n + "f", n + "fb", n + "wide"),
              node("Gelu", n + "wide", n + "bent", approximate="tanh"), *dense(n + "bent", n + "p", n + "pb", n + "narrow")]
    return nodes + [node("Add", f"{n}middle {n}narrow", f"a.{i + 1}")]


def transformer(batch, places, decodes):
    nodes = [node("Gather", "emb x", "characters"), node("Add", "characters " + ("pos.row" if decodes else "pos"), "a.0")]
    for i in range(LAYERS):
        nodes += block(i, decodes)
    constants = {"apart": np.array([batch, places, HEADS, WIDTH // HEADS]), "together": np.array([batch, places, WIDTH]), "scale": np.float32(0.125)}
    return nodes + [norm(f"a.{LAYERS}", "lng", "lnb", "last"), node("MatMul", "last head", "out")], constants


def gpt(x):
    nodes, constants = transformer(BATCH, PLACES, False)
    return nodes, {**constants, "mask": np.triu(np.full((PLACES, PLACES), -np.inf, np.float32), 1)}


def gates(weight):
    """Columns input, forget, cell, output as rows input, output, forget, cell."""
    i, f, g, o = np.split(weight, 4, -1)
    return np.ascontiguousarray(np.concatenate([i, o, f, g], -1).T)[None]


def lstm(x):
    w, _, _ = given("lstm")
    constants = {"wx.t": gates(w["wx"]), "wh.t": gates(w["wh"]), "b.both": np.concatenate([gates(w["b"]), np.zeros((1, 4 * CELLS), np.float32)], -1)}
    return [node("LSTM", "x wx.t wh.t b.both", "all", hidden_size=CELLS), node("Squeeze", "all one", "h"), *dense("h", "wo", "bo", "out")], {
        **constants, "one": np.array([1])}


def forward(model, threads):
    weights, x, _ = given(model)
    nodes, constants = {"mlp": mlp, "cnn": cnn, "gpt": gpt, "lstm": lstm}[model](x)
    read = {name for each in nodes for name in each.input}
    turn = onnx_session.turn_of(nodes, {"x": x}, {**{name: array for name, array in weights.items() if name in read}, **constants}, "out", threads)
    return turn, lambda: array_rows.numbers(turn())


def token(threads):
    weights, x, _ = given("decode")
    kept = {name: np.ascontiguousarray(array[None, :, :KEPT]) for name, array in weights.items() if name.startswith(("keys", "values"))}
    weights = {name: array for name, array in weights.items() if name not in kept and name != "pos"}
    nodes, constants = transformer(1, 1, True)
    constants["pos.row"] = given("decode")[0]["pos"][KEPT:KEPT + 1]
    others = [f"layer.{i}.{name}" for i in range(LAYERS) for name in ("keys", "values")]
    turn = onnx_session.turn_of(nodes, {"x": x[None], **kept}, {**weights, **constants}, "out", threads, others)
    return turn, lambda: array_rows.numbers(turn())


def rows(threads):
    return {**{f"{model} forward": (lambda model=model: forward(model, threads)) for model in MODELS}, "decode token": lambda: token(threads)}
