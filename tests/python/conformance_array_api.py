#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The array API standard: the package against its strict implementation, which pip fetches into a virtual environment of the build
directory, and against its public test suite, where ARRAY_API_TESTS names a checkout of it. What cannot be had is said, and not run.
array-api-excluded.txt lists what differs, with its reasons.
"""

import os
import pathlib
import re
import sys

from extension import BUILD, built, interpreter, run

EXCLUDED = pathlib.Path(__file__).resolve().parent / "array-api-excluded.txt"
STRICT = ["numpy", "array-api-strict"]
SUITE = ["pytest", "pytest-json-report", "hypothesis", "ndindex"]
TOTAL = re.compile(r"^(\d+) passed, (\d+) failed$", re.M)


class Totals:
    def __init__(self):
        self.passed = self.failed = 0

    def add(self, passed, failed):
        self.passed, self.failed = self.passed + passed, self.failed + failed

    def finish(self):
        print(f"{self.passed} passed, {self.failed} failed")
        sys.exit(1 if self.failed else 0)


def check_exclusions(totals):
    """Every line has a reason."""
    for line in EXCLUDED.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, _, reason = line.partition(": ")
            good = bool(name.strip() and reason.strip())
            totals.add(good, not good)
            if not good:
                print(f"failed: {EXCLUDED.name}: no reason: {line}")


def environment_with(python, packages):
    """The interpreter of a virtual environment that has packages, and None; or None and why not."""
    place = BUILD / "conformance"
    if not (place / "bin" / "python").exists():
        made = run([python, "-m", "venv", place])
        if made.returncode:
            return None, "no virtual environment: install python3-venv"
    inside = place / "bin" / "python"
    if run([inside, "-c", "import " + ", ".join(name.replace("-", "_") for name in packages if name != "pytest-json-report")]).returncode:
        if os.environ.get("WENGERT_OFFLINE") == "1":
            return None, "WENGERT_OFFLINE=1: nothing is fetched"
        fetched = run([inside, "-m", "pip", "install", "-q", *packages])
        if fetched.returncode:
            return None, f"pip cannot fetch {' '.join(packages)}"
    return inside, None


def compare_with_strict(totals, python, environment):
    inside, missing = environment_with(python, STRICT)
    if missing:
        print(f"not run: the comparison with the strict implementation ({missing})")
        return
    done = run([inside, EXCLUDED.parent / "compare_strict.py", EXCLUDED], env=environment)
    total = TOTAL.search(done.stdout)
    print(done.stdout if not total or total[2] != "0" else f"the strict implementation: {total[0]}")
    totals.add(*(map(int, total.groups()) if total else (0, 1)))


def run_suite(totals, python, environment):
    directory = os.environ.get("ARRAY_API_TESTS")
    if not directory:
        print("not run: the public test suite (give the directory of a checkout in ARRAY_API_TESTS)")
        return
    inside, missing = environment_with(python, STRICT + SUITE)
    if missing:
        print(f"not run: the public test suite ({missing})")
        return
    skips = BUILD / "conformance" / "skips.txt"
    lines = [
        line.partition(": ")[0] for line in EXCLUDED.read_text(encoding="utf-8").splitlines() if "::" in line and not line.startswith("#")
    ]
    skips.write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = run(
        [inside, "-m", "pytest", "-q", "array_api_tests", "--disable-deadline", "--max-examples", "100", "--skips-file", skips],
        cwd=directory,
        env=dict(environment, ARRAY_API_TESTS_MODULE="wengert"),
    )
    counts = {
        word: int(number)
        for number, word in re.findall(r"(\d+) (passed|failed|error|skipped)", done.stdout.splitlines()[-1] if done.stdout else "")
    }
    failed = counts.get("failed", 0) + counts.get("error", 0) or (0 if counts.get("passed") else 1)
    print(done.stdout if failed else f"the public test suite: {counts}")
    totals.add(counts.get("passed", 0), failed)


def main():
    totals = Totals()
    check_exclusions(totals)
    python, missing = interpreter()
    if missing:
        print(f"not run: {missing}")
        totals.finish()
    environment = dict(os.environ, PYTHONPATH=str(built(python)))
    compare_with_strict(totals, python, environment)
    run_suite(totals, python, environment)
    totals.finish()


if __name__ == "__main__":
    main()
