# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Functions item by item. Those of the extension stand here under the names of the array API; they take arrays, numbers and what
becomes an array."""

import operator

from . import _core
from ._core import (
    abs,
    acos,
    acosh,
    add,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    beta_density,
    beta_i,
    beta_i_by_a,
    beta_i_by_b,
    cbrt,
    copysign,
    cos,
    cosh,
    digamma,
    equal,
    erf,
    erf_derivative,
    erf_inverse,
    exp,
    floor_divide,
    gamma,
    gamma_density,
    gamma_p,
    gamma_p_by_a,
    gamma_p_inverse,
    gamma_q,
    gcd,
    greater,
    greater_equal,
    lcm,
    less,
    less_equal,
    lgamma,
    logaddexp,
    logical_and,
    logical_or,
    logical_xor,
    matmul,
    maximum,
    minimum,
    nextafter,
    not_equal,
    polygamma,
    real_ln,
    real_pow,
    real_sqrt,
    sin,
    sinh,
    sqrt,
    tan,
    tanh,
    trigamma,
)
from ._core import div as trunc_divide
from ._core import fmod
from ._core import ln as log
from ._core import mul as multiply
from ._core import neg as negative
from ._core import residue as remainder
from ._core import sub as subtract
from ._core import true_divide as divide
from .data import _as_array

__all__ = [
    "abs",
    "acos",
    "acosh",
    "add",
    "allclose",
    "array_equal",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "beta_density",
    "beta_i",
    "beta_i_by_a",
    "beta_i_by_b",
    "bitcast",
    "bitwise_and",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "cbrt",
    "ceil",
    "clip",
    "conj",
    "copysign",
    "cos",
    "cosh",
    "deg2rad",
    "digamma",
    "divide",
    "equal",
    "erf",
    "erf_derivative",
    "erf_inverse",
    "exp",
    "exp2",
    "expm1",
    "floor",
    "floor_divide",
    "fmod",
    "gamma",
    "gamma_density",
    "gamma_p",
    "gamma_p_by_a",
    "gamma_p_inverse",
    "gamma_q",
    "gcd",
    "greater",
    "greater_equal",
    "hypot",
    "imag",
    "isclose",
    "isfinite",
    "isinf",
    "isnan",
    "lcm",
    "less",
    "less_equal",
    "lgamma",
    "log",
    "log10",
    "log1p",
    "log2",
    "logaddexp",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "matmul",
    "maximum",
    "minimum",
    "multiply",
    "nan_to_num",
    "negative",
    "nextafter",
    "not_equal",
    "polygamma",
    "positive",
    "pow",
    "rad2deg",
    "real",
    "real_ln",
    "real_pow",
    "real_sqrt",
    "reciprocal",
    "remainder",
    "round",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "subtract",
    "tan",
    "tanh",
    "trigamma",
    "trunc",
    "trunc_divide",
    "where",
]

bitwise_and = getattr(_core, "and")
bitwise_or = getattr(_core, "or")
bitwise_xor = _core.xor
bitwise_invert = getattr(_core, "not")
bitwise_left_shift = _core.shift_left
bitwise_right_shift = _core.shift_right


def positive(x, /):
    """x itself."""
    return +_as_array(x)


def pow(x1, x2, /):
    """x1 to the power x2; of integers exactly, modulo the width.

    >>> wg.pow(wg.array([2, 3]), 3)
    wengert.array([8, 27])
    """
    return operator.pow(
        x1 if isinstance(x1, (int, float, complex)) else _as_array(x1), x2 if isinstance(x2, (int, float, complex)) else _as_array(x2)
    )


def hypot(x1, x2, /):
    """sqrt(x1 * x1 + x2 * x2) without overflow; infinite where one is, whatever the other."""
    infinite = _core.is_inf(_as_array(x1)) | _core.is_inf(_as_array(x2))
    return where(infinite, float("inf"), _core.hypot(x1, x2))


def square(x, /):
    """x * x"""
    return _core.square(x)


def reciprocal(x, /):
    """1 / x"""
    return _core.reciprocal(x)


def round(x, /, decimals=0):
    """The nearest integer, ties to even; decimals after the point are kept.

    >>> wg.round(wg.array([0.5, 1.5, -1.2]))
    wengert.array([0., 2., -1.])
    """
    x = _as_array(x)
    if decimals:
        unit = 10.0**decimals
        return _core.round(x * unit) / unit
    if x.dtype.kind == "c":
        return _core.complex(_core.round(real(x)), _core.round(imag(x)))
    return _core.round(x) if x.dtype.kind == "f" else +x


def floor(x, /):
    """The greatest integer at most x."""
    x = _as_array(x)
    return _core.floor(x) if x.dtype.kind == "f" else +x


def ceil(x, /):
    """The least integer at least x."""
    x = _as_array(x)
    return _core.ceil(x) if x.dtype.kind == "f" else +x


def trunc(x, /):
    """Toward zero."""
    x = _as_array(x)
    return _core.trunc(x) if x.dtype.kind == "f" else +x


def log2(x, /):
    """Logarithm to base 2."""
    return _core.log2(x)


def log10(x, /):
    """Logarithm to base 10."""
    return _core.log10(x)


def exp2(x, /):
    """2 to the x."""
    return _core.exp2(x)


def deg2rad(x, /):
    """Degrees to radians."""
    return _core.deg2rad(x)


def rad2deg(x, /):
    """Radians to degrees."""
    return _core.rad2deg(x)


def _of_parts(x, call):
    """A predicate of complex numbers by their parts."""
    x = _as_array(x)
    return (call(real(x)), call(imag(x))) if x.dtype.kind == "c" else (call(x),)


def isnan(x, /):
    """Which items are no number."""
    parts = _of_parts(x, _core.is_nan)
    return parts[0] if len(parts) == 1 else parts[0] | parts[1]


def isinf(x, /):
    """Which items are infinite."""
    parts = _of_parts(x, _core.is_inf)
    return parts[0] if len(parts) == 1 else parts[0] | parts[1]


def isfinite(x, /):
    """Which items are finite numbers."""
    parts = _of_parts(x, _core.is_finite)
    return parts[0] if len(parts) == 1 else parts[0] & parts[1]


def signbit(x, /):
    """Which items are negative, -0 and negative NaN among them."""
    return _core.signbit(x)


def nan_to_num(x, /, *, nan=0.0, posinf=None, neginf=None):
    """NaN and infinities replaced, infinities by the greatest finite numbers unless told otherwise."""
    from .data import finfo

    x = _as_array(x)
    most = finfo(x.dtype).max if x.dtype.kind == "f" else 0.0
    return _core.nan_to_num(x, nan, most if posinf is None else posinf, -most if neginf is None else neginf)


def logical_not(x, /):
    """Which items are zero or false."""
    return _core.logical_not(x)


def clip(x, /, min=None, max=None):
    """minimum(maximum(x, min), max); one of them may be None.

    >>> wg.clip(wg.arange(4), 1, 2)
    wengert.array([1, 1, 2, 2])
    """
    x = _as_array(x)
    for bound, call in (min, maximum), (max, minimum):
        if bound is not None:
            x = call(x, bound).astype(x.dtype) if type(bound) is not float or x.dtype.kind == "f" else call(x, bound)
    return x


def where(condition, x1, x2, /):
    """x1 where the condition holds, else x2.

    >>> wg.where(wg.array([True, False]), 1.0, wg.array([5.0, 6.0]))
    wengert.array([1., 6.])
    """
    condition = _as_array(condition)
    return _core.select(condition if condition.dtype == "bool" else condition != 0, x1, x2)


def isclose(x1, x2, /, rtol=1e-5, atol=1e-8, equal_nan=False):
    """|x1 - x2| <= atol + rtol * |x2|"""
    return _core.is_close(x1, x2, rtol, atol, equal_nan)


def allclose(x1, x2, /, rtol=1e-5, atol=1e-8, equal_nan=False):
    """Whether all items are close, as an array []."""
    return _core.all_close(x1, x2, rtol, atol, equal_nan)


def array_equal(x1, x2, /):
    """Whether shapes and items are equal, as an array []."""
    return _core.array_equal(x1, x2)


def bitcast(x, dtype, /):
    """The same bits as a kind of the same width."""
    return _core.bitcast(x, dtype)


def real(x, /):
    """The real part."""
    x = _as_array(x)
    return _core.real(x) if x.dtype.kind == "c" else +x


def imag(x, /):
    """The imaginary part."""
    x = _as_array(x)
    return _core.imag(x) if x.dtype.kind == "c" else x * 0


def conj(x, /):
    """The complex conjugate."""
    x = _as_array(x)
    return _core.conj(x) if x.dtype.kind == "c" else +x


def sign(x, /):
    """-1, 0 or 1; of a complex number x / |x|."""
    x = _as_array(x)
    return _core.sign(x) + 0.0 if x.dtype.kind == "f" else _core.sign(x)


def expm1(x, /):
    """e to the x, less 1."""
    x = _as_array(x)
    return _core.exp(x) - 1 if x.dtype.kind == "c" else _core.expm1(x)


def log1p(x, /):
    """ln(1 + x)"""
    x = _as_array(x)
    return _core.ln(x + 1) if x.dtype.kind == "c" else _core.log1p(x)
