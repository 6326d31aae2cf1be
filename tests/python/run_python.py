#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The Python package: its modules parse, its extension builds against this build's libraries, python/tests pass, the examples in its
docstrings and the snippets of docs/python.md print what they show, and a wheel holds all that it needs."""

import ast
import os
import pathlib
import re
import shutil
import sys
import tempfile
import zipfile

from extension import BUILD, ROOT, built, interpreter, run

RESULT = re.compile(r"^Ran (\d+) tests? in .*?^(?:OK|FAILED)(?: \((.*)\))?", re.M | re.S)
EXAMPLES = """
import doctest, importlib, pathlib, pkgutil, re, sys
import wengert as wg
failed = tried = 0
modules = [wg] + [importlib.import_module("wengert." + part.name) for part in pkgutil.iter_modules(wg.__path__) if part.name != "_core"]
for module in modules:
    done = doctest.testmod(module, extraglobs={"wg": wg})
    failed, tried = failed + done.failed, tried + done.attempted
page = pathlib.Path(sys.argv[1])
text, names = page.read_text(encoding="utf-8"), {}
for block in re.finditer(r"^```python\\n(.*?)^```$", text, re.M | re.S):
    line = text.count("\\n", 0, block.start(1))
    test = doctest.DocTestParser().get_doctest(block[1], names, page.name, str(page), line)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(test, clear_globs=False)
    names = test.globs
    failed, tried = failed + runner.failures, tried + runner.tries
print(f"{tried - failed} passed, {failed} failed")
"""
WHEEL = "import setuptools.build_meta as backend, sys; print(backend.build_wheel(sys.argv[1]))"


class Report:
    def __init__(self):
        self.passed = self.failed = 0

    def check(self, holds, complaint):
        self.passed, self.failed = self.passed + bool(holds), self.failed + (not holds)
        if not holds:
            print(f"failed: {complaint}")
        return holds

    def finish(self):
        print(f"{self.passed} passed, {self.failed} failed")
        sys.exit(1 if self.failed else 0)


def check_modules(report):
    for path in sorted((ROOT / "python").rglob("*.py")):
        if "build" not in path.relative_to(ROOT).parts:
            try:
                ast.parse(path.read_text(encoding="utf-8"))
                report.check(True, "")
            except SyntaxError as error:
                report.check(False, f"{path.relative_to(ROOT)}: {error}")


def check_tests(report, python, environment):
    for path in sorted((ROOT / "python" / "tests").glob("test_*.py")):
        done = run([python, path], env=environment)
        result = RESULT.search(done.stdout)
        wrong = sum(int(number) for number in re.findall(r"(?:failures|errors)=(\d+)", result[2] or "")) if result else 1
        report.passed += int(result[1]) - wrong if result else 0
        report.failed += wrong
        if wrong or done.returncode:
            print(f"failed: {path.name}: ends with {done.returncode}:\n{done.stdout}")
            report.failed += not wrong
        elif result[2]:
            print(f"{path.name}: {result[2]}")


def check_examples(report, python, environment):
    done = run([python, "-c", EXAMPLES, ROOT / "docs" / "python.md"], env=environment)
    total = re.search(r"^(\d+) passed, (\d+) failed$", done.stdout, re.M)
    if report.check(total and total[2] == "0", f"examples of docstrings and docs/python.md:\n{done.stdout}"):
        report.passed += int(total[1])


def check_wheel(report, python, environment):
    """As pip would build it, from a copy of the tree's parts that it reads, and used from where pip would unpack it."""
    folder = pathlib.Path(tempfile.mkdtemp())
    shutil.copytree(ROOT / "python", folder / "tree" / "python", ignore=shutil.ignore_patterns("build", "*.so", "*.egg-info", "__pycache__"))
    for name in "include", "CMakeLists.txt":
        os.symlink(ROOT / name, folder / "tree" / name)
    done = run([python, "-c", WHEEL, folder], cwd=folder / "tree" / "python", env=dict(environment, WENGERT_BUILD=str(BUILD)))
    wheels = list(folder.glob("wengert-*-cp311-abi3-*.whl"))
    if not report.check(len(wheels) == 1, f"no wheel:\n{done.stdout}"):
        return
    with zipfile.ZipFile(wheels[0]) as wheel:
        wheel.extractall(folder / "site")
    used = run(
        [python, "-c", "import wengert as wg; print(wg.__file__); print(wg.sum(wg.arange(4)).item())"],
        env=dict(os.environ, PYTHONPATH=str(folder / "site"), LD_LIBRARY_PATH=""),
        cwd=folder,
    )
    report.check(
        used.stdout.splitlines() == [str(folder / "site" / "wengert" / "__init__.py"), "6"], f"the wheel does not work:\n{used.stdout}"
    )


def main():
    report = Report()
    check_modules(report)
    python, missing = interpreter()
    if missing:
        print(f"not run: the Python package ({missing})")
        report.finish()
    try:
        library = built(python)
    except RuntimeError as error:
        report.check(False, f"the extension does not build:\n{error}")
        report.finish()
    environment = dict(os.environ, PYTHONPATH=str(library))
    check_tests(report, python, environment)
    check_examples(report, python, environment)
    check_wheel(report, python, environment)
    report.finish()


if __name__ == "__main__":
    main()
