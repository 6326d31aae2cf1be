# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Derivatives against differences, maps against loops, compiled functions against plain ones; arguments nested any way."""

import collections
import gc
import importlib.util
import math
import unittest

import wengert as wg

Point = collections.namedtuple("Point", "x y")


def items(tree):
    return wg.tree_map(lambda leaf: leaf.tolist() if type(leaf) is wg.array else leaf, tree)


class Trees(unittest.TestCase):
    def test_there_and_back(self):
        for tree in (1, None, (), [], {}, (1, [2, {"b": 3, "a": (4, None)}]), Point(1, (2,)), {1: "x", "y": 2}):
            leaves, structure = wg.tree_flatten(tree)
            self.assertEqual(wg.tree_unflatten(structure, leaves), tree)
            hash(structure)
        self.assertEqual(wg.tree_flatten({"b": 1, "a": 2})[0], [2, 1])
        self.assertEqual(wg.tree_flatten({"b": 1, "a": 2})[1], wg.tree_flatten({"a": 5, "b": 6})[1])
        self.assertNotEqual(wg.tree_flatten((1,))[1], wg.tree_flatten([1])[1])
        with self.assertRaises(ValueError):
            wg.tree_map(lambda a, b: a, (1, 2), (1,))


class Leaving(unittest.TestCase):
    """Values that leave for Python or NumPy inside of a function that is differentiated."""

    @unittest.skipIf(importlib.util.find_spec("numpy") is None, "NumPy is not here")
    def test_an_answer_of_numpy_is_refused(self):
        import numpy as np

        x = wg.array([1.0, 2.0])
        for derivative in (
            lambda f: wg.grad(f)(x),
            lambda f: wg.value_and_grad(lambda x: (f(x), 1.0), has_aux=True)(x),
            lambda f: wg.vjp(f, x),
            lambda f: wg.jvp(f, (x,), (x,)),
            lambda f: wg.jacobian(f)(x),
            lambda f: wg.hessian(f)(x),
            lambda f: wg.hessian_vector(f, (x,), (x,)),
        ):
            for function in lambda x: np.dot(x, x), lambda x: np.asarray(x).sum(), lambda x: np.array(float(x[0])):
                with self.assertRaisesRegex(TypeError, "does not depend on its arguments: it answers numpy"):
                    derivative(function)
        with self.assertRaisesRegex(TypeError, "ndarray"):
            wg.jacobian(lambda x: {"a": x * 2, "b": np.asarray(x) * 2})(x)

    def test_an_answer_of_python_is_refused(self):
        for function in lambda x: float(x) * 2, lambda x: x.item() ** 2, lambda x: x.tolist() + 1.0:
            with self.assertRaisesRegex(TypeError, "it answers float"):
                wg.grad(function)(3.0)

    def test_reading_decides_and_constants_are_constant(self):
        self.assertEqual(wg.grad(lambda x: 1.0)(3.0).item(), 0.0)
        self.assertEqual(wg.grad(lambda x: x * 2 if x > 0 else 0.0)(-3.0).item(), 0.0)
        self.assertEqual(wg.grad(lambda x: x * 2 if float(x) > 0 else x * 3)(-3.0).item(), 3.0)
        self.assertEqual(wg.grad(lambda x: wg.array(1.0) if float(x) > 0 else x)(3.0).item(), 0.0)
        value, aux = wg.value_and_grad(lambda x: (x * x, float(x)), has_aux=True)(3.0)[0]
        self.assertEqual((value.item(), aux.item()), (9.0, 3.0))
        self.assertEqual(wg.vmap(lambda x: 1.0)(wg.ones(2)).tolist(), [1.0, 1.0])


class Gradients(unittest.TestCase):
    def difference(self, function, x, step=1e-6):
        return (function(x + step) - function(x - step)) / (2 * step)

    def test_against_differences(self):
        functions = (
            wg.sin,
            wg.exp,
            wg.tanh,
            wg.sqrt,
            wg.log,
            wg.lgamma,
            lambda x: x**3 / (1 + x * x),
            lambda x: wg.maximum(x, 2 * x) * x,
            lambda x: 2**x,
            lambda x: wg.where(x > 0.5, x * x, x),
            lambda x: wg.sum(wg.arange(4.0) * x) ** 2,
            lambda x: wg.stack([x, x * x])[1],
            lambda x: x.at[()].set(x * x),
        )
        for function in functions:
            for x in 0.3, 1.7:
                want = float(self.difference(lambda x: function(wg.array(x)), x))
                self.assertAlmostEqual(float(wg.grad(function)(x)), want, places=5)

    def test_structures_of_arguments(self):
        def loss(parameters, scale, *, shift=0.0):
            return wg.sum(parameters["w"] * parameters["b"][0]) * scale + shift

        p = {"w": wg.array([1.0, 2.0]), "b": (wg.array(3.0), [])}
        self.assertEqual(items(wg.grad(loss)(p, 2.0)), {"w": [6.0, 6.0], "b": (6.0, [])})
        value, (first, second) = wg.value_and_grad(loss, argnums=(0, 1))(p, 2.0, shift=1.0)
        self.assertEqual((value.item(), items(first), second.item()), (19.0, {"w": [6.0, 6.0], "b": (6.0, [])}, 9.0))
        self.assertEqual(items(wg.grad(lambda p: p.x * p.y)(Point(2.0, 3.0))), Point(3.0, 2.0))
        self.assertEqual(wg.grad(lambda x, y: x * y, argnums=-1)(2.0, 5.0).item(), 2.0)

    def test_more_beside_the_value(self):
        gradient, more = wg.grad(lambda x: (x * x, {"twice": 2 * x, "list": [x] * 20}), has_aux=True)(3.0)
        self.assertEqual((gradient.item(), more["twice"].item(), len(more["list"])), (6.0, 6.0, 20))

    def test_nested_and_through_control_flow(self):
        def power(x, n):
            answer = 1.0
            while n > 0:
                answer, n = answer * x, n - 1
            return answer if float(answer) > 0 else -answer

        self.assertEqual(wg.grad(power)(2.0, 3).item(), 12.0)
        self.assertEqual(wg.grad(wg.grad(power))(2.0, 3).item(), 12.0)
        self.assertEqual(wg.grad(wg.grad(wg.grad(power)))(2.0, 3).item(), 6.0)
        self.assertEqual(wg.grad(lambda x: x * wg.grad(lambda y: x * y)(1.0))(3.0).item(), 6.0)

    def test_what_stops(self):
        self.assertEqual(wg.grad(lambda x: x * wg.stop_gradient(x))(3.0).item(), 3.0)
        self.assertEqual(wg.grad(lambda x: wg.array(1.0))(3.0).item(), 0.0)

    def test_wrong_ones(self):
        with self.assertRaises(wg.ShapeError):
            wg.grad(lambda x: x)(wg.ones(2))
        with self.assertRaises(wg.KindError):
            wg.grad(lambda x: x)(wg.array(1))
        with self.assertRaises(ValueError):
            wg.grad(lambda x: x, argnums=1)(1.0)

        class Own(Exception):
            pass

        def fails(x):
            raise Own("mine")

        for transformed in wg.grad(fails), wg.jit(fails), wg.vmap(fails), wg.jacobian(fails):
            with self.assertRaisesRegex(Own, "mine"):
                transformed(wg.ones(2) if transformed is not fails else 1.0)
        self.assertEqual((wg.ones(2) + 1).tolist(), [2.0, 2.0])

    def test_an_error_inside_can_be_caught_inside(self):
        def careful(x):
            try:
                wg.ones(2) + wg.ones(3)
            except wg.ShapeError:
                return x * x

        self.assertEqual(wg.grad(careful)(3.0).item(), 6.0)

    def test_vjp_and_jvp(self):
        answer, pull = wg.vjp(lambda x, y: {"p": x * y, "s": wg.sum(x)}, wg.array([1.0, 2.0]), wg.array([3.0, 4.0]))
        self.assertEqual(items(answer), {"p": [3.0, 8.0], "s": 3.0})
        self.assertEqual(items(pull({"p": wg.array([1.0, 0.0]), "s": 10.0})), ([13.0, 10.0], [1.0, 0.0]))
        value, moved = wg.jvp(lambda x: (wg.sin(x), x * x), (0.0,), (2.0,))
        self.assertEqual((items(value), items(moved)), ((0.0, 0.0), (2.0, 0.0)))
        with self.assertRaises(ValueError):
            pull(wg.array(1.0))

    def test_jacobian_and_hessian(self):
        x = wg.array([1.0, 2.0, 3.0])
        j = wg.jacobian(lambda x: {"a": x[:2] * x[1:], "b": wg.sum(x)})(x)
        self.assertEqual(items(j), {"a": [[2.0, 1.0, 0.0], [0.0, 3.0, 2.0]], "b": [1.0, 1.0, 1.0]})
        self.assertEqual(wg.hessian(lambda x: x[0] * x[1] * x[2])(x).tolist(), [[0.0, 3.0, 2.0], [3.0, 0.0, 1.0], [2.0, 1.0, 0.0]])
        self.assertEqual(items(wg.hessian_vector(lambda x: wg.sum(x**3), (x,), (wg.array([1.0, 0.0, 0.0]),))), ([6.0, 0.0, 0.0],))
        self.assertEqual(items(wg.jacobian(lambda x, y: x * y, argnums=(0, 1))(2.0, 3.0)), (3.0, 2.0))

    def test_a_rule_of_its_own(self):
        calls = []

        @wg.custom_jvp
        def f(x, y):
            return x * y, x + y

        @f.defjvp
        def rule(primals, tangents):
            calls.append(1)
            (x, y), (dx, dy) = primals, tangents
            return f(x, y), (100.0 * dx + y * 0 * dy, dx + dy)

        self.assertEqual(items(f(2.0, 3.0)), (6.0, 5.0))
        self.assertEqual(wg.grad(lambda x: f(x, 3.0)[0])(2.0).item(), 100.0)
        self.assertEqual(wg.vmap(wg.grad(lambda x: f(x, 3.0)[0]))(wg.arange(2.0)).tolist(), [100.0, 100.0])
        self.assertTrue(calls)
        with self.assertRaises(ValueError):
            wg.custom_jvp(lambda x: x)(1.0)


class Maps(unittest.TestCase):
    def test_against_a_loop(self):
        x, y = wg.reshape(wg.arange(12.0), (3, 4)), wg.arange(4.0)
        function = lambda a, b: (wg.sum(a * b), a + b[0])  # noqa: E731
        got = wg.vmap(function, in_axes=(0, None))(x, y)
        for i in range(3):
            self.assertEqual((got[0][i].item(), got[1][i].tolist()), items(function(x[i], y)))
        got = wg.vmap(function, in_axes=(1, 0), out_axes=(0, 1))(x, wg.reshape(wg.arange(12.0), (4, 3)))
        self.assertEqual((got[0].shape, got[1].shape), ((4,), (3, 4)))

    def test_nested_structures_and_axes(self):
        tree = {"a": wg.reshape(wg.arange(6.0), (2, 3)), "b": (wg.arange(2.0), 10.0)}
        got = wg.vmap(lambda t: {"s": wg.sum(t["a"]) + t["b"][0] * t["b"][1]}, in_axes=({"a": 0, "b": (0, None)},))(tree)
        self.assertEqual(items(got), {"s": [3.0, 22.0]})
        self.assertEqual(
            wg.vmap(wg.vmap(lambda a, b: a * b, (None, 0)), (0, None))(wg.arange(2.0), wg.arange(3.0)).tolist(),
            [[0.0, 0.0, 0.0], [0.0, 1.0, 2.0]],
        )
        self.assertEqual(wg.vmap(lambda x: x, in_axes=-1, out_axes=-1)(wg.ones((2, 3))).shape, (2, 3))

    def test_with_derivatives(self):
        x = wg.array([0.1, 0.2, 0.3])
        want = [math.cos(v) for v in x.tolist()]
        for got in wg.vmap(wg.grad(wg.sin))(x).tolist(), wg.grad(lambda x: wg.sum(wg.vmap(wg.sin)(x)))(x).tolist():
            for a, b in zip(got, want):
                self.assertAlmostEqual(a, b, places=14)

    def test_wrong_ones(self):
        with self.assertRaises(wg.ShapeError):
            wg.vmap(lambda a, b: a)(wg.ones(2), wg.ones(3))
        with self.assertRaises(wg.ShapeError):
            wg.vmap(lambda a: a, in_axes=3)(wg.ones(2))
        with self.assertRaises(ValueError):
            wg.vmap(lambda a: a, in_axes=({"x": 0},))(wg.ones(2))


class Compiled(unittest.TestCase):
    def test_called_once_a_signature(self):
        calls = []

        @wg.jit
        def f(x, y):
            calls.append(1)
            return wg.sum(x * y), {"x": x + 1}

        for n in 3, 4, 5:
            x = wg.arange(float(n))
            answer, more = f(x, x)
            self.assertEqual((answer.item(), more["x"].tolist()), (sum(i * i for i in range(n)), [i + 1.0 for i in range(n)]))
        self.assertEqual(len(calls), 3)
        for n in 3, 4, 5:
            x = wg.arange(float(n)) + 1
            self.assertEqual(f(x, x)[0].item(), sum((i + 1) ** 2 for i in range(n)))
        self.assertEqual(len(calls), 3)
        f(wg.arange(3), wg.arange(3))
        self.assertEqual(len(calls), 4)
        self.assertEqual(f.figures()["replays"], 3)

    def test_floats_are_data_and_take_the_arrays_kind(self):
        calls = []

        @wg.jit
        def step(x, rate):
            calls.append(1)
            return x - 2.0 * rate * -rate

        for rate in 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0:
            answer = step(wg.ones(2, dtype=wg.float32), rate)
            self.assertEqual((answer.dtype, answer.tolist()), (wg.float32, [1 + 2 * rate * rate] * 2))
        self.assertEqual(len(calls), 1)

    def test_integers_and_static_arguments_are_kept_by_value(self):
        calls = []

        @wg.jit
        def power(x, n, mode="plain"):
            calls.append((n, mode))
            for _ in range(n - 1):
                x = x * x
            return x if mode == "plain" else -x

        self.assertEqual(
            [power(2.0, 2).item(), power(3.0, 2).item(), power(2.0, 3).item(), power(2.0, 2, mode="other").item()], [4.0, 9.0, 16.0, -4.0]
        )
        self.assertEqual(calls, [(2, "plain"), (3, "plain"), (2, "other")])
        scaled = wg.jit(lambda x, by: x * by[0], static_argnums=1)
        self.assertEqual(scaled(wg.ones(1), (3.0,)).tolist(), [3.0])
        self.assertEqual(scaled(wg.ones(1), (4.0,)).tolist(), [4.0])
        with self.assertRaises(TypeError):
            scaled(wg.ones(1), [3.0])

    def test_many_results_and_results_that_change_their_nesting(self):
        many = wg.jit(lambda x: [x + i for i in range(30)])
        for x in 1.0, 2.0:
            self.assertEqual([float(v) for v in many(x)], [x + i for i in range(30)])
        byshape = wg.jit(lambda x: tuple(x[i] for i in range(x.shape[0])))
        for n in 3, 4, 3, 5, 4:
            self.assertEqual([float(v) for v in byshape(wg.arange(float(n)))], [float(i) for i in range(n)])
        self.assertIsNone(wg.jit(lambda x: None)(1.0))

    def test_with_other_transformations(self):
        f = wg.jit(lambda x: wg.sum(x**3))
        x = wg.array([1.0, 2.0])
        for _ in range(2):
            self.assertEqual(wg.grad(f)(x).tolist(), [3.0, 12.0])
            self.assertEqual(wg.jit(wg.grad(f))(x).tolist(), [3.0, 12.0])
            self.assertEqual(wg.vmap(f)(wg.stack([x, x])).tolist(), [9.0, 9.0])
            self.assertEqual(wg.jit(wg.vmap(f))(wg.stack([x, x])).tolist(), [9.0, 9.0])

    def test_data_dependent_control_flow_is_right(self):
        f = wg.jit(lambda x: x if float(wg.sum(x)) > 0 else -x)
        for sign in 1.0, -1.0, 1.0:
            self.assertEqual(f(wg.ones(2) * sign).tolist(), [1.0, 1.0])

    def test_methods(self):
        class Model:
            def __init__(self, w):
                self.w = w

            @wg.jit
            def double(self, x):
                return 2 * x

        self.assertEqual(Model(1).double(wg.ones(1)).tolist(), [2.0])

    def test_draws_go_on_under_replay(self):
        wg.random.seed(3)
        f = wg.jit(lambda x: x + wg.random.uniform((2,)))
        first, second = f(0.0).tolist(), f(0.0).tolist()
        self.assertNotEqual(first, second)
        wg.random.seed(3)
        self.assertEqual(wg.random.uniform((2,)).tolist(), first)
        self.assertEqual(wg.random.uniform((2,)).tolist(), second)


class Leaks(unittest.TestCase):
    def test_nothing_is_left(self):
        def work():
            x = wg.arange(10.0)
            f = wg.jit(lambda x: wg.sum(x * x))
            for function in f, wg.grad(f), wg.jit(wg.grad(lambda x: wg.sum(x**2))), wg.vmap(wg.sin), wg.jacobian(wg.cos), wg.hessian(f):
                wg.tree_map(lambda leaf: leaf.run(), function(x))
            x[0] = 5.0
            try:
                wg.grad(lambda x: wg.sum(x) + wg.ones(3))(x)
            except wg.ShapeError:
                pass
            _, pull = wg.vjp(wg.sin, x)
            pull(x)[0].run()
            wg.unique_values(x), x[x > 3], wg.sort(x), repr(x)

        work()
        gc.collect()
        before = wg.figures()
        for _ in range(20):
            work()
        gc.collect()
        after = wg.figures()
        self.assertEqual((after["arrays"], after["stored_bytes"]), (before["arrays"], before["stored_bytes"]))

    def test_steps_of_training_keep_memory_flat(self):
        w, x = wg.ones(50), wg.arange(50.0)
        step = wg.jit(lambda w, rate: w - rate * wg.grad(lambda w: wg.mean((w * x - 1) ** 2))(w))
        sizes = []
        for i in range(300):
            w = step(w, 1e-6)
            if i % 100 == 99:
                w.run()
                sizes.append(wg.figures()["arrays"])
        self.assertEqual(sizes[1], sizes[2])


if __name__ == "__main__":
    unittest.main()
