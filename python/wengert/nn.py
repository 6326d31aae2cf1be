# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Functions of networks."""

from . import _core
from ._core import gelu, gelu_tanh, relu, sigmoid, silu, softplus
from .data import _as_array

__all__ = [
    "binary_cross_entropy",
    "causal_attention",
    "cross_entropy",
    "dropout",
    "elu",
    "embedding",
    "gelu",
    "gelu_tanh",
    "layer_norm",
    "leaky_relu",
    "linear",
    "log_softmax",
    "mean_squared_error",
    "relu",
    "rms_norm",
    "sigmoid",
    "silu",
    "softmax",
    "softplus",
]


def softmax(x, /, axis=-1):
    """exp(x) over its sum along an axis.

    >>> wg.nn.softmax(wg.zeros(2))
    wengert.array([0.5, 0.5])
    """
    return _core.softmax(x, axis)


def log_softmax(x, /, axis=-1):
    """The logarithm of softmax."""
    return _core.log_softmax(x, axis)


def leaky_relu(x, /, slope=0.01):
    """x, or slope * x where it is negative."""
    return _core.leaky_relu(x, slope)


def elu(x, /, alpha=1.0):
    """x, or alpha * (exp(x) - 1) where it is negative."""
    return _core.elu(x, alpha)


def linear(x, weight, bias, /):
    """x weight + bias"""
    return _core.linear(x, weight, bias)


def embedding(table, positions, /):
    """Rows of a table."""
    return _core.embedding(table, positions)


def layer_norm(x, scale, shift, /, epsilon=1e-5):
    """The last axis about its mean, over its deviation, scaled and shifted."""
    return _core.layer_norm(x, scale, shift, epsilon)


def rms_norm(x, scale, /, epsilon=1e-5):
    """The last axis over its root mean square, scaled."""
    return _core.rms_norm(x, scale, epsilon)


def causal_attention(q, k, v, /, scale=None):
    """softmax(q k^T * scale) v over positions up to each one's own; scale: 1 / sqrt(width)."""
    return _core.causal_attention(q, k, v, _as_array(q).shape[-1] ** -0.5 if scale is None else scale)


def cross_entropy(logits, targets, /):
    """The mean of -log softmax at the targets: integers [..], or shares [.., classes]."""
    return _core.cross_entropy(logits, targets)


def mean_squared_error(a, b, /):
    """The mean of (a - b)^2."""
    return _core.mean_squared_error(a, b)


def binary_cross_entropy(logits, targets, /):
    """The mean of -log of the probability of targets 0 and 1."""
    return _core.binary_cross_entropy(logits, targets)


def dropout(x, rate, /, generator=None):
    """Items set to 0 with a probability, the others scaled up for it."""
    from . import random

    return _core.dropout(x, random.key(generator), rate)
