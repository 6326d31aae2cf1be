# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Draws. Each takes its key from a generator at the call, so the order of reads decides nothing; the same seed draws the same numbers.
Without a generator a draw takes the thread's own, which begins at seed 0.

Parameters are numbers or arrays that are broadcast to the shape; without a shape it is theirs. docs/random.md names the methods, and
which draws have derivatives by their parameters."""

import threading

from . import _core
from ._core import Generator, array
from .data import _as_array, result_type
from .layout import broadcast_shapes

__all__ = [
    "Generator",
    "bernoulli",
    "beta",
    "binomial",
    "categorical",
    "cauchy",
    "chi_square",
    "choice",
    "dirichlet",
    "exponential",
    "fold_in",
    "gamma",
    "gumbel",
    "integers",
    "key",
    "laplace",
    "logistic",
    "multivariate_normal",
    "normal",
    "permutation",
    "poisson",
    "seed",
    "shuffle",
    "split",
    "student",
    "truncated_normal",
    "uniform",
]

_own = threading.local()


def seed(number):
    """Begins the thread's own generator anew."""
    _own.generator = Generator(number)


def _checked_key(given):
    named = repr(given) if isinstance(given, (int, str)) else f"an object of {type(given)}"
    if type(given) is array or hasattr(given, "__array__"):
        given = _as_array(given)
        if given.dtype == _core.uint32 and given.shape[-1:] == (2,):
            return given
        named = f"an array of {given.dtype} {list(given.shape)}"
    raise _core.KindError(f"generator is a wengert.random.Generator or a key, uint32 [2], not {named}; Generator(seed) makes one of a seed")


def key(generator=None):
    """The next key, uint32 [2]: of a generator, or of the thread's own. A key is answered as it is."""
    if generator is not None and not isinstance(generator, Generator):
        return _checked_key(generator)
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


def _floats(parameters, dtype):
    """Parameters in one kind of floats."""
    parameters = [parameter if isinstance(parameter, (int, float)) else _as_array(parameter) for parameter in parameters]
    if dtype is None:
        kind = result_type(*parameters)
        dtype = kind if kind.kind == "f" else _core.float64
    return [array(parameter, dtype) for parameter in parameters]


def _drawn(name, shape, generator, parameters, inner=0):
    """inner: how many axes of the last parameter are of one draw."""
    if shape is None:
        shapes = [parameter.shape for parameter in parameters]
        shape = broadcast_shapes(*shapes) if not inner else shapes[-1][:-inner]
    return _core.random(name, shape, key(generator), *parameters)


def uniform(shape=None, /, low=0.0, high=1.0, *, dtype=None, generator=None):
    """Floats in [low, high).

    >>> wg.random.seed(1)
    >>> wg.random.uniform((2, 3)).shape
    (2, 3)
    """
    return _drawn("uniform", shape, generator, _floats((low, high), dtype))


def normal(shape=None, /, mean=0.0, deviation=1.0, *, dtype=None, generator=None):
    """Normal numbers."""
    return _drawn("normal", shape, generator, _floats((mean, deviation), dtype))


def exponential(shape=None, /, rate=1.0, *, dtype=None, generator=None):
    """Exponential numbers of a rate."""
    return _drawn("exponential", shape, generator, _floats((rate,), dtype))


def laplace(shape=None, /, location=0.0, scale=1.0, *, dtype=None, generator=None):
    """Laplace's distribution."""
    return _drawn("laplace", shape, generator, _floats((location, scale), dtype))


def logistic(shape=None, /, location=0.0, scale=1.0, *, dtype=None, generator=None):
    """The logistic distribution."""
    return _drawn("logistic", shape, generator, _floats((location, scale), dtype))


def gumbel(shape=None, /, location=0.0, scale=1.0, *, dtype=None, generator=None):
    """Gumbel's distribution."""
    return _drawn("gumbel", shape, generator, _floats((location, scale), dtype))


def cauchy(shape=None, /, location=0.0, scale=1.0, *, dtype=None, generator=None):
    """Cauchy's distribution."""
    return _drawn("cauchy", shape, generator, _floats((location, scale), dtype))


def truncated_normal(low, high, shape=None, /, mean=0.0, deviation=1.0, *, dtype=None, generator=None):
    """Normal numbers between low and high, which may be infinite."""
    return _drawn("truncated_normal", shape, generator, _floats((low, high, mean, deviation), dtype))


def gamma(a, shape=None, /, *, dtype=None, generator=None):
    """Gamma of a shape parameter and scale 1."""
    return _drawn("gamma", shape, generator, _floats((a,), dtype))


def chi_square(freedom, shape=None, /, *, dtype=None, generator=None):
    """Chi-square of degrees of freedom."""
    return _drawn("chi_square", shape, generator, _floats((freedom,), dtype))


def beta(a, b, shape=None, /, *, dtype=None, generator=None):
    """Beta of two shape parameters."""
    return _drawn("beta", shape, generator, _floats((a, b), dtype))


def student(freedom, shape=None, /, *, dtype=None, generator=None):
    """Student's t of degrees of freedom."""
    return _drawn("student", shape, generator, _floats((freedom,), dtype))


def dirichlet(alpha, shape=None, /, *, dtype=None, generator=None):
    """alpha [.., k]: points of the simplex [shape, k]."""
    return _drawn("dirichlet", shape, generator, _floats((alpha,), dtype), inner=1)


def multivariate_normal(mean, factor, shape=(), /, *, dtype=None, generator=None):
    """mean [.., d] plus factor [d, k] times normal numbers [k]: [shape, d] of covariance factor factor^T."""
    return _drawn("multivariate_normal", shape, generator, _floats((mean, factor), dtype))


def bernoulli(probability, shape=None, /, *, generator=None):
    """bool: true with a probability."""
    return _drawn("bernoulli", shape, generator, _floats((probability,), None))


def integers(low, high=None, shape=None, /, *, dtype=None, generator=None):
    """Integers in [low, high), or in [0, low) where high is missing; low where there are none."""
    if high is None:
        low, high = 0, low
    kind = _core.int64 if dtype is None else dtype
    return _drawn("integers", shape, generator, [array(low, kind), array(high, kind)])


def poisson(mean, shape=None, /, *, generator=None):
    """int64 of a mean; -1 where it is out of range."""
    return _drawn("poisson", shape, generator, _floats((mean,), None))


def binomial(count, probability, shape=None, /, *, generator=None):
    """int64: how many of count succeed; -1 where a parameter is out of range."""
    return _drawn("binomial", shape, generator, [array(count, _core.int64), *_floats((probability,), None)])


def categorical(logits, shape=None, /, *, generator=None):
    """logits [.., classes]: int64 positions along the last axis, with probabilities softmax(logits)."""
    return _drawn("categorical", shape, generator, _floats((logits,), None), inner=1)


def permutation(x, /, *, axis=0, generator=None):
    """The numbers below x in any order (a number), or the positions of an axis in any order."""
    if isinstance(x, int):
        return _core.permutation(key(generator), x)
    return _core.shuffle(key(generator), x, axis)


def shuffle(x, /, *, axis=0, generator=None):
    """The positions of an axis in any order; x stays as it is."""
    return _core.shuffle(key(generator), x, axis)


def choice(x, shape=(), /, *, replace=True, weights=None, generator=None):
    """Positions of axis 0 drawn at random, or numbers below x, by weights where given; replace False: none twice."""
    count = x if isinstance(x, int) else _as_array(x).shape[0]
    if replace and weights is not None:
        places = categorical(_core.ln(_floats((weights,), None)[0]), shape, generator=generator)
    elif replace:
        places = integers(0, count, shape, generator=generator)
    else:
        equal = _core.full(_core.float64, (count,), 1) if weights is None else _floats((weights,), None)[0]
        places = _core.random("choice", shape, key(generator), equal)
    return places if isinstance(x, int) else _core.take(x, places, 0)
