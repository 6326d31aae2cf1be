# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The models in JAX, jitted."""
import jax
import jax.numpy as jnp

import array_rows
from models_rows import CELLS, HEADS, LAYERS, MODELS, PLACES, RATE, WIDTH, given
from inputs import KEPT


def mlp(w, x):
    return jax.nn.relu(jax.nn.relu(x @ w["w0"] + w["b0"]) @ w["w1"] + w["b1"]) @ w["w2"] + w["b2"]


def cnn(w, x):
    def stage(x, filters, bias):
        x = jax.lax.conv_general_dilated(x, filters, (1, 1), [(2, 2), (2, 2)], dimension_numbers=("NCHW", "OIHW", "NCHW"))
        return jax.lax.reduce_window(jax.nn.relu(x + bias[:, None, None]), -jnp.inf, jax.lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")
    x = stage(stage(x, w["k0"], w["c0"]), w["k1"], w["c1"]).reshape(x.shape[0], -1)
    return jax.nn.relu(x @ w["w0"] + w["b0"]) @ w["w1"] + w["b1"]


def norm(x, scale, shift):
    d = x - x.mean(-1, keepdims=True)
    return d * jax.lax.rsqrt((d * d).mean(-1, keepdims=True) + 1e-5) * scale + shift


def block(w, i, x, attend):
    p = lambda name: w[f"layer.{i}.{name}"]
    q, k, v = jnp.split(norm(x, p("g1"), p("h1")) @ p("qkv") + p("qkvb"), 3, -1)
    x = x + attend(q, k, v) @ p("o") + p("ob")
    return x + jax.nn.gelu(norm(x, p("g2"), p("h2")) @ p("f") + p("fb"), approximate=True) @ p("p") + p("pb")


def attention(q, k, v, seen):
    scores = jnp.where(seen, (q @ k.swapaxes(-1, -2)) * 0.125, -jnp.inf)
    return jax.nn.softmax(scores, -1) @ v


def gpt(w, x):
    split = lambda each: each.reshape(*x.shape, HEADS, -1).swapaxes(1, 2)
    seen = jnp.tril(jnp.ones((PLACES, PLACES), bool))
    attend = lambda q, k, v: attention(split(q), split(k), split(v), seen).swapaxes(1, 2).reshape(*x.shape, WIDTH)
    a = w["emb"][x] + w["pos"]
    for i in range(LAYERS):
        a = block(w, i, a, attend)
    return norm(a, w["lng"], w["lnb"]) @ w["head"]


def decode(kept, w, x):
    """Answers the logits and what is kept."""
    a, kept = w["emb"][x] + w["pos"][KEPT], dict(kept)
    for i in range(LAYERS):
        def attend(q, k, v):
            for name, each in ((f"keys.{i}", k), (f"values.{i}", v)):
                kept[name] = kept[name].at[:, KEPT].set(each.reshape(HEADS, -1))
            return attention(q.reshape(HEADS, 1, -1), kept[f"keys.{i}"][:, :KEPT + 1], kept[f"values.{i}"][:, :KEPT + 1], True).reshape(1, WIDTH)
        a = block(w, i, a, attend)
    return norm(a, w["lng"], w["lnb"]) @ w["head"], kept


def lstm(w, x):
    def cell(state, u):
        h, c = state
        i, f, g, o = jnp.split(u + h @ w["wh"], 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h
    zero = jnp.zeros((x.shape[1], CELLS), x.dtype)
    return jax.lax.scan(cell, (zero, zero), x @ w["wx"] + w["b"])[1] @ w["wo"] + w["bo"]


NETWORKS = {"mlp": mlp, "cnn": cnn, "gpt": gpt, "lstm": lstm}


def placed(model):
    weights, x, y = given(model)
    return {name: jnp.asarray(array) for name, array in weights.items()}, jnp.asarray(x), None if y is None else jnp.asarray(y)


def loss_of(model):
    def function(w, x, y):
        return -jnp.take_along_axis(jax.nn.log_softmax(NETWORKS[model](w, x), -1), y[..., None], -1).mean()
    return function


def plain(function, *arguments):
    compiled = jax.jit(function).lower(*arguments).compile()
    turn = lambda: jax.block_until_ready(compiled(*arguments))
    return turn, lambda: array_rows.numbers(jax.tree_util.tree_leaves(turn())[0])


def forward(model):
    w, x, _ = placed(model)
    return plain(NETWORKS[model], w, x)


def loss(model):
    return plain(loss_of(model), *placed(model))


def gradient(model):
    return plain(jax.value_and_grad(loss_of(model)), *placed(model))


def step(model):
    function = jax.value_and_grad(loss_of(model))

    def moved(w, x, y):
        value, slopes = function(w, x, y)
        return {name: w[name] - RATE * slopes[name] for name in w}, value

    state, x, y = placed(model)
    compiled = jax.jit(moved, donate_argnums=0).lower(state, x, y).compile()

    def turn():
        nonlocal state
        state, value = compiled(state, x, y)
        jax.block_until_ready(state)
        return value
    return turn, lambda: [number for _ in range(3) for number in array_rows.numbers(turn())]


def token():
    weights, x, _ = placed("decode")
    kept = {name: each for name, each in weights.items() if name.startswith(("keys", "values"))}
    weights = {name: each for name, each in weights.items() if name not in kept}
    compiled = jax.jit(decode, donate_argnums=0).lower(kept, weights, x).compile()

    def turn():
        nonlocal kept
        logits, kept = compiled(kept, weights, x)
        return logits.block_until_ready()
    return turn, lambda: array_rows.numbers(turn())


def rows(threads):
    found = {f"{model} {kind.__name__}": (lambda model=model, kind=kind: kind(model)) for model in MODELS for kind in (forward, loss, gradient, step)}
    return {**found, "decode token": token}
