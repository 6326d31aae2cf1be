# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Moving items: shapes, axes, pieces."""

import builtins

from . import _core
from .data import _as_array

__all__ = [
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "concat",
    "concatenate",
    "expand_dims",
    "flatten",
    "flip",
    "matrix_transpose",
    "moveaxis",
    "pad",
    "permute_dims",
    "ravel",
    "repeat",
    "reshape",
    "roll",
    "split",
    "squeeze",
    "stack",
    "swapaxes",
    "tile",
    "transpose",
    "unfold",
    "unstack",
]


def reshape(x, /, shape, *, copy=None):
    """The same items in another shape; one extent may be -1.

    >>> wg.reshape(wg.arange(4), (2, -1)).shape
    (2, 2)
    """
    return _core.reshape(x, shape)


def flatten(x, /):
    """The items in one axis."""
    return _core.flatten(x)


ravel = flatten


def permute_dims(x, /, axes):
    """Axes in another order."""
    return _core.permute(x, axes)


def transpose(x, /, axes=None):
    """Axes in another order; in reverse without one."""
    x = _as_array(x)
    return x.T if axes is None else _core.permute(x, axes)


def matrix_transpose(x, /):
    """The last two axes exchanged."""
    return _as_array(x).mT


def moveaxis(x, source, destination, /):
    """Axes moved to other places, the others in their order."""
    return _core.move_axis(x, source, destination)


def swapaxes(x, axis1, axis2, /):
    """Two axes exchanged."""
    return _core.swap_axes(x, axis1, axis2)


def squeeze(x, /, axis=None):
    """Without axes of extent 1: these, or all."""
    return _core.squeeze(x, axis)


def expand_dims(x, /, axis=0):
    """With axes of extent 1 at these places of the result."""
    x = _as_array(x)
    places = (axis,) if isinstance(axis, int) else tuple(axis)
    rank = x.ndim + len(places)
    if any(not -rank <= place < rank for place in places):
        raise IndexError(f"axis {axis} is outside of a result of {rank} axes")
    return _core.expand_dims(x, places)


def broadcast_to(x, /, shape):
    """Repeated along axes of extent 1 and missing ones."""
    return _core.broadcast_to(x, shape)


def broadcast_arrays(*arrays):
    """Arrays of one shape."""
    return list(_core.broadcast_arrays(*arrays)) if arrays else []


def broadcast_shapes(*shapes):
    """The shape of several broadcast."""
    rank = max((len(shape) for shape in shapes), default=0)
    answer = []
    for axis in range(-rank, 0):
        extents = {shape[axis] for shape in shapes if len(shape) >= -axis} - {1}
        if len(extents) > 1:
            raise _core.ShapeError(f"shapes {', '.join(map(str, shapes))} do not fit: counted from the end, extents are equal or 1")
        answer.append(extents.pop() if extents else 1)
    return tuple(answer)


def concat(arrays, /, axis=0):
    """Arrays one after the other along an axis; axis None: flat.

    >>> wg.concat([wg.arange(2), wg.arange(1)])
    wengert.array([0, 1, 0])
    """
    arrays = list(arrays)
    if not arrays:
        raise _core.ArgumentError("concat needs an array")
    if axis is None:
        return _core.concat([_core.flatten(x) for x in arrays], 0)
    return _core.concat(arrays, axis)


concatenate = concat


def stack(arrays, /, axis=0):
    """Arrays along a new axis of the result."""
    arrays = list(arrays)
    if not arrays:
        raise _core.ArgumentError("stack needs an array")
    return _core.stack(arrays, axis)


def unstack(x, /, axis=0):
    """The arrays along an axis, as a tuple."""
    x = _as_array(x)
    moved = _core.move_axis(x, axis, 0)
    return tuple(moved[i] for i in range(moved.shape[0]))


def split(x, pieces, /, axis=0):
    """Equal pieces of an axis (a number), or the pieces between positions (a sequence)."""
    x = _as_array(x)
    if isinstance(pieces, int):
        return list(_core.split(pieces, x, axis))
    bounds = [None, *pieces, None]
    before = (builtins.slice(None),) * (axis % x.ndim)
    return [x[(*before, builtins.slice(low, high))] for low, high in zip(bounds, bounds[1:])]


def flip(x, /, axis=None):
    """Axes turned round, all of them without a choice."""
    return _core.flip(x, axis)


def roll(x, /, shift, axis=None):
    """Moved along axes; what leaves one end enters at the other."""
    return _core.roll(x, shift, axis)


def tile(x, repetitions, /):
    """The whole repeated along each axis."""
    return _core.tile(x, repetitions)


def repeat(x, repeats, /, axis=None):
    """Each position of an axis that many times over; axis None: flat."""
    x = _as_array(x)
    if axis is None:
        x, axis = _core.flatten(x), 0
    if isinstance(repeats, int):
        return _core.repeat(x, repeats, axis)
    counts = _as_array(repeats)
    if counts.ndim == 0 or counts.shape == (1,):
        return _core.repeat(x, int(counts), axis)
    return _core.repeat_each(x, counts.astype(_core.int64), axis)


def pad(x, widths, /, mode="constant", *, constant_values=0):
    """Positions added before and after axes: a number, (before, after), or a pair an axis. mode: constant, edge, reflect, symmetric, wrap.

    >>> wg.pad(wg.array([1, 2]), 1)
    wengert.array([0, 1, 2, 0])
    """
    x = _as_array(x)
    if isinstance(widths, int):
        pairs = [(widths, widths)] * x.ndim
    elif all(isinstance(width, int) for width in widths):
        pairs = [tuple(widths) * (2 // len(widths))] * x.ndim
    else:
        pairs = [tuple(pair) for pair in widths] * (x.ndim if len(widths) == 1 else 1)
    return _core.pad(x, [before for before, _ in pairs], [after for _, after in pairs], mode, constant_values)


def unfold(x, size, /, axis=-1, *, step=1, dilation=1):
    """Windows of an axis: [.., windows, size, ..]."""
    x = _as_array(x)
    return _core.unfold(x, axis % x.ndim, size, step, dilation)
