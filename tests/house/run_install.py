#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""`cmake --install` into an empty directory, and programs that find the installed library by pkg-config and by find_package."""
import os
import pathlib
import tempfile

from house import BUILD, ROOT, Report, run

PROGRAM = """
#include <stdio.h>
#include "wengert/types.h"
int main(void) { puts(wg_kind_name(WG_KIND_F32)); return 0; }
"""
PROJECT = """
cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES C)
find_package(wengert REQUIRED)
"""
LAZY_PROGRAM = """
#include <stdio.h>
#include "wengert/lazy.h"
int main(void)
{
    wg_lazy *lazy = wg_lazy_new(NULL, NULL);
    wg_array *two = wg_array_number(lazy, WG_KIND_F32, 2), *operands[2] = {two, two}, *four = wg_array_record(lazy, WG_OP_Add, operands, 2, NULL, 0);
    double number = 0;
    if (!wg_array_double(four, &number)) return 1;
    puts(number == 4 ? wg_kind_name(wg_array_kind(four)) : "wrong");
    wg_lazy_free(&lazy);
    return 0;
}
"""
# A statement about letters, whose library a program that links statically must name, too.
BPL_PROGRAM = """
#include <stdio.h>
#include <string.h>
#include "wengert/bpl.h"
int main(void)
{
    static const char text[] = "¯1•c \\"F32\\"";
    wg_bpl *bpl = wg_bpl_new(NULL, NULL);
    wg_bpl_outcome outcome;
    bool done = bpl && wg_bpl_run(bpl, NULL, text, strlen(text), &outcome);
    puts(done ? outcome.display : "wrong");
    wg_bpl_free(&bpl);
    return 0;
}
"""
MODEL_PROGRAM = """
#include <stdio.h>
#include "wengert/tokenizer.h"
int main(void)
{
    wg_tokenizer *tokenizer = wg_tokenizer_open(NULL, "bytes", NULL);
    puts(wg_tokenizer_count(tokenizer) >= 256 ? "f32" : "wrong");
    wg_tokenizer_free(&tokenizer);
    return 0;
}
"""
PROGRAMS = {"wengert": PROGRAM, "wengert-lazy": LAZY_PROGRAM, "wengert-bpl": BPL_PROGRAM, "wengert-model": MODEL_PROGRAM}


def prints_f32(report, program, libraries, how):
    done = run([program], env=dict(os.environ, LD_LIBRARY_PATH=str(libraries)))
    report.check((done.returncode, done.stdout) == (0, "f32\n"), f"a program linked by {how}: exit {done.returncode}, {done.stdout!r}")


def check_files(report, prefix, libraries):
    for header in sorted((ROOT / "include" / "wengert").iterdir()):
        report.check((prefix / "include" / "wengert" / header.name).exists(), f"{header.name} is not installed")
    names = [pattern % name for name in PROGRAMS for pattern in ("lib%s.so", "lib%s.a", "pkgconfig/%s.pc")]
    for name in names + ["cmake/wengert/wengert-config.cmake"]:
        report.check((libraries / name).exists(), f"{name} is not installed")
    if (BUILD / "wengert").exists():
        report.check((prefix / "bin" / "wengert").exists(), "the command is not installed")
    for page in sorted((ROOT / "docs" / "man").glob("*.1")):
        report.check((prefix / "share" / "man" / "man1" / page.name).exists(), f"{page.name} is not installed")
    for name in "LICENSE-APACHE", "LICENSE-MIT", "THIRD-PARTY.md":
        report.check((prefix / "share" / "doc" / "wengert" / name).exists(), f"{name} is not installed")


def check_pkg_config(report, directory, libraries):
    environment = dict(os.environ, PKG_CONFIG_PATH=str(libraries / "pkgconfig"))
    for package in PROGRAMS:
        flags = run(["pkg-config", "--cflags", "--libs", package], env=environment).stdout.split()
        linked = run(["cc", "-std=c11", directory / f"{package}.c", "-o", directory / package, *flags])
        if report.check(linked.returncode == 0, f"pkg-config's flags {flags} do not link:\n{linked.stdout}"):
            prints_f32(report, directory / package, libraries, f"pkg-config {package}")
        run(["cc", "-std=c11", directory / f"{package}.c", "-o", directory / package, *flags, f"-Wl,-rpath,{libraries}"])
        prints_f32(report, directory / package, "", f"pkg-config {package} and an rpath")


def check_find_package(report, directory, prefix, libraries):
    ways = {f"{package}-{kind}": (package, suffix) for package in PROGRAMS for kind, suffix in (("shared", ""), ("static", "_static"))}
    (directory / "CMakeLists.txt").write_text(PROJECT + "".join(
        f"add_executable({way} {package}.c)\ntarget_link_libraries({way} wengert::{package.replace('-', '_')}{suffix})\n" for way, (package, suffix) in ways.items()))
    configured = run(["cmake", "-G", "Ninja", "-S", directory, "-B", directory / "out", f"-DCMAKE_PREFIX_PATH={prefix}"])
    built = run(["cmake", "--build", directory / "out"])
    if report.check(built.returncode == 0, f"find_package does not build:\n{configured.stdout}{built.stdout}"):
        for way in ways:
            prints_f32(report, directory / "out" / way, libraries, f"find_package, {way}")


def main():
    report = Report()
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        # DESTDIR and a prefix that was not configured, at once.
        installed = run(["cmake", "--install", BUILD, "--prefix", "/opt/place"], env=dict(os.environ, DESTDIR=str(directory / "stage")))
        prefix = directory / "stage" / "opt" / "place"
        found = sorted(prefix.rglob("libwengert.so"))
        if report.check(installed.returncode == 0 and found, f"cmake --install failed:\n{installed.stdout}"):
            for package, text in PROGRAMS.items():
                (directory / f"{package}.c").write_text(text)
            check_files(report, prefix, found[0].parent)
            check_pkg_config(report, directory, found[0].parent)
            check_find_package(report, directory, prefix, found[0].parent)
    report.finish()


if __name__ == "__main__":
    main()
