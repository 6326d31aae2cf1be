# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Pages that say how something is added to the tree, followed to the letter: a copy of the tree gets what the page has, each step's
complaint comes before the step, and tests pass after the last one. Planted faults must turn them red.

A page has lines "Complaint: `...`", a regular expression of what the build says, and blocks headed "add FILE after LINE".

What sees none of the files that a page changes is not compiled again: those objects are the build's own."""
import concurrent.futures
import os
import pathlib
import re
import shutil
import tempfile

from house import BUILD, LIBRARY_ROOMS, ROOT, run

STEP = re.compile(r"^Complaint: `(?P<complaint>[^`]+)`$|^```add (?P<file>\S+) after (?P<after>[^\n]+)\n(?P<lines>.*?)^```$", re.M | re.S)
ROOMS = [room for room in LIBRARY_ROOMS if room != "nn"]
FLAGS = ["-std=c11", "-O0", "-ffp-contract=off", "-fno-math-errno", "-fPIC", '-DWENGERT_VERSION="0"', '-DTEST_DATA_DIR="tests"',
         '-DTESTED_COMMAND=""', "-Iinclude", "-Isrc", "-Itests"]
COMPILER = (["ccache"] if shutil.which("ccache") else []) + ["cc"]


class Tree:
    """A copy of the tree, and the objects of its sources as far as they were compiled. `user` is a program of somebody who uses what is
    added; `judges` are tests that are compiled with the library, because what they miss is a complaint."""

    def __init__(self, folder, page, user=None, judges=()):
        self.folder, self.page, self.judges = pathlib.Path(folder), page, list(judges)
        self.complaints = {}  # source: what the compiler says
        self.stale = set()    # sources that changed since
        self.fresh = []       # what the last file that was added to concerns
        self.included = {}    # file: the files of the tree that it names
        for part in "include", "src", "tests", "examples":
            shutil.copytree(ROOT / part, self.folder / part, ignore=shutil.ignore_patterns("__pycache__", "*.a"))
        users = ["user.c"] if user else []
        for name in users:
            (self.folder / name).write_text(user)
        sources = [str(path.relative_to(self.folder)) for room in ROOMS for path in sorted((self.folder / "src" / room).glob("*.c"))]
        touched = {step["file"] for step in STEP.finditer(page.read_text()) if step["file"]}
        self.likely = users + self.judges
        self.sources = [source for source in sources + self.likely if self.closure(source) & touched or not self.built(source).exists()]
        self.kept = [self.built(source) for source in sources if source not in self.sources]
        self.stale.update(self.sources)
        self.environment = {**os.environ, "CCACHE_NOHASHDIR": "1"}

    def built(self, source):
        return BUILD / "CMakeFiles" / f"room_{source.split('/')[1] if '/' in source else ''}.dir" / (source + ".o")

    def object(self, source):
        return self.folder / "objects" / (source + ".o")

    def includes(self, path):
        """The files of the tree that a file names: no page and no fault changes these lines."""
        if path not in self.included:
            bases = ("src", "include", "tests", path.rpartition("/")[0])
            words = re.findall(r'"([\w/.]+\.(?:h|inc|def))"', (self.folder / path).read_text())
            self.included[path] = [f"{base}/{word}" for word in words for base in bases if (self.folder / base / word).exists()]
        return self.included[path]

    def closure(self, source):
        """A source and the files of the tree that it includes, near or far."""
        seen, waiting = set(), [source]
        while waiting:
            path = waiting.pop()
            if path not in seen:
                seen.add(path)
                waiting += self.includes(path)
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
            raise SystemExit(f"{self.page.name}: {file} has no line that begins with {after}")
        if head != after:
            at = text.index("}", at)
        path.write_text("\n".join(text[:at + 1] + lines.rstrip("\n").split("\n") + text[at + 1:]))
        self.fresh = self.changed(file)
        self.stale.update(self.fresh)

    def replace(self, file, old, new):
        path = self.folder / file
        text = path.read_text()
        if old not in text:
            raise SystemExit(f"{self.page.name}: the fault of {file} finds nothing to replace")
        path.write_text(text.replace(old, new, 1))
        self.stale.update(self.changed(file))

    def changed(self, file):
        """The sources that a change of a file concerns."""
        return [source for source in self.sources if file in self.closure(source)]

    def library(self):
        return [self.object(source) for source in self.sources
                if source not in self.complaints and source not in self.judges and self.object(source).exists()] + self.kept

    def link(self):
        return run(["cc", "-shared", "-Wl,-z,defs", "-o", "all.so", *self.library(), "-lpthread"], cwd=self.folder).stdout

    def compile_stale(self, sources):
        self.compile([source for source in sources if source in self.stale])

    def complains(self, wanted, file):
        """What the build says to the files that were added to since it was last asked; as soon as it says what is wanted, no more. Who
        calls the row, who includes the file that was added to last or is next, and what stands beside it (linked) are the first to see
        what is missing."""
        beside = [source for source in self.sources if file and source.rpartition("/")[0] == file.rpartition("/")[0]]
        for likely in (self.likely, *sorted((self.fresh, self.changed(file)), key=len), beside) if wanted else ():
            for at in range(0, len(likely), 8):
                self.compile_stale(likely[at:at + 8])
                said = "".join(self.complaints.values())
                if re.search(wanted, said):
                    return said
            said = self.link() if likely is beside else ""
            if re.search(wanted, said):
                return said
        self.compile_stale(self.sources)
        return "".join(self.complaints.values()) + self.link()

    def run_test(self, test):
        """The finished process of a test, linked against what the tree is now."""
        support = [f"tests/support/{path.name}" for path in sorted((self.folder / "tests/support").glob("*.c"))]
        self.compile_stale(self.sources)
        self.compile([source for source in [*support, test] if source not in self.sources and not self.object(source).exists()])
        program = self.folder / "objects" / pathlib.Path(test).stem
        objects = [self.object(source) for source in [*support, test]]
        linked = run(["cc", "-o", program, *objects, *self.library(), "-lcmocka", "-lpthread", "-lm"], cwd=self.folder)
        if linked.returncode:
            return linked
        environment = {name: value for name, value in os.environ.items() if name != "CMOCKA_MESSAGE_OUTPUT"}
        return run([program], cwd=self.folder, env=environment, timeout=240)


def follow(report, tree):
    steps = list(STEP.finditer(tree.page.read_text()))
    for place, step in enumerate(steps):
        if step["complaint"]:
            said = tree.complains(step["complaint"], next(later["file"] for later in steps[place:] if later["file"]))
            report.check(re.search(step["complaint"], said), f"before the step the build does not complain of {step['complaint']}:\n{said[:2000]}")
        else:
            tree.add(step["file"], step["after"], step["lines"])
    said = tree.complains(None, None)
    report.check(not said, f"after the last step the build still complains:\n{said[:2000]}")


def check(report, page, user, judges, tests, faults):
    """Follows a page; faults: file, what stands there, what is planted instead, the test that must see it and what that says."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Tree(folder, page, user, judges)
        follow(report, tree)
        for test in tests:
            done = tree.run_test(test)
            report.check(done.returncode == 0, f"{test} fails with what was added:\n{done.stdout[-2000:]}")
        for file, old, new, test, says in faults:
            tree.replace(file, old, new)
            done = tree.run_test(test)
            report.check(done.returncode != 0 and says in done.stdout, f"{test} does not see the fault planted in {file}:\n{done.stdout[-2000:]}")
            tree.replace(file, new, old)
