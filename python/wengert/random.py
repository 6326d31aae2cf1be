# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Draws. Each takes its key from a generator at the call, so the order of reads decides nothing; the same seed draws the same numbers. Without a generator a draw
takes the thread's own, which begins at seed 0."""
import threading

from . import _core
from ._core import Generator
from .data import _as_array

__all__ = ["Generator", "bernoulli", "choice", "fold_in", "integers", "key", "normal", "permutation", "seed", "shuffle", "split", "uniform"]

_own = threading.local()


def seed(number):
    """Begins the thread's own generator anew."""
    _own.generator = Generator(number)


def key(generator=None):
    """The next key, uint32 [2]: of a generator, or of the thread's own. A key is answered as it is."""
    if generator is not None and not isinstance(generator, Generator):
        return generator
    if generator is None:
        if not hasattr(_own, "generator"):
            seed(0)
        generator = _own.generator
    return generator.key()


def split(key, count=2, /):
    """New keys [count, 2] of a key."""
    return _core.key_split(key, count)


def fold_in(key, number, /):
    """A new key of a key and a number."""
    number = _as_array(number)
    return _core.key_fold(key, number if number.dtype in (_core.int64, _core.int32) else number.astype(_core.int64))


def uniform(shape=(), /, low=0.0, high=1.0, *, dtype=None, generator=None):
    """Floats in [low, high).

    >>> wg.random.seed(1)
    >>> wg.random.uniform((2, 3)).shape
    (2, 3)
    """
    return _core.uniform(key(generator), _core.float64 if dtype is None else dtype, shape, low, high)


def normal(shape=(), /, mean=0.0, deviation=1.0, *, dtype=None, generator=None):
    """Normal numbers."""
    return _core.normal(key(generator), _core.float64 if dtype is None else dtype, shape, mean, deviation)


def bernoulli(probability, shape=(), /, *, generator=None):
    """bool: true with a probability."""
    return _core.bernoulli(key(generator), probability, shape)


def integers(low, high=None, shape=(), /, *, dtype=None, generator=None):
    """Integers in [low, high), or below low where high is missing; at most 2**53 of them."""
    if high is None:
        low, high = 0, low
    if not 0 < high - low <= 2**53:
        raise ValueError(f"integers in [{low}, {high}): there are none, or more than 2**53")
    places = _core.floor(_core.uniform(key(generator), _core.float64, shape, 0.0, 1.0) * float(high - low))
    return (places.astype(_core.int64) + low).astype(_core.int64 if dtype is None else dtype)


def permutation(x, /, *, axis=0, generator=None):
    """The numbers below x in any order (a number), or the positions of an axis in any order."""
    if isinstance(x, int):
        return _core.permutation(key(generator), x)
    return _core.shuffle(key(generator), x, axis)


def shuffle(x, /, *, axis=0, generator=None):
    """The positions of an axis in any order; x stays as it is."""
    return _core.shuffle(key(generator), x, axis)


def choice(x, shape=(), /, *, replace=True, generator=None):
    """Positions of axis 0 drawn at random, or numbers below x; replace False: none twice."""
    count = x if isinstance(x, int) else _as_array(x).shape[0]
    if replace:
        places = integers(0, count, shape, generator=generator)
    else:
        size = 1
        for extent in (shape,) if isinstance(shape, int) else shape:
            size *= extent
        if size > count:
            raise ValueError(f"{size} different ones of {count} are not to be had")
        places = _core.reshape(_core.permutation(key(generator), count)[:size], shape)
    return places if isinstance(x, int) else _core.take(x, places, 0)
