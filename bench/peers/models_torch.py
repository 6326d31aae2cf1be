# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The models in PyTorch, eager."""
import torch
import torch.nn.functional as f

import array_rows
from models_rows import CELLS, HEADS, LAYERS, MODELS, RATE, WIDTH, given
from inputs import KEPT


def mlp(w, x):
    x = f.relu(torch.addmm(w["b0"], x, w["w0"]))
    x = f.relu(torch.addmm(w["b1"], x, w["w1"]))
    return torch.addmm(w["b2"], x, w["w2"])


def cnn(w, x):
    x = f.max_pool2d(f.relu(f.conv2d(x, w["k0"], w["c0"], padding=2)), 2)
    x = f.max_pool2d(f.relu(f.conv2d(x, w["k1"], w["c1"], padding=2)), 2)
    return torch.addmm(w["b1"], f.relu(torch.addmm(w["b0"], x.flatten(1), w["w0"])), w["w1"])


def linear(x, weight, bias):
    return torch.addmm(bias, x.reshape(-1, x.shape[-1]), weight).reshape(*x.shape[:-1], -1)


def block(p, x, attend):
    q, k, v = linear(f.layer_norm(x, (WIDTH,), p["g1"], p["h1"]), p["qkv"], p["qkvb"]).split(WIDTH, -1)
    x = x + linear(attend(q, k, v), p["o"], p["ob"])
    return x + linear(f.gelu(linear(f.layer_norm(x, (WIDTH,), p["g2"], p["h2"]), p["f"], p["fb"]), approximate="tanh"), p["p"], p["pb"])


def layer(w, i):
    start = f"layer.{i}."
    return {name[len(start):]: each for name, each in w.items() if name.startswith(start)}


def gpt(w, x):
    batch, places = x.shape
    split = lambda each: each.view(batch, places, HEADS, -1).transpose(1, 2)

    def attend(q, k, v):
        return f.scaled_dot_product_attention(split(q), split(k), split(v), is_causal=True).transpose(1, 2).reshape(batch, places, WIDTH)

    x = f.embedding(x, w["emb"]) + w["pos"]
    for i in range(LAYERS):
        x = block(layer(w, i), x, attend)
    return f.layer_norm(x, (WIDTH,), w["lng"], w["lnb"]) @ w["head"]


def decode(w, x):
    x = w["emb"][x] + w["pos"][KEPT:KEPT + 1]
    for i in range(LAYERS):
        def attend(q, k, v):
            keys, values = w[f"keys.{i}"], w[f"values.{i}"]
            keys[:, KEPT], values[:, KEPT] = k.view(HEADS, -1), v.view(HEADS, -1)
            o = f.scaled_dot_product_attention(q.view(1, HEADS, 1, -1), keys[None, :, :KEPT + 1], values[None, :, :KEPT + 1])
            return o.reshape(1, WIDTH)
        x = block(layer(w, i), x, attend)
    return f.layer_norm(x, (WIDTH,), w["lng"], w["lnb"]) @ w["head"]


def recurrent(w):
    """torch.nn.LSTM over these weights: they become the module's own."""
    module = torch.nn.LSTM(w["wx"].shape[0], CELLS)
    with torch.no_grad():
        module.weight_ih_l0.copy_(w["wx"].t())
        module.weight_hh_l0.copy_(w["wh"].t())
        module.bias_ih_l0.copy_(w["b"])
        module.bias_hh_l0.zero_()
    module.bias_hh_l0.requires_grad_(False)
    own = [module.weight_ih_l0, module.weight_hh_l0, module.bias_ih_l0, w["wo"], w["bo"]]
    return own, lambda x: module(x)[0] @ w["wo"] + w["bo"]


def build(model, derives):
    """Moving weights, a function that answers logits, x, y."""
    arrays, x, y = given(model)
    weights = {name: torch.from_numpy(array.copy()).requires_grad_(derives) for name, array in arrays.items()}
    wide = lambda array: None if array is None else torch.from_numpy(array).long()
    x = wide(x) if model in ("gpt", "decode") else torch.from_numpy(x)
    if model == "lstm":
        return *recurrent(weights), x, wide(y)
    network = {"mlp": mlp, "cnn": cnn, "gpt": gpt, "decode": decode}[model]
    return list(weights.values()), lambda x: network(weights, x), x, wide(y)


def forward(model):
    _, network, x, _ = build(model, False)

    def turn():
        with torch.inference_mode():
            return network(x)
    return turn, lambda: array_rows.numbers(turn())


def loss_of(network, x, y):
    logits = network(x)
    return f.cross_entropy(logits.reshape(-1, logits.shape[-1]), y.reshape(-1))


def loss(model):
    _, network, x, y = build(model, False)

    def turn():
        with torch.inference_mode():
            return loss_of(network, x, y)
    return turn, lambda: array_rows.numbers(turn())


def gradient(model):
    weights, network, x, y = build(model, True)

    def turn():
        value = loss_of(network, x, y)
        torch.autograd.grad(value, weights)
        return value.detach()
    return turn, lambda: array_rows.numbers(turn())


def step(model):
    weights, network, x, y = build(model, True)
    optimiser = torch.optim.SGD(weights, lr=RATE, fused=True)

    def turn():
        optimiser.zero_grad(set_to_none=True)
        value = loss_of(network, x, y)
        value.backward()
        optimiser.step()
        return value.detach()
    return turn, lambda: [number for _ in range(3) for number in array_rows.numbers(turn())]


def rows(threads):
    found = {f"{model} {kind.__name__}": (lambda model=model, kind=kind: kind(model)) for model in MODELS for kind in (forward, loss, gradient, step)}
    return {**found, "decode token": lambda: forward("decode")}
