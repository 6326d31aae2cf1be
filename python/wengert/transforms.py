# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Functions of functions: derivatives, maps, compiled functions. Arguments and results are arrays, numbers, and tuples, lists and
dicts of them, nested any way."""

import functools
import threading

from . import _core
from ._core import array, stop_gradient, tree_flatten, tree_unflatten

__all__ = [
    "custom_jvp",
    "grad",
    "hessian",
    "hessian_vector",
    "jacobian",
    "jit",
    "jvp",
    "stop_gradient",
    "tree_flatten",
    "tree_map",
    "tree_unflatten",
    "value_and_grad",
    "vjp",
    "vmap",
]


def tree_map(function, tree, *others):
    """A function of leaves over trees of one structure.

    >>> wg.tree_map(lambda a, b: a + b, {"x": 1, "y": (2,)}, {"x": 10, "y": (20,)})
    {'x': 11, 'y': (22,)}
    """
    leaves, structure = tree_flatten(tree)
    rows = [leaves]
    for other in others:
        more, same = tree_flatten(other)
        if same != structure:
            raise ValueError(f"trees of different structure: {structure} and {same}")
        rows.append(more)
    return tree_unflatten(structure, [function(*row) for row in zip(*rows)])


def _positions(argnums, count):
    places = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    if any(not -count <= place < count for place in places):
        raise ValueError(f"argnums {argnums}: the function is called with {count} arguments")
    return tuple(place % count for place in places)


def _arrays(leaves):
    return [leaf if type(leaf) is array else array(leaf) for leaf in leaves]


class _Traced:
    """A function of chosen arguments as one of a list of arrays; it remembers the structure of what it answered."""

    def __init__(self, function, arguments, names, places):
        self.function, self.arguments, self.names, self.places = function, list(arguments), names, places
        self.inputs, self.structure = tree_flatten(tuple(arguments[place] for place in places))
        self.inputs = _arrays(self.inputs)
        self.answer = None
        self.aux = None

    def call(self, inputs):
        for place, argument in zip(self.places, tree_unflatten(self.structure, inputs)):
            self.arguments[place] = argument
        return self.function(*self.arguments, **self.names)

    def __call__(self, inputs):
        leaves, self.answer = tree_flatten(self.call(inputs))
        return _arrays(leaves)


class _Derived(_Traced):
    """The same for a function to be differentiated."""

    def call(self, inputs):
        left = _core.left_count()
        answer = super().call(inputs)
        if _core.left_count() != left:
            self.refuse_left(answer)
        return answer

    def refuse_left(self, answer):
        """A number or an array of NumPy, where values have left for these, would have derivatives of zero and nobody would know."""
        for leaf in tree_flatten(answer)[0]:
            if type(leaf) is not array and (isinstance(leaf, (float, complex)) or hasattr(leaf, "__array__")):
                raise _core.KindError(
                    f"the function's result does not depend on its arguments: it answers {_named(leaf)}, and a value left through NumPy, "
                    "float or item; use wengert's functions (a constant is wengert.array)"
                )


def _named(leaf):
    kind = type(leaf)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


class _Loss(_Derived):
    """The same for a function whose (first) answer is to be differentiated, with more beside it."""

    has_aux = False

    def refuse_left(self, answer):
        super().refuse_left(answer[0] if self.has_aux else answer)

    def __call__(self, inputs):
        answer = self.call(inputs)
        value, aux = answer if self.has_aux else (answer, None)
        if type(value) is not array:
            value = array(value)
        if value.ndim:
            raise _core.ShapeError(
                f"a gradient is of a function that answers one number; this one answers {list(value.shape)}: use jacobian, or take a sum"
            )
        leaves, self.answer = tree_flatten(aux)
        return [value, *_arrays(leaves)]


def _by_argument(structure, leaves, argnums):
    """Leaves as the chosen arguments are nested."""
    parts = tree_unflatten(structure, leaves)
    return parts[0] if isinstance(argnums, int) else parts


def value_and_grad(function, argnums=0, has_aux=False):
    """A function that answers (value, gradient) of a function that answers one number; with has_aux, ((value, aux), gradient) of one that
    answers (number, aux).

    >>> wg.value_and_grad(lambda p: wg.sum(p["w"] ** 2))({"w": wg.array([1.0, 2.0])})
    (wengert.array(5.), {'w': wengert.array([2., 4.])})
    """

    @functools.wraps(function)
    def value_and_gradient(*arguments, **names):
        traced = _Loss(function, arguments, names, _positions(argnums, len(arguments)))
        traced.has_aux = has_aux
        for leaf in traced.inputs:
            if leaf.dtype.kind != "f":
                raise _core.KindError(f"a gradient is by floats; this argument is of {leaf.dtype}: convert it, or leave it out of argnums")
        outputs, gradients = _core.gradient(traced, traced.inputs, 0 if has_aux else 1)
        value = (outputs[0], tree_unflatten(traced.answer, outputs[1:])) if has_aux else outputs[0]
        return value, _by_argument(traced.structure, gradients, argnums)

    return value_and_gradient


def grad(function, argnums=0, has_aux=False):
    """A function that answers the gradient of a function that answers one number, by its argument argnums (several: a tuple).

    >>> wg.grad(wg.tanh)(0.0)
    wengert.array(1.)
    """
    both = value_and_grad(function, argnums, has_aux)

    @functools.wraps(function)
    def gradient(*arguments, **names):
        value, derivative = both(*arguments, **names)
        return (derivative, value[1]) if has_aux else derivative

    return gradient


def vjp(function, *primals):
    """(answer, pull): pull takes cotangents nested as the answer and answers those of the primals, as a tuple.

    >>> answer, pull = wg.vjp(lambda x: x * x, wg.array([1.0, 2.0]))
    >>> pull(wg.array([1.0, 10.0]))
    (wengert.array([2., 40.]),)
    """
    traced = _Derived(function, primals, {}, range(len(primals)))
    answer = traced.call(traced.inputs)
    leaves, structure = tree_flatten(answer)

    def pull(cotangents):
        seeds, same = tree_flatten(cotangents)
        if same != structure:
            raise ValueError(f"cotangents are nested as {same}, the answer as {structure}")
        seeds = [array(seed, leaf.dtype) for seed, leaf in zip(seeds, _arrays(leaves))]
        _, gradients = _core.vjp(traced, traced.inputs, seeds)
        return tree_unflatten(traced.structure, gradients)

    return answer, pull


def jvp(function, primals, tangents):
    """(answer, its tangent) when primals move by tangents.

    >>> wg.jvp(wg.sin, (wg.array(0.0),), (wg.array(2.0),))
    (wengert.array(0.), wengert.array(2.))
    """
    traced = _Derived(function, tuple(primals), {}, range(len(primals)))
    moves, structure = tree_flatten(tuple(tangents))
    if structure != traced.structure:
        raise ValueError(f"tangents are nested as {structure}, primals as {traced.structure}")
    moves = [array(move, leaf.dtype) for move, leaf in zip(moves, traced.inputs)]
    outputs, moved = _core.jvp(traced, traced.inputs, moves, 0)
    return tree_unflatten(traced.answer, outputs), tree_unflatten(traced.answer, moved)


def jacobian(function, argnums=0):
    """A function that answers d answer / d argument [shape of the answer, shape of the argument]; nested as the answer, then as the
    argument. It waits: its product with a vector is one pass.

    >>> wg.jacobian(lambda x: x * x)(wg.array([1.0, 2.0]))
    wengert.array([[2., 0.],
                   [0., 4.]])
    """

    @functools.wraps(function)
    def jacobian_of(*arguments, **names):
        traced = _Derived(function, arguments, names, _positions(argnums, len(arguments)))
        count = len(traced(traced.inputs))
        rows = []
        for output in range(count):
            parts = [_core.jacobian(traced, traced.inputs, count, output, place) for place in range(len(traced.inputs))]
            rows.append(_by_argument(traced.structure, parts, argnums))
        return tree_unflatten(traced.answer, rows)

    return jacobian_of


def hessian(function, argnums=0):
    """A function that answers the second derivatives [shape, shape] of a function that answers one number, by one array.

    >>> wg.hessian(lambda x: wg.sum(x ** 3))(wg.array([1.0, 2.0]))
    wengert.array([[6., 0.],
                   [0., 12.]])
    """

    @functools.wraps(function)
    def hessian_of(*arguments, **names):
        traced = _Loss(function, arguments, names, _positions(argnums, len(arguments)))
        blocks = [_core.hessian(traced, traced.inputs, place) for place in range(len(traced.inputs))]
        if len(blocks) > 1:
            raise ValueError("a Hessian is by one array; join the arguments, or take the jacobian of the gradient")
        return _by_argument(traced.structure, blocks, argnums)

    return hessian_of


def hessian_vector(function, primals, vectors):
    """The Hessian of a function that answers one number, applied to vectors: products nested as the primals."""
    traced = _Loss(function, tuple(primals), {}, range(len(primals)))
    moves, _ = tree_flatten(tuple(vectors))
    products = _core.hessian_vector(traced, traced.inputs, [array(move, leaf.dtype) for move, leaf in zip(moves, traced.inputs)])
    return tree_unflatten(traced.structure, products)


def _spread(prefix, tree, what):
    """A value for each leaf of a tree, from a tree that may end earlier."""
    if isinstance(prefix, int) or prefix is None:
        leaves, _ = tree_flatten(tree)
        return [prefix] * len(leaves)
    if isinstance(tree, dict) and isinstance(prefix, dict) and tree.keys() == prefix.keys():
        return [value for name in _keys(tree) for value in _spread(prefix[name], tree[name], what)]
    if isinstance(tree, (tuple, list)) and isinstance(prefix, (tuple, list)) and len(tree) == len(prefix):
        return [value for one, other in zip(prefix, tree) for value in _spread(one, other, what)]
    raise ValueError(f"{what} {prefix!r} is not nested as what it is for")


def _keys(tree):
    try:
        return sorted(tree)
    except TypeError:
        return list(tree)


def vmap(function, in_axes=0, out_axes=0):
    """A function over a new axis: in_axes says which axis of each argument is mapped (None: shared), out_axes where it stands in the
    answer; both may be nested.

    >>> wg.vmap(wg.sum)(wg.array([[1.0, 2.0], [3.0, 4.0]]))
    wengert.array([3., 7.])
    """

    @functools.wraps(function)
    def mapped(*arguments, **names):
        traced = _Traced(function, arguments, names, range(len(arguments)))
        axes = _spread(in_axes if isinstance(in_axes, int) else tuple(in_axes), tuple(arguments), "in_axes")
        outputs = _core.vmap(traced, traced.inputs, axes, 0)
        answer = tree_unflatten(traced.answer, outputs)
        if out_axes == 0:
            return answer
        places = _spread(out_axes, answer, "out_axes")
        moved = [
            output[0] if place is None else output if place == 0 else _core.move_axis(output, 0, place)
            for place, output in zip(places, outputs)
        ]
        return tree_unflatten(traced.answer, moved)

    return mapped


class custom_jvp:
    """A function with a derivative rule of its own: `defjvp` takes it, a function of (primals, tangents) that answers (answer, its
    tangent), linear in the tangents.

    >>> @wg.custom_jvp
    ... def clipped(x):
    ...     return wg.clip(x, 0.0, 1.0)
    >>> @clipped.defjvp
    ... def clipped_jvp(primals, tangents):
    ...     return clipped(*primals), tangents[0]
    >>> wg.grad(clipped)(5.0)
    wengert.array(1.)
    """

    def __init__(self, function):
        functools.update_wrapper(self, function)
        self.function = function
        self.rule = None

    def defjvp(self, rule):
        """Takes the rule; answers it."""
        self.rule = rule
        return rule

    def __call__(self, *arguments):
        if self.rule is None:
            raise ValueError(f"{self.__name__} has no rule yet: give it with defjvp")
        traced = _Traced(self.function, arguments, {}, range(len(arguments)))
        count = len(traced.inputs)
        plain = traced(traced.inputs)
        structure, outputs = traced.answer, len(plain)

        def rule(arrays):
            primals = tree_unflatten(traced.structure, arrays[:count])
            tangents = tree_unflatten(traced.structure, arrays[count + outputs :])
            _, moved = self.rule(primals, tangents)
            leaves, same = tree_flatten(moved)
            if same != structure:
                raise ValueError(f"the rule's tangent is nested as {same}, the answer as {structure}")
            return _arrays(leaves)

        return tree_unflatten(structure, _core.custom(traced, rule, traced.inputs, outputs))


class _Signature:
    """A function for one structure of arguments, kinds and shapes of arrays, and values of what is no array."""

    def __init__(self, function, leaves, structure):
        self.function, self.structure = function, structure
        self.leaves = list(leaves)
        # Arrays and floats are given by the trace; integers, texts and the like stand as they are.
        self.traced = [place for place, leaf in enumerate(leaves) if type(leaf) in (array, float, complex) or _becomes_array(leaf)]
        for place in self.traced:
            self.leaves[place] = None
        self.answer = None
        self.jit = _core.Jit(self.trace, len(self.traced), 4)

    def trace(self, inputs):
        leaves = list(self.leaves)
        for place, given in zip(self.traced, inputs):
            leaves[place] = given
        arguments, names = tree_unflatten(self.structure, leaves)
        outputs, self.answer = tree_flatten(self.function(*arguments, **names))
        return _arrays(outputs)

    def call(self, inputs):
        outputs = self.jit.call(inputs)
        if isinstance(outputs, int):
            self.jit = _core.Jit(self.trace, len(self.traced), outputs)
            outputs = self.jit.call(inputs)
        return tree_unflatten(self.answer, outputs)


def _becomes_array(leaf):
    return not isinstance(leaf, (int, str, bytes, type)) and (hasattr(leaf, "__dlpack__") or hasattr(leaf, "__array__"))


class _Compiled:
    """What jit answers."""

    MOST = 64

    def __init__(self, function, static_argnums, static_argnames):
        functools.update_wrapper(self, function)
        self.function = function
        self.static = (static_argnums,) if isinstance(static_argnums, int) else tuple(static_argnums)
        self.static_names = (static_argnames,) if isinstance(static_argnames, str) else tuple(static_argnames)
        self.call = self._plain if self.static or self.static_names else function
        self.threads = threading.local()

    def __get__(self, instance, owner=None):
        return self if instance is None else functools.partial(self, instance)

    def _signatures(self):
        if not hasattr(self.threads, "signatures"):
            self.threads.signatures = {}
        return self.threads.signatures

    def _hide(self, arguments, names):
        """Static arguments as one leaf each, however they are nested."""
        for place in self.static:
            if -len(arguments) <= place < len(arguments):
                place %= len(arguments)
                arguments = arguments[:place] + (_Static(arguments[place]),) + arguments[place + 1 :]
        hidden = {name: _Static(value) if name in self.static_names else value for name, value in names.items()}
        return arguments, hidden

    def __call__(self, *arguments, **names):
        if self.static or self.static_names:
            arguments, names = self._hide(arguments, names)
        inputs, key = _core.signature(arguments, names)
        try:
            signature = self.threads.signatures.get(key)
        except AttributeError:
            signature = self._signatures().get(key)
        except TypeError as error:
            raise TypeError("an argument that is no array must be hashable, for the compiled function is kept by its value") from error
        if signature is None:
            signature = self._new(key, arguments, names)
        return signature.call(inputs)

    def _new(self, key, arguments, names):
        signatures = self._signatures()
        if len(signatures) >= self.MOST:
            del signatures[next(iter(signatures))]
        signature = signatures[key] = _Signature(self.call, *tree_flatten((arguments, names)))
        return signature

    def _plain(self, *arguments, **names):
        arguments = [argument.value if type(argument) is _Static else argument for argument in arguments]
        return self.function(*arguments, **{name: value.value if type(value) is _Static else value for name, value in names.items()})

    def figures(self):
        """Calls, traces and replays of this thread so far, and why a signature is not replayed."""
        rows = [signature.jit.figures() for signature in self._signatures().values()]
        return {
            "signatures": len(rows),
            **{name: sum(row[name] for row in rows) for name in ("calls", "traces", "replays")},
            "stopped": [row["stopped"] for row in rows if row["stopped"]],
        }


class _Static:
    """An argument that is kept by its value."""

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return type(other) is _Static and type(self.value) is type(other.value) and self.value == other.value

    def __hash__(self):
        return hash(self.value)


def jit(function=None, *, static_argnums=(), static_argnames=()):
    """The function compiled: called once for each signature, which is the nesting of its arguments and the kinds and shapes of arrays,
    and replayed afterwards. It may depend on its arguments alone. Arrays and floats are data; integers, bools, texts and everything else
    are kept by their value, which must be hashable. static_argnums and static_argnames say that of whole arguments.

    >>> double = wg.jit(lambda x: 2 * x)
    >>> double(wg.array([1.0])), double(wg.array([2.0]))
    (wengert.array([2.]), wengert.array([4.]))
    >>> double.figures()["traces"]
    1
    """
    if function is None:
        return functools.partial(jit, static_argnums=static_argnums, static_argnames=static_argnames)
    return _Compiled(function, static_argnums, static_argnames)
