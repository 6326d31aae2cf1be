# SPDX-License-Identifier: Apache-2.0 OR MIT
"""wengert against array_api_strict, the strict implementation of the array API standard: names, signatures, and kinds, shapes and items
of results.

What differs and why is in the exclusions, a file given as the first argument: `name: reason` a line. Prints each difference, and `N
passed, N failed` at the end.
"""

import inspect
import itertools
import pathlib
import random
import sys
import types
import warnings

import array_api_strict as strict
import numpy as np
import wengert as wg

warnings.simplefilter("ignore")
strict.set_array_api_strict_flags(api_version=wg.__array_api_version__)
SIGNED, UNSIGNED = ["int8", "int16", "int32", "int64"], ["uint8", "uint16", "uint32", "uint64"]
REAL, COMPLEX = ["float32", "float64"], ["complex64", "complex128"]
INTEGERS = SIGNED + UNSIGNED
SHAPES = [(), (1,), (3,), (2, 3), (0,), (2, 0, 3), (2, 1, 4)]
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, float("inf"), float("-inf"), float("nan"), 1e-40, 7e30, -1e-3]
rng = random.Random(5)


def items(kind, shape, special=False):
    count = int(np.prod(shape, dtype=int))
    if kind == "bool":
        values = [rng.random() < 0.5 for _ in range(count)]
    elif kind in SIGNED:
        values = [rng.randrange(-9, 10) for _ in range(count)]
    elif kind in UNSIGNED:
        values = [rng.randrange(0, 10) for _ in range(count)]
    elif kind in REAL:
        values = [rng.choice(SPECIAL) if special else rng.uniform(-3, 3) for _ in range(count)]
    else:
        values = [complex(rng.uniform(-3, 3), rng.uniform(-3, 3)) for _ in range(count)]
    return np.array(values, dtype=kind).reshape(shape)


class Report:
    def __init__(self, excluded):
        self.excluded, self.used = excluded, set()
        self.passed = self.failed = 0
        self.shown = {}

    def check(self, name, holds, complaint):
        if not holds and name in self.excluded:
            self.used.add(name)
        elif holds:
            self.passed += 1
        else:
            self.failed += 1
            self.shown[name] = self.shown.get(name, 0) + 1
            if self.shown[name] <= 3:
                print(f"{name}: {complaint}")


def plain(value):
    """A result as something that both libraries have."""
    if isinstance(value, (wg.array, type(strict.asarray(1)))):
        return np.asarray(value)
    if isinstance(value, (tuple, list)):
        return [plain(one) for one in value]
    return (
        str(value).split(".")[-1]
        if "float" in repr(value) or "int" in repr(value) or "bool" in repr(value) or "complex" in repr(value)
        else value
    )


def same(got, want, zeros=True):
    """Of equal kind and shape, and items equal or within rounding; with signs of zeros."""
    if isinstance(want, list):
        return isinstance(got, list) and len(got) == len(want) and all(same(one, other, zeros) for one, other in zip(got, want))
    if not isinstance(want, np.ndarray):
        return got == want
    if got.dtype != want.dtype or got.shape != want.shape:
        return False
    tolerance = {"float32": 2e-5, "complex64": 2e-5, "float64": 1e-11, "complex128": 1e-11}.get(str(want.dtype), 0)
    close = np.isclose(got, want, rtol=tolerance, atol=tolerance, equal_nan=True)
    return bool(np.all(close)) and (
        not zeros or want.dtype.kind != "f" or bool(np.all(np.signbit(got[got == 0]) == np.signbit(want[got == 0])))
    )


def shown(arrays, got, want):
    """What differs: of arrays the first item, and those that it comes from where they are as many."""
    if (
        not isinstance(want, np.ndarray)
        or not isinstance(got, np.ndarray)
        or got.shape != want.shape
        or got.dtype != want.dtype
        or got.size < 2
    ):
        return f"of {[a.tolist() if isinstance(a, np.ndarray) else a for a in arrays]}: {got!r}, not {want!r}"
    place = next(
        iter(zip(*np.nonzero(~np.isclose(got, want, rtol=1e-5, equal_nan=True) | (np.signbit(got.real) != np.signbit(want.real))))),
        (0,) * got.ndim,
    )
    items_there = [
        a[place].item() if isinstance(a, np.ndarray) and a.shape == want.shape else a if not isinstance(a, np.ndarray) else a.shape
        for a in arrays
    ]
    return f"{want.dtype} of {items_there}: {got[place]}, not {want[place]}"


def compare(report, name, arrays, *arguments, call=None, **names):
    """One call of both; where the strict one refuses, ours may do anything but crash."""
    of = call or (lambda xp, *given, **more: getattr(xp, name)(*given, **more))

    def translated(xp, what):
        if isinstance(what, np.ndarray):
            return xp.asarray(what.copy())
        if isinstance(what, Kind):
            return getattr(xp, what.name)
        return [translated(xp, one) for one in what] if isinstance(what, list) else what

    def run(xp):
        given = [translated(xp, one) for one in (*arrays, *arguments)]
        return plain(of(xp, *given, **{key: translated(xp, value) for key, value in names.items()}))

    try:
        want = run(strict)
    except Exception:
        return
    try:
        got = run(wg)
    except Exception as error:
        report.check(
            name,
            False,
            f"{arguments} {names} of {[a.dtype.name + str(a.shape) if isinstance(a, np.ndarray) else a for a in arrays]}: {error!r}",
        )
        return
    report.check(name, same(got, want, name not in OPEN_ZEROS), f"{arguments} {names} {shown(arrays, got, want)}")


class Kind:
    def __init__(self, name):
        self.name = name


def compare_names(report):
    for space, ours, label in (strict, wg, ""), (strict.linalg, wg.linalg, "linalg."):
        listed = strict.linalg.__all__ if label else dir(space)
        names = [
            name for name in listed if not name.startswith("_") and "flags" not in name.lower() and name not in ("Device", "ModuleType")
        ]
        for name in names:
            report.check(label + name, hasattr(ours, name), "is missing")
            theirs = getattr(space, name)
            if not isinstance(theirs, types.FunctionType) or not hasattr(ours, name):
                continue
            try:
                mine = inspect.signature(getattr(ours, name)).parameters
            except ValueError:
                report.check(label + name, False, "has no signature")
                continue
            for parameter in inspect.signature(theirs).parameters.values():
                if parameter.kind in (parameter.KEYWORD_ONLY, parameter.POSITIONAL_OR_KEYWORD):
                    report.check(
                        label + name,
                        parameter.name in mine and mine[parameter.name].kind in (parameter.KEYWORD_ONLY, parameter.POSITIONAL_OR_KEYWORD),
                        f"has no argument {parameter.name}",
                    )
            positional = [p for p in inspect.signature(theirs).parameters.values() if p.kind == p.POSITIONAL_ONLY]
            own = [p for p in mine.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
            report.check(label + name, len(own) >= len(positional), "takes fewer arguments by their place")
    for name in dir(strict.asarray([[1.0]])):
        if not (name.startswith("_") and not name.startswith("__")) and name not in (
            "__dict__",
            "__weakref__",
            "__module__",
            "__buffer__",
            "__annotations__",
            "__slots__",
        ):
            report.check("array." + name, hasattr(wg.ones((1, 1)), name), "is missing")


UNARY = """abs acos acosh asin asinh atan atanh bitwise_invert ceil conj cos cosh exp expm1 floor imag isfinite isinf isnan log log1p
log2 log10 logical_not negative positive real reciprocal round sign signbit sin sinh square sqrt tan tanh trunc""".split()
BINARY = """add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor copysign divide equal floor_divide greater
greater_equal hypot less less_equal logaddexp logical_and logical_or logical_xor maximum minimum multiply nextafter
not_equal pow remainder subtract""".split()
KINDS = ["bool"] + INTEGERS + REAL + COMPLEX
NUMBERS = INTEGERS + REAL + COMPLEX
# The kinds that the standard gives each function; the others are open.
OF_KINDS = {}
for group, names in [
    (REAL, "atan2 copysign hypot logaddexp nextafter signbit"),
    (
        REAL + COMPLEX,
        """acos acosh asin asinh atan atanh cos cosh divide exp expm1 log log1p log2 log10 reciprocal sin sinh
    sqrt tan tanh""",
    ),
    (
        INTEGERS + REAL,
        """ceil clip floor floor_divide greater greater_equal less less_equal maximum minimum remainder trunc argmax argmin max min sort
        argsort""",
    ),
    (
        NUMBERS,
        "abs add isfinite isinf isnan multiply negative positive pow round sign square subtract sum prod cumulative_sum cumulative_prod",
    ),
    (COMPLEX, "imag"),
    (NUMBERS, "conj real"),
    (["bool"] + INTEGERS, "bitwise_and bitwise_or bitwise_xor bitwise_invert"),
    (INTEGERS, "bitwise_left_shift bitwise_right_shift"),
    (["bool"], "logical_and logical_or logical_xor logical_not"),
    (REAL + COMPLEX, "mean"),
    (REAL, "std var"),
]:
    for each in names.split():
        OF_KINDS[each] = group


# Where the standard leaves the sign of a zero open.
OPEN_ZEROS = set("maximum minimum max min clip sum mean prod matmul".split())


def compare_items(report):
    for name, shape in itertools.product(UNARY, SHAPES):
        for kind in OF_KINDS.get(name, KINDS):
            compare(report, name, [items(kind, shape)])
            if kind in REAL:
                compare(report, name, [items(kind, (13,), special=True)])
    pairs = (
        [(kind, kind) for kind in KINDS]
        + list(itertools.combinations(SIGNED, 2))
        + list(itertools.combinations(UNSIGNED, 2))
        + [tuple(REAL), ("int8", "uint8"), ("int32", "uint16"), ("float32", "complex64"), ("float64", "complex64")]
    )
    for name, (a, b) in itertools.product(BINARY, pairs):
        kinds = OF_KINDS.get(name, KINDS)
        if a not in kinds or b not in kinds:
            continue
        for left, right in ((2, 3), (2, 3)), ((2, 1), (3,)), ((), (2,)), ((0, 3), (1,)):
            x, y = items(a, left), items(b, right)
            if name in ("pow", "bitwise_left_shift", "bitwise_right_shift") and b in INTEGERS:
                y = np.abs(y) % 5
            if name in ("floor_divide", "remainder", "divide") and b in INTEGERS:
                y = y + (y == 0).astype(b)
            compare(report, name, [x, y])
        if a in REAL and b in REAL:
            grid = np.array(list(itertools.product(SPECIAL[:10], repeat=2)))
            compare(report, name, [grid[:, 0].astype(a), grid[:, 1].astype(b)])
        if a != "bool":
            for number in (2, 0.5) if a in REAL else (3,):
                compare(report, name, [items(a, (4,))], number)
    for kind in INTEGERS + REAL:
        compare(report, "clip", [items(kind, (7,))], 1, 3)
        compare(report, "clip", [items(kind, (7,))], None, 2)
        compare(report, "clip", [items(kind, (7,)), items(kind, (7,)) * 0, items(kind, (7,)) * 0 + 2])
    for kind in KINDS:
        compare(report, "where", [items("bool", (2, 3)), items(kind, (3,)), items(kind, (2, 1))])


def compare_folds(report):
    for name, kind, shape in itertools.product(
        "sum prod max min mean any all argmax argmin count_nonzero std var cumulative_sum cumulative_prod".split(), KINDS, SHAPES
    ):
        if kind not in OF_KINDS.get(name, KINDS) or (name[0] == "c" and name[1] == "u" and not shape):
            continue
        x = items(kind, shape)
        axes = [None, *range(-len(shape), len(shape))]
        if len(shape) > 1 and name not in ("argmax", "argmin", "cumulative_sum", "cumulative_prod"):
            axes += [(0, 1), (-1, 0), ()]
        for axis in axes:
            for more in {"keepdims": True}, {}:
                if name.startswith("cum"):
                    more = {"include_initial": True} if more else {}
                compare(report, name, [x], axis=axis, **more)
        if name in ("sum", "prod", "cumulative_sum") and kind not in COMPLEX:
            compare(report, name, [x], dtype=Kind("float64"), **({"axis": 0} if len(shape) > 1 and name[0] == "c" else {}))
        if name in ("std", "var") and kind in REAL:
            compare(report, name, [x], correction=1.0)
    for kind, shape in itertools.product(KINDS, SHAPES):
        for axis in range(-len(shape), len(shape)):
            if kind != "bool":
                compare(report, "diff", [items(kind, shape)], axis=axis)
            for descending in (False, True) if kind in OF_KINDS["sort"] else ():
                x = items(kind, shape)
                compare(report, "sort", [x], axis=axis, descending=descending)
                compare(report, "argsort", [x], axis=axis, descending=descending)
        for name in "unique_values unique_counts unique_inverse nonzero".split():
            x = items(kind, shape)
            compare(report, name, [x])


def compare_layout(report):
    for kind, shape in itertools.product(["bool", "int64", "float32", "complex128"], SHAPES):
        x = items(kind, shape)
        rank = len(shape)
        compare(report, "reshape", [x], (-1,) if x.size else (0,))
        compare(report, "flip", [x])
        compare(report, "roll", [x], 2)
        compare(report, "permute_dims", [x], tuple(reversed(range(rank))))
        compare(report, "broadcast_to", [x], (3, *shape))
        compare(report, "tile", [x], (2, 1, 3)[: rank or 1])
        compare(report, "repeat", [x], 2)
        compare(report, "squeeze", [x], tuple(axis for axis in range(rank) if shape[axis] == 1))
        compare(report, "concat", [[x, x]], axis=None)
        for axis in range(-rank, rank):
            compare(report, "flip", [x], axis=axis)
            compare(report, "roll", [x], -1, axis=axis)
            compare(report, "repeat", [x], 3, axis=axis)
            compare(report, "concat", [[x, x, x]], axis=axis)
            compare(report, "moveaxis", [x], axis, 0)
            compare(report, "unstack", [x], axis=axis)
            if shape[axis]:
                compare(report, "take", [x, np.array([0, shape[axis] - 1, 0])], axis=axis)
        for axis in range(-rank - 1, rank + 1):
            compare(report, "stack", [[x, x]], axis=axis)
            compare(report, "expand_dims", [x], axis=axis)
        if rank >= 2:
            compare(report, "matrix_transpose", [x])
            for k in -1, 0, 2:
                compare(report, "tril", [x], k=k)
                compare(report, "triu", [x], k=k)
    compare(report, "broadcast_arrays", [np.ones((2, 1)), np.ones(3)])
    compare(report, "meshgrid", [np.arange(2), np.arange(3)])
    compare(report, "meshgrid", [np.arange(2), np.arange(3)], indexing="ij")
    compare(report, "take_along_axis", [items("float64", (2, 3)), np.array([[0], [2]])])
    for side in "left", "right":
        compare(report, "searchsorted", [np.sort(items("float64", (7,))), items("float64", (5,))], side=side)
    for kind in KINDS:
        for n in (3,), (3, 4), (0, 2):
            compare(report, "eye", [], *n, dtype=Kind(kind))
        for name in "zeros", "ones":
            compare(report, name, [], (2, 3), dtype=Kind(kind))
            compare(report, name + "_like", [items(kind, (2, 2))])
        compare(report, "full", [], (2,), 1, dtype=Kind(kind))
        compare(report, "full_like", [items(kind, (2, 2))], 1)
        for other in KINDS:
            compare(report, "astype", [np.abs(items(kind, (5,)))], Kind(other))
            compare(report, "can_cast", [], Kind(kind), Kind(other))
            compare(report, "result_type", [], Kind(kind), Kind(other))
    for start, stop, step in (0, 10, 3), (5, -5, -2), (1, 1, 1), (0.0, 1.0, 0.25), (3, 0, 1):
        compare(report, "arange", [], start, stop, step)
        compare(report, "linspace", [], start, stop, 5)
        compare(report, "linspace", [], start, stop, 5, endpoint=False)
    for fill in True, 3, 2.5, 1 + 1j:
        compare(report, "full", [], (2,), fill)


def compare_matrices(report):
    for kind in INTEGERS + REAL + COMPLEX:
        for a, b in ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((5, 2, 3), (3, 4)), ((2, 0), (0, 3)):
            compare(report, "matmul", [items(kind, a), items(kind, b)])
        compare(report, "vecdot", [items(kind, (2, 3)), items(kind, (3,))])
        compare(report, "tensordot", [items(kind, (2, 3)), items(kind, (3, 2))], axes=1)
        compare(report, "tensordot", [items(kind, (2, 3)), items(kind, (3, 2))], axes=((0, 1), (1, 0)))
        for name, arrays in (
            ("outer", [items(kind, (2,)), items(kind, (3,))]),
            ("trace", [items(kind, (2, 3))]),
            ("diagonal", [items(kind, (2, 3))]),
            ("cross", [items(kind, (2, 3)), items(kind, (2, 3))]),
            ("matrix_power", [items(kind, (3, 3))]),
        ):
            compare(
                report,
                "linalg." + name,
                arrays,
                *([2] if name == "matrix_power" else []),
                call=lambda xp, *given, n=name: getattr(xp.linalg, n)(*given),
            )
    for kind in REAL:
        square = items(kind, (2, 3, 3)) + 4 * np.eye(3, dtype=kind)
        symmetric = (square + np.swapaxes(square, -1, -2)) / 2
        for name, arrays, more in [
            ("det", [square], {}),
            ("inv", [square], {}),
            ("solve", [square, items(kind, (2, 3, 1))], {}),
            ("solve", [square, items(kind, (3,))], {}),
            ("slogdet", [square], {}),
            ("cholesky", [symmetric + 3 * np.eye(3, dtype=kind)], {}),
            ("cholesky", [symmetric + 3 * np.eye(3, dtype=kind)], {"upper": True}),
            ("eigvalsh", [symmetric], {}),
            ("svdvals", [square[:, :2]], {}),
            ("pinv", [square[:, :2]], {}),
            ("matrix_rank", [square], {}),
            ("matrix_norm", [square], {}),
            ("matrix_norm", [square], {"ord": 1}),
            ("matrix_norm", [square], {"ord": float("inf"), "keepdims": True}),
            ("matrix_norm", [square], {"ord": 2}),
            ("matrix_norm", [square], {"ord": "nuc"}),
            ("vector_norm", [square], {}),
            ("vector_norm", [square], {"axis": (0, 1), "ord": 1}),
            ("vector_norm", [square], {"axis": -1, "keepdims": True, "ord": float("inf")}),
        ]:
            compare(report, "linalg." + name, arrays, call=lambda xp, *given, n=name, **more: getattr(xp.linalg, n)(*given, **more), **more)
        for shape in (3, 3), (4, 2), (2, 4):
            x = wg.array(items(kind, shape))
            q, r = wg.linalg.qr(x)
            u, s, vh = wg.linalg.svd(x, full_matrices=False)
            whole = wg.linalg.svd(x)
            report.check("linalg.qr", same(np.asarray(q @ r), np.asarray(x)), f"{shape}: Q R is not the matrix")
            report.check(
                "linalg.qr",
                wg.linalg.qr(x, mode="complete").Q.shape == (shape[0],) * 2
                and bool(wg.allclose(wg.matmul(*wg.linalg.qr(x, mode="complete")), x, atol=1e-4)),
                "complete",
            )
            report.check("linalg.svd", bool(wg.allclose((u * s) @ vh, x, atol=1e-4)), f"{shape}: U S V is not the matrix")
            report.check(
                "linalg.svd",
                bool(wg.allclose(whole.U @ whole.U.mT, wg.eye(shape[0], dtype=x.dtype), atol=1e-4)) and whole.Vh.shape == (shape[1],) * 2,
                "full matrices",
            )
        values, vectors = wg.linalg.eigh(wg.array(symmetric))
        report.check(
            "linalg.eigh", bool(wg.allclose(vectors * values[:, None, :] @ vectors.mT, symmetric, atol=1e-4)), "V D V^T is not the matrix"
        )


def main():
    lines = [line.split("#")[0] for line in pathlib.Path(sys.argv[1]).read_text().splitlines()]
    excluded = {line.split(":")[0].strip() for line in lines if ":" in line and "::" not in line}
    report = Report(excluded)
    for part in compare_names, compare_items, compare_folds, compare_layout, compare_matrices:
        part(report)
    for name in sorted(excluded - report.used):
        report.check("exclusions", False, f"{name} is excluded and differs nowhere")
    print(f"{len(report.used)} excluded: {', '.join(sorted(report.used)) or 'none'}")
    print(f"{report.passed} passed, {report.failed} failed")
    sys.exit(1 if report.failed else 0)


if __name__ == "__main__":
    main()
