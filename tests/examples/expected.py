# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What an example is known to print and draw: golden/NAME.txt, line by line, and docs/pictures/NAME.png, pixel by pixel. The examples
in C and in Python print and draw the same. Those of dense algebra (HOST) stand on the machine's LAPACK: one pixel in a hundred may be
another one there."""
import pathlib

from pictures import read_png, read_ppm, write_png

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
GOLDEN = ROOT / "tests" / "examples" / "golden"
PICTURES = ROOT / "docs" / "pictures"
HOST = {"gaussian_process", "newton", "pca"}
MOST_BYTES = 60000  # of a committed picture


def difference(got, want):
    """The first line that differs."""
    got, want = got.splitlines(), want.splitlines()
    for i in range(max(len(got), len(want))):
        one, other = (got[i] if i < len(got) else None), (want[i] if i < len(want) else None)
        if one != other:
            return f"line {i + 1} is {one!r}, not {other!r}"
    return "the ends of lines"


def check_text(report, name, text, rewrite):
    path = GOLDEN / f"{name}.txt"
    if rewrite:
        path.write_text(text)
    want = path.read_text() if path.exists() else ""
    report.check(text == want, f"{name}: {difference(text, want)}")


def check_picture(report, name, drawn, rewrite):
    path = PICTURES / f"{name}.png"
    width, height, pixels = read_ppm(drawn.read_bytes())
    if rewrite:
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


def check_run(report, name, ran, drawn, rewrite=False):
    """A finished run with `--out drawn`."""
    if name in HOST and ran.returncode == 1 and "liblapacke" in ran.stdout:
        print(f"skipped: {name} needs LAPACK, which is not installed")
    elif report.check(ran.returncode == 0, f"{name} ends with {ran.returncode}:\n{ran.stdout}"):
        check_text(report, name, ran.stdout, rewrite)
        check_picture(report, name, drawn, rewrite)
