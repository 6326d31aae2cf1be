# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What stands in each table beside the peers, and the goals.

A goal is how much faster than the best peer (of `against` where given) at least, or, against "roof", the share of the machine's
multiply-adds at one and at two threads. GFLOP counts two operations a multiply-add of the products of a step, no gradient of the input."""
import dataclasses

import inputs


@dataclasses.dataclass
class Row:
    name: str
    title: str
    tolerance: float = 1e-5
    goal: object = None
    against: object = None
    gflop: float = 0
    roof: str = "f32"
    own: str = None
    kept: int = 0  # bytes that values are kept to, for memory beside that of the row as it is


@dataclasses.dataclass
class Table:
    name: str
    title: str
    kind: str
    module: str
    peers: list
    rows: list
    models: list = dataclasses.field(default_factory=list)
    own: list = dataclasses.field(default_factory=lambda: ["wengert"])
    floors: bool = False


# ---- products


def product(entry, title, shape=None, kind="f32", goal=0.95, tolerance=2e-6):
    a, b = (inputs.declared("products")[f"{side}.{shape or entry}"][1] for side in "ab") if shape is None else (shape[0], shape[1])
    volume = 2e-9 * a[-1] * b[-1] * a[-2] * (a[0] if len(a) == 3 else 1)
    return Row(f"products {entry}", title, tolerance, goal, gflop=volume, roof="f64" if kind == "f64" else "f32")


def square(size):
    return product(f"square{size}", f"{size} x {size} x {size}, f32", ((size, size), (size, size)), goal=0.95 if size >= 128 else 1)


THOUSAND, LONG = ((1024, 1024), (1024, 1024)), ((1, 4096), (4096, 4096))
PRODUCTS = [
    *(square(size) for size in (32, 64, 128, 256, 512, 1024, 2048, 4096)),
    product("up", "2048 x 384 x 1536, f32"), product("row", "1 x 4096 x 4096, f32", LONG),
    product("deep", "64 x 16384 x 64, f32"), product("heads", "48 of 256 x 64 x 256, f32"),
    product("left", "1024 cubed, f32, left turned", THOUSAND), product("right", "1024 cubed, f32, right turned", THOUSAND),
    product("both", "1024 cubed, f32, both turned", THOUSAND), product("square512_f64", "512 x 512 x 512, f64", ((512, 512), (512, 512)), kind="f64"),
    product("square1024_f16", "1024 cubed, f16", THOUSAND, tolerance=2e-2), product("row_f16", "1 x 4096 x 4096, weights of f16", LONG, tolerance=2e-3),
    product("square1024_bf16", "1024 cubed, bf16", THOUSAND, tolerance=2e-2), product("row_bf16", "1 x 4096 x 4096, weights of bf16", LONG, tolerance=1e-2),
    product("square1024_i8", "1024 cubed, i8 in i32", THOUSAND, tolerance=0), product("row_i8", "1 x 4096 x 4096, i8 in i32", LONG, tolerance=0),
]

# ---- elementwise

FASTEST = 0.9  # of one function over many items
ELEMENTWISE = [Row(f"elementwise {entry}", title, tolerance, goal, against) for entry, title, tolerance, goal, against in [
    ("chain", "tanh(a x + b) c + exp(-x x)", 1e-5, 1.2, ("jax", "iree")), ("gelu", "GELU by erf", 1e-5, 1.2, ("jax", "iree")),
    ("gelu_tanh", "GELU by tanh", 1e-5, 1.2, ("jax", "iree")), ("add", "x + x", 1e-5, None, None),
    *((name, f"{name} x", 1e-5, FASTEST, None) for name in ("exp", "ln", "tanh", "sin", "cos", "erf", "pow", "sqrt", "expm1", "log1p")),
    ("softmax", "softmax of rows, 4096 x 1024", 1e-5, 1, None), ("layer_norm", "layer norm of rows, 4096 x 1024", 1e-5, 1, None),
    ("sum", "sum", 1e-3, 1, None), ("sum_axis0", "sum over axis 0, 4096 x 4096", 1e-4, 1, None), ("argmax", "argmax of rows, 4096 x 4096", 0, 1, None),
    ("transpose", "transpose, 4096 x 4096", 0, 1, None), ("cumsum", "cumulative sum", 1e-2, 3, None), ("sort", "sort", 0, 3, None),
    ("gather", "gather, 10,000,000 of as many", 0, 1, None)]]

# ---- models

MODELS = [("mlp", "MLP 784-512-256-10, batch 128", 128 * 2e-9 * (784 * 512 * 2 + 512 * 256 * 3 + 256 * 10 * 3), (0.90, 0.85)),
          ("cnn", "CNN, two convolutions 5 x 5, batch 64", 64 * 2e-9 * (784 * 16 * 25 * 2 + 196 * 32 * 400 * 3 + (1568 * 128 + 1280) * 3), (0.80, 0.75)),
          ("lstm", "LSTM 256, 100 steps, batch 32", 3200 * 2e-9 * (128 * 1024 * 2 + 256 * 1024 * 3 + 256 * 65 * 3), (0.88, 0.85)),
          ("gpt", "GPT, 6 layers of 384, 8 x 256 places", 2048e-9 * (6 * (6 * 12 * 384 * 384 + 384 * 65) + 12 * 6 * 384 * 256), (0.88, 0.85))]
TRAINING = [Row(f"{name} step", title, 5e-7, goal, "roof", gflop) for name, title, gflop, goal in MODELS]
FORWARD = [*(Row(f"{name} forward", title, 1e-5, 1.1, ("onnxruntime",)) for name, title, _, _ in MODELS),
           Row("decode token", "GPT, one token after 128", 1e-5, 1.1, ("onnxruntime",))]
NAMES = [name for name, *_ in MODELS]
KEPT = {"gpt step": 200 << 20}
MEMORY = [dataclasses.replace(row, kept=KEPT.get(row.name, 0)) for row in TRAINING]

# ---- convolutions in groups, pools that overlap

WINDOWS = [("depthwise", "3 x 3 of 64 channels by themselves, 112 x 112"), ("groups", "3 x 3 of 64 channels in 4 groups, 112 x 112"),
           ("average", "averages of 3 x 3, two apart, 4 x 64 x 112 x 112"), ("greatest", "the greatest of 3 x 3, two apart, 4 x 64 x 112 x 112")]
WINDOW_ROWS = [Row(f"{name} {part}", f"{title}{more}", 1e-5, 1) for name, title in WINDOWS for part, more in (("forward", ""), ("gradient", ": with derivatives"))]

# ---- lazy arrays


def lazy(name, title, tolerance=1e-5, goal=None, against=None):
    return Row(name, title, tolerance, goal, against, own="adbench" if " " in name else "lazy")


LAZY = [
    lazy("scalars", "two scalars added and read", 1e-6), lazy("vectors", "two vectors of 100 items added and read", goal=1, against=("numpy",)),
    lazy("gradient", "tanh(x y + z) of 100 items, its sum and gradient, traced anew"), lazy("compiled", "the same compiled", goal=4, against=("jax",)),
    lazy("twenty", "a chain of 20 calls on 1,000 items", goal=3, against=("numpy",)), lazy("add", "x + x of 10,000,000 items"),
    lazy("fused", "tanh(a x + b) a + exp(-x x) of 10,000,000 items"),
    lazy("gmm value", "mixture of 25 Gaussians, 10 dimensions, 1,000 points", 1e-9), lazy("gmm derivative", "its gradient", 1e-9, 1, ("jax",)),
    lazy("ba value", "bundle adjustment, 49 cameras, 31,843 observations", 1e-9), lazy("ba derivative", "its Jacobian", 1e-8, 1, ("jax",)),
    lazy("lstm value", "recurrent network, 2 layers of 14, 1,024 characters", 1e-9), lazy("lstm derivative", "its gradient", 1e-9, 1, ("jax",)),
]

TABLES = [
    Table("products", "Matrix products", "times", "products", ["numpy", "torch", "jax", "onnxruntime", "iree"], PRODUCTS, ["products"], floors=True),
    Table("training", "Training steps, SGD", "times", "models", ["torch", "jax"], TRAINING, NAMES, floors=True),
    Table("forward", "Forward passes", "times", "models", ["torch", "jax", "onnxruntime"], FORWARD, [*NAMES, "decode"]),
    Table("windows", "Convolutions in groups, and pools that overlap", "times", "windows", ["torch", "jax", "onnxruntime"], WINDOW_ROWS,
          [name for name, _ in WINDOWS]),
    Table("elementwise", "Items, rows and columns, 10,000,000 items of f32", "times", "elementwise", ["numpy", "torch", "jax", "onnxruntime", "iree"],
          ELEMENTWISE, ["elementwise"]),
    Table("memory", "Memory of a training step above the loaded library, and its first turn", "costs", "models", ["torch", "jax"], MEMORY, NAMES),
    Table("derivatives", "A loss with its gradient, by the loss alone", "ratios", "models", ["torch", "jax"],
          [Row(name, title, 5e-7) for name, title, _, _ in MODELS], NAMES),
    Table("lazy", "Lazy arrays", "times", "lazy", ["numpy", "torch", "jax"], LAZY, own=["lazy", "adbench"]),
]
