#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Sizes of files, functions and lines, which `python3 tests/house/run_sizes.py` prints as information. One rule: no tabs in C."""
from house import ROOT, Report, source_files

FILE_LINES, FUNCTION_LINES, COLUMNS = 800, 40, 140


def functions(lines):
    """(first line, name, length) of each function: its braces stand in column one."""
    start = None
    for number, line in enumerate(lines, 1):
        if line == "{" and start is None:
            start = number
        elif line.startswith("}") and start is not None:
            if line == "}":
                head = number_of_head(lines, start)
                yield head, lines[head - 1].split("(")[0].split()[-1].lstrip("*"), number - start + 1
            start = None


def number_of_head(lines, brace):
    """The line where the head before this brace begins: heads of several lines are indented from the second on."""
    head = brace - 1
    while head > 1 and (lines[head - 1].startswith(" ") or not lines[head - 1]):
        head -= 1
    return head


report = Report()
files, found, wide = [], [], []
for path in source_files():
    if path.suffix not in (".c", ".h", ".inc", ".def"):
        continue
    place = path.relative_to(ROOT)
    lines = path.read_text(encoding="utf-8").splitlines()
    files.append((len(lines), place))
    if path.suffix in (".c", ".h", ".inc"):
        found += [(length, f"{place}:{line} {name}") for line, name, length in functions(lines)]
    report.check("\t" not in "".join(lines), f"{place}: a tab; four spaces are the indent")
    wide += [(len(line), f"{place}:{number}") for number, line in enumerate(lines, 1) if len(line) > COLUMNS]



def show(rows, limit, unit, title):
    beyond = sorted((row for row in rows if row[0] > limit), reverse=True)
    print(f"{title}, {len(beyond)} longer than {limit} {unit}")
    for length, place in beyond[:20]:
        print(f"  {length:6,} {place}")


show(files, FILE_LINES, "lines", f"{len(files)} files of {sum(row[0] for row in files):,} lines")
show(found, FUNCTION_LINES, "lines", f"{len(found)} functions")
show(wide, COLUMNS, "columns", "lines of C")
report.finish()
