#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Every snippet of the README and of docs/*.md is run, and what it shows is what it prints.

Fences, by their first words:
  ```wg NAME        a program text: written to NAME in the page's folder, and must parse
  ```bpl NAME       a program of BPL: run, and a ```text right after it is its output; with a NAME it is written there first
  ```c              a whole program: compiled with the library, run; a ```text right after it is its output
  ```c main NAME    what stands inside of main, with stdio.h and wengert.h included; messages call its lines NAME:1 ..
  ```c arrays NAME  the same with wengert/array.h, a context `lazy` with an open scope, and `show(array)`, which prints a shape and items
  ```c part         lines of a program: compiled inside a function that has a tape `tape` and a value `x`
  ```console        lines `$ command` run in the page's folder (`> ` goes on with it), what follows each is its output
  ```text           output of the program before it
Commands find the command, the headers and the library as if they were installed; `examples` stands in the page's folder. In expected
output a line `...` stands for any lines, and `...` inside a line for anything.

`run_docs.py PAGE ...` runs the pages whose names hold one of the words. `--write` writes the output that came instead."""
import os
import re
import shutil
import sys
import tempfile

from house import BUILD, LIBRARIES, ROOT, Report, run

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
MAIN = """#include <stdio.h>
#include "wengert/wengert.h"
int main(void)
{
#line 1 "%s"
%sreturn 0;
}
"""
ARRAYS = """#include <stdio.h>
#include "wengert/array.h"
static void show(wg_array *array)
{
    wg_tensor *items = wg_array_tensor(wg_array_convert(array, WG_KIND_F64));
    if (!items) { printf("%%s\\n", wg_lazy_error(wg_array_lazy(array))->message); return; }
    printf("[");
    for (uint32_t i = 0; i < wg_tensor_rank(items); i++) printf(i ? ", %%lld" : "%%lld", (long long)wg_tensor_shape(items)[i]);
    printf("]:");
    for (int64_t i = 0; i < wg_tensor_volume(items); i++) printf(" %%.6g", ((double *)wg_tensor_data(items))[i]);
    printf("\\n");
    wg_tensor_release(items);
}
int main(void)
{
wg_lazy *lazy = wg_lazy_new(NULL, NULL);
wg_scope_open(lazy);
#line 1 "%s"
%swg_lazy_free(&lazy);
return 0;
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


def surroundings():
    """The environment in which the build stands for an installed library and command."""
    paths = {"PATH": BUILD, "CPATH": ROOT / "include", "LIBRARY_PATH": BUILD, "LD_LIBRARY_PATH": BUILD}
    joined = {name: f"{path}:{os.environ[name]}" if os.environ.get(name) else str(path) for name, path in paths.items()}
    others = {name: value for name, value in os.environ.items() if not name.startswith("WENGERT_")}
    return {**others, **joined, "NO_COLOR": "1", "LC_ALL": "C.UTF-8"}


def compiled(folder, code, name, link, environment):
    source = os.path.join(folder, name + ".c")
    with open(source, "w", encoding="utf-8") as file:
        file.write(code)
    argv = ["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-Wno-unused", source, "-o", os.path.join(folder, name)]
    return run(argv + ([f"-l{name}" for name in LIBRARIES] if link else ["-c"]), env=environment)


class Page:
    def __init__(self, path, report):
        self.path, self.report = path, report
        self.text = path.read_text(encoding="utf-8")
        self.output = None  # of the last program, for the text fence behind it
        self.folder = tempfile.mkdtemp()
        self.replaced = []
        for name in ("examples", "docs"):
            os.symlink(ROOT / name, os.path.join(self.folder, name))
        self.environment = surroundings()

    def line(self, match):
        return self.text.count("\n", 0, match.start()) + 1

    def check(self):
        for number, match in enumerate(FENCE.finditer(self.text)):
            where = f"{self.path.name}:{self.line(match)}"
            handler = getattr(self, "do_" + match[1], None)
            if handler:
                handler(match, where, f"snippet{number}")
            if match[1] not in ("bpl", "c", "text"):
                self.output = None
        shutil.rmtree(self.folder)

    def do_wg(self, match, where, _):
        name = match[2].split()[0] if match[2] else "snippet.wg"
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(match[3])
        parsed = run([BUILD / "wengert", "print", name], cwd=self.folder, env=self.environment)
        self.report.check(parsed.returncode == 0, f"{where}: the program does not parse:\n{parsed.stdout}")

    def do_bpl(self, match, where, name):
        file = os.path.join(self.folder, match[2].split()[0] if match[2] else name + ".bpl")
        with open(file, "w", encoding="utf-8") as program:
            program.write(match[3])
        self.runs([BUILD / "wengert", "bpl", file], where)

    def do_c(self, match, where, name):
        form, _, file = match[2].partition(" ")
        code = {"part": lambda: PART % match[3], "main": lambda: MAIN % (file or name + ".c", match[3]),
                "arrays": lambda: ARRAYS % (file or name + ".c", match[3])}.get(form, lambda: match[3])()
        built = compiled(self.folder, code, name, form != "part", self.environment)
        if not self.report.check(built.returncode == 0, f"{where}: does not compile:\n{built.stdout}") or form == "part":
            return
        self.runs([os.path.join(self.folder, name)], where)

    def runs(self, argv, where):
        """A program of the page; what it prints is the output that may follow."""
        ran = run(argv, cwd=self.folder, env=self.environment)
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
        for block in re.finditer(r"^\$ (.*\n(?:> .*\n)*)((?:(?!\$ ).*\n)*)", match[3], re.M):
            command = block[1].replace("\n> ", "\n").strip()
            start = match.start(3) + block.start(2)
            ran = run(["bash", "-c", command], cwd=self.folder, env=self.environment)
            self.expect(ran.stdout, block[2], f"{where}: $ {command}", (start, start + len(block[2])))

    def write(self):
        text = self.text
        for (start, end), got in sorted(self.replaced, reverse=True):
            text = text[:start] + got + text[end:]
        if text != self.text:
            self.path.write_text(text, encoding="utf-8")
            print(f"rewrote {self.path.name}")


def main():
    report = Report()
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        if words and not any(word in path.name for word in words):
            continue
        page = Page(path, report)
        page.check()
        if "--write" in sys.argv:
            page.write()
    report.finish()


if __name__ == "__main__":
    main()
