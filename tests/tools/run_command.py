#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The command as a person uses it: every verb, its help, its JSON, its exit codes, and the one line that says what went wrong."""
import json
import os
import math
import pathlib
import platform
import re
import shutil
import signal
import struct
import subprocess
import sys
import time
import zlib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "house"))
from house import BUILD, Report  # noqa: E402

COMMAND = BUILD / "wengert"
LINE = ROOT / "examples" / "line.wg"
RECURRENCE = ROOT / "examples" / "recurrence.wg"
VERBS = "train run eval grad describe plan explain print check compare version".split()

MODEL = """wengert 1
program model
extent n = 4
input points [n, 2]
input labels i64 [n]
parameter w [2, 3] = xavier(seed=1)
parameter b [3] = 0
logits = linear(points, w, b)
loss = cross_entropy(logits, labels)
class = arg_max(logits, axis=1)
correct = sum(equal(class, labels))
entry train: loss, gradients(loss)
entry evaluate: loss, correct
entry classify: class, logits
"""

report = Report()


class Ran:
    def __init__(self, *words, stdin=None, environment=None, stdout=subprocess.PIPE):
        others = {name: value for name, value in os.environ.items() if not name.startswith("WENGERT_")}
        self.words = " ".join(str(word) for word in words)
        done = subprocess.run([str(COMMAND), *map(str, words)], input=stdin, stdin=subprocess.DEVNULL if stdin is None else None, stdout=stdout,
                              stderr=subprocess.PIPE, text=True, errors="replace", check=False, env={**others, **(environment or {})}, timeout=120)
        self.code, self.out, self.err = done.returncode, done.stdout or "", done.stderr

    def expect(self, holds, what):
        report.check(holds, f"wengert {self.words}: {what}\n  exit {self.code}\n  stdout: {self.out[:600]}\n  stderr: {self.err[:600]}")
        return self

    def good(self):
        return self.expect(self.code == 0, "does not succeed").expect(not self.err, "says something on stderr")

    def prints(self, *parts):
        for part in parts:
            self.expect(part in self.out, f"does not print {part!r}")
        return self

    def usage(self, *parts):
        """Wrong usage: exit 2, nothing on stdout, one line that says what and where help is."""
        self.expect(self.code == 2, "is not refused with 2").expect(not self.out, "prints on stdout")
        self.expect(len(self.err.splitlines()) == 1 and self.err.startswith("wengert"), "does not say so in one line")
        for part in parts:
            self.expect(part in self.err, f"does not mention {part!r}")
        return self

    def fails(self, *parts, lines=1):
        """A failure: exit 1, nothing on stdout, `lines` lines at least on stderr (1: exactly)."""
        self.expect(self.code == 1, "does not fail with 1").expect(not self.out, "prints on stdout")
        count = len(self.err.splitlines())
        self.expect(count == 1 if lines == 1 else count >= lines, f"answers {count} lines")
        for part in parts:
            self.expect(part in self.err, f"does not mention {part!r}")
        return self

    def object(self):
        """The one JSON object on stdout; every object carries "wengert": 1."""
        try:
            answer = json.loads(self.out)
        except ValueError:
            answer = {}
        self.expect(isinstance(answer, dict) and answer.get("wengert") == 1, "does not print an object with \"wengert\": 1")
        return answer


def write(name, text):
    pathlib.Path(name).write_text(text, encoding="utf-8")
    return name


def write_npy(name, kind, shape, items):
    """A .npy file by the format's own description, independent of the library."""
    code, letter = {"f4": ("<f4", "f"), "f8": ("<f8", "d"), "i8": ("<i8", "q"), "u1": ("|u1", "B"), "c8": ("<c8", "f")}[kind]
    head = f"{{'descr': '{code}', 'fortran_order': False, 'shape': ({''.join(f'{n},' for n in shape)}), }}"
    head += " " * (63 - (10 + len(head)) % 64) + "\n"
    pathlib.Path(name).write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{len(items)}{letter}", *items))
    return name


def read_npy(name):
    data = pathlib.Path(name).read_bytes()
    length, = struct.unpack("<H", data[8:10])
    head = data[10:10 + length].decode()
    shape = tuple(int(n) for n in re.search(r"'shape': \(([^)]*)\)", head)[1].split(",") if n.strip())
    letter = {"<f4": "f", "<i8": "q", "<c8": "f"}[re.search(r"'descr': '([^']*)'", head)[1]]
    body = data[10 + length:]
    return shape, list(struct.unpack(f"<{len(body) // struct.calcsize(letter)}{letter}", body))


# ---- help and usage ----

# ---- explain, budgets, other processors ----

def budgeted():
    """A program whose values wait for each other: what is made first is read last."""
    rows = ["wengert 1", "program waits", "input x [64, 64] = 0.5", "t0 = tanh(x)"]
    rows += [f"t{i} = tanh(matmul(t{i - 1}, x))" for i in range(1, 9)]
    rows += ["v8 = t8 * t8"] + [f"v{i} = matmul(v{i + 1}, t{i})" for i in range(7, -1, -1)] + ["y = sum(v0)", "entry go: y"]
    return write("waits.wg", "\n".join(rows) + "\n")


def test_explain():
    model = budgeted()
    free = Ran("explain", model, "--json", "--threads", "1").good().object()
    stages = free.get("stages", [])
    products = [stage for stage in stages if stage["kernel"].startswith("matmul")]
    report.check(len(products) == 16 and all(stage["operations"] >= 2 * 64 ** 3 for stage in products), f"16 products of 64 cubed: {products}")
    report.check(all(stage["why"] and not stage["again"] and stage["cost"] > 0 and "seconds" not in stage for stage in stages), f"stages of explain: {stages}")
    tight = free["arena_bytes"] * 3 // 4
    within = Ran("explain", model, "--json", "--threads", "1", "--memory", tight).good().object()
    again = [stage for stage in within["stages"] if stage["again"]]
    report.check(within["arena_bytes"] <= tight and len(again) == within["recomputed"] > 0 and "runs again" in again[0]["why"][0], f"within {tight}: {within}")
    Ran("plan", model, "--memory", tight, environment={"WENGERT_THREADS": "1"}).good().prints("; again", "recomputed: ", "% cost added")
    Ran("plan", model, "--memory", "4K").fails("the memory budget is 4096 bytes", "the least")
    Ran("plan", model, "--memory", "much").usage("--memory needs bytes")
    Ran("explain", model, "--by", "size").usage("run, time or bytes")
    measured = Ran("explain", model, "--measure", "--by", "time", "--json").good().object()
    seconds = [stage["seconds"] for stage in measured["stages"]]
    report.check(seconds == sorted(seconds, reverse=True) and len(seconds) == len(stages), f"stages by time: {seconds}")
    report.check(measured["roof_operations_per_second"] > 1e8 and measured["roof_bytes_per_second"] > 1e8, f"roofs: {measured}")
    report.check(all(0 < stage["share_of_roof"] for stage in measured["stages"]), f"shares of roofs: {measured}")
    lines = Ran("explain", model, "--measure").good().prints("roofs: ", "GFLOP/s", "why", "arena ").out.splitlines()
    heads = [line for line in lines if line.startswith("stage ")]
    report.check(len(heads) == 1 and all(len(line) < 120 for line in lines), "the table has lines wider than a terminal")
    Ran("explain", write("model.wg", MODEL), "--entry", "train", "--measure").good().prints("fed with zeros: points, labels")


def test_memory_that_cannot_be_had():
    Ran("run", ROOT / "examples" / "fashion.wg", "--entry", "classify", "--extent", "n=1000000000000").fails("out of memory", "bytes")
    Ran("run", ROOT / "examples" / "fashion.wg", "--entry", "classify", "--extent", "n=9000000000000000000").fails()


def test_without_fma():
    """A processor without AVX2 and fma has the same bits, and says how."""
    emulator = shutil.which("qemu-x86_64")
    if not emulator or platform.machine() != "x86_64":
        return

    def old(*words):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("WENGERT_")}
        return subprocess.run([emulator, "-cpu", "Nehalem", str(COMMAND), *words], capture_output=True, text=True, check=False, timeout=120, env=environment)

    version = old("version", "--json")
    if version.returncode:
        return
    answer = json.loads(version.stdout)
    report.check((answer["simd"], answer["fma"]) == ("base", "software"), f"on a Nehalem: {answer}")
    report.check("fma in software" in old("version").stdout, "version does not say that fma is in software")
    words = ("eval", "sum(exp(x) / (1 + x)) + sum(matmul(x, x))", "--feed", "x=[[0.1,0.7],[1.9,3]]", "--grad", "x")
    there, here = old(*words), Ran(*words).good()
    report.check(there.returncode == 0 and there.stdout == here.out, f"a Nehalem has other bits: {there.stdout} {there.stderr} {here.out}")


def test_help():
    listed = Ran("--help").good().prints(*VERBS)
    Ran("help").good().expect(Ran("-h").out == listed.out, "is not what -h prints")
    for verb in VERBS:
        shown = Ran(verb, "--help").good().prints(f"wengert {verb}:", "usage:", "example:")
        shown.expect(all(len(line) < 160 for line in shown.out.splitlines()), "has lines wider than a terminal")
        asked = Ran("help", verb).good()
        asked.expect(asked.out == shown.out, "is not what --help prints")
    Ran("help", "trian").usage("did you mean train?")
    nothing = Ran()
    nothing.expect(nothing.code == 2 and all(verb in nothing.err for verb in VERBS) and not nothing.out, "does not list the verbs on stderr")
    Ran("--version").good().expect(Ran("version").out == Ran("--version").out, "is not `wengert version`")


def test_usage():
    Ran("describ", LINE).usage("did you mean describe?")
    Ran("frobnicate").usage("there is no verb frobnicate", "see wengert --help")
    Ran("model", "frobnicate").usage("there is no verb model frobnicate", "see wengert model --help")
    Ran("version", "frobnicate").usage("usage: wengert version;")
    Ran("run", LINE, "--entri", "predict").usage("--entri", "did you mean --entry?")
    Ran("print", LINE, "--epochs", "3").usage("there is no --epochs here")
    Ran("run", LINE, "--entry").usage("--entry needs NAME")
    Ran("run", LINE, "--json=yes").usage("--json takes no value")
    Ran("run", LINE, "--entry", "predict", "--entry", "train").usage("--entry stands twice")
    Ran("run", LINE, "-j").usage("two dashes")
    Ran("run").usage("usage: wengert run MODEL")
    Ran("run", LINE, LINE).usage("usage: wengert run MODEL")
    Ran("compare", LINE).usage("usage: wengert compare A B")
    Ran("grad", LINE).usage("--of")
    Ran("run", LINE, "--threads", "none").usage("--threads needs a whole number")
    Ran("run", LINE, "--threads", "0").usage("--threads needs a whole number")
    Ran("run", LINE, "--entry", "predict", "--out", "d", "--json").usage("choose one")
    Ran("train", LINE, "--data", "x=x.npy", "--rate", "fast").usage("--rate needs a number")
    Ran("train", LINE, "--data", "x=x.npy", "--optimizer", "magic").usage("sgd, adam or adamw")


# ---- what goes wrong ----

def test_missing_files():
    Ran("run", "nowhere.wg").fails("nowhere.wg", "No such file")
    Ran("run", "nowhere.safetensors").fails("nowhere.safetensors", "No such file")
    Ran("run", LINE, "--weights", "nowhere.safetensors").fails("nowhere.safetensors")
    Ran("run", LINE, "--entry", "predict", "--feed", "x=nowhere.npy").fails("nowhere.npy", lines=1 + 1)
    Ran("compare", "a.npy", "b.npy").fails("a.npy")
    Ran("describe", ".").fails("wengert: ")
    write("broken.safetensors", "not tensors")
    Ran("run", "broken.safetensors").fails("broken.safetensors")
    write_npy("short.npy", "f4", [5], [1, 2, 3])
    Ran("run", LINE, "--entry", "predict", "--feed", "x=short.npy").fails("short.npy", lines=2)


def test_malformed_text():
    """file:line:column: error: what; the line; a caret under the place."""
    for name, text, line, column, word in (
            ("typo.wg", "wengert 1\ninput x [3]\ny = tahn(x)\n", 3, 5, "did you mean tanh?"),
            ("shape.wg", "wengert 1\ninput x [3]\ninput y [4]\nz = x + y\n", 4, None, "[3]"),
            ("head.wg", "program nameless\n", 1, 1, "wengert 1"),
            ("open.wg", "wengert 1\ninput x [3\n", 2, None, "expected"),
            ("name.wg", "wengert 1\ninput x [3]\nentry e: y\n", 3, 10, "y"),
            ("twice.wg", "wengert 1\ninput x [3]\ninput x [4]\n", 3, 7, "taken")):
        write(name, text)
        ran = Ran("print", name).fails(word, lines=3)
        place = re.match(rf"{name}:(\d+):(\d+): error: ", ran.err)
        ran.expect(place and int(place[1]) == line and column in (None, int(place[2])), f"does not name {name}:{line}:{column}")
        shown = ran.err.splitlines()
        if place and len(shown) >= 3:
            source = text.splitlines()[line - 1]
            ran.expect(shown[1] == "    " + source, "does not show the line")
            ran.expect(shown[2].index("^") == 4 + int(place[2]) - 1, "has its caret elsewhere")
    ran = Ran("check", "typo.wg", "--json")
    ran.expect(ran.code == 1 and not ran.out, "is not a failure with stdout empty")
    answer = json.loads(ran.err)
    error = answer.get("error", {})
    ran.expect(answer.get("wengert") == 1 and (error.get("code"), error.get("file"), error.get("line"), error.get("column")) == ("name", "typo.wg", 3, 5),
               "does not put the place into JSON")
    ran.expect("tanh" in error.get("message", "") and isinstance(error.get("notes"), list), "has no message and notes")


def test_wrong_entries_and_feeds():
    Ran("run", LINE).fails("several entries", "--entry", "train, predict")
    Ran("run", LINE, "--entry", "nothing").fails("nothing", "predict")
    predict = ["run", LINE, "--entry", "predict"]
    Ran(*predict, "--feed", "z=1").fails("no input z", "it has x, y")
    Ran(*predict, "--feed", "x=1,2,3").fails("no file 1,2,3", "JSON literal", lines=2)
    Ran(*predict, "--feed", "x=numbers").fails("no file numbers", "in --feed x", lines=2)
    Ran(*predict, "--feed", "slope=1").fails("no input slope")
    Ran(*predict, "--feed", "x").usage("NAME=VALUE")
    Ran(*predict, "--feed", "x=[1, 2]").fails("[2]", "[5]", lines=2)
    Ran(*predict, "--feed", "x=[1, 2, 3, 4, oops]").fails(lines=2)
    Ran(*predict, "--feed", "x=[[1, 2], [3]]").fails("differ in length", lines=2)
    Ran(*predict, "--feed", "x=[1,2,3,4,5]", "--feed", "x=[1,2,3,4,5]").fails("x")
    Ran(*predict, "--extent", "m=3").fails("m")
    Ran(*predict, "--extent", "n").usage("--extent needs NAME=N")
    Ran(*predict, "--extent", "n=-1").usage("--extent needs NAME=N")
    write("model.wg", MODEL)
    Ran("run", "model.wg", "--entry", "classify").fails("points", "not fed", lines=1)
    Ran("grad", LINE, "--of", "nothing").fails("nothing")
    Ran("grad", LINE, "--of", "estimate").fails("[5]")
    Ran("describe", LINE, "--entry", "predict", "--observe", "nothing").fails("nothing")
    Ran("eval", "x +").fails("expression:1:", lines=3)
    Ran("eval", "tahn(x)", "--feed", "x=1").fails("did you mean tanh?", "expression:1:1", lines=3)
    Ran("eval", "x", "--feed", "x").usage("NAME=VALUE")
    Ran("eval", "x + why", "--feed", "x=1").fails("expression:1:5", "nothing is called why", "--feed why=..", lines=4)
    Ran("eval", "x^2", "--feed", "x=3").fails("expression:1:2", "powf(x, 2)", lines=3)
    Ran("eval", "x**2", "--feed", "x=3").fails("expression:1:3", "powf(x, 2)", lines=3)
    # What only the run finds stands in the expression too.
    late = Ran("eval", "sum(gather(x, convert(at, kind=i64)))", "--feed", "x=[1,2]", "--feed", "at=[5]")
    late.fails("expression:1:5", "position 5", lines=3)
    Ran("eval", "x", "--feed", "x=1", "--feed", "x=2").fails("wengert: the name x is taken", lines=1)
    Ran("eval", "sin(x)", "--feed", "x=[1,2]", "--grad", "x").fails("wengert: --grad: gradients", "[2]", lines=1)
    Ran("eval", "sin(x)", "--feed", "x=1", "--grad", "y").fails("wengert: --grad: nothing is called y", lines=1)


def test_output_that_cannot_be_written():
    with open("/dev/full", "w", encoding="ascii") as full:
        ran = Ran("print", LINE, stdout=full)
    ran.expect(ran.code == 1 and len(ran.err.splitlines()) == 1, "does not fail with one line")
    ran.expect("could not be written" in ran.err and "space" in ran.err, "does not say that the disk is full")
    with open("/dev/full", "w", encoding="ascii") as full:
        ran = Ran("--help", stdout=full)
    ran.expect(ran.code == 1 and "could not be written" in ran.err, "does not say that its help could not be written")
    Ran("print", LINE, "--out=").usage("--out needs PATH, and it is empty")
    Ran("modle").usage("did you mean model?")
    ran = Ran("print", LINE, "--out", "/dev/full")
    ran.expect(ran.code == 1 and len(ran.err.splitlines()) == 1, "does not say that the file could not be written")
    Ran("print", LINE, "--out", "no/such/folder/x.wg").fails("no/such/folder/x.wg")
    Ran("run", LINE, "--entry", "predict", "--out", str(LINE)).fails("line.wg")
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as pipe:
        closed = Ran("print", LINE, stdout=pipe)
    closed.expect(closed.code in (1, -13) and not closed.err, "is not quiet when its reader has gone")


# ---- what works ----

def test_eval():
    ran = Ran("eval", "sum(x*tanh(x))", "--feed", "x=[1,2,3]", "--grad", "x").good()
    value, gradient = ran.out.splitlines()
    # By hand: tanh(x) + x (1 - tanh(x)^2), in Python's own floating point.
    want = [math.tanh(x) + x * (1 - math.tanh(x) ** 2) for x in (1, 2, 3)]
    got = json.loads(gradient.removeprefix("d_x = "))
    ran.expect(abs(float(value) - sum(x * math.tanh(x) for x in (1, 2, 3))) < 1e-14, "is not the value")
    ran.expect(len(got) == 3 and all(abs(a - b) < 1e-14 for a, b in zip(got, want)), "is not the gradient")
    answer = Ran("eval", "x @ transpose(x)", "--feed", "x=[[1,2],[3,4]]", "--json").good().object()
    report.check(answer.get("results", {}).get("result") == {"kind": "f64", "shape": [2, 2], "items": [[5, 11], [11, 25]]}, f"eval of a product: {answer}")
    answer = Ran("eval", "x / y", "--feed", "x=[1,0,-1]", "--feed", "y=[0,0,0]", "--json").good().object()
    report.check(answer["results"]["result"]["items"] == ["inf", "nan", "-inf"], f"non-finite numbers: {answer}")
    answer = Ran("eval", "sum(x)", "--feed", "x=[[1,2,3],[4,5,6]]", "--grad", "x", "--json").good().object()
    report.check(answer["results"]["d_x"]["items"] == [[1, 1, 1], [1, 1, 1]], f"a gradient that is a constant: {answer}")


def test_show():
    dump = Ran("describe", LINE).good().prints("network: 21 nodes, 2 parameters, 2 inputs")
    dump.expect(all(re.match(r" *\d+  [A-Z]", line) for line in dump.out.splitlines()[:-1]), "is not one line a node")
    Ran("describe", LINE, "--entry", "predict").good().prints("kept", "freed after", "plan: forward; 7 of 21 nodes evaluated, 1 readable")
    Ran("describe", LINE, "--entry", "predict", "--retain").good().prints("plan: retain;")
    Ran("describe", LINE, "--entry", "predict", "--observe", "t5").good().prints("2 readable")
    Ran("plan", LINE, "--entry", "train").good().prints("stages:", "layout: arena")
    figures = Ran("plan", LINE, "--entry", "train", "--json").good().object()
    report.check((figures.get("evaluated"), figures.get("readable")) == (21, 3), f"plan --json: {figures}")
    report.check(len(figures.get("live", [])) == figures.get("steps"), f"plan --json has a live series of {len(figures.get('live', []))}")
    text = Ran("print", LINE).good().prints("estimate = add(t5, t6) : [n]").out
    Ran("print", "-", stdin=text).good().expect(Ran("print", "-", stdin=text).out == text, "does not print canonical text as itself")
    Ran("print", LINE, "--out", "canonical.wg").good()
    report.check(pathlib.Path("canonical.wg").read_text() == text, "print --out writes something else")
    gradient = Ran("grad", LINE, "--of", "loss", "--wrt", "slope").good().prints("entry grad: loss, d_slope", "# by loss, div")
    Ran("check", "-", stdin=gradient.out).good().prints("entry grad: 2 results, plan and oracle the same bits")
    Ran("grad", "-", "--of", "t5", stdin=text).fails("[5]")
    Ran("grad", "-", "--of", "t55", stdin=text).fails("no node t55")
    write("dense.wg", "wengert 1\ninput a f64 [2, 2] = (4 0 0 9)\nl = cholesky(a)\nd = determinant(l)\nentry e: d\n")
    figures = Ran("plan", "dense.wg", "--json").good().object()
    report.check(figures.get("host") == 1, f"plan --json of a host row: {figures}")
    Ran("plan", "dense.wg").good().prints("host rows: 1 Cholesky; their bits hold within this build and on this machine")
    write("plain.wg", "wengert 1\ninput t0 [2] = (1 2)\nt1 = mul(t0, t0) : [2]\nt2 = sum(t1) : []\n")
    Ran("grad", "plain.wg", "--of", "t2", "--wrt", "t0").good().prints("entry grad: t2, ")
    Ran("run", "plain.wg", "--feed", "t0=[3, 4]").good().prints("t2", "25")
    version = Ran("version", "--json").good().object()
    report.check({"version", "semantics", "licence", "simd", "threads", "parts", "blas"} <= version.keys(), f"version --json: {version}")
    blas = version["blas"]
    report.check(blas is None or version["parts"]["lapacke"] and pathlib.Path(blas).is_file(), f"version --json: no such BLAS: {version}")
    report.check((blas or "lapacke") in Ran("version").good().out, "version does not name the BLAS")
    if report.check("lapacke" in version["parts"], f"version --json names no lapacke: {version}") and version["parts"]["lapacke"]:
        Ran("run", "dense.wg").good().prints("d", "f64 []", "6")
        Ran("check", "dense.wg").good().prints("the same bits; holds 1 host row: bits hold on this machine")
        Ran("run", "dense.wg", "--feed", "a=[[1, 0], [0, 4]]").good().prints("d", "2")
    else:
        Ran("run", "dense.wg").fails("node 1 l: dense algebra needs liblapacke.so.3, which cannot be opened; install the package liblapacke")
    write("solve.wg", "wengert 1\ninput a f64 [2, 2] = (1 2 2 4)\ninput b f64 [2, 1] = 1\nx = solve(a, b)\nentry e: x\n")
    Ran("run", "solve.wg").fails("node 2 x: the matrix is singular (matrix 0 of the batch)")


def test_run():
    predict = ["run", LINE, "--entry", "predict"]
    Ran(*predict).good().prints("estimate", "f32 [5]", "0 0 0 0 0")
    answer = Ran(*predict, "--json").good().object()
    report.check(answer.get("results", {}).get("estimate") == {"kind": "f32", "shape": [5], "items": [0, 0, 0, 0, 0]}, f"run --json: {answer}")
    write_npy("x.npy", "f8", [5], [1, 2, 3, 4, 5])
    Ran("run", LINE, "--entry", "train", "--feed", "x=x.npy", "--out", "results").good()
    report.check(sorted(os.listdir("results")) == ["d_intercept.npy", "d_slope.npy", "loss.npy"], f"run --out leaves {os.listdir('results')}")
    report.check(read_npy("results/loss.npy") == ((), [33.0]), "loss.npy does not hold 33")
    report.check(read_npy("results/d_slope.npy") == ((), [-38.0]), "d_slope.npy does not hold -38")  # -2/5 * sum x*y
    write("model.wg", MODEL)
    write_npy("points.npy", "f4", [2, 2], [1, 2, 3, 4])
    write("points.csv", "a,b\n1,2\n3,4\n")
    by_file = Ran("run", "model.wg", "--entry", "classify", "--extent", "n=2", "--feed", "points=points.npy", "--json").good()
    by_table = Ran("run", "model.wg", "--entry", "classify", "--extent", "n=2", "--feed", "points=points.csv", "--json").good()
    by_words = Ran("run", "model.wg", "--entry", "classify", "--extent", "n=2", "--feed", "points=[[1,2],[3,4]]", "--json").good()
    write("more.csv", "b,name,a\n2,x,1\n4,y,3\n")
    by_columns = Ran("run", "model.wg", "--entry", "classify", "--extent", "n=2", "--feed", "points=more.csv#a,b", "--json").good()
    pathlib.Path("points.idx").write_bytes(b"\0\0\x08\2\0\0\0\2\0\0\0\2\1\2\3\4")
    by_idx = Ran("run", "model.wg", "--entry", "classify", "--extent", "n=2", "--feed", "points=points.idx", "--json").good()
    report.check(by_columns.out == by_idx.out == by_file.out, "columns of a table or an IDX file feed something else")
    report.check(by_file.out == by_table.out == by_words.out and by_file.object()["results"]["class"]["shape"] == [2], "three ways to feed differ")
    ten = Ran("run", "model.wg", "--entry", "classify", "--extent", "n=1", "--feed", "points=[[1,2]]", "--json").good().object()
    report.check(ten["results"]["logits"]["items"][0] == by_file.object()["results"]["logits"]["items"][0], "a row's bits follow the number of rows")
    two = ["run", "model.wg", "--entry", "classify", "--extent", "n=2", "--feed", "points=points.npy", "--json"]
    threads = {Ran(*two, "--threads", n).good().out for n in (1, 2, 3)}
    report.check(threads == {by_file.out}, "the bits follow the number of threads")
    Ran("run", RECURRENCE, "--feed", "x=[[1, 0]]").good().prints("chances", "f32 [1, 4]")
    Ran("run", "-", stdin="wengert 1\nconstant a [2] = (1 2)\nb = a * a\n").good().prints("1 4")


def test_complex():
    """Complex numbers are pairs in JSON, c8 and c16 in .npy, a+bi in program text."""
    write("complex.wg", "wengert 1\nconstant c c64 [] = 1+2i\ninput z c64 [2]\nw = z * c\nentry main: w\n")
    Ran("print", "complex.wg").good().prints("constant c c64 [] = 1+2i\n")
    Ran("describe", "complex.wg").good().prints("Mul", "[2] c64")
    items = Ran("run", "complex.wg", "--feed", "z=[[1, 0], [0, -1]]", "--json").good().object()["results"]["w"]
    report.check(items == {"kind": "c64", "shape": [2], "items": [[1, 2], [2, -1]]}, f"run --json answers {items}")
    write_npy("z.npy", "c8", [2], [1, 0, 0, -1])
    Ran("run", "complex.wg", "--feed", "z=z.npy", "--out", "complex").good()
    report.check(read_npy("complex/w.npy") == ((2,), [1, 2, 2, -1]), f"w.npy holds {read_npy('complex/w.npy')}")
    Ran("check", "complex.wg").good().prints("the same bits")
    write("layers.wg", "wengert 1\ninput x c64 [2, 3, 6, 6]\ninput f c64 [4, 3, 3, 3]\ny = conv2d(x, f, padding=1)\nm = mean(y)\n"
          "entry main: y, m\n")
    Ran("check", "layers.wg").good().prints("the same bits")  # windows are not factored for complex kinds
    Ran("run", "complex.wg", "--feed", "z=[1, 2, 3]").fails("[real, imaginary]", lines=2)
    write_npy("other.npy", "c8", [2], [1, 2, 2, float("nan")])
    Ran("compare", "complex/w.npy", "other.npy").expect(True, "").prints("item 1 is [2, -1]", "[2, nan]")
    Ran("eval", "sqrt(complex(x, 0))", "--feed", "x=-4").good().prints("[0, 2]")
    Ran("eval", "abs(complex(x, x))", "--feed", "x=1", "--grad", "x").fails("not supported: complex derivatives", "Abs")


def test_check_and_compare():
    Ran("check", LINE).good().prints("entry train: 3 results", "entry predict: 1 result,", "21 nodes verified")
    answer = Ran("check", LINE, "--json").good().object()
    report.check((answer.get("nodes"), answer.get("entries"), answer.get("same")) == (21, 2, True), f"check --json: {answer}")
    for example in sorted((ROOT / "examples").glob("*.wg")):
        small = {"fashion.wg": ["n=2"], "transformer.wg": ["rows=1", "t=4"]}.get(example.name, [])
        Ran("check", example, *(word for bound in small for word in ("--extent", bound))).good()
    write_npy("a.npy", "f4", [3], [1, 2, 3])
    write_npy("b.npy", "f4", [3], [1, 2.5, 3])
    Ran("compare", "a.npy", "a.npy").good().prints("the same bits")
    differs = Ran("compare", "a.npy", "b.npy")
    differs.expect(differs.code == 1 and not differs.err, "does not answer 1 quietly").prints("item 1 is 2", "2.5", "ulps")
    answer = Ran("compare", "a.npy", "b.npy", "--json").object()
    report.check((answer.get("same"), answer.get("item")) == (False, 1), f"compare --json: {answer}")
    write("one.wg", "wengert 1\ninput x [2] = (1 2)\ny = exp(x)\nz = y * y\nentry e: z\n")
    write("two.wg", "wengert 1\ninput x [2] = (1 2)\ny = exp(x)\nz = y + y\nentry e: z\n")
    Ran("compare", "one.wg", "one.wg").good().prints("the same bits")
    differs = Ran("compare", "one.wg", "two.wg").prints("from node 2 on", "Mul", "Add")
    differs.expect(differs.code == 1, "does not answer 1")
    write("three.wg", "wengert 1\ninput x [2] = (1 3)\ny = exp(x)\nz = y * y\nentry e: z\n")
    Ran("compare", "one.wg", "three.wg").prints("x: item 1 is 2 by A, 3 by B")
    write("model.wg", MODEL)
    write("other.wg", MODEL.replace("parameter b [3] = 0", "parameter b [3] = (0 0 1)"))
    points = ["--extent", "n=1", "--feed", "points=[[1, 2]]"]
    Ran("compare", "model.wg", "other.wg", *points).fails("labels")
    Ran("compare", "model.wg", "other.wg", *points, "--entry", "classify").prints("b: item 2 is 0 by A, 1 by B")
    Ran("compare", "model.wg", "model.wg", *points, "--entry", "classify").good().prints("the same bits")
    Ran("compare", "model.wg", "model.wg", *points, "--entry", "nothing").fails("nothing", "classify")


def test_train():
    write("model.wg", MODEL)
    data = write_training_data("forty", 40)
    whole = Ran("train", "model.wg", *data, "--epochs", 6, "--rate", 0.1, "--out", "whole.safetensors", "--log", "log.jsonl", "--json")
    whole.expect(whole.code == 0, "does not succeed")
    answer = whole.object()
    report.check(answer.get("steps") == 60 and answer.get("loss", 9) < 1, f"train --json: {answer}")
    lines = [json.loads(line) for line in pathlib.Path("log.jsonl").read_text().splitlines()]
    report.check(len(lines) >= 60 and all(line.get("wengert") == 1 for line in lines), "train --log does not hold an object a step")
    Ran("train", "model.wg", *data, "--epochs", 3, "--rate", 0.1, "--out", "half.safetensors")
    Ran("train", "model.wg", *data, "--epochs", 6, "--resume", "--out", "half.safetensors")
    feeds = ["--extent", "n=40", "--feed", "points=forty-points.npy", "--feed", "labels=forty-labels.npy"]
    Ran("compare", "whole.safetensors", "half.safetensors", *feeds).good().prints("the same bits")
    Ran("run", "whole.safetensors", "--entry", "evaluate", *feeds).good().prints("correct")
    Ran("run", "model.wg", "--weights", "whole.safetensors", "--entry", "evaluate", *feeds, "--json").good() \
        .expect(Ran("run", "whole.safetensors", "--entry", "evaluate", *feeds, "--json").out != "", "prints nothing")
    Ran("train", "model.wg", "--data", "points=forty-points.npy").fails("labels")
    Ran("train", "model.wg", "--data", "point=forty-points.npy", "--data", "labels=forty-labels.npy").fails("point")
    nothing = Ran("train", "model.wg")
    nothing.expect(nothing.code in (1, 2) and len(nothing.err.splitlines()) == 1 and "--data" in nothing.err, "trains on nothing")
    write_npy("few.npy", "i8", [39], [0] * 39)
    Ran("train", "model.wg", "--data", "points=forty-points.npy", "--data", "labels=few.npy").fails("39", "40")
    Ran("train", "model.wg", *data, "--entry", "nothing").fails("nothing")
    lost = Ran("train", "model.wg", *data, "--out", "no/such/folder/m.safetensors")
    lost.expect(lost.code == 1 and "no/such/folder" in lost.err and not lost.out, "does not say that the model could not be written")


def write_training_data(name, count):
    points = [(i * 37 % 23 / 11 - 1, i * 11 % 19 / 9 - 1) for i in range(count)]
    write_npy(f"{name}-points.npy", "f4", [count, 2], [number for point in points for number in point])
    write_npy(f"{name}-labels.npy", "i8", [count], [0 if x < -0.3 else 1 if y < 0 else 2 for x, y in points])
    return ["--data", f"points={name}-points.npy", "--data", f"labels={name}-labels.npy"]


def test_training_that_is_stopped():
    write("model.wg", MODEL)
    data = write_training_data("long", 4000)
    words = [str(COMMAND), "train", "model.wg", *data, "--epochs", "1000000", "--out", "stopped.safetensors", "--log", "stopped.jsonl"]
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (os.path.exists("stopped.jsonl") and os.path.getsize("stopped.jsonl")):
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    report.check(process.returncode == 130, f"an interrupted training answers {process.returncode}, says {said[-300:]}")
    Ran("check", "stopped.safetensors", "--extent", "n=3").good().prints("entry classify: 2 results")
    Ran("train", "model.wg", *data, "--epochs", "1000000", "--resume", "--out", "stopped.safetensors", "--rate", "7").fails("--rate 7")


def test_training_that_goes_wrong():
    """A loss that is not finite: the step, and the first node that is not."""
    write("model.wg", MODEL)
    write_npy("wild.npy", "f4", [8, 2], [0.5] * 13 + [float("inf")] + [0.5] * 2)
    write_npy("eight.npy", "i8", [8], [0, 1, 2, 0, 1, 2, 0, 1])
    ran = Ran("train", "model.wg", "--data", "points=wild.npy", "--data", "labels=eight.npy", "--epochs", "2", "--out", "wild.safetensors")
    ran.expect(ran.code == 1 and not ran.out, "is not a failure")
    ran.expect("step" in ran.err and "points" in ran.err, "does not name the step and the node")


def write_png(name, rows):
    """A grey PNG by the format's own description."""
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    head = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 0, 0, 0, 0)
    body = zlib.compress(b"".join(b"\0" + bytes(row) for row in rows))
    pathlib.Path(name).write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b""))


def test_pictures():
    if not json.loads(Ran("version", "--json").out)["parts"]["png"]:
        return
    write_png("picture.png", [[0, 51, 102], [153, 204, 255]])
    write("picture.wg", "wengert 1\nextent n = 8\ninput images u8 [n, 2, 3]\nscaled = convert(images, kind=f32) / 255\nentry scale: scaled\n")
    answer = Ran("run", "picture.wg", "--extent", "n=1", "--feed", "images=picture.png", "--json").good().object()
    got = answer["results"]["scaled"]["items"]
    report.check([round(item, 6) for row in got[0] for item in row] == [0, 0.2, 0.4, 0.6, 0.8, 1], f"a picture becomes {got}")
    Ran("run", "picture.wg", "--feed", "images=picture.png").fails("[2, 3]", "[8, 2, 3]", "--extent", lines=2)
    pathlib.Path("cut.png").write_bytes(pathlib.Path("picture.png").read_bytes()[:50])
    Ran("run", "picture.wg", "--extent", "n=1", "--feed", "images=cut.png").fails("cut.png", lines=2)


def test_surroundings():
    plain, coloured = Ran("print", "typo.wg", environment={"NO_COLOR": "1"}), Ran("print", "typo.wg")
    plain.expect("\x1b" not in plain.err + coloured.err, "has escape sequences where nobody watches")
    odd = Ran("version", environment={"WENGERT_SPEED": "11"})
    odd.expect(odd.code == 0 and "WENGERT_SPEED" in odd.err and len(odd.err.splitlines()) == 1, "is silent about an unknown WENGERT_SPEED")
    Ran("version", environment={"WENGERT_SIMD": "v9"}).usage('WENGERT_SIMD is "v9"', "v2, v3 or v4")
    for threads in ("0", "1000000", "-1", "two"):
        Ran("version", environment={"WENGERT_THREADS": threads}).usage("WENGERT_THREADS is", "1 to 1024")
    slow = Ran("version", "--json", environment={"WENGERT_THREADS": "1", "WENGERT_SIMD": "v2"}).good().object()
    report.check((slow.get("threads"), slow.get("simd")) == (1, "base"), f"WENGERT_THREADS and WENGERT_SIMD: {slow}")
    bits = {Ran("eval", "exp(x) / (1 + x)", "--feed", "x=[0.1,0.7,1.9]", environment={"WENGERT_SIMD": level}).good().out for level in ("v2", "v3")}
    report.check(len(bits) == 1, "the bits follow WENGERT_SIMD")
    comma = Ran("eval", "x / 4", "--feed", "x=1", environment={"LC_ALL": "de_DE.UTF-8"}).good()
    comma.expect(comma.out == "0.25\n", "follows the locale")


def main():
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test()
    report.finish()


if __name__ == "__main__":
    main()
