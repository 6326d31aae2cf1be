# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Matrices, on the last two axes of arrays of float32 and float64. Factorisations need LAPACK (Debian's liblapacke) when they are read; solve, inv and the determinants do not."""

import collections

from . import _core
from .data import _as_array, finfo, result_type
from .layout import matrix_transpose

__all__ = [
    "cholesky",
    "cross",
    "det",
    "diagonal",
    "dot",
    "eigh",
    "eigvalsh",
    "einsum",
    "inner",
    "inv",
    "kron",
    "lstsq",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_triangular",
    "svd",
    "svdvals",
    "tensordot",
    "trace",
    "vecdot",
    "vector_norm",
]

matmul = _core.matmul

_Eigh = collections.namedtuple("EighResult", "eigenvalues eigenvectors")
_Qr = collections.namedtuple("QRResult", "Q R")
_Slogdet = collections.namedtuple("SlogdetResult", "sign logabsdet")
_Svd = collections.namedtuple("SVDResult", "U S Vh")


def _matrix(x):
    x = _as_array(x)
    return x if x.dtype in (_core.float32, _core.float64) or x.dtype.kind == "c" else x.astype(_core.float64)


def _in_kind(product, *operands):
    """Products of integers in the kind of the operands: they wrap."""
    if product.dtype.kind not in "iu":
        return product
    kind = result_type(*operands)
    return product if product.dtype == kind else _core.convert_wrap(product, kind)


def _row(name, *operands, attributes=()):
    return _core.record(name, operands, attributes)


def dot(x1, x2, /):
    """NumPy's dot."""
    return _core.dot(x1, x2)


def vecdot(x1, x2, /, axis=-1):
    """Sums of products along an axis; of complex numbers x1 is conjugated."""
    from .elementwise import conj

    x1, x2 = _as_array(x1), _as_array(x2)
    return _in_kind(_core.vecdot(conj(x1) if x1.dtype.kind == "c" else x1, x2, axis), x1, x2)


def inner(x1, x2, /):
    """[.., n] by [.., n]: [.., ..]."""
    return _core.inner(x1, x2)


def outer(x1, x2, /):
    """[m] by [n]: [m, n]."""
    return _core.outer(x1, x2)


def kron(x1, x2, /):
    """Kronecker's product."""
    return _core.kron(x1, x2)


def cross(x1, x2, /, axis=-1):
    """Vectors of extent 3 along an axis."""
    return _core.cross(x1, x2, axis)


def tensordot(x1, x2, /, axes=2):
    """Sums over pairs of axes: the last of x1 with the first of x2 (a number), or two sequences."""
    x1, x2 = _as_array(x1), _as_array(x2)
    if isinstance(axes, int):
        axes = range(x1.ndim - axes, x1.ndim), range(axes)
    return _in_kind(_core.tensordot(x1, x2, *axes), x1, x2)


def einsum(notation, *operands):
    """Einstein's notation.

    >>> wg.einsum("ij,j->i", wg.eye(2), wg.array([1.0, 2.0]))
    wengert.array([1., 2.])
    """
    return _core.einsum(notation, operands)


def trace(x, /, offset=0, *, dtype=None):
    """The sum of a diagonal of matrices; of integers as int64 or uint64."""
    x = _as_array(x) if dtype is None else _as_array(x).astype(dtype)
    answer = _core.sum(_core.diagonal(x, offset, -2, -1), -1, False)
    return answer if dtype is None else answer.astype(dtype)


def diagonal(x, /, offset=0):
    """A diagonal of matrices."""
    return _core.diagonal(x, offset, -2, -1)


def matrix_power(x, n, /):
    """Square matrices to a whole power."""
    x = _as_array(x)
    return _in_kind(_core.matrix_power(x if n >= 0 else _matrix(x), n), x)


def _broadcast_systems(a, b):
    """Matrices of one batch, which solve's row takes as it is."""
    from .layout import broadcast_shapes

    batch = broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return _core.broadcast_to(a, batch + a.shape[-2:]), _core.broadcast_to(b, batch + b.shape[-2:])


def _solved(name, a, b, attributes=()):
    a, b = _matrix(a), _matrix(b)
    if a.dtype != b.dtype:
        a, b = a.astype(_core.promoted(a.dtype, b.dtype)), b.astype(_core.promoted(a.dtype, b.dtype))
    if b.ndim == 1:
        return _core.squeeze(_row(name, *_broadcast_systems(a, _core.expand_dims(b, -1)), attributes=attributes), -1)
    return _row(name, *_broadcast_systems(a, b), attributes=attributes)


def solve(x1, x2, /):
    """x of x1 x = x2; x2 is a vector or matrices.

    >>> wg.linalg.solve(wg.array([[2.0, 0.0], [0.0, 4.0]]), wg.array([2.0, 2.0]))
    wengert.array([1., 0.5])
    """
    return _solved("solve", x1, x2)


def solve_triangular(x1, x2, /, *, upper=False, transposed=False, unit=False):
    """The same by one triangle of x1."""
    return _solved("solve_triangular", x1, x2, (upper, transposed, unit))


def lstsq(x1, x2, /):
    """The shortest x nearest to x1 x = x2."""
    return _solved("least_squares", x1, x2)


def inv(x, /):
    """Inverses."""
    x = _matrix(x)
    return solve(x, _core.broadcast_to(_core.eye(x.dtype, x.shape[-1], x.shape[-1], 0), x.shape))


def det(x, /):
    """Determinants."""
    return _row("determinant", _matrix(x))


def slogdet(x, /):
    """Signs of determinants, and logarithms of their magnitudes."""
    x = _matrix(x)
    return _Slogdet(_row("determinant_sign", x), _row("log_determinant", x))


def cholesky(x, /, *, upper=False):
    """Lower L with L L^T = x, or its transpose."""
    lower = _row("cholesky", _matrix(x))
    return lower.mT if upper else lower


def qr(x, /, *, mode="reduced"):
    """Q R of matrices; R has no negative diagonal item."""
    if mode not in ("reduced", "complete"):
        raise ValueError(f"mode is 'reduced' or 'complete', not {mode!r}")
    x = _matrix(x)
    rows, columns = x.shape[-2:]
    if mode == "complete" and rows > columns:
        # With the identity's columns behind its own, x has as many directions as rows.
        unit = _core.broadcast_to(_core.eye(x.dtype, rows, rows, 0), x.shape[:-2] + (rows, rows))
        return _Qr(_row("qr_q", _core.concat((x, unit), -1)), _core.record("qr_r", (_core.concat((x, unit), -1),), ())[..., :columns])
    return _Qr(_row("qr_q", x), _row("qr_r", x))


def svd(x, /, *, full_matrices=True):
    """U, singular values, V^T; full_matrices False: as many columns of U and rows of V^T as there are values."""
    x = _matrix(x)
    u, s, vh = _row("svd_u", x), _row("svd_s", x), _row("svd_v", x).mT
    if not full_matrices:
        return _Svd(u, s, vh)
    return _Svd(_completed(u), s, _completed(vh.mT).mT)


def _completed(columns):
    """Orthonormal columns with those that a whole basis lacks behind them."""
    rows, count = columns.shape[-2:]
    if rows == count:
        return columns
    return _core.concat((columns, qr(columns, mode="complete").Q[..., count:]), -1)


def svdvals(x, /):
    """Singular values, descending."""
    return _row("svd_s", _matrix(x))


def eigh(x, /):
    """Eigenvalues, ascending, and eigenvectors of symmetric matrices."""
    x = _matrix(x)
    return _Eigh(_row("eigh_values", x), _row("eigh_vectors", x))


def eigvalsh(x, /):
    """Eigenvalues of symmetric matrices, ascending."""
    return _row("eigh_values", _matrix(x))


def _threshold(s, x, rtol):
    share = max(x.shape[-2:]) * finfo(x.dtype).eps if rtol is None else _as_array(rtol)
    return _core.expand_dims(_core.max(s, -1, False) * share, -1)


def matrix_rank(x, /, *, rtol=None):
    """How many singular values are above rounding."""
    x = _matrix(x)
    if 0 in x.shape[-2:]:
        return _core.full(_core.int64, x.shape[:-2], 0)
    s = svdvals(x)
    return _core.count_nonzero(s > _threshold(s, x, rtol), -1, False)


def pinv(x, /, *, rtol=None):
    """The pseudo-inverse."""
    from .elementwise import where

    x = _matrix(x)
    if 0 in x.shape[-2:]:
        return _core.full(x.dtype, x.shape[:-2] + (x.shape[-1], x.shape[-2]), 0)
    u, s, vh = svd(x, full_matrices=False)
    large = s > _threshold(s, x, rtol)
    reciprocals = where(large, 1 / where(large, s, 1.0), 0.0)
    return _core.matmul(vh.mT * _core.expand_dims(reciprocals, -2), u.mT)


def vector_norm(x, /, ord=2, axis=None, *, keepdims=False):
    """(sum |x|^ord)^(1/ord)."""
    x = _as_array(x)
    return _core.norm(_core.abs(x) if x.dtype.kind == "c" else x, ord, axis, keepdims)


def matrix_norm(x, /, ord="fro", *, keepdims=False):
    """Norms of matrices: "fro", "nuc", 1, -1, 2, -2, inf, -inf."""
    x = _matrix(x)
    sizes = _core.abs(x)
    if ord == "fro":
        return _core.norm(sizes, 2, (-2, -1), keepdims)
    if ord in ("nuc", 2, -2):
        s = svdvals(x)
        answer = (_core.sum if ord == "nuc" else _core.max if ord == 2 else _core.min)(s, -1, False)
        return _core.expand_dims(answer, (-2, -1)) if keepdims else answer
    if ord in (1, -1, float("inf"), -float("inf")):
        inside, outside = (-2, -1) if ord in (1, -1) else (-1, -2)
        lines = _core.sum(sizes, inside, True)
        answer = (_core.max if ord > 0 else _core.min)(lines, outside, True)
        return answer if keepdims else _core.squeeze(answer, (-2, -1))
    raise ValueError(f"{ord!r} is no norm of matrices")
