# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What a terminal shows of the bytes it gets: cells with a character and how it is drawn, and the cursor. As much of a terminal as line editing uses."""
import re
import unicodedata

ESCAPE = re.compile(r"\x1b(?:\[([0-9;?]*)([A-Za-z@`])|[()][A-Za-z0-9]|[=>78cDEHM])")


def width(character):
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


class Screen:
    def __init__(self, columns=80, rows=24):
        self.columns, self.rows = columns, rows
        self.cells = [[(" ", "")] * columns for _ in range(rows)]
        self.row = self.column = 0
        self.pen = ""
        self.inserts = self.full = False  # full: the last column was written, and the next character begins a line

    def feed(self, text):
        at = 0
        while at < len(text):
            found = ESCAPE.match(text, at)
            if found:
                self.escape(found.group(1) or "", found.group(2) or "")
                at = found.end()
            elif text[at] == "\x1b":
                return text[at:]  # the rest comes later
            else:
                self.put(text[at])
                at += 1
        return ""

    def newline(self):
        self.full = False
        if self.row < self.rows - 1:
            self.row += 1
        else:
            self.cells = self.cells[1:] + [[(" ", "")] * self.columns]

    def put(self, character):
        if character == "\r":
            self.column, self.full = 0, False
        elif character == "\n":
            self.newline()
        elif character == "\b":
            self.column, self.full = max(0, self.column - 1), False
        elif character == "\t":
            self.column = min(self.columns - 1, self.column // 8 * 8 + 8)
        elif character >= " ":
            self.draw(character)

    def draw(self, character):
        wide = width(character)
        if wide == 0:
            at = max(0, self.column - 1)
            self.cells[self.row][at] = (self.cells[self.row][at][0] + character, self.cells[self.row][at][1])
            return
        if self.full or self.column + wide > self.columns:
            self.column = 0
            self.newline()
        line = self.cells[self.row]
        if self.inserts:
            line[self.column:self.column] = [(" ", "")] * wide
            del line[self.columns:]
        line[self.column] = (character, self.pen)
        for i in range(1, wide):
            line[self.column + i] = ("", self.pen)
        self.column += wide
        if self.column >= self.columns:
            self.column, self.full = self.columns - 1, True

    def escape(self, text, kind):
        numbers = [int(n) if n.isdigit() else 0 for n in text.lstrip("?").split(";")] if text else []
        count = max(1, numbers[0]) if numbers else 1
        line = self.cells[self.row]
        blank = [(" ", "")]
        if kind == "m":
            for n in numbers or [0]:
                self.pen = "" if n == 0 else f"{self.pen};{n}".lstrip(";")
        elif kind in "ABCDGHd":
            self.full = False
            if kind == "A": self.row = max(0, self.row - count)
            elif kind == "B": self.row = min(self.rows - 1, self.row + count)
            elif kind == "C": self.column = min(self.columns - 1, self.column + count)
            elif kind == "D": self.column = max(0, self.column - count)
            elif kind == "G": self.column = count - 1
            elif kind == "d": self.row = count - 1
            else: self.row, self.column = count - 1, (numbers[1] if len(numbers) > 1 else 1) - 1
        elif kind == "K":
            first = 0 if numbers and numbers[0] else self.column
            last = self.column + 1 if numbers and numbers[0] == 1 else self.columns
            line[first:last] = blank * (last - first)
        elif kind == "J":
            line[self.column:] = blank * (self.columns - self.column)
            for row in range(self.row + 1, self.rows):
                self.cells[row] = blank * self.columns
        elif kind == "P":
            line[self.column:self.column + count] = []
            line += blank * (self.columns - len(line))
        elif kind == "@":
            line[self.column:self.column] = blank * count
            del line[self.columns:]
        elif kind in "hl" and 4 in numbers:
            self.inserts = kind == "h"

    def line(self, row):
        return "".join(character for character, _ in self.cells[row]).rstrip()

    def lines(self):
        return [self.line(row) for row in range(self.rows)]

    def pens(self, row):
        """The line's characters by how they are drawn: [(pen, text)], blanks aside."""
        runs = []
        for character, pen in self.cells[row]:
            if runs and runs[-1][0] == pen:
                runs[-1] = (pen, runs[-1][1] + character)
            else:
                runs.append((pen, character))
        return [(pen, text.strip()) for pen, text in runs if text.strip()]
