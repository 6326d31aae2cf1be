#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""tests/run itself: planted tests that fail, crash, hang or test nothing must each turn it red, and a good one must not."""
import pathlib
import re
import tempfile

from house import ROOT, Report, run

HEAD = """
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>
static void good(void **state) { (void)state; assert_int_equal(6, 2 * 3); }
"""
TWO = "int main(void) { const struct CMUnitTest tests[] = {cmocka_unit_test(good), cmocka_unit_test(%s)};" \
      " return cmocka_run_group_tests(tests, NULL, NULL); }\n"
BODY = "static void %s(void **state) { (void)state; %s }\n"

# name: (source after the head, the least that must be counted as passed, failed exactly)
EXECUTABLES = {
    "good": (TWO % "good", 2, 0),
    "failing": (BODY % ("wrong", "assert_int_equal(7, 2 * 3);") + TWO % "wrong", 1, 1),
    "faulting": (BODY % ("fault", "*(volatile int *)(uintptr_t)8 = 1;") + TWO % "fault", 1, 1),
    "aborting": (BODY % ("stop", "fflush(stdout); abort();") + TWO % "stop", 1, 1),
    "leaving": (BODY % ("leave", "fflush(stdout); _exit(0);") + TWO % "leave", 1, 1),
    "hanging": (BODY % ("hang", "fflush(stdout); for (;;) pause();") + TWO % "hang", 1, 1),
    "empty": ("int main(void) { (void)good; return 0; }\n", 0, 1),
    "lying": ("int main(void) { (void)good; puts(\"1..1\\nok 1 - fine\"); return 3; }\n", 1, 1),
    "silent": ("int main(void) { (void)good; puts(\"1..1\\nnot ok 1 - bad\"); return 0; }\n", 0, 1),
}
SCRIPTS = {
    "good.sh": ("echo 3 passed, 0 failed", 3, 0),
    "failing.sh": ("echo 2 passed, 1 failed; exit 1", 2, 1),
    "silent.sh": ("echo fine", 0, 1),
    "lying.sh": ("echo 2 passed, 1 failed", 2, 1),
    "empty.sh": ("echo 0 passed, 0 failed", 0, 1),
    "leaving.py": ("print('1 passed, 0 failed'); raise SystemExit(4)", 1, 1),
}


FUZZERS = {
    "good fuzzer": ("echo fuzz_a: 3 inputs replayed, 40 changed ones run", 1, 0),
    "silent fuzzer": ("echo fine", 0, 1),
    "stopped fuzzer": ("kill -ABRT $$", 0, 1),
    "leaking fuzzer": ("echo fuzz_a: 3 inputs replayed, 40 changed ones run; exit 23", 1, 1),
}


def verdict(directory, tests, timeout):
    """The exit status of tests/run on a build directory and a folder of scenarios, its two numbers, its text."""
    done = run([ROOT / "tests" / "run", directory, "--tests", tests, "--timeout", timeout, "--sanitized", directory, "--fuzz", 1])
    total = re.fullmatch(r"(\d+) passed, (\d+) failed", done.stdout.splitlines()[-1] if done.stdout else "")
    return done.returncode, *(map(int, total.groups()) if total else (-1, -1)), done.stdout


def expect(report, name, directory, tests, passed, failed):
    code, counted_passed, counted_failed, text = verdict(directory, tests, 2 if name == "hanging" else 60)
    report.check((code, counted_passed, counted_failed) == (1 if failed or not passed else 0, passed, failed),
                 f"the {name} test: exit {code}, {counted_passed} passed, {counted_failed} failed; "
                 f"{passed} passed, {failed} failed was planted:\n{text}")


def main():
    report = Report()
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        scenarios = directory / "tests"
        (scenarios / "base").mkdir(parents=True)
        listing, programs = directory / "tests.list", directory / "programs.list"
        (directory / "sanitized.list").write_text("")
        programs.write_text("")
        for name, (source, passed, failed) in EXECUTABLES.items():
            path = directory / name
            path.with_suffix(".c").write_text(HEAD + source)
            compiled = run(["cc", "-std=gnu11", path.with_suffix(".c"), "-o", path, "-lcmocka"])
            if report.check(compiled.returncode == 0, f"the planted test {name} does not compile:\n{compiled.stdout}"):
                listing.write_text(f"base\t{name}\t{path}\n")
                expect(report, name, directory, scenarios, passed, failed)
        listing.write_text(f"base\tabsent\t{directory / 'absent'}\n")
        expect(report, "absent", directory, scenarios, 0, 1)
        listing.write_text("")
        expect(report, "no", directory, scenarios, 0, 0)
        for name, (text, passed, failed) in SCRIPTS.items():
            script = scenarios / "base" / f"run_{name}"
            script.write_text(text + "\n")
            expect(report, name, directory, scenarios, passed, failed)
            script.unlink()
        for name, (text, passed, failed) in FUZZERS.items():
            program = directory / "fuzz_a"
            program.write_text(f"#!/bin/sh\n{text}\n")
            program.chmod(0o755)
            programs.write_text(f"bench {directory / 'absent'}\nfuzz {program}\n")
            expect(report, name, directory, scenarios, passed, failed)
    report.finish()


if __name__ == "__main__":
    main()
