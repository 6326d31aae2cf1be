#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The programs of examples/arrays print and draw what they are known to (expected.py). Each is compiled as a person would, against the
built libraries, and run. Programs of dense algebra are left out, with a line that says so, where LAPACK is not installed.

WENGERT_REWRITE=1 writes the texts and the pictures that came instead."""
import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "house"))
from expected import GOLDEN, PICTURES, check_run  # noqa: E402
from house import BUILD, ROOT, Report, cached, run  # noqa: E402

SOURCES = sorted((ROOT / "examples" / "arrays").glob("*.c"))
REWRITE = os.environ.get("WENGERT_REWRITE") == "1"
FLAGS = "-std=c11 -O2 -ffp-contract=off -Wall -Wextra -Werror".split()
if cached("WENGERT_SANITIZE"):  # a program of a sanitized library is sanitized too
    FLAGS.append(f"-fsanitize={cached('WENGERT_SANITIZE')}")


def build(source):
    program = pathlib.Path(source.stem).resolve()
    link = [f"-L{BUILD}", f"-Wl,-rpath,{BUILD}", "-lwengert-lazy", "-lwengert", "-lm"]
    return program, run(["cc", *FLAGS, f"-I{ROOT / 'include'}", source, "-o", program, *link])


def check_example(report, source):
    name = source.stem
    program, compiled = build(source)
    if not report.check(compiled.returncode == 0 and not compiled.stdout, f"{name} does not compile:\n{compiled.stdout}"):
        return
    drawn = program.with_suffix(".ppm")
    check_run(report, name, run([program, "--out", drawn]), drawn, REWRITE)


def check_misuse(report):
    """The part that all of them share: a path that cannot be written, words that it does not know."""
    program, _ = build(ROOT / "examples" / "arrays" / "kmeans.c")
    refused = run([program, "--out", pathlib.Path("absent", "kmeans.ppm")])
    report.check(refused.returncode == 1 and "absent/kmeans.ppm cannot be written\n" in refused.stdout, f"a path: {refused.stdout}")
    unknown = run([program, "--picture"])
    usage = re.search(r"usage: \S*kmeans \[--out FILE.ppm\]\n", unknown.stdout)
    report.check(unknown.returncode == 1 and usage, f"a word: {unknown.stdout}")


def main():
    report = Report()
    for source in SOURCES:
        check_example(report, source)
    report.check(len(SOURCES) >= 8, f"only {len(SOURCES)} examples")
    check_misuse(report)
    known = {source.stem for source in SOURCES}
    for path in [*GOLDEN.glob("*.txt"), *PICTURES.glob("*.png")]:
        report.check(path.stem in known, f"{path.name} belongs to no example")
    report.finish()


main()
