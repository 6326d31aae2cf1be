# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Convolutions in groups and pools that overlap, of bench/models, in the peers: `forward`, and `gradient`, the mean square with its derivatives by
every input."""
import array_rows
import inputs

NAMES = {"depthwise": "image k", "groups": "image k", "average": "image", "greatest": "image"}
GROUPS = {"depthwise": 64, "groups": 4}


def torch_functions():
    import torch
    f = torch.nn.functional
    found = {name: lambda image, k, groups=groups: f.conv2d(image, k, padding=1, groups=groups) for name, groups in GROUPS.items()}
    return {**found, "average": lambda image: f.avg_pool2d(image, 3, 2, 1), "greatest": lambda image: f.max_pool2d(image, 3, 2, 1)}


def jax_functions():
    import jax
    one, pools, pads = (1, 1), dict(window_dimensions=(1, 1, 3, 3), window_strides=(1, 1, 2, 2)), ((0, 0), (0, 0), (1, 1), (1, 1))
    found = {name: lambda image, k, groups=groups: jax.lax.conv_general_dilated(image, k, one, pads[2:], feature_group_count=groups)
             for name, groups in GROUPS.items()}
    found["average"] = lambda image: jax.lax.reduce_window(image, 0.0, jax.lax.add, padding=pads, **pools) / 9
    return {**found, "greatest": lambda image: jax.lax.reduce_window(image, -jax.numpy.inf, jax.lax.max, padding=pads, **pools)}


def onnx_functions():
    from onnx_session import node
    pads, pool = dict(pads=[1, 1, 1, 1]), dict(kernel_shape=[3, 3], strides=[2, 2])
    found = {name: ([node("Conv", "image k", "out", group=groups, **pads)], ["image", "k"], {}) for name, groups in GROUPS.items()}
    found["average"] = [node("AveragePool", "image", "out", count_include_pad=1, **pads, **pool)], ["image"], {}
    return {**found, "greatest": ([node("MaxPool", "image", "out", **pads, **pool)], ["image"], {})}


def torch_gradient(function, arrays):
    import torch
    given = [torch.from_numpy(array).requires_grad_() for array in arrays]

    def turn():
        value = function(*given).square().mean()
        torch.autograd.grad(value, given)
        return value.detach()
    return turn


def jax_gradient(function, arrays):
    import jax
    given = [jax.numpy.asarray(array) for array in arrays]
    derive = jax.jit(jax.value_and_grad(lambda *operands: (function(*operands) ** 2).mean(), tuple(range(len(given)))))
    return lambda: jax.block_until_ready(derive(*given))[0]


def rows(peer, threads):
    functions = {"torch": torch_functions, "jax": jax_functions, "onnxruntime": onnx_functions}[peer]()
    derive = {"torch": torch_gradient, "jax": jax_gradient}.get(peer)
    found = {}
    for model, names in NAMES.items():
        arrays = lambda model=model, names=names: [inputs.array(model, name) for name in names.split()]

        def forward(model=model, arrays=arrays):
            turn = array_rows.TURNS[peer](functions[model], arrays(), threads)
            return turn, lambda: array_rows.numbers(turn())

        def gradient(model=model, arrays=arrays):
            turn = derive(functions[model], arrays())
            return turn, lambda: array_rows.numbers(turn())
        found[f"{model} forward"] = forward
        if derive:
            found[f"{model} gradient"] = gradient
    return found
