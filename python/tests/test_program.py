# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Programs in text, plans, sessions, parameters, and entries as functions of arrays."""

import os
import tempfile
import unittest

import wengert as wg


class Programs(unittest.TestCase):
    def setUp(self):
        self.p = wg.Program(
            "wengert 1\ninput x f64 [2]\nparameter w f64 [2] = (3 4)\ny = x * w\ntotal = sum(y)\nentry main: y, total\nentry loss: total\n",
            "p.wg",
        )

    def test_facts(self):
        p = self.p
        self.assertEqual(
            (p.entries, [node.name for node in p.inputs], [node.name for node in p.parameter_nodes]), (["main", "loss"], ["x"], ["w"])
        )
        self.assertEqual(p.inputs[0].shape, (2,))
        self.assertTrue(p.inputs[0].required)
        self.assertEqual(wg.Program(str(p)).identity(), p.identity())
        self.assertEqual(len(p.identity()), 64)
        self.assertIn("network:", p.describe())

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.wg")
            with open(path, "w", encoding="utf-8") as file:
                file.write(str(self.p))
            self.assertEqual(wg.Program.load(path).identity(), self.p.identity())
            with self.assertRaises(FileNotFoundError):
                wg.Program.load(path + "x")

    def test_call_waits_and_has_derivatives(self):
        y, total = self.p.call("main", x=[1.0, 2.0])
        self.assertTrue(y.is_pending)
        self.assertEqual((y.tolist(), total.item()), ([3.0, 8.0], 11.0))
        self.assertEqual(wg.grad(lambda x: self.p.call("loss", x=x))(wg.array([1.0, 2.0])).tolist(), [3.0, 4.0])
        self.assertEqual(wg.vmap(lambda x: self.p.call("loss", x=x))(wg.array([[1.0, 0.0], [0.0, 1.0]])).tolist(), [3.0, 4.0])
        self.assertEqual(wg.jit(lambda x: self.p.call("loss", x=x))(wg.array([1.0, 1.0])).item(), 7.0)

    def test_parameters(self):
        table = self.p.parameters()
        self.assertEqual((list(table), table["w"].tolist()), (["w"], [3.0, 4.0]))
        table["w"] = [10, 20]
        other = table.copy()
        other["w"] = [0.0, 0.0]
        self.assertEqual(self.p.call("loss", table, x=[1.0, 1.0]).item(), 30.0)
        self.assertEqual(self.p.call("loss", x=[1.0, 1.0]).item(), 7.0)
        self.assertEqual(self.p.plan("loss").session().run(table, x=[1.0, 1.0])["total"].item(), 30.0)
        with self.assertRaises(wg.Error):
            table["w"] = [1.0]
        with self.assertRaises(LookupError):
            table["nothing"]

    def test_plans_and_sessions(self):
        plan = self.p.plan("main")
        self.assertEqual(plan.results, ("y", "total"))
        self.assertGreater(plan.figures()["stages"], 0)
        self.assertTrue(plan.report() and plan.describe())
        self.assertIsInstance(plan.patterns(), list)
        session = plan.session()
        kept = session.run(x=[1.0, 2.0])["y"]
        self.assertEqual(session.run(x=wg.array([0.0, 1.0]))["y"].tolist(), [0.0, 4.0])
        self.assertEqual(kept.tolist(), [3.0, 8.0])

    def test_wrong_ones(self):
        with self.assertRaises(wg.UnknownName):
            self.p.plan("nothing")
        with self.assertRaises(wg.UnknownName):
            self.p.plan()
        with self.assertRaises(wg.UnknownName):
            self.p.call("main", z=1)
        with self.assertRaises(wg.UnknownName):
            self.p.call("main", w=1)
        with self.assertRaises(wg.Error):
            self.p.plan("main").session().run()
        with self.assertRaises(wg.Error):
            self.p.plan("main").session().run(x=[1.0])
        with self.assertRaises(wg.Error) as caught:
            wg.Program("wengert 1\ninput x f64 [2]\ny = x *\n", "broken.wg")
        self.assertEqual((caught.exception.file, caught.exception.line), ("broken.wg", 3))

    def test_carries_and_extents(self):
        p = wg.Program("wengert 1\ninput total f64 [] = 0\ninput x f64 []\nnext = total + x\nentry step: next; carry next -> total\n")
        session = p.plan().session()
        self.assertEqual([session.run(x=float(i))["next"].item() for i in range(4)], [0.0, 1.0, 3.0, 6.0])
        self.assertEqual(session.carried("total").item(), 6.0)
        session.carry("total", 100.0)
        self.assertEqual(session.run(x=1.0)["next"].item(), 101.0)
        session.reset()
        self.assertEqual(session.run(x=1.0)["next"].item(), 1.0)
        p = wg.Program("wengert 1\nextent n = 2\ninput x f64 [n]\ny = sum(x)\nentry main: y\n")
        self.assertEqual(p.extents, {"n": 2})
        session = p.plan("main").session()
        self.assertEqual(session.run(x=[1.0, 2.0])["y"].item(), 3.0)
        self.assertEqual(session.bind(n=3).run(x=[1.0, 2.0, 3.0])["y"].item(), 6.0)
        self.assertEqual(p.plan("main", n=4).session().run(x=[1.0] * 4)["y"].item(), 4.0)
        with self.assertRaises(wg.Error):
            session.bind(m=3)

    def test_an_unknown_parameter_is_told_the_known_ones(self):
        table = wg.Program("wengert 1\ninput x f64 []\nparameter w f64 [] = 2\nparameter b f64 [] = 1\nentry main: x\n").parameters()
        with self.assertRaisesRegex(LookupError, "no parameter 'v'; its parameters are w, b"):
            table["v"]
        with self.assertRaisesRegex(LookupError, "no parameter 'v'"):
            table["v"] = 1.0
        with self.assertRaisesRegex(LookupError, "'x' is no parameter"):
            table["x"]



if __name__ == "__main__":
    unittest.main()
