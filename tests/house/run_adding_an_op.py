#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""docs/adding-an-op.md, followed to the letter: a copy of the tree gets the row of the page, each step's complaint comes before the
step, and the generated tests pass after the last one. Three planted faults must turn them red.

What sees none of the files that the page changes is not compiled again: those objects are the build's own."""
import concurrent.futures
import os
import pathlib
import re
import shutil
import tempfile

from house import BUILD, LIBRARY_ROOMS, ROOT, Report, run

PAGE = ROOT / "docs" / "adding-an-op.md"
STEP = re.compile(r"^Complaint: `(?P<complaint>[^`]+)`$|^```add (?P<file>\S+) after (?P<after>[^\n]+)\n(?P<lines>.*?)^```$", re.M | re.S)
ROOMS = [room for room in LIBRARY_ROOMS if room != "nn"]
TESTS = ["tests/interp/test_rows.c", "tests/grad/test_terms.c", "tests/batch/test_rules.c", "tests/exec/test_equivalence_rows.c",
         "tests/text/test_canonical.c"]
# A program of somebody who uses the row.
USER = '#include "wengert/wengert.h"\nwg_value user(wg_value x);\nwg_value user(wg_value x) { return wg_square(wg_square(x)); }\n'
FLAGS = ["-std=c11", "-O0", "-ffp-contract=off", "-fno-math-errno", "-fPIC", '-DWENGERT_VERSION="0"', '-DTEST_DATA_DIR="tests"',
         '-DTESTED_COMMAND=""', "-Iinclude", "-Isrc", "-Itests"]
COMPILER = (["ccache"] if shutil.which("ccache") else []) + ["cc"]
FAULTS = [("src/grad/terms_arithmetic.c", "    return wg_add(a, a);\n}\n", "    return a;\n}\n", "tests/grad/test_terms.c"),
          ("src/batch/rules.def", "RULE(Square, same)", "RULE(Square, none)", "tests/batch/test_rules.c"),
          ("src/exec/kernel_blocks.inc", "VECTOR_1(block_square, T, S, V, x *x)", "VECTOR_1(block_square, T, S, V, x + x)",
           "tests/exec/test_equivalence_rows.c")]


class Tree:
    """A copy of the tree, and the objects of its sources as far as they were compiled."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.complaints = {}  # source: what the compiler says
        self.stale = set()    # sources that changed since
        for part in "include", "src", "tests", "examples":
            shutil.copytree(ROOT / part, self.folder / part, ignore=shutil.ignore_patterns("__pycache__", "*.a"))
        (self.folder / "user.c").write_text(USER)
        sources = [str(path.relative_to(self.folder)) for room in ROOMS for path in sorted((self.folder / "src" / room).glob("*.c"))]
        touched = {step["file"] for step in STEP.finditer(PAGE.read_text()) if step["file"]}
        self.sources = [source for source in sources + ["user.c"] if self.closure(source) & touched or not self.built(source).exists()]
        self.kept = [self.built(source) for source in sources if source not in self.sources]
        self.stale.update(self.sources)
        self.environment = {**os.environ, "CCACHE_NOHASHDIR": "1"}

    def built(self, source):
        return BUILD / "CMakeFiles" / f"room_{source.split('/')[1] if '/' in source else ''}.dir" / (source + ".o")

    def object(self, source):
        return self.folder / "objects" / (source + ".o")

    def closure(self, source):
        """A source and the files of the tree that it includes, near or far."""
        seen, waiting = set(), [source]
        while waiting:
            path = waiting.pop()
            if path not in seen:
                seen.add(path)
                for word in re.findall(r'"(\w+/[\w.]+\.(?:h|inc|def))"', (self.folder / path).read_text()):
                    waiting += [f"{base}/{word}" for base in ("src", "include", "tests") if (self.folder / base / word).exists()]
        return seen

    def compile(self, sources):
        self.stale -= set(sources)

        def one(source):
            self.object(source).parent.mkdir(parents=True, exist_ok=True)
            done = run([*COMPILER, *FLAGS, "-c", source, "-o", self.object(source).relative_to(self.folder)], cwd=self.folder, env=self.environment)
            return source, done.stdout if done.returncode else None
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for source, complaint in pool.map(one, sources):
                self.complaints.pop(source, None)
                if complaint is not None:
                    self.complaints[source] = complaint

    def add(self, file, after, lines):
        """Puts lines behind the line that begins with `after`; where it is the head of a function, named by its `;`, behind its end."""
        path = self.folder / file
        text = path.read_text().split("\n")
        head = after.removesuffix(";") if after.startswith("wg_value grad_") else after
        at = next((i for i, line in enumerate(text) if line.strip().startswith(head)), None)
        if at is None:
            raise SystemExit(f"{PAGE.name}: {file} has no line that begins with {after}")
        if head != after:
            at = text.index("}", at)
        path.write_text("\n".join(text[:at + 1] + lines.rstrip("\n").split("\n") + text[at + 1:]))
        self.stale.update(self.changed(file))

    def replace(self, file, old, new):
        path = self.folder / file
        text = path.read_text()
        if old not in text:
            raise SystemExit(f"{PAGE.name}: the fault of {file} finds nothing to replace")
        path.write_text(text.replace(old, new, 1))
        self.stale.update(self.changed(file))

    def changed(self, file):
        """The sources that a change of a file concerns."""
        return [source for source in self.sources if file in self.closure(source)]

    def library(self):
        return [self.object(source) for source in self.sources if source not in self.complaints] + self.kept

    def link(self):
        return run(["cc", "-shared", "-Wl,-z,defs", "-o", "all.so", *self.library(), "-lpthread"], cwd=self.folder).stdout

    def compile_stale(self, sources):
        self.compile([source for source in sources if source in self.stale])

    def complains(self, wanted, file):
        """What the build says to the files that were added to since it was last asked; as soon as it says what is wanted, no more. Who
        calls the row, and who includes the file that is added to next, are the first to see what is missing."""
        for likely in (["user.c"], self.changed(file)) if wanted else ():
            self.compile_stale(likely)
            said = "".join(self.complaints.values())
            if re.search(wanted, said):
                return said
        self.compile_stale(self.sources)
        return "".join(self.complaints.values()) + self.link()

    def run_test(self, test):
        """The finished process of a test, linked against what the tree is now."""
        support = [f"tests/support/{path.name}" for path in sorted((self.folder / "tests/support").glob("*.c"))]
        self.compile_stale(self.sources)
        self.compile([source for source in [*support, test] if not self.object(source).exists()])
        program = self.folder / "objects" / pathlib.Path(test).stem
        objects = [self.object(source) for source in [*support, test]]
        linked = run(["cc", "-o", program, *objects, *self.library(), "-lcmocka", "-lpthread", "-lm"], cwd=self.folder)
        if linked.returncode:
            return linked
        environment = {name: value for name, value in os.environ.items() if name != "CMOCKA_MESSAGE_OUTPUT"}
        return run([program], cwd=self.folder, env=environment, timeout=240)


def follow(report, tree):
    steps = list(STEP.finditer(PAGE.read_text()))
    for place, step in enumerate(steps):
        if step["complaint"]:
            said = tree.complains(step["complaint"], next(later["file"] for later in steps[place:] if later["file"]))
            report.check(re.search(step["complaint"], said), f"before the step the build does not complain of {step['complaint']}:\n{said[:2000]}")
        else:
            tree.add(step["file"], step["after"], step["lines"])
    said = tree.complains(None, None)
    report.check(not said, f"after the last step the build still complains:\n{said[:2000]}")


def main():
    report = Report()
    with tempfile.TemporaryDirectory() as folder:
        tree = Tree(folder)
        follow(report, tree)
        for test in TESTS:
            done = tree.run_test(test)
            report.check(done.returncode == 0, f"{test} fails with the new row:\n{done.stdout[-2000:]}")
        for file, old, new, test in FAULTS:
            tree.replace(file, old, new)
            done = tree.run_test(test)
            report.check(done.returncode != 0 and "quare" in done.stdout, f"{test} does not see the fault planted in {file}:\n{done.stdout[-2000:]}")
            tree.replace(file, new, old)
    report.finish()


if __name__ == "__main__":
    main()
