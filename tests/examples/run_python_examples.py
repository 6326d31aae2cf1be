#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The programs of examples/python print and draw the same as those of their names in examples/arrays (expected.py). Nothing is run,
with a line that says so, where the extension cannot be built."""
import os
import pathlib
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / "house"), str(TESTS / "python")]
from expected import GOLDEN, ROOT, check_run  # noqa: E402
from extension import built, interpreter  # noqa: E402
from house import Report, run  # noqa: E402

SOURCES = [path for path in sorted((ROOT / "examples" / "python").glob("*.py")) if path.stem != "picture"]


def main():
    report = Report()
    known = {path.stem for path in GOLDEN.glob("*.txt")}
    report.check({path.stem for path in SOURCES} == known, "the examples in Python are not those in C")
    python, missing = interpreter()
    if missing:
        print(f"not run: the examples in Python ({missing})")
        report.finish()
    try:
        environment = dict(os.environ, PYTHONPATH=str(built(python)), PYTHONDONTWRITEBYTECODE="1")
    except RuntimeError as error:
        report.check(False, f"the extension does not build:\n{error}")
        report.finish()
    for source in SOURCES:
        drawn = pathlib.Path(f"{source.stem}.ppm").resolve()
        check_run(report, source.stem, run([python, source, "--out", drawn], env=environment), drawn)
    report.finish()


main()
