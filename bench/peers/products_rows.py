# SPDX-License-Identifier: Apache-2.0 OR MIT
"""bench/models/products.wg in the peers."""
import array_rows

SQUARES = [f"square{size}" for size in (32, 64, 128, 256, 512, 1024, 2048, 4096)]
OPERANDS = {**{row: f"a.{row[6:]} b.{row[6:]}" for row in SQUARES}, "up": "a.up b.up", "row": "a.row b.4096", "deep": "a.deep b.deep", "heads": "a.heads b.heads",
            "left": "a.1024 b.1024", "right": "a.1024 b.1024", "both": "a.1024 b.1024", "square512_f64": "a.f64 b.f64", "square1024_f16": "a.f16 b.f16", "row_f16": "a.row b.f16row",
            "square1024_bf16": "a.bf16 b.bf16", "row_bf16": "a.row b.bf16row", "square1024_i8": "a.i8 b.i8", "row_i8": "a.i8row b.i8row"}
WIDE = [*SQUARES, "up", "row", "deep", "heads", "square512_f64"]  # of f32 and f64, as they stand
ORDERS = {"left": lambda a, b: a.T @ b, "right": lambda a, b: a @ b.T, "both": lambda a, b: a.T @ b.T}


def numpy_functions():
    return {**{row: lambda a, b: a @ b for row in WIDE}, **ORDERS}


def torch_functions():
    import torch
    found = {**numpy_functions(), "square1024_f16": lambda a, b: a @ b, "square1024_bf16": lambda a, b: a @ b, "square1024_i8": torch._int_mm}
    for row, kind in (("row_f16", torch.float16), ("row_bf16", torch.bfloat16)):
        found[row] = lambda a, b, kind=kind: a.to(kind) @ b
    return found


def jax_functions():
    import jax
    import jax.numpy as jnp
    jax.config.update("jax_enable_x64", True)
    whole = lambda a, b: jnp.matmul(a, b, preferred_element_type=jnp.int32)
    narrow = lambda a, b: a @ b.astype(jnp.float32)
    return {**numpy_functions(), "square1024_f16": lambda a, b: a @ b, "square1024_bf16": lambda a, b: a @ b, "row_f16": narrow, "row_bf16": narrow, "square1024_i8": whole, "row_i8": whole}


def iree_functions():
    import jax.numpy  # noqa: F401
    return {row: lambda a, b: a @ b for row in ("square128", "square512", "square1024", "up", "row")}


def onnx_functions():
    from onnx_session import node
    plain = [node("MatMul", "a b", "out")], ["a", "b"], {}
    whole = [node("MatMulInteger", "a b", "out")], ["a", "b"], {}
    turned = {"left": ("a", "at b"), "right": ("b", "a bt")}
    found = {**{row: plain for row in WIDE}, "square1024_f16": plain, "square1024_i8": whole, "row_i8": whole}
    for row, (name, operands) in turned.items():
        found[row] = [node("Transpose", name, name + "t", perm=[1, 0]), node("MatMul", operands, "out")], ["a", "b"], {}
    return found


def rows(peer, threads):
    functions = {"numpy": numpy_functions, "torch": torch_functions, "jax": jax_functions, "iree": iree_functions, "onnxruntime": onnx_functions}[peer]()
    return array_rows.rows("products", peer, threads, functions, {row: names.split() for row, names in OPERANDS.items()})
