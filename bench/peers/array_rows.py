# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What elementwise and product rows share: a table of functions over named inputs, made into turns by peer."""
import inputs
from sampling import sample


def numpy_turn(function, arrays, threads):
    return lambda: function(*arrays)


def torch_turn(function, arrays, threads):
    import torch
    given = [torch.from_numpy(array.view("int16")).view(torch.bfloat16) if array.dtype.name == "bfloat16" else torch.from_numpy(array) for array in arrays]

    def turn():
        with torch.inference_mode():
            return function(*given)
    return turn


def jax_turn(function, arrays, threads):
    import jax
    jitted, given = jax.jit(function), [jax.numpy.asarray(array) for array in arrays]
    return lambda: jitted(*given).block_until_ready()


def iree_turn(function, arrays, threads):
    import iree_module
    return iree_module.turn_of(function, arrays, threads)


def onnx_turn(graph, arrays, threads):
    import onnx_session
    nodes, names, constants = graph
    return onnx_session.turn_of(nodes, dict(zip(names, arrays)), constants, "out", threads)


TURNS = {"numpy": numpy_turn, "torch": torch_turn, "jax": jax_turn, "iree": iree_turn, "onnxruntime": onnx_turn}


def numbers(result):
    if hasattr(result, "numpy") and callable(result.numpy):  # of PyTorch and ONNX Runtime
        result = result.float().numpy() if "bfloat16" in str(getattr(result, "dtype", "")) else result.numpy()
    elif hasattr(result, "to_host"):  # of IREE
        result = result.to_host()
    return sample(result)


def rows(model, peer, threads, functions, operands):
    """functions: row to the peer's function. operands: row to the names of its inputs."""
    def make(row):
        turn = TURNS[peer](functions[row], [inputs.array(model, name) for name in operands[row]], threads)
        return turn, lambda: numbers(turn())
    return {f"{model} {row}": (lambda row=row: make(row)) for row in functions}
