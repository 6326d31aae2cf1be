# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Arrays against NumPy: items, kinds, indexes, operators, memory that is shared."""

import copy
import gc
import itertools
import operator
import pickle
import struct
import sys
import unittest

import wengert as wg

try:
    import numpy as np
except ImportError:
    np = None

needs_numpy = unittest.skipIf(np is None, "NumPy is not here")


class Making(unittest.TestCase):
    def test_numbers_have_the_kinds_of_python(self):
        for number, kind in (True, wg.bool), (1, wg.int64), (1.5, wg.float64), (1 + 2j, wg.complex128):
            self.assertIs(wg.array(number).dtype, kind)
            self.assertEqual(wg.array(number).item(), number)

    @needs_numpy
    def test_names_of_kinds_are_numpy_s(self):
        names = "? b1 i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16 byte short ubyte ushort half single double csingle cdouble int float complex"
        for name in names.split():
            self.assertEqual(str(wg.zeros(1, name).dtype), np.dtype(name).name)
        self.assertIs(wg.dtype("f32"), wg.float32)

    def test_nested_lists(self):
        self.assertEqual(wg.array([[1, 2, 3], [4, 5, 6]]).tolist(), [[1, 2, 3], [4, 5, 6]])
        self.assertIs(wg.array([1, 2.5]).dtype, wg.float64)
        self.assertIs(wg.array([True, False]).dtype, wg.bool)
        self.assertEqual(wg.array([[], []]).shape, (2, 0))
        self.assertEqual(wg.array([wg.arange(2), [5, 6]]).tolist(), [[0, 1], [5, 6]])
        self.assertEqual(wg.array([2**64 - 1], dtype=wg.uint64).tolist(), [2**64 - 1])

    def test_ragged_lists_and_other_things_are_refused(self):
        for wrong in [[1], [1, 2]], [1, [2]], [[1], 2]:
            with self.assertRaises(wg.ShapeError):
                wg.array(wrong)
        with self.assertRaises(wg.KindError):
            wg.array(object())
        with self.assertRaises(OverflowError):
            wg.array([300], dtype=wg.uint8)
        with self.assertRaises(OverflowError):
            wg.array([1], dtype=wg.uint8) + 300

    def test_buffers_of_python(self):
        self.assertEqual(wg.array(b"ab").tolist(), [97, 98])
        self.assertEqual(wg.array(b"").shape, (0,))
        self.assertEqual(wg.array(memoryview(struct.pack("=3d", 1, 2, 3)).cast("d")).tolist(), [1.0, 2.0, 3.0])

    def test_text_reads(self):
        a = wg.array([[1.0, 0.1], [-0.0, 1e100]])
        self.assertEqual(repr(a), "wengert.array([[1., 0.1],\n               [-0., 1e+100]])")
        self.assertEqual(str(wg.array([0.1], dtype=wg.float32)), "[0.1]")
        self.assertEqual(repr(wg.array([1], dtype=wg.int8)), "wengert.array([1], dtype=int8)")
        self.assertEqual(str(wg.arange(2000)), "[0, 1, 2, ..., 1997, 1998, 1999]")
        self.assertEqual(eval(repr(wg.arange(3)), {"wengert": wg}).tolist(), [0, 1, 2])

    def test_every_float_is_printed_so_that_it_reads_back(self):
        for bits in range(0, 2**16, 7):
            for kind in wg.float16, wg.bfloat16:
                a = wg.bitcast(wg.array(bits, dtype=wg.uint16), kind)
                text = str(a)
                back = wg.bitcast(wg.array(float(text)).astype(kind), wg.uint16).item()
                self.assertTrue(back == bits or text == "nan", (hex(bits), text))

    def test_formats(self):
        self.assertEqual(f"{wg.array(1.0) / 3:.3f} {wg.array(7):03d} {wg.arange(2)} {wg.arange(2):>8}", "0.333 007 [0, 1]   [0, 1]")
        with self.assertRaises(ValueError):
            f"{wg.arange(2):.3f}"

    def test_it_waits(self):
        a = wg.arange(4.0) * 2
        self.assertTrue(a.is_pending)
        self.assertEqual(a.shape, (4,))
        self.assertTrue(a.is_pending)
        self.assertEqual(a[1].item(), 2.0)
        self.assertIs(a.run(), a)
        self.assertFalse(a.is_pending)

    def test_another_name_of_an_array_is_no_copy(self):
        a = wg.arange(3.0)
        same, other = wg.asarray(a, copy=False), wg.asarray(a, copy=True)
        a[0] = 9.0
        self.assertEqual((same[0].item(), other[0].item()), (9.0, 0.0))
        self.assertIs(a.astype(wg.float64, copy=False), a)
        self.assertIsNot(a.astype(wg.float64), a)

    def test_copies_and_pickles(self):
        a = wg.arange(3.0)
        for other in copy.copy(a), copy.deepcopy(a), a.copy(), *([pickle.loads(pickle.dumps(a))] if np else []):
            other[0] = 9.0
            self.assertEqual(a.tolist(), [0.0, 1.0, 2.0])
            self.assertEqual(other.tolist(), [9.0, 1.0, 2.0])
        self.assertIs(pickle.loads(pickle.dumps(wg.float32)), wg.float32)

    def test_dtypes_are_their_names(self):
        self.assertEqual(wg.float32, "float32")
        self.assertNotEqual(wg.float32, "float64")
        self.assertEqual({wg.int8: 1}["int8"], 1)
        with self.assertRaises(wg.KindError):
            wg.zeros(2, dtype="float31")

    def test_numbers_from_arrays(self):
        a = wg.array([7])
        self.assertEqual((int(a), float(a), complex(a), bool(a)), (7, 7.0, 7 + 0j, True))
        self.assertEqual([10, 20, 30][wg.array(1)], 20)
        for wrong in (
            lambda: bool(wg.zeros(2)),
            lambda: float(wg.zeros(2)),
            lambda: [1][wg.array(0.0)],
            lambda: len(wg.array(1)),
            lambda: iter(wg.array(1)),
        ):
            with self.assertRaises((ValueError, TypeError)):
                wrong()
        self.assertEqual([x.item() for x in wg.arange(3)], [0, 1, 2])
        with self.assertRaises(TypeError):
            hash(a)


@needs_numpy
class NumPy(unittest.TestCase):
    def test_its_items_are_used_where_they_are(self):
        source = np.arange(6.0).reshape(2, 3)
        a = wg.array(source)
        self.assertTrue(np.shares_memory(source, np.asarray(a)))
        self.assertTrue(np.shares_memory(source, np.asarray(wg.array(source.T))))
        self.assertTrue(np.array_equal(np.asarray(wg.array(source[::-1, ::2]) + 0), source[::-1, ::2]))
        self.assertFalse(np.shares_memory(source, np.asarray(wg.array(source, copy=True))))

    def test_our_items_are_used_where_they_are_and_read_only(self):
        a = wg.arange(5.0) + 1
        first, second = np.asarray(a), a.numpy()
        self.assertTrue(np.shares_memory(first, second))
        self.assertFalse(first.flags.writeable)
        with self.assertRaises((BufferError, TypeError)):
            ask_for_writing(a)
        kept = np.asarray(wg.arange(3.0) + 5)  # its array is gone
        gc.collect()
        self.assertEqual(kept.tolist(), [5.0, 6.0, 7.0])

    def test_dlpack_shares_both_ways(self):
        source = np.arange(4, dtype=np.float32)
        a = wg.from_dlpack(source)
        self.assertTrue(np.shares_memory(source, np.asarray(a)))
        self.assertEqual(a.__dlpack_device__(), (1, 0))
        back = np.from_dlpack(a + 0)
        self.assertEqual(back.tolist(), [0, 1, 2, 3])
        for kind in "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split():
            made = wg.from_dlpack(np.ones(3, dtype=kind))
            self.assertEqual(str(made.dtype), kind)
            self.assertTrue(np.array_equal(np.from_dlpack(made), np.ones(3, dtype=kind)))
        again = wg.from_dlpack(wg.arange(3.0))
        self.assertEqual(again.tolist(), [0.0, 1.0, 2.0])
        b = wg.bitcast(wg.array([1], dtype=wg.uint16), wg.bfloat16)
        self.assertIs(wg.from_dlpack(b).dtype, wg.bfloat16)

    def test_a_capsule_is_consumed_once(self):
        capsule = wg.arange(3.0).__dlpack__()
        wg._core.from_dlpack(capsule)
        with self.assertRaises(ValueError):
            wg._core.from_dlpack(capsule)

    def test_kinds_come_through(self):
        for kind in "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split():
            source = np.ones((2, 2), dtype=kind)
            self.assertEqual(str(wg.array(source).dtype), kind)
            self.assertEqual(np.asarray(wg.array(source)).dtype, source.dtype)
        with self.assertRaises(wg.KindError):
            wg.array(np.ones(2, dtype=">f8"))
        with self.assertRaises(wg.KindError):
            wg.array(np.array(["a"]))

    def test_a_buffer_without_strides(self):
        self.assertEqual(wg.array(np.datetime64("2020")).shape, (8,))  # which NumPy says are bytes

    def test_unaligned_items_are_copied(self):
        packed = np.frombuffer(b"\0" + struct.pack("=2d", 1, 2), dtype=np.uint8)[1:].view(np.float64)
        self.assertEqual(wg.array(packed).tolist(), [1.0, 2.0])
        with self.assertRaises(wg.ArgumentError):
            wg.asarray(packed, copy=False)

    def test_expressions_with_both(self):
        x, a = np.arange(3.0), wg.arange(3.0)
        for answer in x + a, a + x, np.float64(1) + a, a * np.float32(2), np.int64(1) + a:
            self.assertIs(type(answer), wg.array)
        self.assertIs((wg.ones(2, dtype=wg.float32) * 2.0).dtype, wg.float32)
        self.assertIs((wg.ones(2, dtype=wg.float32) * np.float64(2.0)).dtype, wg.float64)

    def test_release_of_the_source(self):
        class Owner(np.ndarray):
            pass

        before = sys.getrefcount(None)
        source = np.arange(1000.0).view(Owner)
        import weakref

        alive = weakref.ref(source)
        a = wg.array(source)
        b = a + 1
        del source, a
        gc.collect()
        self.assertIsNotNone(alive())  # a pending array reads it
        b.run()
        wg.figures()
        self.assertIsNone(alive())
        self.assertLess(abs(sys.getrefcount(None) - before), 1000)


def ask_for_writing(a):
    """Asks for a buffer to write in."""
    import ctypes

    (ctypes.c_char * a.nbytes).from_buffer(a)


@needs_numpy
class Operators(unittest.TestCase):
    ARITHMETIC = operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod
    COMPARE = operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge
    KINDS = "int8 int16 int32 int64 uint8 uint16 uint32 float32 float64".split()

    def check(self, got, want):
        got = np.asarray(got)
        self.assertEqual(got.shape, want.shape)
        self.assertEqual(got.dtype, want.dtype)
        np.testing.assert_allclose(got, want, rtol=1e-6)

    def test_arithmetic_of_all_pairs_of_kinds(self):
        for a, b in itertools.product(self.KINDS, repeat=2):
            x, y = np.array([[7], [5]], dtype=a), np.array([2, 3], dtype=b)
            for call in self.ARITHMETIC[:3] + self.ARITHMETIC[4:] + self.COMPARE:
                want = call(x, y)
                if {a[0], b[0]} == {"f", "i"} or {a[0], b[0]} == {"f", "u"}:
                    kind = [kind for kind in (a, b) if kind[0] == "f"][0]  # the array API leaves it open: the float's own
                    want = want if want.dtype == bool else call(x.astype(kind), y.astype(kind))
                self.check(call(wg.array(x), wg.array(y)), want)

    def test_true_division_of_integers_is_float64(self):
        self.check(wg.array([7, 8]) / wg.array([2, 0]), np.array([3.5, np.inf]))
        self.assertIs((wg.array([1], dtype=wg.int8) / 2).dtype, wg.float64)

    def test_numbers_of_python_on_both_sides(self):
        for kind in self.KINDS:
            x = np.array([1, 2, 3], dtype=kind)
            for call in operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod:
                self.assertEqual(str(call(wg.array(x), 2).dtype), kind)
                self.assertEqual(call(7, wg.array(x)).tolist(), call(np.array(7, dtype=kind), x).tolist())
        self.assertIs((wg.array([1]) + 0.5).dtype, wg.float64)
        self.assertIs((wg.array([True]) + 1).dtype, wg.int64)

    def test_bits_and_shifts(self):
        x, y = np.array([12, -7]), np.array([2, 3])
        for call in operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift:
            self.check(call(wg.array(x), wg.array(y)), call(x, y))
        self.check(~wg.array(x), ~x)
        self.check(~wg.array([True, False]), np.array([False, True]))

    def test_powers(self):
        x = np.arange(-4, 5)
        for exponent in range(8):
            self.check(wg.array(x) ** exponent, x**exponent)
        self.check(wg.array(x) ** wg.array(np.arange(9)), x ** np.arange(9))
        self.check(2 ** wg.arange(10), 2 ** np.arange(10))
        self.check(wg.array([2.0]) ** -1, np.array([0.5]))
        with self.assertRaises(ValueError):
            wg.array([2]) ** -1

    def test_unary_and_matmul(self):
        x = np.array([[1.0, -2.0], [3.5, 4.0]])
        a = wg.array(x)
        for call in operator.neg, operator.pos, abs:
            self.check(call(a), call(x))
        self.check(a @ a, x @ x)
        self.check(x @ a, x @ x)
        self.check(divmod(wg.array([7, -7]), 2)[1], np.array([1, 1]))
        a @= a
        self.check(a, x @ x)

    def test_in_place_gives_the_name_another_array(self):
        a = b = wg.arange(3.0)
        a += 1
        self.assertEqual((a.tolist(), b.tolist()), ([1.0, 2.0, 3.0], [0.0, 1.0, 2.0]))

    def test_what_is_no_operand(self):
        for wrong in "a", None, object(), {}:
            with self.assertRaises(TypeError):
                wg.arange(3) + wrong
            self.assertIs(wg.arange(3) == wrong, False)
        with self.assertRaises(wg.ShapeError) as caught:
            wg.ones(3) + wg.ones(2)
        self.assertEqual(caught.exception.code, "shape")
        self.assertIsInstance(caught.exception, ValueError)
        self.assertEqual((wg.ones(2) + 1).tolist(), [2.0, 2.0])  # the context goes on


@needs_numpy
class Indexes(unittest.TestCase):
    KEYS = [
        0,
        -1,
        slice(None),
        slice(1, None),
        slice(None, None, -1),
        slice(-3, -1),
        slice(5, 1, -2),
        Ellipsis,
        None,
        (0, 1),
        (slice(None), 1),
        (Ellipsis, 0),
        (None, 1, None),
        (1, Ellipsis, None),
        (slice(None, None, 2), slice(None), slice(1, 3)),
        [0, 2, 0],
        ([0, 1], [1, 2]),
        ([0, 1], slice(None), [1, 2]),
        (slice(None), [[0, 1], [2, 0]]),
        ([[0], [1]], [0, 2]),
        (0, slice(None), [1, 2]),
        (),
        slice(2, 2),
    ]

    def setUp(self):
        self.x = np.arange(60.0).reshape(3, 4, 5)

    def masks(self):
        return [
            self.x > 20,
            self.x[:, :, 0] > 20,
            (slice(None), np.array([True, False, True, True])),
            (np.array([True, False, True]), 1),
            (self.x[..., 0] > 7, 2),
            np.zeros((3, 4, 5), bool),
        ]

    @staticmethod
    def as_ours(key):
        one = lambda item: wg.array(item) if isinstance(item, np.ndarray) else item  # noqa: E731
        return tuple(map(one, key)) if isinstance(key, tuple) else one(key)

    def test_reads(self):
        for key in self.KEYS + self.masks():
            with self.subTest(key=key):
                self.assertTrue(np.array_equal(np.asarray(wg.array(self.x)[self.as_ours(key)]), self.x[key]))
                self.assertTrue(np.array_equal(np.asarray(wg.array(self.x)[key]), self.x[key]))

    def test_writes(self):
        for key in self.KEYS + self.masks():
            with self.subTest(key=key):
                want, a = self.x.copy(), wg.array(self.x)
                want[key] = -1
                a[self.as_ours(key)] = -1
                self.assertTrue(np.array_equal(np.asarray(a), want))
                values = np.arange(float(self.x[key].size)).reshape(self.x[key].shape)
                want[key] = values
                self.assertTrue(np.array_equal(np.asarray(wg.array(self.x).at[self.as_ours(key)].set(values)), want))

    def test_numpy_s_arrays_and_numbers_are_indexes(self):
        positions = np.array([2, 0])
        for key in (
            positions,
            positions.astype(np.uint8),
            positions[::-1],
            np.array([1]),
            np.array(1),
            np.int64(1),
            (np.int32(-1), positions),
            (slice(None), positions, np.array([[1], [3]])),
            (0, np.array([True, False, True, False])),
        ):
            with self.subTest(key=key):
                want, a = self.x.copy(), wg.array(self.x)
                self.assertTrue(np.array_equal(np.asarray(a[key]), want[key]))
                want[key] = 7
                a[key] = 7
                self.assertTrue(np.array_equal(np.asarray(a), want))
                self.assertTrue(np.array_equal(np.asarray(wg.array(self.x).at[key].set(7)), want))
        a = wg.arange(3.0)
        a[np.array([0, 2])] = np.float64(5)
        self.assertEqual(a.tolist(), [5.0, 1.0, 5.0])
        for wrong in np.array([0.5]), np.float64(0), np.array(0.0):
            with self.subTest(wrong=wrong), self.assertRaises((IndexError, TypeError)):
                a[wrong]

    def test_adding_counts_repeats(self):
        want, a = self.x.copy(), wg.array(self.x)
        np.add.at(want, ([0, 0, 2],), 1.5)
        self.assertTrue(np.array_equal(np.asarray(a.at[[0, 0, 2]].add(1.5)), want))
        self.assertTrue(np.array_equal(np.asarray(a), self.x))

    def test_other_names_keep_their_items(self):
        a = wg.arange(3.0)
        b, c = a.copy(), a + 0
        a[0] = 9
        self.assertEqual((a.tolist(), b.tolist(), c.tolist()), ([9.0, 1.0, 2.0], [0.0, 1.0, 2.0], [0.0, 1.0, 2.0]))

    def test_wrong_ones(self):
        a = wg.array(self.x)
        for key in 3, -4, (0, 4), (0, 0, 0, 0), (Ellipsis, Ellipsis), 1.5, "a", [0.5]:
            with self.subTest(key=key), self.assertRaises((IndexError, TypeError)):
                a[key]
        with self.assertRaises(IndexError):
            a[[0, 7]].run()
        with self.assertRaises(TypeError):
            del a[0]
        with self.assertRaises(wg.KindError):
            b = wg.arange(3)
            b[0] = 1.5
        with self.assertRaises(wg.ShapeError):
            a[0] = wg.ones(7)
        self.assertTrue(np.array_equal(np.asarray(a), self.x))


class Errors(unittest.TestCase):
    def test_a_failed_read_names_the_line_of_the_call_and_harms_nothing(self):
        positions = wg.array([0, 5]) + 0
        good = wg.arange(3.0) * 2
        picked = wg.take(good, positions)  # this line
        line = sys._getframe().f_lineno - 1
        for _ in range(2):
            with self.assertRaises(wg.BoundsError) as caught:
                picked.run()
            self.assertIsInstance(caught.exception, IndexError)
            self.assertEqual(caught.exception.code, "bounds")
            self.assertEqual((caught.exception.file, caught.exception.line), (__file__, line))
            self.assertEqual(caught.exception.item, 1)
        self.assertEqual(good.tolist(), [0.0, 2.0, 4.0])

    def test_messages_have_the_names_of_python(self):
        for call, said in (
            (lambda: wg.take(wg.ones(3), wg.ones(2)), "not float64"),
            (lambda: wg.bitwise_and(wg.ones(2, dtype=wg.float32), wg.ones(2, dtype=wg.float32)), "does not take float32$"),
            (lambda: wg.ones(3)[wg.array(True)], "decide by wengert.where"),
            (lambda: wg.vmap(lambda x: 1.0 if float(x) > 0 else 0.0)(wg.ones(3)), "decide by wengert.where"),
        ):
            with self.assertRaisesRegex(wg.Error, said) as caught:
                call()
            self.assertNotRegex(str(caught.exception), r"wg_|\b[fiu](8|16|32|64)\b")

    def test_notes_are_notes(self):
        with self.assertRaises(wg.Error) as caught:
            wg.Program("wengert 1\nx = foo(1)\n", "wrong.wg")
        self.assertEqual((caught.exception.file, caught.exception.line), ("wrong.wg", 2))
        self.assertIn("wrong.wg:2:", str(caught.exception))
        self.assertTrue(all("\n" not in note for note in getattr(caught.exception, "__notes__", [])))


if __name__ == "__main__":
    unittest.main()
