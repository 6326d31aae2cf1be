# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Functions beside the array API's against NumPy; draws, matrices and functions of networks by what they must satisfy. The array API's
own are compared by tests/python/compare_strict.py."""

import math
import unittest

import wengert as wg

try:
    import numpy as np
except ImportError:
    np = None

needs_numpy = unittest.skipIf(np is None, "NumPy is not here")


@needs_numpy
class AgainstNumPy(unittest.TestCase):
    def setUp(self):
        self.x = np.sin(np.arange(24.0) * 1.7).reshape(2, 3, 4)
        self.n = np.array([3, 1, 2, 3, 0, 5, 3])

    def same(self, got, want):
        got, want = np.asarray(got), np.asarray(want)
        self.assertEqual(got.shape, want.shape)
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-14)

    def test_folds(self):
        for axis in None, 0, -1, (0, 2):
            for keep in False, True:
                self.same(wg.median(self.x, axis=axis, keepdims=keep), np.median(self.x, axis=axis, keepdims=keep))
                for method in "linear", "lower", "higher", "nearest", "midpoint":
                    want = np.quantile(self.x, 0.3, axis=axis, keepdims=keep, method=method)
                    self.same(wg.quantile(self.x, 0.3, axis=axis, keepdims=keep, method=method), want)
                want = np.log(np.sum(np.exp(self.x), axis=axis, keepdims=keep))
                self.same(wg.logsumexp(self.x, axis=axis, keepdims=keep), want)
                self.same(wg.norm(self.x, axis=axis, keepdims=keep), np.sqrt(np.sum(self.x**2, axis=axis, keepdims=keep)))
        self.same(wg.cumulative_max(self.x, axis=1), np.maximum.accumulate(self.x, 1))
        self.same(wg.cumulative_min(self.x, axis=2), np.minimum.accumulate(self.x, 2))
        self.same(wg.diff(self.x, axis=1, n=2), np.diff(self.x, n=2, axis=1))
        self.same(wg.diff(self.n, prepend=wg.array([7])), np.diff(self.n, prepend=7))

    def test_order(self):
        self.same(wg.top_k(self.n, 3)[0], [5, 3, 3])
        self.same(wg.top_k(self.n, 3)[1], [5, 0, 3])
        self.assertEqual(wg.partition(self.n, 3)[3].item(), np.partition(self.n, 3)[3])
        self.same(wg.take(wg.array(self.n), wg.argpartition(self.n, 2))[:2], [0, 1])
        bounds = np.array([0.0, 1.0, 2.5])
        for right in False, True:
            self.same(wg.digitize(self.n * 1.0, bounds, right=right), np.digitize(self.n * 1.0, bounds, right=right))
        self.same(wg.bincount(self.n), np.bincount(self.n))
        self.same(wg.bincount(self.n, self.n * 0.5, length=9), np.bincount(self.n, self.n * 0.5, minlength=9))
        for got, want in zip(wg.histogram(self.x, 5), np.histogram(self.x, 5)):
            self.same(got, want)
        self.same(wg.histogram(self.x, 4, range=(-1, 1))[0], np.histogram(self.x, 4, range=(-1, 1))[0])
        self.same(wg.argwhere(self.x > 0.5), np.argwhere(self.x > 0.5))
        self.same(wg.compress([True, False, True], self.x, axis=1), np.compress([True, False, True], self.x, axis=1))
        self.same(wg.isin(self.n, [3, 0]), np.isin(self.n, [3, 0]))
        other = np.array([0, 3, 9])
        pairs = (wg.union1d, np.union1d), (wg.intersect1d, np.intersect1d), (wg.setdiff1d, np.setdiff1d), (wg.setxor1d, np.setxor1d)
        for ours, theirs in pairs:
            self.same(ours(self.n, other), theirs(self.n, other))
        want, places = self.x.copy(), np.array([[[1], [0], [3]]] * 2)
        np.put_along_axis(want, places, 9.0, 2)
        self.same(wg.put_along_axis(self.x, places, np.full((2, 3, 1), 9.0), axis=2), want)

    def test_layout(self):
        for widths in 1, (1, 2), ((1, 0), (0, 2), (2, 1)), ((1, 2),):
            for mode in "constant", "edge", "reflect", "symmetric", "wrap":
                self.same(wg.pad(self.x, widths, mode), np.pad(self.x, widths, mode))
        self.same(wg.pad(self.n, 2, constant_values=7), np.pad(self.n, 2, constant_values=7))
        for got, want in zip(wg.split(self.x, [1, 3], axis=2), np.split(self.x, [1, 3], axis=2)):
            self.same(got, want)
        for got, want in zip(wg.split(self.n[:6], 3), np.split(self.n[:6], 3)):
            self.same(got, want)
        self.same(wg.swapaxes(self.x, 0, 2), np.swapaxes(self.x, 0, 2))
        self.same(wg.unfold(self.n, 3, step=2), np.lib.stride_tricks.sliding_window_view(self.n, 3)[::2])
        self.same(wg.repeat(self.n, [1, 0, 2, 1, 1, 0, 3]), np.repeat(self.n, [1, 0, 2, 1, 1, 0, 3]))
        self.same(wg.diag(self.n, k=1), np.diag(self.n, 1))
        self.same(wg.tri(3, 4, k=1), np.tri(3, 4, 1))
        self.assertEqual(wg.broadcast_shapes((2, 1), (3,), ()), np.broadcast_shapes((2, 1), (3,), ()))
        with self.assertRaises(wg.ShapeError):
            wg.broadcast_shapes((2,), (3,))

    def test_products(self):
        a, b = self.x, np.cos(self.x)
        for notation, operands in (
            ("ijk,ijk->i", (a, b)),
            ("ijk,ljk->il", (a, b)),
            ("...k,...k", (a, b)),
            ("ijk->kji", (a,)),
            ("iij->j", (a[:, :2],)),
            ("ij,jk,kl->il", (a[0], b[0].T, a[1])),
        ):
            self.same(wg.einsum(notation, *operands), np.einsum(notation, *operands))
        self.same(wg.dot(a, b[0].T), np.dot(a, b[0].T))
        self.same(wg.inner(a[0], b[1]), np.inner(a[0], b[1]))
        self.same(wg.kron(a[0], b[0]), np.kron(a[0], b[0]))
        self.same(wg.cross(a[0, :, :3], b[0, :, :3]), np.cross(a[0, :, :3], b[0, :, :3]))

    def test_arguments_by_place_as_numpy_has_them(self):
        x = np.arange(12.0).reshape(3, 4) * 1.5
        a = wg.array(x)
        for name in "sum", "prod", "mean", "var", "std", "max", "min", "any", "all", "argmax", "argmin", "median", "sort", "argsort":
            with self.subTest(name=name):
                self.same(getattr(wg, name)(a, 0), getattr(np, name)(x, 0))
                self.same(getattr(a, name)(0), getattr(np, name)(x, 0))
        for name, arguments in {
            "quantile": (0.25, 1),
            "diff": (2, 0),
            "count_nonzero": (1,),
            "take": ([2, 0], 1),
            "flip": (1,),
            "roll": (1, 1),
            "repeat": (2, 1),
            "squeeze": ((),),
            "trace": (1,),
            "diagonal": (1,),
            "tril": (1,),
            "histogram": (5,),
        }.items():
            with self.subTest(name=name):
                got, want = getattr(wg, name)(a, *arguments), getattr(np, name)(x, *arguments)
                for one, other in zip(got, want) if isinstance(got, tuple) else [(got, want)]:
                    self.same(one, other)
        self.same(wg.sum(a, 1, wg.float32), np.sum(x, 1, np.float32))
        self.same(wg.cumulative_sum(a, 1), np.cumsum(x, 1))
        self.same(wg.concat([a, a], 1), np.concatenate([x, x], 1))
        self.same(wg.stack([a, a], 1), np.stack([x, x], 1))
        self.same(wg.ones(3, wg.float32), np.ones(3, np.float32))
        self.same(wg.zeros_like(a, "int32"), np.zeros_like(x, "int32"))
        self.same(wg.full((2,), 7, "float32"), np.full((2,), 7, "float32"))
        self.same(wg.eye(3, 4, 1, "float32"), np.eye(3, 4, 1, "float32"))
        self.same(wg.arange(0, 5, 2, "float32"), np.arange(0, 5, 2, "float32"))
        self.same(wg.linspace(0, 1), np.linspace(0, 1))
        self.same(wg.histogram(a, bins=100)[0], np.histogram(x, bins=100)[0])
        self.same(wg.linalg.vector_norm(a, 1, 0), np.linalg.norm(x, 1, 0))

    def test_elementwise(self):
        self.same(wg.fmod([-7.0, 7.0], 3.0), np.fmod([-7.0, 7.0], 3.0))
        self.same(wg.gcd(self.n, 6), np.gcd(self.n, 6))
        self.same(wg.lcm(self.n, 4), np.lcm(self.n, 4))
        self.same(wg.cbrt(self.x), np.cbrt(self.x))
        self.same(wg.deg2rad(self.x), np.deg2rad(self.x))
        self.same(wg.exp2(self.x), np.exp2(self.x))
        self.same(wg.round(self.x, 2), np.round(self.x, 2))
        self.same(wg.nan_to_num(np.array([np.nan, np.inf, -np.inf])), np.nan_to_num(np.array([np.nan, np.inf, -np.inf])))
        self.same(wg.isclose(self.x, self.x + 1e-9), np.isclose(self.x, self.x + 1e-9))
        self.assertTrue(bool(wg.array_equal(self.n, self.n)) and not bool(wg.array_equal(self.n, self.n[:2])))
        for name, function in ("erf", math.erf), ("lgamma", math.lgamma), ("gamma", math.gamma):
            self.same(getattr(wg, name)(np.array([0.5, 1.5])), [function(0.5), function(1.5)])

    def test_numpy_s_folds_call_ours(self):
        a = wg.array(self.x)
        for fold in np.sum, np.prod, np.mean, np.max, np.min, np.any, np.all:
            for axis in None, 1:
                got = fold(a, axis=axis)
                self.assertIs(type(got), wg.array)
                self.same(got, fold(self.x, axis=axis))
        self.same(wg.grad(lambda x: np.sum(x * x))(wg.array([1.0, 2.0])), [2.0, 4.0])
        with self.assertRaisesRegex(TypeError, "out"):
            np.sum(a, out=np.zeros(()))

    def test_special_functions(self):
        x = np.array([0.1, 0.7, 1.5, 4.0])
        self.same(wg.erf_inverse(wg.erf(x / 2)), x / 2)
        self.same(wg.erf_derivative(x), 2 / np.sqrt(np.pi) * np.exp(-x * x))
        self.same(wg.gamma_p(1, x), 1 - np.exp(-x))
        self.same(wg.gamma_q(1.0, x), np.exp(-x))
        self.same(wg.gamma_p_inverse(1, 1 - np.exp(-x)), x)
        self.same(wg.gamma_density(2, x), x * np.exp(-x))
        self.same(wg.trigamma(1), np.pi**2 / 6)
        self.same(wg.polygamma(1, x), wg.trigamma(x))
        self.same(wg.polygamma(2, 1.0), -2 * 1.2020569031595942)
        self.same(wg.beta_i(2, 3, 0.5), 0.6875)
        self.same(wg.beta_i(wg.ones(2), 1, wg.array([0.25, 0.5])), [0.25, 0.5])
        self.same(wg.beta_i(1, 1, 1), 1.0)
        self.same(wg.beta_density(2, 2, 0.25), 6 * 0.25 * 0.75)
        self.same(wg.real_sqrt(wg.array([-1.0, 4.0])), [0.0, 2.0])
        self.same(wg.real_ln(-np.exp(x)), x)
        self.same(wg.real_pow(-8.0, 1 / 3), 1.0)
        step = 1e-6
        for slope, value in (wg.beta_i_by_a, lambda a, b: wg.beta_i(a, b, 0.3)), (wg.beta_i_by_b, lambda a, b: wg.beta_i(b, a, 0.3)):
            want = (value(2.0 + step, 3.0) - value(2.0 - step, 3.0)) / (2 * step)
            order = (2.0, 3.0) if slope is wg.beta_i_by_a else (3.0, 2.0)
            self.assertAlmostEqual(float(slope(*order, 0.3)), float(want), 8)
        want = (wg.gamma_p(2.0 + step, 1.5) - wg.gamma_p(2.0 - step, 1.5)) / (2 * step)
        self.assertAlmostEqual(float(wg.gamma_p_by_a(2.0, 1.5)), float(want), 8)

    def test_a_file_is_mapped(self):
        import os
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "items")
            np.arange(10.0).tofile(path)
            self.same(wg.map_file(path, (2, 3), offset=16) + 0, np.arange(2.0, 8.0).reshape(2, 3))
            with self.assertRaises(OSError):
                wg.map_file(path, (100,))


class Draws(unittest.TestCase):
    def test_the_same_seed_draws_the_same(self):
        for draw in (
            lambda g: wg.random.normal((3,), generator=g),
            lambda g: wg.random.integers(10, None, (5,), generator=g),
            lambda g: wg.random.permutation(7, generator=g),
            lambda g: wg.random.gamma(2.0, (4,), generator=g),
        ):
            first = draw(wg.random.Generator(5)).tolist()
            self.assertEqual(draw(wg.random.Generator(5)).tolist(), first)
            self.assertNotEqual(draw(wg.random.Generator(6)).tolist(), first)

    def test_moments(self):
        g, n = wg.random.Generator(11), 20000
        for name, parameters, mean, deviation in (
            ("uniform", {"low": -1.0, "high": 3.0}, 1.0, 4 / 12**0.5),
            ("normal", {"mean": 2.0, "deviation": 3.0}, 2.0, 3.0),
            ("exponential", {"rate": 2.0}, 0.5, 0.5),
            ("laplace", {"scale": 2.0}, 0.0, 8**0.5),
            ("logistic", {}, 0.0, math.pi / 3**0.5),
            ("gumbel", {}, 0.5772156649, math.pi / 6**0.5),
        ):
            x = getattr(wg.random, name)((n,), generator=g, **parameters)
            self.assertIs(x.dtype, wg.float64)
            self.assertLess(abs(float(wg.mean(x)) - mean), 5 * deviation / n**0.5, name)
            self.assertLess(abs(float(wg.std(x)) / deviation - 1), 0.05, name)
        for name, parameters, mean, deviation in (
            ("gamma", (3.0,), 3.0, 3**0.5),
            ("beta", (2.0, 3.0), 0.4, 0.2),
            ("poisson", (4.0,), 4.0, 2.0),
            ("binomial", (10, 0.3), 3.0, 2.1**0.5),
            ("chi_square", (5.0,), 5.0, 10**0.5),
            ("student", (10.0,), 0.0, (10 / 8) ** 0.5),
            ("truncated_normal", (0.0, math.inf), (2 / math.pi) ** 0.5, (1 - 2 / math.pi) ** 0.5),
            ("integers", (0, 10), 4.5, 8.25**0.5),
            ("bernoulli", (0.3,), 0.3, 0.21**0.5),
        ):
            x = getattr(wg.random, name)(*parameters, (n,), generator=g).astype(wg.float64)
            self.assertLess(abs(float(wg.mean(x)) - mean), 5 * deviation / n**0.5, name)
            self.assertLess(abs(float(wg.std(x)) / deviation - 1), 0.05, name)

    def test_shapes_and_parameters(self):
        g = wg.random.Generator(1)
        self.assertEqual(wg.random.normal(mean=wg.zeros((2, 1)), deviation=wg.ones(3), generator=g).shape, (2, 3))
        self.assertIs(wg.random.normal((2,), dtype=wg.float32, generator=g).dtype, wg.float32)
        self.assertEqual(wg.random.dirichlet(wg.ones((2, 4)), generator=g).shape, (2, 4))
        self.assertEqual(wg.random.categorical(wg.zeros((5, 3)), generator=g).shape, (5,))
        self.assertEqual(wg.random.multivariate_normal(wg.zeros(2), wg.eye(2), (6,), generator=g).shape, (6, 2))
        self.assertEqual(sorted(wg.random.permutation(6, generator=g).tolist()), list(range(6)))
        self.assertEqual(sorted(wg.random.choice(6, (6,), replace=False, generator=g).tolist()), list(range(6)))
        self.assertEqual(set(wg.random.choice(3, (50,), weights=[0.0, 1.0, 1.0], generator=g).tolist()), {1, 2})
        self.assertEqual(wg.random.choice(wg.arange(6).reshape(3, 2), (4,), generator=g).shape, (4, 2))
        with self.assertRaises(ValueError):
            wg.random.choice(3, (4,), replace=False, generator=g)

    def test_parameters_are_broadcast_to_the_shape(self):
        after = {"uniform": (-1.0, 2.0), "normal": (1.0, 2.0), "laplace": (1.0, 2.0)}
        before = {"truncated_normal": (-1.0, 2.0), "beta": (1.0, 2.0), "integers": (1, 5), "binomial": (7, 0.5)}
        for name, (a, b) in {**after, **before}.items():

            def call(a, b, name=name):
                arguments = ((2, 3), a, b) if name in after else (a, b, (2, 3))
                return getattr(wg.random, name)(*arguments, generator=wg.random.Generator(4)).tolist()

            with self.subTest(name=name):
                want = call(a, b)
                self.assertEqual(call(a, wg.full((3,), b)), want)
                self.assertEqual(call(wg.full((2, 1), a), wg.full((3,), b)), want)
                self.assertEqual(call(wg.full((1, 3), a), b), want)

    def test_keys(self):
        key = wg.random.key(wg.random.Generator(3))
        self.assertEqual(wg.random.split(key, 3).shape, (3, 2))
        self.assertNotEqual(wg.random.fold_in(key, 1).tolist(), wg.random.fold_in(key, 2).tolist())
        self.assertEqual(wg.random.normal((2,), generator=key).tolist(), wg.random.normal((2,), generator=key).tolist())
        rows = wg.vmap(lambda k: wg.random.uniform((2,), generator=k))(wg.random.split(key, 3))
        self.assertEqual(rows.tolist()[1], wg.random.uniform((2,), generator=wg.random.split(key, 3)[1]).tolist())

    def test_what_is_no_generator_is_named(self):
        for wrong, said in (3, "not 3;"), (object(), "object"), (wg.ones(2), "float64 \\[2\\]"), (wg.zeros(3, dtype=wg.uint32), "\\[3\\]"):
            with self.assertRaisesRegex(TypeError, "generator is a wengert.random.Generator or a key.*" + said):
                wg.random.normal((3,), generator=wrong)

    def test_derivatives_go_through(self):
        key = wg.random.key(wg.random.Generator(3))
        slope = wg.grad(lambda m: wg.sum(wg.random.normal((3,), mean=m, generator=key)))(1.0)
        self.assertEqual(slope.item(), 3.0)

    def test_a_generator_splits_and_folds(self):
        a, b = wg.random.Generator(1), wg.random.Generator(1)
        self.assertEqual(a.split().key().tolist(), b.split().key().tolist())
        self.assertEqual(a.fold(5).key().tolist(), b.fold(5).key().tolist())
        self.assertNotEqual(a.fold(5).key().tolist(), b.fold(6).key().tolist())


class Networks(unittest.TestCase):
    def test_by_hand(self):
        x = wg.array([[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]])
        p = wg.nn.softmax(x)
        self.assertTrue(bool(wg.allclose(p, wg.exp(x) / wg.sum(wg.exp(x), axis=-1, keepdims=True))))
        self.assertTrue(bool(wg.allclose(wg.nn.log_softmax(x), wg.log(p))))
        loss = wg.nn.cross_entropy(x, wg.array([2, 0]))
        self.assertAlmostEqual(float(loss), -(math.log(float(p[0, 2])) + math.log(1 / 3)) / 2, places=12)
        self.assertEqual(wg.nn.relu(wg.array([-1, 2])).tolist(), [0.0, 2.0])
        self.assertEqual(wg.nn.leaky_relu(wg.array([-1.0, 2.0]), 0.1).tolist(), [-0.1, 2.0])
        self.assertEqual(wg.nn.linear(x, wg.eye(3), wg.ones(3)).tolist(), (x + 1).tolist())
        normed = wg.nn.layer_norm(x[0], wg.ones(3), wg.zeros(3), epsilon=0.0)
        self.assertTrue(bool(wg.allclose(normed, (x[0] - 2) / wg.std(x[0]))))
        self.assertEqual(wg.nn.embedding(x, wg.array([1, 0])).tolist(), [[0.0, 0.0, 0.0], [1.0, 2.0, 3.0]])
        q = wg.reshape(wg.arange(8.0), (4, 2))
        self.assertEqual(wg.nn.causal_attention(q, q, q)[0].tolist(), q[0].tolist())
        kept = wg.nn.dropout(wg.ones(1000), 0.25, wg.random.Generator(2))
        self.assertEqual(set(wg.unique_values(kept).tolist()), {0.0, 1 / 0.75})


class Matrices(unittest.TestCase):
    def setUp(self):
        try:
            wg.linalg.det(wg.eye(2)).run()
        except wg.Unsupported as error:
            self.skipTest(str(error))

    def test_factors(self):
        a = wg.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]])
        b = wg.array([1.0, 2.0, 3.0])
        self.assertTrue(bool(wg.allclose(a @ wg.linalg.solve(a, b), b)))
        self.assertTrue(bool(wg.allclose(wg.linalg.inv(a) @ a, wg.eye(3))))
        lower = wg.linalg.cholesky(a)
        self.assertTrue(bool(wg.allclose(lower @ lower.mT, a)))
        self.assertTrue(bool(wg.allclose(wg.linalg.solve_triangular(lower, lower @ b), b)))
        self.assertTrue(bool(wg.allclose(wg.linalg.lstsq(a[:, :2], b), wg.linalg.pinv(a[:, :2]) @ b)))
        self.assertAlmostEqual(float(wg.linalg.slogdet(a).logabsdet), math.log(float(wg.linalg.det(a))))
        slope = wg.grad(lambda a: wg.linalg.slogdet(a).logabsdet)(a)
        self.assertTrue(bool(wg.allclose(slope, wg.linalg.inv(a).mT)))

    def test_what_fails(self):
        with self.assertRaises(wg.MatrixError):
            wg.linalg.solve(wg.zeros((2, 2)), wg.ones(2)).run()
        with self.assertRaises(wg.MatrixError):
            wg.linalg.cholesky(-wg.eye(2)).run()
        with self.assertRaises(ValueError):
            wg.linalg.matrix_norm(wg.eye(2), ord=7)


if __name__ == "__main__":
    unittest.main()
