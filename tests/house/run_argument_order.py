#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""No call records nodes in two of its arguments: C leaves open which is evaluated first, and the order of recording is the program."""
import re

from house import ROOT, Report

# These answer a value without recording one.
QUIET = {"wg_tape_resolve", "wg_tape_find", "wg_name", "wg_at", "wg_absent", "graph_fail", "graph_poison", "grad_operand", "grad_result",
         "wg_adjoints_wrt", "wg_adjoints_gradient"}
DECLARED = re.compile(r"\bwg_value\s+\(?(\w+)\)?\s*\(")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\])*\"|^[ \t]*#[^\n]*(?:\\\n[^\n]*)*", re.S | re.M)


def calls(code):
    """Every call of a name in code as (name, place, list of its arguments' texts)."""
    for match in re.finditer(r"\b([A-Za-z_]\w*)\s*\(", code):
        depth, start, arguments = 1, match.end(), []
        for at in range(match.end(), len(code)):
            c = code[at]
            depth += (c in "([{") - (c in ")]}")
            if (c == "," and depth == 1) or depth == 0:
                arguments.append(code[start:at])
                start = at + 1
            if depth == 0:
                yield match[1], match.start(), arguments
                break


report = Report()
sources = [path for room in ("compose", "batch", "grad", "nn", "text") for path in sorted((ROOT / "src" / room).glob("*.[ch]"))]
headers = sorted((ROOT / "include" / "wengert").glob("*.h"))
recorders = set()
for path in sources + headers:
    recorders |= set(DECLARED.findall(COMMENT.sub("", path.read_text())))
recorders -= QUIET
recording = re.compile(r"\b(?:%s)\s*\(" % "|".join(sorted(recorders, key=len, reverse=True)))
keywords = {"if", "for", "while", "switch", "return", "sizeof"}
for path in sources:
    code = COMMENT.sub(lambda m: " " * len(m[0]) if "\n" not in m[0] else re.sub(r"[^\n]", " ", m[0]), path.read_text())
    bad = [(name, code.count("\n", 0, place) + 1) for name, place, arguments in calls(code)
           if name not in keywords and sum(recording.search(a) is not None for a in arguments) > 1]
    report.check(not bad, "; ".join(f"{path.relative_to(ROOT)}:{line}: {name}( ) records in two of its arguments" for name, line in bad))
report.finish()
