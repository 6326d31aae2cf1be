# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What the checks of the house share: the tree, its sources, and the counting that tests/run reads."""
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("TESTED_BUILD", ROOT / "build"))
LIBRARY_ROOMS = "nn text exec plan grad batch compose interp graph base".split()
# The libraries, those above first, as a linker wants them.
LIBRARIES = "wengert-bpl wengert-model wengert-lazy wengert".split()


class Report:
    """Counts checks; `finish` prints the total and ends the script."""

    def __init__(self):
        self.passed = self.failed = 0

    def check(self, holds, complaint):
        if holds:
            self.passed += 1
        else:
            self.failed += 1
            print(f"failed: {complaint}")
        return holds

    def finish(self):
        print(f"{self.passed} passed, {self.failed} failed")
        sys.exit(1 if self.failed else 0)


def cached(name):
    """A setting of the build directory."""
    for line in (BUILD / "CMakeCache.txt").read_text().splitlines():
        if line.startswith(name + ":"):
            return line.split("=", 1)[1]
    return ""


def run(argv, **options):
    """Runs a command to its end; answers the finished process with stdout and stderr as one text."""
    return subprocess.run([str(word) for word in argv], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", check=False, **options)


def source_files(root=ROOT):
    """Every file that a person wrote as source, recognised by suffix, name or `#!`; data of tests and build directories are none."""
    suffixes = {".c", ".h", ".def", ".inc", ".map", ".py", ".sh", ".cmake", ".in", ".wg"}
    names = {"CMakeLists.txt", "Makefile", ".gitignore"}
    data = {"golden", "corpus", "cases", "data", "broken"}
    for directory, folders, files in os.walk(root):
        inside = pathlib.Path(directory)
        folders[:] = sorted(name for name in folders
                            if name not in data and not name.startswith((".git", "build", "__pycache__")))
        for name in sorted(files):
            path = inside / name
            if path.suffix in suffixes or name in names or starts_with_interpreter(path):
                yield path


def starts_with_interpreter(path):
    if path.suffix or path.is_symlink():
        return False
    with open(path, "rb") as file:
        return file.read(2) == b"#!"
