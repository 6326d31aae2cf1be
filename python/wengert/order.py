# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Sorting, searching, sets, and items at positions."""

import collections

from . import _core
from .data import _as_array

__all__ = [
    "argpartition",
    "argsort",
    "argwhere",
    "bincount",
    "compress",
    "digitize",
    "histogram",
    "intersect1d",
    "isin",
    "nonzero",
    "partition",
    "put_along_axis",
    "searchsorted",
    "setdiff1d",
    "setxor1d",
    "sort",
    "take",
    "take_along_axis",
    "top_k",
    "union1d",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
]


def sort(x, /, axis=-1, *, descending=False, stable=True):
    """An axis in order; stable, NaN last.

    >>> wg.sort(wg.array([3, 1, 2]), descending=True)
    wengert.array([3, 2, 1])
    """
    return _core.sort(x, axis, descending)


def argsort(x, /, axis=-1, *, descending=False, stable=True):
    """The positions that sort would put in order."""
    return _core.argsort(x, axis, descending)


def top_k(x, k, /, axis=-1):
    """The k greatest of an axis, greatest first, and their positions."""
    return _core.top_k(x, k, axis)


def partition(x, kth, /, axis=-1):
    """The item at place kth is the one that sorting puts there; lesser ones stand before it."""
    return _core.partition(x, kth, axis)


def argpartition(x, kth, /, axis=-1):
    """Positions in the order of partition."""
    return _core.argpartition(x, kth, axis)


def searchsorted(x1, x2, /, side="left", *, sorter=None):
    """For each item of x2 where it goes in the ascending x1.

    >>> wg.searchsorted(wg.array([1.0, 2.0]), wg.array([1.5]))
    wengert.array([1])
    """
    if side not in ("left", "right"):
        raise ValueError(f"side is 'left' or 'right', not {side!r}")
    x1 = _as_array(x1)
    if sorter is not None:
        x1 = _core.take(x1, sorter, 0)
    return _core.searchsorted(x1, x2, side == "right")


def digitize(x, bounds, /, right=False):
    """The number of the bin of each item."""
    return _core.digitize(x, bounds, right)


def nonzero(x, /):
    """For each axis the positions of items that are not zero. Reads x."""
    x = _as_array(x)
    if not x.ndim:
        raise ValueError("an array [] has no positions")
    return _core.nonzero(x)


def argwhere(x, /):
    """The same as rows. Reads x."""
    return _core.argwhere(x)


def compress(condition, x, /, axis=0):
    """The positions of an axis where the condition holds. Reads the condition."""
    return _core.compress(condition, x, axis)


def take(x, indices, /, axis=None):
    """Items of an axis at positions, negative ones from the end."""
    x = _as_array(x)
    if axis is None:
        if x.ndim != 1:
            raise ValueError("axis is needed: the array has not one axis")
        axis = 0
    return _core.take(x, indices, axis)


def take_along_axis(x, indices, /, axis=-1):
    """Of each line along an axis the items at positions."""
    return _core.take_along_axis(x, indices, axis)


def put_along_axis(x, indices, values, /, axis=-1):
    """The array whose lines have values at positions."""
    return _core.put_along_axis(x, indices, values, axis)


_All = collections.namedtuple("unique_all_result", "values indices inverse_indices counts")
_Counts = collections.namedtuple("unique_counts_result", "values counts")
_Inverse = collections.namedtuple("unique_inverse_result", "values inverse_indices")


def _unique(x):
    """Values, first positions, places, counts; complex numbers in the order of their real, then imaginary parts."""
    x = _as_array(x)
    if x.dtype.kind != "c":
        return _core.unique(x)
    flat = _core.flatten(x)
    order = _core.argsort(_core.imag(flat), 0, False)
    order = _core.take(order, _core.argsort(_core.take(_core.real(flat), order, 0), 0, False), 0)
    ordered = _core.take(flat, order, 0)
    new = _core.concat([_core.full(_core.bool, (min(1, flat.size),), 1), ordered[1:] != ordered[:-1]], 0)
    (begins,) = _core.nonzero(new)
    ends = _core.concat([begins, _core.full(_core.int64, (1,), flat.size)], 0)
    places = _core.full(_core.int64, flat.shape, 0).at[order].set(_core.cumsum(new.astype(_core.int64), 0) - 1)
    return ordered[begins], order[begins], _core.reshape(places, x.shape), _core.diff(ends, 1, 0)


def unique_all(x, /):
    """Distinct items in ascending order, the first position of each, the place of each item among them, how often each occurs. Reads x."""
    return _All(*_unique(x))


def unique_counts(x, /):
    """Distinct items and how often each occurs. Reads x."""
    values, _, _, counts = _unique(x)
    return _Counts(values, counts)


def unique_inverse(x, /):
    """Distinct items and the place of each item among them. Reads x."""
    values, _, inverse, _ = _unique(x)
    return _Inverse(values, inverse)


def unique_values(x, /):
    """Distinct items in ascending order. Reads x.

    >>> wg.unique_values(wg.array([3, 1, 3]))
    wengert.array([1, 3])
    """
    return _unique(x)[0]


def isin(x1, x2, /, *, invert=False):
    """Which items of x1 are items of x2."""
    found = _core.is_in(x1, x2)
    return ~found if invert else found


def union1d(x1, x2, /):
    """Distinct items of either. Reads both."""
    return _core.union(x1, x2)


def intersect1d(x1, x2, /):
    """Distinct items of both. Reads both."""
    return _core.intersection(x1, x2)


def setdiff1d(x1, x2, /):
    """Distinct items of x1 that x2 has not. Reads both."""
    return _core.difference(x1, x2)


def setxor1d(x1, x2, /):
    """Distinct items of one alone. Reads both."""
    return _core.symmetric_difference(x1, x2)


def histogram(x, /, bins=10, range=None):
    """How many items are in bins of equal width, and the bounds. Without a range x is read for it."""
    x = _as_array(x)
    low, high = range if range is not None else (float(_core.min(x, None, False)), float(_core.max(x, None, False)))
    return _core.histogram(x, bins, low, high)


def bincount(x, /, weights=None, length=-1):
    """Counts of the integers 0, 1, 2 .. in x, or sums of weights; length -1: up to the greatest, which is read."""
    return _core.bincount(x, weights, length)
