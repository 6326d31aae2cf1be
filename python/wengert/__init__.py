# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Arrays that wait, their derivatives, maps and compiled functions, and the programs of Wengert.

The functions are those of the Python array API standard, under its names, and more. A call computes nothing; a read does: printing, a
number, NumPy.

>>> import wengert as wg
>>> x = wg.arange(3.0)
>>> wg.sum(x * x)
wengert.array(5.)
>>> wg.grad(lambda x: wg.sum(x * x))(x)
wengert.array([0., 2., 4.])
"""

from . import _core, linalg, nn, random
from ._core import (
    ArgumentError,
    BoundsError,
    BusyError,
    Cancelled,
    DiffersError,
    Error,
    FeedError,
    FileError,
    FormatError,
    InternalError,
    KindError,
    MatrixError,
    NumericError,
    OutOfMemory,
    ParametersError,
    ProgramError,
    ShapeError,
    SizeError,
    SymbolError,
    TapeError,
    UndeclaredError,
    UnknownName,
    Unsupported,
    UsageError,
    array,
    bfloat16,
    bool,
    complex64,
    complex128,
    dtype,
    figures,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    record,
    set_places,
    uint8,
    uint16,
    uint32,
    uint64,
)
from .asking import events, explain, run, version
from .creation import *  # noqa: F403
from .data import *  # noqa: F403
from .elementwise import *  # noqa: F403
from .layout import *  # noqa: F403
from .linalg import cross, diagonal, dot, einsum, inner, kron, outer, tensordot, trace, vecdot
from .order import *  # noqa: F403
from .program import Parameters, Plan, Program, Session
from .reductions import *  # noqa: F403
from .transforms import (
    custom_jvp,
    grad,
    hessian,
    hessian_vector,
    jacobian,
    jit,
    jvp,
    stop_gradient,
    tree_flatten,
    tree_map,
    tree_unflatten,
    value_and_grad,
    vjp,
    vmap,
)

_core.set_package(__path__[0])

__version__ = version()
__array_api_version__ = "2024.12"

e = 2.718281828459045
pi = 3.141592653589793
inf = float("inf")
nan = float("nan")
newaxis = None
