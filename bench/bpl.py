#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""BPL beside basedpl (PEERS/venv/bin/bpl) and NumPy: bpl.py BUILD PEERS [WORD...], WORDs choose rows by a part of their text.

Each row is computed by all on the same numbers first and compared by sums. Then random data are drawn, and the programs take turns: the least time of
many calls, medians of ROUNDS (default 3). One worker of ours serves all rows of a float width; basedpl times in a fresh one. THREADS (default "1 2"),
BENCH_LOCK as in compare.py. Rows: what | ours | basedpl | numpy | best peer by ours | of the roof | goal | met or MISSED, up to 5%.

The roof is the time that the machine (bench_roofs) needs for the multiply-adds of a row's products, or for the bytes that it reads and writes where
they stand: those of small arrays in the second cache, of others in the third. Rows that are below 0.8 of it have a goal together."""
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

from turns import locked

MARGIN = 1.05
ROUNDS = int(os.environ.get("ROUNDS", "3"))

MLP = "mlp←{h←0⌈(⍵+.×W)+⍤1⊢d ⋄ (h+.×V)+⍤1⊢c} ⋄ loss←{[P Q]←⍵ ⋄ +/,⊼(0⌈X+.×P)+.×Q} ⋄ e←{⍵+0.01×-⍵}"
# The same numbers for all, drawn without a generator: powers modulo the prime 1000003.
SAME = ("u←1+⍳1000000 ⋄ s←1000003|u×u ⋄ w←1000003|u×1000003|s×s ⋄ v←1000003|w×s ⋄ x←w÷1000003 ⋄ y←v÷1000003 ⋄ "
        "z←(1000003|w×w)÷1000003 ⋄ p←1000000|w ⋄ k←1000|w ⋄ i←1000000|v ⋄ b←0=3|w ⋄ "
        "A←512 512⍴x ⋄ B←512 512⍴y ⋄ X←128 784⍴x ⋄ W←0.01×784 256⍴y ⋄ V←0.01×256 10⍴z ⋄ "
        "d←256⍴x ⋄ c←10⍴y ⋄ Q←x ⋄ q←1000⍴x ⋄ " + MLP)
DRAWN = ("x←¿1000000⍴0 ⋄ y←¿1000000⍴0 ⋄ z←¿1000000⍴0 ⋄ p←¿1000000⍴1000000ₓ ⋄ k←¿1000000⍴1000ₓ ⋄ i←¿1000000⍴1000000ₓ ⋄ b←0=¿1000000⍴3ₓ ⋄ "
         "A←¿512 512⍴0 ⋄ B←¿512 512⍴0 ⋄ X←¿128 784⍴0 ⋄ W←0.01×¿784 256⍴0 ⋄ V←0.01×¿256 10⍴0 ⋄ d←¿256⍴0 ⋄ c←¿10⍴0 ⋄ Q←x ⋄ q←1000⍴x ⋄ "
         "a←3.5 ⋄ g←2.5 ⋄ r←100⍴x ⋄ f←{⍵} ⋄ fib←{⍵<2?⍵;(∇⍵-1)+∇⍵-2} ⋄ h←{" + "1+" * 10 + "⍵} ⋄ n←1000000 ⋄ " + MLP)

# BPL, NumPy, and what it must do at least: floats read and written, bytes of other kinds read and written, multiply-adds of products. The numbers are
# floats. A table shows | as ∣, since it parts its cells.
N, A, MLP_ITEMS = 10**6, 512 * 512, 128 * 784 + 784 * 256
FLOATS = [
    ("x+y", "x+y", (2 * N, N)), ("x×y", "x*y", (2 * N, N)), ("*x", "np.exp(x)", (N, N)), ("⍟x", "np.log(x)", (N, N)), ("√x", "np.sqrt(x)", (N, N)),
    ("1○x", "np.sin(x)", (N, N)), ("+/x", "x.sum()", (N,)), ("⌈/x", "x.max()", (N,)), ("+/*z+x×y", "np.exp(z+x*y).sum()", (3 * N,)),
    ("*z+x×y", "np.exp(z+x*y)", (3 * N, N)), ("<x", "np.sort(x)", (N, N)), ("⍋x", "np.argsort(x,kind='stable')", (N, 0, 0, 8 * N)),
    ("+\\x", "np.cumsum(x)", (N, N)), ("x.[p]", "x[p]", (N, N, 4 * N)), ("[p]⌷x", "x[p]", (N, N, 4 * N)), ("⌽x", "x[::-1].copy()", (N, N)),
    ("x>0.5", "x>0.5", (N, 0, 0, N)), ("(x>0.5)#x", "x[x>0.5]", (N, N // 2)), ("+/x×y", "(x*y).sum()", (2 * N,)),
    ("+/(x-0.5)×x>0.5", "((x-0.5)*(x>0.5)).sum()", (N,)), ("⌈/|x-y", "np.abs(x-y).max()", (2 * N,)), ("A+.×B", "A@B", (2 * A, A, 0, 0, 512 * A)),
    ("⍉A", "A.T.copy()", (A, A)), ("+/A", "A.sum(1)", (A,)), ("+⌿A", "A.sum(0)", (A,)), ("A+⍤1⊢512⍴1", "A+one", (A, A)),
    ("⌹A", "np.linalg.inv(A)", (A, A, 0, 0, 512 * A)), ("X+.×W", "X@W", (MLP_ITEMS, 128 * 256, 0, 0, 128 * 784 * 256)),
    ("mlp X", "np.maximum(0,X@W+d)@V+c", (MLP_ITEMS, 1280, 0, 0, 128 * 256 * 794)), ("loss[W;V]", None, (MLP_ITEMS, 0, 0, 0, 128 * 256 * 794)),
    ("loss∂[W;V]", None, (MLP_ITEMS, 784 * 256, 0, 0, 128 * 256 * (2 * 784 + 30))), ("e⍣10⊢q", "euler(q)", (1000, 1000)), ("e⍣10⊢Q", "euler(Q)", (N, N)),
]
# k takes 2 bytes, i 4, b 1; sums and positions as many as hold them.
INTEGERS = [
    ("k+k", "k+k", (0, 0, 2 * N, 2 * N)), ("+/k", "k.sum()", (0, 0, 2 * N)), ("∪k", None, (0, 0, 2 * N)), ("∪i", None, (0, 0, 4 * N, 4 * N)),
    ("⍷k", None, (0, 0, 2 * N, 4 * N)), ("≢⊢ ⌸k", "np.unique(k,return_counts=True)[1]", (0, 0, 2 * N)), ("k(+/⊢)⌸k", None, (0, 0, 2 * N)),
    ("<i", "np.sort(i)", (0, 0, 4 * N, 4 * N)), ("⍋i", "np.argsort(i,kind='stable')", (0, 0, 4 * N, 4 * N)), ("<k", "np.sort(k)", (0, 0, 2 * N, 2 * N)),
    ("i⍳i", None, (0, 0, 4 * N, 4 * N)), ("b#i", "i[b]", (0, 0, 5 * N, 4 * N // 3)), ("⍸b", "np.flatnonzero(b)", (0, 0, N, 8 * N // 3)),
    ("+\\k", "np.cumsum(k)", (0, 0, 2 * N, 4 * N)), ("+\\b", "np.cumsum(b)", (0, 0, N, 4 * N)),
]
# Of results that are nested, or that NumPy orders otherwise: what is compared of t.
DIGESTS = {"⍷k": ["≢t", "+/≢¨t", "+/0⊃t", "+/7⊃t"], "loss∂[W;V]": ["≢t", "+/,0⊃t", "+/,1⊃t"], "≢⊢ ⌸k": ["≢t", "+/t"]}
# What, BPL, calls in it, the goal in seconds (None: that of the peer); with a second expression its time is taken away first.
CALLS = [
    ("dfn call {⍵}, in ⍣", "f⍣1000⊢a", None, 1000, 150e-9), ("primitive in ⍣: 1+⍣1000⊢a", "1+⍣1000⊢a", None, 1000, None),
    ("scalar add inside a dfn", "h⍣1000⊢a", "f⍣1000⊢a", 10000, 190e-9), ("add of 100 inside a dfn", "h⍣1000⊢r", "f⍣1000⊢r", 10000, None),
    ("10 steps of Euler, scalar", "e⍣10⊢a", None, 1, 3e-6), ("1000 steps of Euler, scalar", "e⍣1000⊢a", None, 1, None),
    ("dfn fold {⍺+⍵}/1000⍴1", "{⍺+⍵}/1000⍴1", None, 1, 200e-6), ("recursion that branches: fib 15", "fib 15", None, 1973, None),
    ("+/ of 100", "+/r", None, 1, None), ("gradient {+/⍵×⍵}∂ of 100", "{+/⍵×⍵}∂ r", None, 1, None),
]


def text(seconds):
    if seconds is None:
        return "-"
    units = ((1e9, "ns"), (1e6, "us"), (1e3, "ms"), (1, "s"))
    return next(f"{seconds * scale:.3g} {unit}" for scale, unit in units if seconds * scale < 1000 or unit == "s")


def prefs(width):
    return f'•prefs ["float":{width}]' if width == 32 else ""


class Worker:
    """Ours or basedpl's: lines of JSON."""

    def __init__(self, *argv):
        self.process = subprocess.Popen([*argv, "--worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, **request):
        self.process.stdin.write(json.dumps({"id": 1, **request}) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        answer = answer.get("result", answer)
        if answer["error"]:
            raise ValueError(f"{request}: {answer['error']}"[:400])
        return answer

    def number(self, code):
        """Of a request: ours displays it, basedpl answers its value."""
        answer = self.ask(code=code)
        if "display" in answer:
            return float(re.sub("[][ₓₛ\n]", "", answer["display"] or answer["output"]).replace("¯", "-").replace("ₑ", "e"))
        value = answer["value"]
        return float(value["data"][0] if isinstance(value, dict) else value)

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def least(call):
    found, begun = [], time.perf_counter()
    while not found or time.perf_counter() - begun < 0.1:
        before = time.perf_counter()
        call()
        found.append(time.perf_counter() - before)
    return min(found)


class Numpy:
    def __init__(self, dtype):
        import numpy as np
        draw = np.random.default_rng(1)
        self.names = {"np": np, "one": np.ones(512, dtype), "euler": self.euler}
        self.names |= {name: draw.random(1000000).astype(dtype) for name in "xyz"}
        self.names |= {"p": draw.integers(0, 1000000, 1000000), "k": draw.integers(0, 1000, 1000000), "i": draw.integers(0, 1000000, 1000000)}
        self.names["b"] = draw.integers(0, 3, 1000000) == 0
        self.shapes(*(self.names[name] for name in "xyz"))

    @staticmethod
    def euler(state):
        for _ in range(10):
            state = state + 0.01 * -state
        return state

    def shapes(self, x, y, z):
        self.names |= {"A": x[:512 * 512].reshape(512, 512), "B": y[:512 * 512].reshape(512, 512), "X": x[:128 * 784].reshape(128, 784),
                       "W": (0.01 * y[:784 * 256]).reshape(784, 256).astype(x.dtype), "V": (0.01 * z[:2560]).reshape(256, 10).astype(x.dtype),
                       "d": x[:256], "c": y[:10], "Q": x, "q": x[:1000].copy()}

    def same(self):
        """The numbers of SAME."""
        u = self.names["np"].arange(1, 1000001)
        s = u * u % 1000003
        w = u * (s * s % 1000003) % 1000003
        v = w * s % 1000003
        self.names |= {"x": w / 1000003, "y": v / 1000003, "z": w * w % 1000003 / 1000003}
        self.names |= {"p": w % 1000000, "k": w % 1000, "i": v % 1000000, "b": w % 3 == 0}
        self.shapes(*(self.names[name] for name in "xyz"))

    def digest(self, code):
        np = self.names["np"]
        found = np.ravel(eval(code, self.names)).astype(float)
        return [found.size, found.sum(), (found * (1 + np.arange(found.size) % 31)).sum()]  # as check() has BPL answer

    def time(self, code):
        made = compile(code, "row", "eval")
        return least(lambda: eval(made, self.names))


class Bench:
    def __init__(self, build, peers, threads):
        self.wengert, self.basedpl, self.threads = str(build / "wengert"), str(peers / "venv/bin/bpl"), threads
        lines = subprocess.run([build / "bench" / "bench_roofs", "--plain", "0.1"], check=True, capture_output=True, text=True).stdout.split("\n")
        self.roofs = {key: float(value) for key, value in (line.split() for line in lines if line)}
        self.below = []  # how much faster rows are than the best peer that are below 0.8 of their roofs

    def roof(self, width, read, written=0, other_read=0, other_written=0, multiply_adds=0):
        """Seconds. A copy takes the time of its reads and that of its writes, which reads by themselves tell apart."""
        taken, given = read * width // 8 + other_read, written * width // 8 + other_written
        place = "l2" if taken + given <= 1 << 20 else "l3"
        a_read, a_copy = (1 / self.roofs[f"{name}_{place}.{self.threads}"] for name in ("read", "copy"))
        return max(2 * multiply_adds / self.roofs[f"f{width}.{self.threads}"], taken * a_read + given * max(2 * a_copy - a_read, 0))

    def ours(self):
        return Worker(self.wengert, "bpl")

    def theirs(self):
        return Worker(self.basedpl)

    def basedpl_seconds(self, worker, width, code):
        answer = worker.ask(timing={"setup": DRAWN, "prefs": prefs(width), "cases": [code] * 3, "threads": self.threads})
        return min(case["seconds"] for case in answer["costs"])


def own_seconds(worker, code):
    return worker.number(f"[{{{code}}}]•time 0")


def check(bench, rows):
    """All compute the same: sums of results, plain and weighted."""
    ours, theirs, numpy = bench.ours(), bench.theirs(), Numpy("f8")
    numpy.same()
    ours.ask(code=SAME), theirs.ask(code=SAME)
    for code, peer, _ in rows:
        digest = DIGESTS.get(code, ["≢,t", "+/,t", "+/(,t)×1+31|⍳≢,t"])
        for worker in (ours, theirs):
            worker.ask(code=f"t←{code}")
        found = [[worker.number(line) for line in digest] for worker in (ours, theirs)] + ([numpy.digest(peer)] if peer else [])
        for other in found[1:]:
            if any(abs(one - two) > 1e-7 * (1 + abs(one)) for one, two in zip(found[0], other)):
                sys.exit(f"bench: {code}: results differ: {found}")
    ours.end(), theirs.end()


def print_row(what, own, theirs, numpy, goal=None, share=None):
    best = min((seconds for seconds in (theirs, numpy) if seconds), default=None)
    met = best is None or own <= MARGIN * best if goal is None else own <= goal
    wanted = ">= 1" if goal is None else f"<= {text(goal)}"
    ratio = f"{best / own:.2f}" if best else "-"
    of_roof = f"{share:.2f}" if share else "-"
    print(" | ".join([what, text(own), text(theirs), text(numpy), ratio, of_roof, wanted, "met" if met else "MISSED"]), flush=True)


def title(bench, what):
    print(f"\n## BPL, {what}, {bench.threads} thread{'s' * (bench.threads > 1)} (turn about, medians of {ROUNDS}; a margin of 5%)\n")
    print("columns: work | wengert | basedpl | numpy | best peer / ours | of roof | goal | ", flush=True)


def arrays(bench, what, rows, width):
    title(bench, what)
    ours, theirs, numpy = bench.ours(), bench.theirs(), Numpy("f4" if width == 32 else "f8")
    ours.ask(code="\n".join([prefs(width), DRAWN]))
    for code, peer, work in rows:
        found = [[], [], []]
        with locked():
            for _ in range(ROUNDS):
                found[0].append(own_seconds(ours, code))
                found[1].append(bench.basedpl_seconds(theirs, width, code))
                found[2].append(numpy.time(peer) if peer else None)
        own, *others = (None if None in times else statistics.median(times) for times in found)
        share = bench.roof(width, *work) / own
        if share < 0.8:
            bench.below.append(min(seconds for seconds in others if seconds) / own)
        print_row(code.replace("|", "∣"), own, *others, share=share)
    ours.end(), theirs.end()


def calls(bench):
    title(bench, "calls and loops")
    ours, theirs = bench.ours(), bench.theirs()
    ours.ask(code=DRAWN)
    for what, code, less, count, goal in CALLS:
        found = [[], []]
        with locked():
            for _ in range(ROUNDS):
                both = (lambda one: own_seconds(ours, one), lambda one: bench.basedpl_seconds(theirs, 64, one))
                for times, of in zip(found, both):
                    times.append((of(code) - (of(less) if less else 0)) / count)
        print_row(what, *(statistics.median(times) for times in found), None, goal)
    theirs.ask(code=DRAWN)
    lines = "\n".join(["t←a+g"] * 1000)
    with locked():
        found = [least(lambda: worker.ask(code=lines)) / 1000 for worker in (ours, theirs)]
    print_row("a statement from text: t←a+g", *found, None, 750e-9)
    ours.end(), theirs.end()


def started(argv):
    """Median seconds from start to end."""
    seconds = []
    for _ in range(9):
        before = time.perf_counter()
        subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)
        seconds.append(time.perf_counter() - before)
    return statistics.median(seconds)


def memory(worker):
    """Greatest memory in bytes, of a worker that has answered once."""
    worker.ask(code="1+2")
    status = pathlib.Path(f"/proc/{worker.process.pid}/status").read_text()
    worker.end()
    return 1024 * int(re.search(r"VmHWM:\s*(\d+)", status)[1])


def start(bench):
    with locked():
        own, theirs = started([bench.wengert, "bpl", "-e", "1+2"]), started([bench.basedpl, "-e", "1+2"])
    print_row("start, 1+2 and end", own, theirs, None, 15e-3)
    own, theirs = memory(bench.ours()), memory(bench.theirs())
    met = "met" if own <= 12e6 else "MISSED"
    print(f"its memory | {own / 1e6:.1f} MB | {theirs / 1e6:.1f} MB | - | {theirs / own:.2f} | - | <= 12 MB | {met}", flush=True)


def table(bench, words):
    def chosen(rows):
        return [row for row in rows if not words or any(word in row[0] for word in words)]
    if bench.threads == 1:
        check(bench, chosen(FLOATS + INTEGERS))
    for what, rows, width in ("f64", FLOATS, 64), ("f32", FLOATS, 32), ("integers", INTEGERS, 64):
        if chosen(rows):
            arrays(bench, what, chosen(rows), width)
    if bench.below:
        middle = statistics.median(bench.below)
        met = "met" if middle >= 1.5 else "MISSED"
        print(f"{len(bench.below)} rows below 0.8 of a roof: their median | - | - | - | {middle:.2f} | - | >= 1.5 | {met}", flush=True)
    if bench.threads == 1 and not words:
        calls(bench)
        start(bench)


def main():
    build, peers, words = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).absolute(), sys.argv[3:]
    if "BPL_THREADS" in os.environ:
        threads = int(os.environ["BPL_THREADS"])
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-threads:])
        return table(Bench(build, peers, threads), words)
    for threads in os.environ.get("THREADS", "1 2").split():
        names = ("BPL_THREADS", "WENGERT_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
        subprocess.run([sys.executable, __file__, build, peers, *words], check=True, env={**os.environ, **{name: threads for name in names}})


if __name__ == "__main__":
    main()
