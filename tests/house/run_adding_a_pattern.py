#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""docs/adding-a-pattern.md, followed to the letter (followed.py): the test of all patterns passes after its last step, and sees faults."""
import followed
from house import ROOT, Report

TEST = "tests/plan/test_patterns.c"
FAULTS = [("src/plan/match_pieces.c", "plan_is_number(m->graph, other, 2);", "plan_is_number(m->graph, other, 3);", TEST, "Hypotenuse"),
          ("src/plan/match_pieces.c", "WG_OP_Mul && other == x;", "WG_OP_Mul;", TEST, "Hypotenuse")]


def main():
    report = Report()
    followed.check(report, ROOT / "docs" / "adding-a-pattern.md", None, [TEST], [TEST], FAULTS)
    report.finish()


if __name__ == "__main__":
    main()
