# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Kinds of items: what they can hold, and what two of them become."""

import builtins

from . import _core
from ._core import array, dtype

__all__ = ["astype", "can_cast", "finfo", "iinfo", "isdtype", "result_type", "default_dtype"]

_BOOLS = ("bool",)
_SIGNED = ("int8", "int16", "int32", "int64")
_UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
_REAL = ("float16", "bfloat16", "float32", "float64")
_COMPLEX = ("complex64", "complex128")
_GROUPS = {
    "bool": _BOOLS,
    "signed integer": _SIGNED,
    "unsigned integer": _UNSIGNED,
    "integral": _SIGNED + _UNSIGNED,
    "real floating": _REAL,
    "complex floating": _COMPLEX,
    "numeric": _SIGNED + _UNSIGNED + _REAL + _COMPLEX,
}


def default_dtype():
    """The kind of floats without another one."""
    return _core.float64


def astype(x, dtype, /, *, copy=True, device=None):
    """x converted: floats to integers toward zero, saturating.

    >>> wg.astype(wg.array([1.7, -1.7]), wg.int64)
    wengert.array([1, -1])
    """
    return _as_array(x).astype(dtype, copy=copy)


def _as_array(x):
    return x if type(x) is array else array(x)


def _kind(what):
    return what.dtype if type(what) is array else dtype(what)


def can_cast(from_, to, /):
    """Whether promotion takes items of the one kind to the other, within bool, integers, and floats with complex numbers.

    >>> wg.can_cast(wg.int8, wg.int16), wg.can_cast(wg.int8, wg.float64)
    (True, False)
    """
    from_, to = _kind(from_), dtype(to)
    groups = {"b": "b", "i": "i", "u": "i", "f": "f", "c": "f"}
    return groups.get(from_.kind) == groups.get(to.kind) and _core.promoted(from_, to) == to


def isdtype(dtype, kind):
    """Whether a dtype is one, or of a group of them ("integral", "real floating" ..), or of one of a tuple of these.

    >>> wg.isdtype(wg.int8, "integral")
    True
    """
    if isinstance(kind, tuple):
        return any(isdtype(dtype, one) for one in kind)
    if isinstance(kind, str) and kind in _GROUPS:
        return str(dtype) in _GROUPS[kind]
    if isinstance(kind, str):
        raise ValueError(f"{kind!r} is no group of kinds; there are {', '.join(_GROUPS)}")
    return _core.dtype(dtype) == _core.dtype(kind)


def _beside(number, kind):
    """The kind that a number of Python takes beside another."""
    if isinstance(number, builtins.bool):
        return kind
    if isinstance(number, int):
        return _core.int64 if kind.kind == "b" else kind
    if isinstance(number, float):
        return kind if kind.kind in "fc" else _core.float64
    return kind if kind.kind == "c" else _core.complex64 if kind in (_core.float32, _core.float16, _core.bfloat16) else _core.complex128


def result_type(*arrays_and_dtypes):
    """The kind that operands come to.

    >>> wg.result_type(wg.int8, wg.float32)
    wengert.float32
    """
    numbers = [what for what in arrays_and_dtypes if isinstance(what, (int, float, complex))]
    kinds = [_kind(what) for what in arrays_and_dtypes if not isinstance(what, (int, float, complex))]
    if not kinds:
        if not numbers:
            raise ValueError("result_type needs an operand")
        kinds = [_core.bool]
    kind = kinds[0]
    for other in kinds[1:]:
        both = _core.promoted(kind, other)
        if both is None:
            raise _core.KindError(f"no kind holds items of {kind} and of {other}")
        kind = both
    for number in numbers:
        kind = _beside(number, kind)
    return kind


class _Info:
    def __init__(self, **facts):
        self.__dict__.update(facts)

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(f'{name}={value}' for name, value in self.__dict__.items())})"


class finfo_object(_Info):
    """What a float kind holds."""


class iinfo_object(_Info):
    """What an integer kind holds."""


_FLOATS = {
    # bits, eps, max, smallest normal
    "float16": (16, 2.0**-10, 65504.0, 2.0**-14),
    "bfloat16": (16, 2.0**-7, (2 - 2.0**-7) * 2.0**127, 2.0**-126),
    "float32": (32, 2.0**-23, (2 - 2.0**-23) * 2.0**127, 2.0**-126),
    "float64": (64, 2.0**-52, (2 - 2.0**-52) * 2.0**1023, 2.0**-1022),
}


def finfo(type, /):
    """Limits of a float kind: bits, eps, max, min, smallest_normal; of complex ones those of a part.

    >>> wg.finfo(wg.float32).eps
    1.1920928955078125e-07
    """
    kind = _kind(type)
    kind = {"complex64": _core.float32, "complex128": _core.float64}.get(str(kind), kind)
    if kind.kind != "f":
        raise ValueError(f"{kind} is no kind of floats")
    bits, eps, most, normal = _FLOATS[str(kind)]
    return finfo_object(bits=bits, eps=eps, max=most, min=-most, smallest_normal=normal, dtype=kind)


def iinfo(type, /):
    """Limits of an integer kind: bits, max, min.

    >>> wg.iinfo(wg.uint8).max
    255
    """
    kind = _kind(type)
    if kind.kind not in "iu":
        raise ValueError(f"{kind} is no kind of integers")
    bits = 8 * kind.itemsize
    low = -(2 ** (bits - 1)) if kind.kind == "i" else 0
    return iinfo_object(bits=bits, max=low + 2**bits - 1, min=low, dtype=kind)


class _Namespace:
    """What the array API asks of a namespace."""

    def capabilities(self):
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 16}

    def default_device(self):
        return "cpu"

    def devices(self):
        return ["cpu"]

    def default_dtypes(self, *, device=None):
        return {"real floating": _core.float64, "complex floating": _core.complex128, "integral": _core.int64, "indexing": _core.int64}

    def dtypes(self, *, device=None, kind=None):
        names = ("bool",) + _SIGNED + _UNSIGNED + ("float32", "float64") + _COMPLEX
        chosen = names if kind is None else tuple(name for name in names if isdtype(dtype(name), kind))
        return {name: dtype(name) for name in chosen}


def __array_namespace_info__():
    return _Namespace()


__all__.append("__array_namespace_info__")
