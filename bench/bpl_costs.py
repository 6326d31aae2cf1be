#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""bench/bpl_costs.py BUILD

Instructions that valgrind counts of parts of BPL programs: a statement in a loop of tail calls that nothing records, less the loop without it. What a
part costs beside another one is their difference. A table as bench/run.sh prints them."""
import pathlib
import re
import subprocess
import sys
import tempfile

FEW, MANY = 500, 2500
# What, the statement, the statement whose cost is taken away, the goal.
PARTS = [
    ("a name as a statement: ⍵", "⍵", "", 10),
    ("a number as a statement: 7", "7", "", None),
    ("a primitive of one argument: ⊢⍵, less ⍵", "⊢⍵", "⍵", 30),
    ("a primitive of two arguments: ⍵⊢⍵, less ⍵", "⍵⊢⍵", "⍵", 30),
    ("a call by name of {⍵}: f ⍵, less ⍵ twice", "f ⍵", "⍵ ⋄ ⍵", 80),
    ("a call by name of {⍺}: ⍵ g ⍵, less ⍵ three times", "⍵ g ⍵", "⍵ ⋄ ⍵ ⋄ ⍵", 100),
    ("a sum of two numbers: ⍵+1, less ⍵ and a number", "⍵+1", "⍵ ⋄ 1", None),
    ("a comparison of two numbers: ⍵<1, less ⍵ and a number", "⍵<1", "⍵ ⋄ 1", None),
]


def instructions(command, statement, times):
    with tempfile.NamedTemporaryFile("w", suffix=".bpl", encoding="utf-8") as program:
        program.write(f"f←{{⍵}} ⋄ g←{{⍺}}\nloop←{{⍵<1?⍵;{statement + ' ⋄ ' if statement else ''}∇⍵-1}}\nloop {times}\n")
        program.flush()
        run = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", command, "bpl", "--threads", "1", program.name],
                             check=True, capture_output=True, text=True)
    if run.stdout.strip() != "0":
        raise SystemExit(f"{statement}: the loop answered {run.stdout!r}")
    return int(re.search(r"Collected : (\d+)", run.stderr)[1])


def main():
    command = pathlib.Path(sys.argv[1]) / "wengert"
    costs = {}

    def cost(statement):
        if statement not in costs:
            costs[statement] = (instructions(command, statement, MANY) - instructions(command, statement, FEW)) / (MANY - FEW)
        return costs[statement]
    print("\n## Fixed costs of BPL, retired instructions\n")
    for what, statement, less, goal in PARTS:
        found = round(cost(statement) - cost(less))
        met = "" if goal is None else "met" if found <= goal else "MISSED"
        print(f"{what:<66} | {found:<32} | {'' if goal is None else f'<= {goal}':<10} | {met}")


if __name__ == "__main__":
    main()
