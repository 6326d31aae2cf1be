#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""docs/adding-an-op.md, followed to the letter (followed.py): the generated tests pass after its last step, and see faults."""
import followed
from house import ROOT, Report

TESTS = ["tests/interp/test_rows.c", "tests/grad/test_terms.c", "tests/batch/test_rules.c", "tests/exec/test_equivalence_rows.c",
         "tests/text/test_canonical.c"]
USER = '#include "wengert/wengert.h"\nwg_value user(wg_value x);\nwg_value user(wg_value x) { return wg_square(wg_square(x)); }\n'
FAULTS = [("src/grad/terms_arithmetic.c", "    return wg_add(a, a);\n}\n", "    return a;\n}\n", "tests/grad/test_terms.c", "quare"),
          ("src/batch/rules.def", "RULE(Square, same)", "RULE(Square, none)", "tests/batch/test_rules.c", "quare"),
          ("src/exec/kernel_blocks.inc", "KEPT(S, V, x *x)", "KEPT(S, V, x + x)",
           "tests/exec/test_equivalence_rows.c", "quare")]


def main():
    report = Report()
    followed.check(report, ROOT / "docs" / "adding-an-op.md", USER, [], TESTS, FAULTS)
    report.finish()


if __name__ == "__main__":
    main()
