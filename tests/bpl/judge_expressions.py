# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Random expressions of the language, by the tables of glyphs and modifiers.

Every value is small, so that what grows (powers, factorials, reshapes) stays within what both sides can hold."""
import re

VALUES = """0|1|2|3|¯1|0.5|¯2.5|5|10|∞|$n|$t|$f|3ₓ|¯2ₓ|0ₓ|7ₓ₁|200ₓ₁|¯5ₓ₂|9ₓ₄|¯4ₓ₈|1.5ₛ|2ₛ|0.5ₕ|2j3|0j¯1|'a'|'q'|⊂1 2|⊂5|⊂"ab"|⍬|⍬ₓ|""|[5]|[3]ₓ|"z"|1 2 3|3 1 ¯4|0 1 0
0.5 2 8|1 2 3 4|4 3 2 1|[1 2 3]ₓ|[2 0 1]ₓ|[¯1 5 2]ₓ|[250 3 7]ₓ₁|[¯3 4 9]ₓ₂|[5 6 7]ₓ₄|[1 ¯1 1]ₓ₈|[1.5 2 ¯3]ₛ|[0.5 4]ₛ|[1 2.5]ₕ|1 0 1=1|0 0 1 1=1|1j2 3 0j¯4|"abc"|"hello"|"ab ba"|1 $n 3|1 ∞
(1 2⋄3 4)|(1 2⋄"abc"⋄⍬)|("ab"⋄"c")|[1 [2 [3 4]]]|[1 'a' $t 2ₓ]|1 2,⊂"ab"|[1 2⋄3 4]|[1 2 3⋄4 5 6]|[2 1⋄1 3]|[1 0⋄0 1⋄1 1]|[1 2⋄3 4]ₓ|[1 2 3⋄4 5 6]ₓ|[0.5 ¯1⋄2 4]ₛ|[1 0⋄1 1]=1|["ab"⋄"cd"]
[1j1 2⋄0 3j¯1]|2 2⍴(1 2⋄"ab"⋄3⋄'c')|0 3⍴0|3 0⍴0|0 2⍴'a'|0⍴⊂1 2|2 3 2⍴⍳12|2 1 3⍴⍳6|1 1⍴7|["a":1 "b":2]|["b":3 "a":4]|["n":"text" "v":5]|["i":2 "j":3]⍴⍳6|["i":2]⍴5 6""".replace("\n", "|").split("|")
COUNTS = "0 1 2 3 ¯1 ¯2 1ₓ 2ₓ".split() + ["1 2", "2 1", "¯1 1", "0 2", "[2]ₓ", "[1 1]ₓ", "2 2"]
INDICES = "0 1 ¯1 [0 1] [1 0 1] [0 1]ₓ : ∞ [¯1]".split() + ["0 1", "0 0", ": 0", "[0 1] [1 0]", "1 :", "∞ 0", "5"]
COUNTED = "↑↓⍴⌽⊖#↕⍉⊂⊆⊃⌷"
AVOIDED = "¿⍎⍕⌻⨸⍭"  # draws; texts of both sides differ in layout; slow or by machine
FOLDED = "+×⌊⌈∨∧-=≠,⍪⊣⊢<≤"


def table(path, row):
    """The rows of a table of the language: the glyph, and whether each valence exists."""
    return re.findall(row, path.read_text(encoding="utf-8"), re.MULTILINE)


class Expressions:
    def __init__(self, random, source):
        rows = table(source / "glyphs.def", r'^GLYPH\(\w+, "(\S+?)", "\w+", (\w+), \w+, ".*?", (\w+),')
        self.monadic = [glyph for glyph, one, _ in rows if one != "NONE" and glyph not in AVOIDED]
        self.dyadic = [glyph for glyph, _, two in rows if two != "NONE" and glyph not in AVOIDED + ":" ]
        self.random = random

    def one(self, *choices):
        return self.random.choice(choices)

    def value(self):
        return self.random.choice(VALUES)

    def function(self, depth):
        """A function of one argument."""
        pick, glyph = self.random.random(), self.random.choice(self.monadic)
        if depth <= 0 or pick < 0.45: return glyph
        if pick < 0.53: return f"{self.random.choice(FOLDED)}{self.one('/', '⌿', chr(92), '⍀')}"
        if pick < 0.59: return f"({self.function(depth - 1)}¨)"
        if pick < 0.65: return f"({self.function(depth - 1)}⍤{self.one('0', '1', '2', '¯1')})"
        if pick < 0.69: return f"({self.function(depth - 1)}⍠{self.one('0', '1', '¯1')})"
        if pick < 0.73: return f"({self.pair(depth - 1)}⍨)"
        if pick < 0.77: return f"({self.function(depth - 1)}∘{self.function(depth - 1)})"
        if pick < 0.81: return f"({self.one('1', '2', '¯1', '0')}{self.random.choice(self.dyadic)})"
        if pick < 0.85: return f"({self.function(depth - 1)}{self.pair(depth - 1)}{self.function(depth - 1)})"
        if pick < 0.89: return f"{{{self.expression(depth - 1, '⍵')}}}"
        if pick < 0.92: return f"({self.function(depth - 1)}⍣{self.one('2', '0', '¯1')})"
        if pick < 0.95: return f"({self.function(depth - 1)}@{self.one('(1↑⊢)', '⌽', '0', '[1 0]', '⊖', ',')})"
        if pick < 0.97: return "({⍺ ⍵}⌸)"
        return f"({self.function(depth - 1)}⊘{self.pair(depth - 1)})"

    def pair(self, depth):
        """A function of two arguments."""
        pick, glyph = self.random.random(), self.random.choice(self.dyadic)
        if depth <= 0 or pick < 0.6: return glyph
        if pick < 0.66: return f"({self.pair(depth - 1)}¨)"
        if pick < 0.72: return f"({self.pair(depth - 1)}⍤{self.one('0', '1', '0 1', '1 0')})"
        if pick < 0.78: return f"({self.pair(depth - 1)}⊗)"
        if pick < 0.83: return f"({self.random.choice(FOLDED)}.{self.random.choice(FOLDED)})"
        if pick < 0.87: return f"({self.pair(depth - 1)}⍨)"
        if pick < 0.91: return f"({self.pair(depth - 1)}⍥{self.function(depth - 1)})"
        if pick < 0.94: return f"({self.function(depth - 1)}∘{self.pair(depth - 1)})"
        return f"{{⍺{self.pair(depth - 1)}{self.expression(depth - 1, '⍵')}}}"

    def expression(self, depth, leaf=None):
        """An expression; leaf stands for some of its values."""
        pick = self.random.random()
        value = leaf if leaf and self.random.random() < 0.7 else f"({self.value()})"
        if depth <= 0: return value
        if pick < 0.36: return f"{self.function(depth - 1)}{self.expression(depth - 1, leaf)}" if self.random.random() < 0.5 else f"{self.function(depth - 1)}({self.expression(depth - 1, leaf)})"
        if pick < 0.72: return f"({self.expression(depth - 2, leaf)}){self.pair(depth - 1)}({self.expression(depth - 1, leaf)})"
        if pick < 0.84: return f"({self.random.choice(COUNTS)}){self.random.choice(COUNTED)}({self.expression(depth - 1, leaf)})"
        if pick < 0.90: return f"({self.expression(depth - 1, leaf)}).[{self.random.choice(INDICES)}]"
        if pick < 0.94: return f"⊢{self.random.choice('ₓₛₕₚ')}({self.expression(depth - 1, leaf)})"
        return f"({self.expression(depth - 1, leaf)})({self.expression(depth - 1, leaf)})"

    def statement(self):
        """A program of one statement, or of a few with names."""
        pick, depth = self.random.random(), self.random.randint(1, 4)
        if pick < 0.88: return "", self.expression(depth)
        if pick < 0.93: return f"x←{self.value()} ⋄ x.[{self.random.choice(INDICES)}]{self.one('', '+', '×', ',')}←{self.value()} ⋄ ", "x"
        if pick < 0.97: return f"x←{self.value()} ⋄ ({self.random.choice(COUNTS)}{self.one('↑', '↓', '⌽')}x)←{self.value()} ⋄ ", "x"
        return f"[x y]←{self.value()} ⋄ ", f"x,{self.expression(2, 'y')}"
