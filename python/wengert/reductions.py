# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Folds over axes, and running ones. axis None: all axes; a tuple: several."""

from . import _core
from .data import _as_array

__all__ = [
    "all",
    "any",
    "argmax",
    "argmin",
    "count_nonzero",
    "cumulative_max",
    "cumulative_min",
    "cumulative_prod",
    "cumulative_sum",
    "diff",
    "logsumexp",
    "max",
    "mean",
    "median",
    "min",
    "norm",
    "prod",
    "quantile",
    "std",
    "sum",
    "var",
]


def _in_kind(x, dtype):
    x = _as_array(x)
    return x if dtype is None else x.astype(dtype)


def sum(x, /, axis=None, dtype=None, *, keepdims=False):
    """Sums; of bool and integers as int64 or uint64.

    >>> wg.sum(wg.array([[1, 2], [3, 4]]), axis=0)
    wengert.array([4, 6])
    """
    answer = _core.sum(_in_kind(x, dtype), axis, keepdims)
    return answer if dtype is None else answer.astype(dtype)


def prod(x, /, axis=None, dtype=None, *, keepdims=False):
    """Products; kinds as of sum."""
    answer = _core.prod(_in_kind(x, dtype), axis, keepdims)
    return answer if dtype is None else answer.astype(dtype)


def mean(x, /, axis=None, *, keepdims=False):
    """Means."""
    return _core.mean(x, axis, keepdims)


def var(x, /, axis=None, *, correction=0.0, keepdims=False):
    """Mean squares about the mean; of n items over n - correction."""
    return _core.var(x, axis, keepdims, correction)


def std(x, /, axis=None, *, correction=0.0, keepdims=False):
    """The square root of var."""
    return _core.std(x, axis, keepdims, correction)


def max(x, /, axis=None, *, keepdims=False):
    """The greatest; NaN if any is."""
    return _core.max(x, axis, keepdims)


def min(x, /, axis=None, *, keepdims=False):
    """The least; NaN if any is."""
    return _core.min(x, axis, keepdims)


def any(x, /, axis=None, *, keepdims=False):
    """Whether some item is not zero."""
    return _core.any(x, axis, keepdims)


def all(x, /, axis=None, *, keepdims=False):
    """Whether no item is zero."""
    return _core.all(x, axis, keepdims)


def argmax(x, /, axis=None, *, keepdims=False):
    """The position of the greatest, of equals the first."""
    return _core.arg_max(x, axis, keepdims)


def argmin(x, /, axis=None, *, keepdims=False):
    """The position of the least, of equals the first."""
    return _core.arg_min(x, axis, keepdims)


def count_nonzero(x, /, axis=None, *, keepdims=False):
    """How many items are not zero."""
    return _core.count_nonzero(x, axis, keepdims)


def logsumexp(x, /, axis=None, *, keepdims=False):
    """The logarithm of a sum of exponentials, without overflow."""
    return _core.log_sum_exp(x, axis, keepdims)


def median(x, /, axis=None, *, keepdims=False):
    """The middle item, or the mean of the two."""
    return _core.median(x, axis, keepdims)


def quantile(x, q, /, axis=None, *, keepdims=False, method="linear"):
    """The number below which a share q lies. method: linear, lower, higher, nearest, midpoint."""
    return _core.quantile(x, q, axis, keepdims, method)


def norm(x, /, ord=2, axis=None, *, keepdims=False):
    """(sum |x|^ord)^(1/ord); infinite orders: the greatest, the least."""
    return _core.norm(x, ord, axis, keepdims)


def _running(call, x, axis, dtype, initial):
    x = _in_kind(x, dtype)
    if axis is None:
        if x.ndim > 1:
            raise ValueError("axis is needed: the array has several axes")
        axis = 0
    answer = call(x, axis)
    if dtype is not None:
        answer = answer.astype(dtype)
    if initial is None:
        return answer
    shape = list(answer.shape)
    shape[axis] = 1
    return _core.concat([_core.full(answer.dtype, shape, initial), answer], axis)


def cumulative_sum(x, /, axis=None, dtype=None, *, include_initial=False):
    """Running sums; include_initial puts 0 before them.

    >>> wg.cumulative_sum(wg.array([1, 2, 3]))
    wengert.array([1, 3, 6])
    """
    return _running(_core.cumsum, x, axis, dtype, 0 if include_initial else None)


def cumulative_prod(x, /, axis=None, dtype=None, *, include_initial=False):
    """Running products; include_initial puts 1 before them."""
    return _running(_core.cumprod, x, axis, dtype, 1 if include_initial else None)


def cumulative_max(x, /, axis=None):
    """The greatest so far."""
    return _running(_core.cummax, x, axis, None, None)


def cumulative_min(x, /, axis=None):
    """The least so far."""
    return _running(_core.cummin, x, axis, None, None)


def diff(x, /, n=1, axis=-1, *, prepend=None, append=None):
    """Differences of neighbours, n times over."""
    x = _as_array(x)
    parts = [part for part in (prepend, x, append) if part is not None]
    if len(parts) > 1:
        x = _core.concat(parts, axis)
    return _core.diff(x, n, axis)
