#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Every snippet of the README and of docs/*.md is run, and what it shows is what it prints.

Fences, by their first word:
  ```wg NAME        a program text: written to NAME in the page's folder, and must parse
  ```bpl ...        array language: not run here
  ```c              a whole program: compiled with the library, run; a ```text right after it is its output
  ```c part         lines of a program: compiled inside a function that has a tape `tape` and a value `x`
  ```console        lines `$ command` run in the page's folder, what follows each is its output
  ```text           output of the program before it
In expected output a line `...` stands for any lines, and `...` inside a line for anything. `make docs` is `run_docs.py --write`: it writes the output that came instead."""
import os
import re
import shutil
import sys
import tempfile

from house import BUILD, ROOT, Report, run

FENCE = re.compile(r"^```(\w*)[ ]*([^\n]*)\n(.*?)^```$", re.M | re.S)
PART = """#include <stdio.h>
#include "wengert/wengert.h"
void part(wg_tape *tape, wg_value x);
void part(wg_tape *tape, wg_value x)
{
(void)tape, (void)x;
%s
}
"""


def pattern_of(line):
    return ".*".join(re.escape(part) for part in line.split("..."))


def matches(got, want):
    """Whether lines of output are those expected, `...` lines standing for any number of lines."""
    if not want:
        return not got
    if want[0] == "...":
        return any(matches(got[i:], want[1:]) for i in range(len(got) + 1))
    return bool(got) and re.fullmatch(pattern_of(want[0].rstrip()), got[0].rstrip()) is not None and matches(got[1:], want[1:])


def compiled(folder, code, name, link):
    source = os.path.join(folder, name + ".c")
    with open(source, "w", encoding="utf-8") as file:
        file.write(code)
    argv = ["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-Wno-unused", f"-I{ROOT / 'include'}", source]
    argv += ["-o", os.path.join(folder, name), f"-L{BUILD}", f"-Wl,-rpath,{BUILD}", "-lwengert"] if link else ["-c", "-o", os.path.join(folder, name + ".o")]
    return run(argv)


class Page:
    def __init__(self, path, report):
        self.path, self.report = path, report
        self.text = path.read_text(encoding="utf-8")
        self.output = None  # of the last program, for the text fence behind it
        self.folder = tempfile.mkdtemp()
        self.replaced = []
        for name in ("examples", "docs"):
            os.symlink(ROOT / name, os.path.join(self.folder, name))
        self.environment = {**os.environ, "PATH": f"{BUILD}:{os.environ['PATH']}", "NO_COLOR": "1"}

    def line(self, match):
        return self.text.count("\n", 0, match.start()) + 1

    def check(self):
        for number, match in enumerate(FENCE.finditer(self.text)):
            where = f"{self.path.name}:{self.line(match)}"
            handler = getattr(self, "do_" + match[1], None)
            if handler:
                handler(match, where, f"snippet{number}")
            if match[1] not in ("c", "text"):
                self.output = None
        shutil.rmtree(self.folder)

    def do_wg(self, match, where, _):
        name = match[2].split()[0] if match[2] else "snippet.wg"
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(match[3])
        parsed = run([BUILD / "wengert", "print", name], cwd=self.folder, env=self.environment)
        self.report.check(parsed.returncode == 0, f"{where}: the program does not parse:\n{parsed.stdout}")

    def do_c(self, match, where, name):
        part = match[2].startswith("part")
        built = compiled(self.folder, PART % match[3] if part else match[3], name, not part)
        if not self.report.check(built.returncode == 0, f"{where}: does not compile:\n{built.stdout}") or part:
            return
        ran = run([os.path.join(self.folder, name)], cwd=self.folder, env=self.environment)
        self.output = ran.stdout
        self.report.check(ran.returncode == 0, f"{where}: ends with {ran.returncode}:\n{ran.stdout}")

    def expect(self, got, want, where, span):
        if got.splitlines() != want.splitlines() and not matches(got.splitlines(), want.splitlines()):
            self.replaced.append((span, got if got.endswith("\n") or not got else got + "\n"))
            self.report.check(False, f"{where}: shows\n{want}but prints\n{got}")
        else:
            self.report.check(True, "")

    def do_text(self, match, where, _):
        if self.output is not None:
            self.expect(self.output, match[3], where, match.span(3))
        self.output = None

    def do_console(self, match, where, _):
        blocks = re.split(r"^\$ ", match[3], flags=re.M)[1:]
        at = match.start(3)
        for block in blocks:
            command, _, want = block.partition("\n")
            start = at + 2 + len(command) + 1
            at = start + len(want)
            ran = run(["bash", "-c", command], cwd=self.folder, env=self.environment)
            self.expect(ran.stdout, want, f"{where}: $ {command}", (start, at))

    def write(self):
        text = self.text
        for (start, end), got in sorted(self.replaced, reverse=True):
            text = text[:start] + got + text[end:]
        if text != self.text:
            self.path.write_text(text, encoding="utf-8")
            print(f"rewrote {self.path.name}")


report = Report()
for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
    page = Page(path, report)
    page.check()
    if "--write" in sys.argv:
        page.write()
report.finish()
