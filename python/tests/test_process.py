# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The process around arrays: Ctrl-C, threads, forks, what can be asked."""

import concurrent.futures
import gc
import importlib.util
import os
import signal
import subprocess
import sys
import threading
import time
import unittest

import wengert as wg

# A read that lasts for hours unless it is stopped: a chain of matrix products.
LONG = """
import signal, sys, wengert as wg
{setup}
x = wg.ones((2000, 2000)) * 1e-4
for _ in range(3000):
    x = x @ x
small = wg.arange(3.0) + 1
print("begins", flush=True)
try:
    {read}
    print("ended")
except {expected}:
    print("interrupted")
print(small.tolist(), x.is_pending, (wg.ones(2) + 1).tolist())
"""


def interrupted(setup="", read="x.run()", expected="KeyboardInterrupt", signals=1):
    """What the long read prints when it is interrupted after a while."""
    process = subprocess.Popen(
        [sys.executable, "-c", LONG.format(setup=setup, read=read, expected=expected)],
        stdout=subprocess.PIPE,
        text=True,
        env=dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path)),
    )
    try:
        assert process.stdout.readline() == "begins\n"
        for number in range(signals):
            time.sleep(0.3)
            process.send_signal(signal.SIGINT)
            if number + 1 < signals:
                assert process.stdout.readline() == "told\n"  # or two become one on a machine that is busy
        return process.communicate(timeout=60)[0].splitlines()
    finally:
        process.kill()


class Interrupts(unittest.TestCase):
    def test_ctrl_c_stops_a_read_and_harms_nothing(self):
        self.assertEqual(interrupted(), ["interrupted", "[1.0, 2.0, 3.0] True [2.0, 2.0]"])

    def test_ctrl_c_stops_a_read_of_several(self):
        self.assertEqual(interrupted(read="wg.run(x, small * 2, x @ x)")[0], "interrupted")

    def test_ctrl_c_stops_a_call_that_reads(self):
        self.assertEqual(interrupted(read="x[x > 0]")[0], "interrupted")
        self.assertEqual(interrupted(read="wg.unique_values(x)")[0], "interrupted")

    @unittest.skipIf(importlib.util.find_spec("numpy") is None, "NumPy is not here")
    def test_ctrl_c_stops_numpy(self):
        for read in "numpy.asarray(x)", "numpy.array(x)", "numpy.dot(x, x)", "numpy.save(os.devnull, x)":
            self.assertEqual(interrupted("import numpy, os", read=read), ["interrupted", "[1.0, 2.0, 3.0] True [2.0, 2.0]"], read)

    def test_a_handler_of_the_program_decides(self):
        setup = (
            "class Mine(Exception): pass\ncount = []\ndef handler(*facts):\n    count.append(1)\n"
            "    if len(count) == 2: raise Mine\n    print('told', flush=True)\nsignal.signal(signal.SIGINT, handler)"
        )
        self.assertEqual(interrupted(setup, expected="Mine", signals=2), ["interrupted", "[1.0, 2.0, 3.0] True [2.0, 2.0]"])

    def test_ctrl_c_while_another_thread_reads(self):
        read = (
            "import threading\n    work = lambda: [(wg.ones((300, 300)) @ wg.ones((300, 300))).run() for _ in range(3)]\n"
            "    threading.Thread(target=work, daemon=True).start()\n    x.run()"
        )
        self.assertEqual(interrupted(read=read)[0], "interrupted")

    def test_the_handler_is_as_it_was(self):
        before = signal.getsignal(signal.SIGINT)
        (wg.ones((400, 400)) @ wg.ones((400, 400))).run()
        self.assertIs(signal.getsignal(signal.SIGINT), before)
        with self.assertRaises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
            time.sleep(1)


class Threads(unittest.TestCase):
    def test_each_thread_has_its_own(self):
        def work(seed):
            x = wg.arange(50.0) + seed
            total = 0.0
            for _ in range(30):
                total += float(wg.sum(wg.grad(lambda x: wg.sum(x * x))(x)))
            return total

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            self.assertEqual(list(pool.map(work, range(8))), [30 * (2450.0 + 100 * seed) for seed in range(8)])

    def test_stored_arrays_are_handed_over_and_pending_ones_are_not(self):
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            stored = pool.submit(lambda: (wg.arange(3.0) + 1).run()).result()
            self.assertEqual((stored * 2).tolist(), [2.0, 4.0, 6.0])
            self.assertEqual(wg.grad(lambda x: wg.sum(x * stored))(wg.ones(3)).tolist(), [1.0, 2.0, 3.0])
            waiting = pool.submit(lambda: wg.arange(3.0) + 1).result()
            with self.assertRaisesRegex(wg.BusyError, "another thread"):
                waiting * 2
            pool.submit(waiting.run).result()
            self.assertEqual((waiting * 2).tolist(), [2.0, 4.0, 6.0])
        del pool
        gc.collect()
        self.assertEqual(stored.tolist(), [1.0, 2.0, 3.0])  # its thread is gone

    def test_what_other_threads_let_go_is_let_go(self):
        def count():
            gc.collect()
            wg.arange(1)
            return wg.figures()["arrays"]

        before = count()
        arrays = [wg.arange(float(i + 1)).run() for i in range(100)]
        self.assertGreaterEqual(count(), before + 100)
        thread = threading.Thread(target=arrays.clear)
        thread.start()
        thread.join()
        self.assertEqual(count(), before)

    def test_compiled_functions_and_generators(self):
        f = wg.jit(lambda x: x + 1)
        self.assertEqual(f(1.0).item(), 2.0)
        generator = wg.random.Generator(1)
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            self.assertEqual(pool.submit(lambda: f(1.0).item()).result(), 2.0)
            with self.assertRaises(wg.BusyError):
                pool.submit(generator.key).result()
            program = wg.Program("wengert 1\ninput x f64 []\ny = x + 1\nentry main: y\n")
            plan = program.plan()
            self.assertEqual(list(pool.map(lambda i: plan.session().run(x=float(i))["y"].item(), range(20))), [i + 1.0 for i in range(20)])

    def test_reads_let_other_threads_run(self):
        ticks, done = [], threading.Event()

        def tick():
            while not done.is_set():
                ticks.append(1)
                time.sleep(0.001)

        thread = threading.Thread(target=tick)
        thread.start()
        x = wg.ones((900, 900))
        for _ in range(6):
            x = x @ x * 1e-3
        x.run()
        seen = len(ticks)
        done.set()
        thread.join()
        self.assertGreater(seen, 1)


@unittest.skipUnless(hasattr(os, "fork"), "there is no fork here")
class Forks(unittest.TestCase):
    def test_the_child_goes_on(self):
        (wg.arange(3.0) + 1).run()
        child = os.fork()
        if not child:
            try:
                good = (wg.arange(4.0) * 2 + 5).tolist() == [5.0, 7.0, 9.0, 11.0]
            finally:
                os._exit(0 if good else 1)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)


class Asking(unittest.TestCase):
    def test_figures_count_reads(self):
        before = wg.figures()
        (wg.arange(5.0) * 3).run()
        after = wg.figures()
        self.assertEqual(after["reads"], before["reads"] + 1)

    def test_events_are_rows(self):
        with wg.explain() as rows:
            (wg.arange(7.0) * 3 + 0.123).run()
        self.assertIn("run", [row["what"] for row in rows])
        self.assertEqual(set(rows[0]), {"what", "detail", "reason", "file", "line", "read", "nodes", "stages", "bytes", "seconds"})
        self.assertTrue(str(rows))
        count = len(rows)
        (wg.arange(8.0) * 3).run()
        self.assertEqual(len(rows), count)

    def test_run_of_several(self):
        a, b = wg.arange(3.0) + 1, wg.arange(3.0) + 2
        before = wg.figures()["reads"]
        wg.run(a, b)
        self.assertEqual(wg.figures()["reads"], before + 1)
        self.assertFalse(a.is_pending or b.is_pending)


if __name__ == "__main__":
    unittest.main()
