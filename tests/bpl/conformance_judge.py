#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Random expressions against a published interpreter of an earlier state of the language (basedpl 0.1.75), in a venv under the build.

Both write the value as source that reads back (•literal), so kinds, shape, nesting, keys and fills are compared; numbers to a part in 1e9, errors
by kind. A difference is put down to a known departure of this language only where it goes away when the expression says the same without
what the departure is about (INSTEAD), or what is there tells it (TOLD); the rest is ours to mend and fails the run."""
import argparse
import collections
import json
import os
import pathlib
import random
import re
import selectors
import subprocess
import sys

from judge_expressions import Expressions

HERE = pathlib.Path(__file__).resolve().parent
PINNED = "basedpl==0.1.75"
NUMBER = re.compile(r"¯?(?:\d+\.?\d*(?:ₑ¯?\d+)?|∞)")
SECONDS = 3

# Departures that go away when the expression says the same without what they are about: the name, why, the glyph, what stands for it then.
INSTEAD = [
    ("integer quotients", "integer ÷ integer floors; there it is a rational", "÷⍣¯1", "(÷0.0+)"),
    ("integer quotients", "integer ÷ integer floors; there it is a rational", "÷", "(÷⍥(0.0+))"),
    ("integer powers", "a negative exponent of an integer gives a float; there a rational", "*", "(*⍥(0.0+))"),
    ("whole matrices", "⌹ of integers is float; there a rational", "⌹", "(⌹⍥(0.0+))"),
    ("NaN and infinity as integers", "ₓ saturates what it computes; there it fails", "⊢ₓ", "(⊢ₓ(¯9E15⌈9E15⌊⊢))"),
    ("unsorted bounds", "⍸ asks for bounds in order; what others have is left open", "⍸", "(⍸⊘{(<⍺)⍸⍵})"),
    ("factorials", "! of whole numbers is whole; there 1 is a bit less", "!", "(1E¯14×⌊0.5+1E14×!)"),
]


def endless(expression, there, here):
    """⌊ ⌈ × and marks make integers of NaN and infinity, and ⌊ ⌈ of two keep NaN; there they stay floats or fail, and NaN loses."""
    kinds_alone = re.search("[⍟÷*!]", expression) and same_but_kinds(there, here)
    return re.search("[⌊⌈×ₓ]", expression) and (kinds_alone or re.search(r"∞|\$n|922337203685477580[78]", expression + there + here))


def same_but_kinds(there, here):
    bare = re.compile(r"[\[\]ₓ₁₂₄₈ₕₛₚ]")
    return not there.startswith("ERROR") and bare.sub("", there) == bare.sub("", here)


def strands(expression, there, here):
    """A strand joins fixed integers with each other, and keeps the kinds of the rest; there ordinary ones and Booleans join them."""
    bare = re.compile(r"[\[\]ₓ₁₂₄₈]")
    return re.search("ₓ[₁₂₄₈]", expression) and (re.search(r"[ₓ₁₂₄₈ft] \S+ₓ", here) or ")(" in expression) and \
        bare.sub("", here.replace("$t", "1").replace("$f", "0")) == bare.sub("", there)


def grown(expression, there, here):
    """Integers wrap at 64 bits; there they grow."""
    return re.search(r"\d{19,}\S*ₓ", there) and not here.startswith("ERROR")


def narrow(expression, there, here):
    """Narrow floats differ in their last digits, which a wider kind then shows; and 1⍟1 among them is wide there, as are complex numbers of narrow integers."""
    loose = 1e-2 if "ₕ" in expression else 1e-4 if re.search("ₛ|ₓ[₁₂]", expression) else 0
    wide = re.search("[⍟√*]", expression) and ("ⱼ" in there or "$n" in there)
    unmarked = lambda text: re.sub("[ₕₛₚ]", "", text) if wide else text
    return loose and agree(unmarked(there), unmarked(here), loose)


PART = r"(?:¯?(?:\d+\.?\d*(?:ₑ¯?\d+)?|∞)|\$n)"
COMPLEX = re.compile(rf"{PART}(?:ⱼ{PART})?")
PARTED = re.compile(rf"{NUMBER.pattern}(?:ⱼ{NUMBER.pattern})?")


def point(text):
    """What a number is as a point of the complex plane with one point at infinity (C11, Annex G: whatever the other part)."""
    parts = text.split("ⱼ")
    if any("∞" in part for part in parts): return "∞"
    return "$n" if "$n" in parts else numbers(text)


def infinite(expression, there, here):
    """Complex numbers have one infinity, whatever their other part, and a quotient by it is 0; there a part of it is NaN, or the whole."""
    if not re.search("[ⱼj]", expression + there + here) or COMPLEX.sub("#", there) != COMPLEX.sub("#", here): return False
    pairs = [(point(a), point(b)) for a, b in zip(COMPLEX.findall(there), COMPLEX.findall(here))]
    parts = re.search("[∨∧]", expression) is not None # of an infinite one are any
    return all(a == b or a == "$n" or (parts and isinstance(a, str)) or (isinstance(a, list) and isinstance(b, list) and agree_parts(a, b)) for a, b in pairs)


def numbers(text):
    """The two parts of a number."""
    parts = [number(part) for part in text.split("ⱼ")]
    return parts + [0.0] * (2 - len(parts))


def agree_parts(a, b, loose=1e-9):
    return all(abs(p - q) <= loose * max(map(abs, a + b)) for p, q in zip(a, b))


def contracted(expression, there, here):
    """An axis of length 1 stretches in f.g, and integers beside fixed ones have the kind of arithmetic; there single items alone stretch, and each keeps its width."""
    product = re.search(r"\S\.[^\s\d\[]", expression)
    return product and (there == "ERROR LENGTH" or (re.search("ₓ[₁₂₄₈]", expression) and same_but_kinds(there, here)))


def divisors(expression, there, here):
    """Divisors of floats that have none in common, and their multiples, are what rounding leaves of them: their last bits decide."""
    if not re.search("[∨∧]", expression) or there.startswith("ERROR") or PARTED.sub("#", there) != PARTED.sub("#", here): return False
    pairs = [(numbers(a), numbers(b)) for a, b in zip(PARTED.findall(there), PARTED.findall(here))]
    least = 1e-3 if "ₕ" in expression else 1e-6
    return all(agree_parts(a, b, 1e-6) or max(map(abs, a + b)) < least or max(map(abs, a)) > 1 / least < max(map(abs, b)) for a, b in pairs)


def of_nothing(expression, there, here):
    """What fails on prototypes has an empty result, and empties have the kinds of results; there some functions fail under ⍤, and some keep their argument's kind."""
    empty = re.compile(r"⍬|(\d+ )*0( \d+)*⍴")
    within = re.compile(r"\((?:\d+ )*0(?: \d+)*⍴[^()]*\)|⍬")
    if "⍤" in expression and within.search(there) and same_but_kinds(within.sub("⍬", there), within.sub("⍬", here)): return True
    if "⍤" in expression and there in ("ERROR DOMAIN", "ERROR INDEX"): return empty.match(here)
    if empty.match(here) and ('["' in there or (empty.match(there) and re.search("[⍤⊗]", expression))): return True
    return empty.match(there) and "⊂" in there and same_but_kinds(there, here)


def partly_keyed(expression, there, here):
    """Arrays of which some positions have keys are sorted; there that fails."""
    return re.search("[<>]", expression) and there == "ERROR DOMAIN" and not here.startswith("ERROR") and '":' in expression + here


def unordered(expression, there, here):
    """Complex numbers have no order; there, beside NaN, that is no error."""
    return re.search("[<≤>≥]", expression) and "$n" in expression and here == "ERROR DOMAIN" and re.search("\\dj", expression)


def no_matrices(expression, there, here):
    """⌹ of no matrices wants what it wants of some; there it wants nothing."""
    return "⌹" in expression and here.startswith("ERROR") and not there.startswith("ERROR") and "⍴" in expression


def mixed_rows(expression, there, here):
    """`,` joins numbers where all are numbers; there also in each row of others."""
    return re.search("[,⍪]", expression) and re.search(r'"|\[', here) and same_but_kinds(there, here)


def hidden(expression, there, here):
    """What has no divisor or no root is an error beside NaN, too; there NaN in an array hides it."""
    return re.search("[∨∧√]", expression) and "$n" in expression and here == "ERROR DOMAIN" and "$n" in there


def endless_matrix(expression, there, here):
    """⌹ of infinite numbers is NaN; there it may be an infinity."""
    return "⌹" in expression and "∞" in expression and "∞" in there and here == there.replace("¯∞", "$n").replace("∞", "$n")


def inverted(expression, there, here):
    """What is done along an axis has an inverse; there it has none."""
    return re.search(r"⍠[^)]*\)⍣¯1", expression) and there == "ERROR DOMAIN"


def selected(expression, there, here):
    """A selection may be wrong in several places: which one is told is left open."""
    kinds = "ERROR DOMAIN", "ERROR INDEX", "ERROR RANK", "ERROR LENGTH"
    return re.search("[⊃⌷]", expression) and there in kinds and here in kinds


# Departures that are told by what is there: the name, what decides.
TOLD = [("NaN and infinity as integers", endless), ("kinds in a strand", strands), ("integers that grow", grown), ("narrow floats", narrow),
        ("complex infinity", infinite), ("contractions", contracted), ("divisors of floats", divisors), ("failures on prototypes", of_nothing),
        ("sorts of partly keyed arrays", partly_keyed), ("complex numbers beside NaN", unordered), ("no matrices", no_matrices),
        ("rows of mixed arrays", mixed_rows), ("NaN beside errors", hidden), ("infinite matrices", endless_matrix), ("inverses along axes", inverted),
        ("selections with several errors", selected)]


class Speaker:
    """One interpreter that answers lines of JSON."""

    def __init__(self, argv):
        self.argv, self.process = argv, None

    def start(self):
        self.process = subprocess.Popen(self.argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.process.stdout, selectors.EVENT_READ)

    def ask(self, code, seconds=SECONDS):
        """The answer to a program; None where there is none: it crashed or hangs."""
        if not self.process or self.process.poll() is not None: self.start()
        try:
            self.process.stdin.write(json.dumps({"id": 1, "code": code, "timeout": seconds}).encode() + b"\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline() if self.selector.select(seconds + 10) else b""
        except BrokenPipeError:
            line = b""
        if not line.strip():
            self.process.kill()
            self.process.wait()
            return None
        return json.loads(line)

    def end(self):
        if not self.process: return
        self.process.stdin.close()
        self.process.wait()


def theirs(speaker, names, expression):
    answer = speaker.ask(f"{names}•literal⁻¹ ({expression})")
    if answer is None: return "GONE"
    result = answer["result"]
    if result["error"]: return "ERROR " + result["error"]["kind"]
    shown = [part["data"]["text/plain"] for part in result["output"] if part["kind"] == "display"]
    return shown[-1].replace("⁻¹", "⁻") if shown else ""


def ours(speaker, names, expression):
    code = f"{names}•literal⁻ ({expression})"
    answer = speaker.ask(code)
    if answer and answer["error"] and answer["error"]["kind"] == "TIMEOUT": answer = speaker.ask(code, 20 * SECONDS) # others may have had the processor
    if answer is None: return "GONE"
    return "ERROR " + answer["error"]["kind"] if answer["error"] else answer["display"]


def number(text):
    return float(text.replace("¯", "-").replace("ₑ", "e").replace("∞", "inf"))


def plain(text):
    """A literal with one space where there are more, texts without the keys that they lose there, and no keys of axes that have only positions."""
    text = re.sub(r"\s+", " ", text)
    text = re.sub(r'\[((?:"[^"]*":\'.\' ?)+)\]', lambda record: '"' + "".join(re.findall(r":'(.)'", record[1])) + '"', text)
    return re.sub(r"\[(?:(?:\[?[\d ]+\]?|⍬);)+(?:\[?[\d ]+\]?|⍬)\]:", "", text)


# There, no items with keys have no kind.
EMPTY = r"""(?:⍬\S*?|""|\(?#⍴(?:⊂?(?:"[^"]*"|\[[^\[\]]*\])\S*?|[^ ()\[\]]*)\)?)"""


def as_pattern(text):
    return EMPTY.join(re.escape(NUMBER.sub("#", part)) for part in re.split(r"\(⍬:⍬\)|⍬:⍬", text))


def agree(a, b, loose=0.0):
    """Whether two literals are the same but for the last digits of numbers."""
    if a == b: return True
    if a.startswith("ERROR") or b.startswith("ERROR"): return False
    a, b = plain(a), plain(b)
    loose = max(loose, 1e-2 if "ₕ" in a else 1e-4 if "ₛ" in a else 1e-9)
    empties = "⍬:⍬" in a
    if empties and re.fullmatch(as_pattern(a), NUMBER.sub("#", b)) is None: return False
    if not empties and NUMBER.sub("#", a) != NUMBER.sub("#", b): return False
    if empties: a, b = [re.sub(r"0⍴(?:⊂?\[[^\[\]]*\])?", "⍴", text) for text in (a, b)] # whatever their prototypes are
    x, y = [number(n) for n in NUMBER.findall(a)], [number(n) for n in NUMBER.findall(b)]
    if len(x) != len(y): return False
    largest = max([abs(n) for n in x if abs(n) < 1e300] or [0])
    return all(p == q or abs(p - q) <= loose * max(abs(p), abs(q)) + 1e-13 * min(largest, 1) + 1e-15 for p, q in zip(x, y))


KEYS = "({⍺ ⍵}⌸)"


class Judge:
    def __init__(self, theirs_argv, ours_argv):
        self.speakers = Speaker(theirs_argv), Speaker(ours_argv)

    def both(self, names, expression):
        return theirs(self.speakers[0], names, expression), ours(self.speakers[1], names, expression)

    def rule(self, names, expression, a, b):
        """The departure that a difference is put down to, or None."""
        if "GONE" in (a, b): return None if b == "GONE" else "the other one gave none"
        if a in ("ERROR LIMIT", "ERROR TIMEOUT", "ERROR UNSUPPORTED"): return "beyond what the other one does"
        if "•ucs" in a and theirs(self.speakers[0], names, f"({a})≡({b})") == "$t": return "spelling of control characters"
        changed, failed = expression, a.startswith("ERROR") and b.startswith("ERROR")
        for name, _, glyph, instead in INSTEAD:
            if glyph not in expression: continue
            changed = changed.replace(glyph, instead)
            there, here = self.both(names, changed)
            if agree(there, here) and (failed or there == a or not there.startswith("ERROR")): return name
        if "⊢ₓ" in expression and b == "ERROR DOMAIN" and "ⱼ" in ours(self.speakers[1], names, expression.replace("⊢ₓ", "⊢")):
            return "complex numbers as integers"
        for name, decides in TOLD:
            if decides(names + expression, a, b): return name
        if KEYS in expression: # other values make other groups
            ungrouped = names, expression.replace(KEYS, "⊢")
            there, here = self.both(*ungrouped)
            if not agree(there, here): return self.rule(*ungrouped, there, here)
        return "rationals" if "ᵣ" in a and "ᵣ" not in b else None

    def end(self):
        for speaker in self.speakers: speaker.end()


def install(build):
    """The published interpreter, in a venv of its own."""
    venv = build / "judge"
    program = venv / "bin" / "bpl"
    if program.exists(): return program
    if os.environ.get("WENGERT_OFFLINE"): return None
    subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
    done = subprocess.run([str(venv / "bin" / "pip"), "install", "--quiet", PINNED])
    return program if done.returncode == 0 and program.exists() else None


def shape(expression):
    """The glyphs of an expression, to put like with like."""
    return "".join(sorted(set(re.sub(r'"[^"]*"|[\w\s()\[\]¯.{}"\'⋄∞:$ₓₛₕₚ₁₂₄₈,]', "", expression))))


def main():
    build = pathlib.Path(os.environ.get("TESTED_BUILD", "build")).resolve()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--judge", type=pathlib.Path, help="its command, where it is installed")
    parser.add_argument("--command", type=pathlib.Path, default=os.environ.get("TESTED_COMMAND", build / "wengert"))
    parser.add_argument("--show", type=int, default=40, help="differences to show")
    options = parser.parse_args()
    program = options.judge or install(build)
    if not program:
        print(f"{PINNED} cannot be installed here")
        print("1 passed, 0 failed")
        return 0
    judge = Judge([str(program), "--worker"], [str(options.command), "bpl", "--worker"])
    expressions = Expressions(random.Random(options.seed), HERE.parent.parent / "src" / "bpl")
    put_down, open_ones, same, failed = collections.Counter(), [], 0, 0
    for _ in range(options.count):
        names, expression = expressions.statement()
        a, b = judge.both(names, expression)
        if agree(a, b):
            same, failed = same + 1, failed + a.startswith("ERROR")
            continue
        name = judge.rule(names, expression, a, b)
        if name: put_down[name] += 1
        else: open_ones.append((names + expression, a, b))
    judge.end()
    for text, a, b in sorted(open_ones, key=lambda one: len(one[0]))[:options.show]:
        print(f"{text}\n    there {a[:150]}\n    here  {b[:150]}")
    print(f"{same:6} agree, {failed} of them in an error")
    for name, count in put_down.most_common(): print(f"{count:6} {name}")
    print(f"{len(open_ones):6} ours to mend")
    print(f"{same + sum(put_down.values())} passed, {len(open_ones)} failed")
    return 1 if open_ones else 0


if __name__ == "__main__":
    sys.exit(main())
