#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The programs of examples/arrays print and draw what they are known to.

Each is compiled as a person would, against the built libraries, and run. What it prints is golden/NAME.txt, line by line; what it draws is
docs/pictures/NAME.png, pixel by pixel. Programs of dense algebra (HOST) stand on the machine's LAPACK: they are left out, with a line that
says so, where it is not installed, and one pixel in a hundred may be another one.

WENGERT_REWRITE=1 writes the texts and the pictures that came instead."""
import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "house"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from house import BUILD, ROOT, Report, run  # noqa: E402
from pictures import read_png, read_ppm, write_png  # noqa: E402

SOURCES = sorted((ROOT / "examples" / "arrays").glob("*.c"))
GOLDEN = ROOT / "tests" / "examples" / "golden"
PICTURES = ROOT / "docs" / "pictures"
HOST = {"gaussian_process", "newton", "pca"}
REWRITE = os.environ.get("WENGERT_REWRITE") == "1"
MOST_BYTES = 60000  # of a committed picture
FLAGS = "-std=c11 -O2 -ffp-contract=off -Wall -Wextra -Werror".split()


def build(source):
    program = pathlib.Path(source.stem).resolve()
    return program, run(["cc", *FLAGS, f"-I{ROOT / 'include'}", source, "-o", program, f"-L{BUILD}", f"-Wl,-rpath,{BUILD}", "-lwengert-lazy",
                         "-lwengert", "-lm"])


def difference(got, want):
    """The first line that differs."""
    got, want = got.splitlines(), want.splitlines()
    for i in range(max(len(got), len(want))):
        one, other = (got[i] if i < len(got) else None), (want[i] if i < len(want) else None)
        if one != other:
            return f"line {i + 1} is {one!r}, not {other!r}"
    return "the ends of lines"


def check_text(report, name, text):
    path = GOLDEN / f"{name}.txt"
    if REWRITE:
        path.write_text(text)
    want = path.read_text() if path.exists() else ""
    report.check(text == want, f"{name}: {difference(text, want)}")


def check_picture(report, name, drawn):
    path = PICTURES / f"{name}.png"
    width, height, pixels = read_ppm(drawn.read_bytes())
    if REWRITE:
        path.write_bytes(write_png(width, height, pixels))
    if not report.check(path.exists(), f"{name}: there is no {path.name}"):
        return
    file = path.read_bytes()
    report.check(len(file) <= MOST_BYTES, f"{path.name} has {len(file)} bytes")
    known = read_png(file)
    if not report.check(known[:2] == (width, height), f"{name}: a picture of {width} by {height}, not {known[0]} by {known[1]}"):
        return
    others = sum(pixels[i:i + 3] != known[2][i:i + 3] for i in range(0, len(pixels), 3))
    report.check(others <= (width * height // 100 if name in HOST else 0), f"{name}: {others} pixels are others than those of {path.name}")


def check_example(report, source):
    name = source.stem
    program, compiled = build(source)
    if not report.check(compiled.returncode == 0 and not compiled.stdout, f"{name} does not compile:\n{compiled.stdout}"):
        return
    drawn = program.with_suffix(".ppm")
    ran = run([program, "--out", drawn])
    if name in HOST and ran.returncode == 1 and "liblapacke" in ran.stdout:
        print(f"skipped: {name} needs LAPACK, which is not installed")
        return
    if not report.check(ran.returncode == 0, f"{name} ends with {ran.returncode}:\n{ran.stdout}"):
        return
    check_text(report, name, ran.stdout)
    check_picture(report, name, drawn)


def check_misuse(report):
    """The part that all of them share: a path that cannot be written, words that it does not know."""
    program, _ = build(ROOT / "examples" / "arrays" / "kmeans.c")
    refused = run([program, "--out", pathlib.Path("absent", "kmeans.ppm")])
    report.check(refused.returncode == 1 and "absent/kmeans.ppm cannot be written\n" in refused.stdout, f"a path: {refused.stdout}")
    unknown = run([program, "--picture"])
    report.check(unknown.returncode == 1 and re.search(r"usage: \S*kmeans \[--out FILE.ppm\]\n", unknown.stdout), f"a word: {unknown.stdout}")


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
