# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The rows of bench_lazy and bench_adbench in NumPy, PyTorch (eager) or JAX."""

import numpy as np

from adbench_inputs import BITS, CHARACTERS, DIMENSIONS, GROUPS, LAYERS, POINTS, arrays

TRIANGLE = np.array([(i, j) for i in range(DIMENSIONS) for j in range(i)])


def items(length, phase):
    return (((np.arange(length, dtype=np.int64) * 7919 + phase * 31) % 1000).astype(np.float32) / np.float32(1000)).astype(np.float32)


def scalar(phase):
    return np.float32(0.25 + phase)


def total(*results):
    return float(sum(np.asarray(result, dtype=np.float64).sum() for result in results))


# ---- objectives over a module x of array functions


def mixture(x, alphas, means, factors, points):
    q = x.exp(factors[:, :DIMENSIONS])
    low = x.lower(factors[:, DIMENSIONS:])
    centred = points[:, None, :] - means[None]
    y = q[None] * centred + x.einsum("kij,nkj->nki", low, centred)
    likelihood = alphas + factors[:, :DIMENSIONS].sum(1) - .5 * (y * y).sum(2)
    error = -POINTS * DIMENSIONS * .5 * np.log(2 * np.pi) + x.lse(likelihood, 1).sum() - POINTS * x.lse(alphas, 0)
    return error + .5 * ((q * q).sum() + (factors[:, DIMENSIONS:] ** 2).sum())


def projection(x, camera, point, weight, seen):
    rotation, centre, focal, principal, bend = camera[0:3], camera[3:6], camera[6], camera[7:9], camera[9:11]
    angle = x.sqrt((rotation * rotation).sum())
    axis, start = rotation / angle, point - centre
    turned = start * x.cos(angle) + x.cross(axis, start) * x.sin(angle) + axis * (axis * start).sum() * (1 - x.cos(angle))
    flat = turned[:2] / turned[2]
    square = (flat * flat).sum()
    return weight * (flat * (1 + bend[0] * square + bend[1] * square * square) * focal + principal - seen)


def cell(x, weights, biases, hidden, state, given):
    forget, enter = x.sigmoid(given * weights[0] + biases[0]), x.sigmoid(hidden * weights[1] + biases[1])
    leave, change = x.sigmoid(given * weights[2] + biases[2]), x.tanh(hidden * weights[3] + biases[3])
    state = state * forget + enter * change
    return leave * x.tanh(state), state


def step(x, gates, ends, states, given):
    given, answers = given * ends[0], []
    for layer in range(LAYERS):
        hidden, state = cell(x, gates[layer][0], gates[layer][1], *states[layer], given)
        answers.append((hidden, state))
        given = hidden
    return answers, given * ends[1] + ends[2]


# ---- the peers: rows by name, each a function that computes and waits, and one that answers what is checked


def numpy_rows():
    a, b, x, y = scalar(0), scalar(1), items(100, 0), items(100, 1)
    rows = {"scalars": lambda: a + b, "vectors": lambda: x + y}
    thousand, many = items(1000, 0), items(10**7, 0)
    half, eighth = np.float32(.5), np.float32(.125)

    def twenty():
        value = thousand
        for _ in range(10):
            value = value * half
            value = value + eighth
        return value

    rows["twenty"] = twenty
    rows["add"] = lambda: many + many
    rows["fused"] = lambda: np.tanh(many * half + eighth) * half + np.exp(-(many * many))
    return {name: (row, lambda row=row: total(row())) for name, row in rows.items()}


def torch_rows():
    import torch
    a, b = torch.tensor(scalar(0)), torch.tensor(scalar(1))
    x, y, z = (torch.from_numpy(items(100, phase)) for phase in range(3))
    rows = {"scalars": lambda: a + b, "vectors": lambda: x + y}
    moving = x.clone().requires_grad_()
    rows["gradient"] = rows["compiled"] = lambda: torch.autograd.grad(torch.tanh(moving * y + z).sum(), moving)[0]
    thousand, many = torch.from_numpy(items(1000, 0)), torch.from_numpy(items(10**7, 0))

    def twenty():
        value = thousand
        for _ in range(10):
            value = value * .5
            value = value + .125
        return value

    rows["twenty"] = twenty
    rows["add"] = lambda: many + many
    rows["fused"] = lambda: torch.tanh(many * .5 + .125) * .5 + torch.exp(-(many * many))

    class X:
        exp, sqrt, sin, cos, tanh, einsum, sigmoid = torch.exp, torch.sqrt, torch.sin, torch.cos, torch.tanh, torch.einsum, torch.sigmoid
        cross, lse = torch.linalg.cross, torch.logsumexp

        @staticmethod
        def lower(below):
            empty = torch.zeros(GROUPS, DIMENSIONS, DIMENSIONS, dtype=below.dtype)
            return empty.index_put((torch.arange(GROUPS)[:, None], *torch.from_numpy(TRIANGLE.T)), below)

    given = {name: torch.from_numpy(array) for name, array in arrays().items()}

    def loss(gates, ends, state, text):
        states, sum_of = [(state[layer, 0], state[layer, 1]) for layer in range(LAYERS)], 0
        for i in range(CHARACTERS - 1):
            states, y = step(X, gates, ends, states, text[i])
            sum_of = sum_of + (text[i + 1] * (y - torch.log(2 + torch.exp(y).sum()))).sum()
        return -sum_of / (CHARACTERS - 1)

    def pair(name, function, names, moving_count):
        operands = [given[f"{name}_{part}"] for part in names]
        wrt = [operand.clone().requires_grad_() for operand in operands[:moving_count]]

        def value():
            with torch.no_grad():
                return function(*operands)
        rows[f"{name} value"] = value
        rows[f"{name} derivative"] = lambda: torch.autograd.grad(function(*wrt, *operands[moving_count:]), wrt)

    pair("gmm", lambda *operands: mixture(X, *operands), ("alphas", "means", "factors", "points"), 3)
    pair("lstm", loss, ("gates", "ends", "state", "text"), 2)
    cameras, points = given["ba_cameras"], given["ba_points"]
    seen = lambda: (cameras[given["ba_camera_of"]], points[given["ba_point_of"]], given["ba_weights"], given["ba_seen"])
    each = lambda *operands: projection(X, *operands)
    jacobians = torch.func.vmap(torch.func.jacrev(each, argnums=(0, 1, 2)))
    rows["ba value"] = lambda: torch.func.vmap(each)(*seen())
    rows["ba derivative"] = lambda: jacobians(*seen())

    def check(row):
        results = row()
        return total(*(result.detach().numpy() for result in (results if isinstance(results, (tuple, list)) else [results])))
    return {name: (row, lambda row=row: check(row)) for name, row in rows.items()}


def jax_rows():
    import jax
    jax.config.update("jax_enable_x64", True)
    import jax.numpy as jnp
    a, b = jnp.float32(scalar(0)), jnp.float32(scalar(1))
    x, y, z = (jnp.asarray(items(100, phase)) for phase in range(3))
    thousand, many = jnp.asarray(items(1000, 0)), jnp.asarray(items(10**7, 0))
    rows = {"scalars": lambda: a + b, "vectors": lambda: x + y}
    gradient = jax.jit(jax.value_and_grad(lambda x, y, z: jnp.tanh(x * y + z).sum()))
    rows["compiled"] = lambda: gradient(x, y, z)[1]

    @jax.jit
    def twenty(value):
        for _ in range(10):
            value = value * jnp.float32(.5)
            value = value + jnp.float32(.125)
        return value

    rows["twenty"] = lambda: twenty(thousand)
    add = jax.jit(lambda x: x + x)
    fused = jax.jit(lambda x: jnp.tanh(x * jnp.float32(.5) + jnp.float32(.125)) * jnp.float32(.5) + jnp.exp(-(x * x)))
    rows["add"], rows["fused"] = (lambda: add(many)), (lambda: fused(many))

    class X:
        exp, sqrt, sin, cos, tanh, einsum, sigmoid, cross = (jnp.exp, jnp.sqrt, jnp.sin, jnp.cos, jnp.tanh, jnp.einsum, jax.nn.sigmoid, jnp.cross)

        @staticmethod
        def lse(value, axis):
            return jax.scipy.special.logsumexp(value, axis=axis)

        @staticmethod
        def lower(below):
            return jnp.zeros((GROUPS, DIMENSIONS, DIMENSIONS)).at[:, TRIANGLE[:, 0], TRIANGLE[:, 1]].set(below)

    given = {name: jnp.asarray(array) for name, array in arrays().items()}

    def loss(gates, ends, state, text):
        def body(states, pair):
            states, y = step(X, gates, ends, states, pair[0])
            return states, (pair[1] * (y - jnp.log(2 + jnp.exp(y).sum()))).sum()
        start = [(state[layer, 0], state[layer, 1]) for layer in range(LAYERS)]
        return -jax.lax.scan(body, start, (text[:-1], text[1:]))[1].mean()

    def pair(name, function, derivative, names):
        operands = [given[f"{name}_{part}"] for part in names]
        value, derivative = jax.jit(function), jax.jit(derivative)
        rows[f"{name} value"] = lambda: value(*operands)
        rows[f"{name} derivative"] = lambda: derivative(*operands)

    of_mixture = lambda *operands: mixture(X, *operands)
    pair("gmm", of_mixture, jax.grad(of_mixture, argnums=(0, 1, 2)), ("alphas", "means", "factors", "points"))
    pair("lstm", loss, jax.grad(loss, argnums=(0, 1)), ("gates", "ends", "state", "text"))
    each = lambda *operands: projection(X, *operands)
    jacobians = jax.vmap(jax.jacrev(each, argnums=(0, 1, 2)))
    names = ("cameras", "points", "weights", "seen", "camera_of", "point_of")
    pair("ba", lambda c, p, w, s, ic, ip: jax.vmap(each)(c[ic], p[ip], w, s), lambda c, p, w, s, ic, ip: jacobians(c[ic], p[ip], w, s), names)
    check = lambda row: total(*(np.asarray(result) for result in jax.tree_util.tree_leaves(row())))
    return {name: ((lambda row=row: jax.block_until_ready(row())), (lambda row=row: check(row))) for name, row in rows.items()}


def rows(peer, threads):
    found = {"numpy": numpy_rows, "torch": torch_rows, "jax": jax_rows}[peer]()
    return {name: (lambda row=row, check=check: (row, lambda: [check()])) for name, (row, check) in found.items()}
