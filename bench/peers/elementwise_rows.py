# SPDX-License-Identifier: Apache-2.0 OR MIT
"""bench/models/elementwise.wg in the peers."""
import numpy as np

import array_rows

OPERANDS = {"ln": "p", "pow": "p x", "sqrt": "p", "log1p": "p", "softmax": "s", "layer_norm": "s g b", "sum_axis0": "q", "argmax": "q", "transpose": "q", "gather": "x i"}
ROWS = ("chain gelu gelu_tanh add exp ln tanh sin cos erf pow sqrt expm1 log1p softmax layer_norm sum sum_axis0 argmax transpose cumsum sort "
        "gather").split()


def numpy_functions():
    half, quarter, seven = np.float32(1.5), np.float32(0.25), np.float32(0.7)

    def softmax(s):
        e = np.exp(s - s.max(1, keepdims=True))
        return e / e.sum(1, keepdims=True)

    def layer_norm(s, g, b):
        d = s - s.mean(1, keepdims=True)
        return d / np.sqrt((d * d).mean(1, keepdims=True) + np.float32(1e-5)) * g + b

    def gelu_tanh(x):
        return np.float32(0.5) * x * (1 + np.tanh(np.float32(0.7978845608028654) * (x + np.float32(0.044715) * x * x * x)))

    return {"chain": lambda x: np.tanh(x * half + quarter) * seven + np.exp(-(x * x)), "gelu_tanh": gelu_tanh, "add": lambda x: x + x, "exp": np.exp,
            "ln": np.log, "tanh": np.tanh, "sin": np.sin, "cos": np.cos, "pow": np.power, "sqrt": np.sqrt, "expm1": np.expm1, "log1p": np.log1p,
            "softmax": softmax, "layer_norm": layer_norm, "sum": np.sum, "sum_axis0": lambda q: q.sum(0), "argmax": lambda q: q.argmax(1),
            "transpose": lambda q: np.ascontiguousarray(q.T), "cumsum": np.cumsum, "sort": np.sort, "gather": np.take}


def torch_functions():
    import torch
    f = torch.nn.functional
    return {"chain": lambda x: torch.tanh(x * 1.5 + 0.25) * 0.7 + torch.exp(-(x * x)), "gelu": f.gelu, "gelu_tanh": lambda x: f.gelu(x, approximate="tanh"),
            "add": lambda x: x + x, "exp": torch.exp, "ln": torch.log, "tanh": torch.tanh, "sin": torch.sin, "cos": torch.cos, "erf": torch.erf,
            "pow": torch.pow, "sqrt": torch.sqrt, "expm1": torch.expm1, "log1p": torch.log1p, "softmax": lambda s: torch.softmax(s, 1),
            "layer_norm": lambda s, g, b: f.layer_norm(s, (1024,), g, b), "sum": torch.sum, "sum_axis0": lambda q: q.sum(0),
            "argmax": lambda q: q.argmax(1), "transpose": lambda q: q.t().contiguous(), "cumsum": lambda x: torch.cumsum(x, 0),
            "sort": lambda x: torch.sort(x)[0], "gather": lambda x, i: torch.index_select(x, 0, i)}


def jax_functions():
    import jax
    import jax.numpy as jnp

    def layer_norm(s, g, b):
        d = s - s.mean(1, keepdims=True)
        return d * jax.lax.rsqrt((d * d).mean(1, keepdims=True) + 1e-5) * g + b

    return {"chain": lambda x: jnp.tanh(x * 1.5 + 0.25) * 0.7 + jnp.exp(-(x * x)), "gelu": lambda x: jax.nn.gelu(x, approximate=False),
            "gelu_tanh": lambda x: jax.nn.gelu(x, approximate=True), "add": lambda x: x + x, "exp": jnp.exp, "ln": jnp.log, "tanh": jnp.tanh,
            "sin": jnp.sin, "cos": jnp.cos, "erf": jax.scipy.special.erf, "pow": jnp.power, "sqrt": jnp.sqrt, "expm1": jnp.expm1, "log1p": jnp.log1p,
            "softmax": lambda s: jax.nn.softmax(s, 1), "layer_norm": layer_norm, "sum": jnp.sum, "sum_axis0": lambda q: q.sum(0),
            "argmax": lambda q: q.argmax(1), "transpose": lambda q: q.T, "cumsum": jnp.cumsum, "sort": jnp.sort, "gather": lambda x, i: x[i]}


def iree_functions():
    return {row: function for row, function in jax_functions().items() if row not in ("cumsum", "sort")}  # minutes to compile


def onnx_functions():
    from onnx_session import node
    f32, axis = np.float32, {"axis": np.array([0])}
    one = {"exp": "Exp", "ln": "Log", "tanh": "Tanh", "sin": "Sin", "cos": "Cos", "erf": "Erf", "sqrt": "Sqrt", "gelu": "Gelu"}
    found = {row: ([node(kind, "in", "out")], ["in"], {}) for row, kind in one.items()}
    found["gelu_tanh"] = [node("Gelu", "in", "out", approximate="tanh")], ["in"], {}
    found["add"] = [node("Add", "in in", "out")], ["in"], {}
    found["pow"] = [node("Pow", "in by", "out")], ["in", "by"], {}
    found["chain"] = ([node("Mul", "in a", "t0"), node("Add", "t0 b", "t1"), node("Tanh", "t1", "t2"), node("Mul", "t2 c", "t3"), node("Mul", "in in", "t4"),
                       node("Neg", "t4", "t5"), node("Exp", "t5", "t6"), node("Add", "t3 t6", "out")], ["in"], {"a": f32(1.5), "b": f32(0.25), "c": f32(0.7)})
    found["softmax"] = [node("Softmax", "in", "out", axis=1)], ["in"], {}
    found["layer_norm"] = [node("LayerNormalization", "in g b", "out", axis=1, epsilon=1e-5)], ["in", "g", "b"], {}
    found["sum"] = [node("ReduceSum", "in", "out", keepdims=0)], ["in"], {}
    found["sum_axis0"] = [node("ReduceSum", "in axis", "out", keepdims=0)], ["in"], axis
    found["argmax"] = [node("ArgMax", "in", "out", axis=1, keepdims=0)], ["in"], {}
    found["transpose"] = [node("Transpose", "in", "out")], ["in"], {}
    found["cumsum"] = [node("CumSum", "in axis", "out")], ["in"], {"axis": np.int64(0)}
    found["gather"] = [node("Gather", "in i", "out")], ["in", "i"], {}
    return found


def rows(peer, threads):
    functions = {"numpy": numpy_functions, "torch": torch_functions, "jax": jax_functions, "iree": iree_functions, "onnxruntime": onnx_functions}[peer]()
    return array_rows.rows("elementwise", peer, threads, functions, {row: OPERANDS.get(row, "x").split() for row in ROWS})
