# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Making arrays."""

import builtins

from . import _core
from ._core import array

__all__ = [
    "arange",
    "asarray",
    "diag",
    "empty",
    "empty_like",
    "eye",
    "from_dlpack",
    "full",
    "full_like",
    "linspace",
    "map_file",
    "meshgrid",
    "one_hot",
    "ones",
    "ones_like",
    "tri",
    "tril",
    "triu",
    "zeros",
    "zeros_like",
]


def _check_device(device):
    if device not in (None, "cpu"):
        raise ValueError(f"there is no device {device!r}: the one is 'cpu'")


def _kind_of_number(number):
    if isinstance(number, builtins.bool):
        return _core.bool
    return _core.int64 if isinstance(number, int) else _core.float64 if isinstance(number, float) else _core.complex128


def asarray(obj, /, dtype=None, *, device=None, copy=None):
    """An array from an array, NumPy, DLPack, a buffer, a number or nested sequences; not copied where that can be.

    >>> wg.asarray([[1, 2], [3, 4]])
    wengert.array([[1, 2],
                   [3, 4]])
    """
    _check_device(device)
    if type(obj) is array and not copy and (dtype is None or obj.dtype == dtype):
        return obj
    return array(obj, dtype, copy)


def from_dlpack(x, /, *, device=None, copy=None):
    """An array over the items of another library's, which nobody may write while it lives."""
    _check_device(device)
    try:
        capsule = x.__dlpack__(max_version=(1, 0))
    except TypeError:
        capsule = x.__dlpack__()
    made = _core.from_dlpack(capsule)
    return array(made.numpy(), copy=True) if copy else made


def full(shape, fill_value, dtype=None, *, device=None):
    """[shape] of one number.

    >>> wg.full((2,), 7)
    wengert.array([7, 7])
    """
    _check_device(device)
    if not isinstance(fill_value, (int, float)):
        value = array(fill_value, dtype)
        return _core.broadcast_to(value, shape)
    kind = _kind_of_number(fill_value) if dtype is None else _core.dtype(dtype)
    if isinstance(fill_value, int) and abs(fill_value) >= 2**53:
        return _core.broadcast_to(array(fill_value, kind), shape)
    return _core.full(kind, shape, fill_value)


def zeros(shape, dtype=None, *, device=None):
    """[shape] of zeros."""
    _check_device(device)
    return _core.full(_core.float64 if dtype is None else dtype, shape, 0)


def ones(shape, dtype=None, *, device=None):
    """[shape] of ones."""
    _check_device(device)
    return _core.full(_core.float64 if dtype is None else dtype, shape, 1)


def empty(shape, dtype=None, *, device=None):
    """[shape] of zeros: arrays that wait have no items that nobody chose."""
    return zeros(shape, dtype=dtype, device=device)


def full_like(x, /, fill_value, dtype=None, *, device=None):
    """Of another array's shape and kind."""
    return full(x.shape, fill_value, dtype=x.dtype if dtype is None else dtype, device=device)


def zeros_like(x, /, dtype=None, *, device=None):
    """Zeros of another array's shape and kind."""
    return zeros(x.shape, dtype=x.dtype if dtype is None else dtype, device=device)


def ones_like(x, /, dtype=None, *, device=None):
    """Ones of another array's shape and kind."""
    return ones(x.shape, dtype=x.dtype if dtype is None else dtype, device=device)


def empty_like(x, /, dtype=None, *, device=None):
    """Zeros of another array's shape and kind."""
    return zeros_like(x, dtype=dtype, device=device)


def arange(start, /, stop=None, step=1, dtype=None, *, device=None):
    """start, start + step .. before stop.

    >>> wg.arange(2, 8, 3)
    wengert.array([2, 5])
    """
    _check_device(device)
    if stop is None:
        start, stop = 0, start
    if dtype is None:
        dtype = _core.int64 if all(isinstance(number, int) for number in (start, stop, step)) else _core.float64
    if all(isinstance(number, int) for number in (start, stop, step)) and step and max(abs(start), abs(stop), abs(step)) >= 2**53:
        count = max(0, -((start - stop) // step))
        return _core.iota(dtype, count, 0) * array(step, dtype) + array(start, dtype)
    return _core.arange(dtype, start, stop, step)


def linspace(start, stop, /, num=50, *, dtype=None, device=None, endpoint=True):
    """num numbers from start to stop, which is the last one or (endpoint False) the one after it.

    >>> wg.linspace(0, 1, 3)
    wengert.array([0., 0.5, 1.])
    """
    _check_device(device)
    if isinstance(start, complex) or isinstance(stop, complex):
        start, stop = complex(start), complex(stop)
        parts = _core.linspace(_core.float64, start.real, stop.real, num, endpoint), _core.linspace(
            _core.float64, start.imag, stop.imag, num, endpoint
        )
        return _core.complex(*parts).astype(_core.complex128 if dtype is None else dtype)
    kind = _core.float64 if dtype is None else _core.dtype(dtype)
    if kind.kind == "f":
        return _core.linspace(kind, start, stop, num, endpoint)
    return _core.linspace(_core.float64, start, stop, num, endpoint).astype(kind)


def eye(n_rows, n_cols=None, /, k=0, dtype=None, *, device=None):
    """Ones on a diagonal, else zeros.

    >>> wg.eye(2)
    wengert.array([[1., 0.],
                   [0., 1.]])
    """
    _check_device(device)
    return _core.eye(_core.float64 if dtype is None else dtype, n_rows, n_rows if n_cols is None else n_cols, k)


def diag(x, /, k=0):
    """[n] to a matrix with it as a diagonal, [m, n] to its diagonal."""
    return _core.diag(x, k)


def tri(n_rows, n_cols=None, /, k=0, dtype=None):
    """Ones on and below a diagonal, else zeros."""
    return _core.tri(_core.float64 if dtype is None else dtype, n_rows, n_rows if n_cols is None else n_cols, k)


def tril(x, /, k=0):
    """Of matrices what is on and below a diagonal, else zeros."""
    return _core.tril(x, k)


def triu(x, /, k=0):
    """Of matrices what is on and above a diagonal, else zeros."""
    return _core.triu(x, k)


def meshgrid(*arrays, indexing="xy"):
    """Vectors to grids, one each; indexing "ij" has the first vector along axis 0."""
    if indexing not in ("xy", "ij"):
        raise ValueError(f"indexing is 'xy' or 'ij', not {indexing!r}")
    if not arrays:
        return []
    return list(_core.meshgrid(arrays, indexing == "xy"))


def one_hot(labels, classes, /, dtype=None):
    """[..] integers to [.., classes]: 1 at the label, else 0.

    >>> wg.one_hot(wg.array([1, 0]), 2)
    wengert.array([[0., 1.],
                   [1., 0.]])
    """
    return _core.one_hot(labels, classes, _core.float64 if dtype is None else dtype)


def map_file(path, shape, dtype=None, *, offset=0):
    """The items of a file from a byte on, mapped and not read: row-major, in this machine's order."""
    return _core.map_file(path, offset, _core.float64 if dtype is None else dtype, shape)
