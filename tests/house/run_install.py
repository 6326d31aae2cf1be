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
add_executable(shared program.c)
target_link_libraries(shared wengert::wengert)
add_executable(static program.c)
target_link_libraries(static wengert::wengert_static)
add_executable(lazy_shared lazy.c)
target_link_libraries(lazy_shared wengert::wengert_lazy)
add_executable(lazy_static lazy.c)
target_link_libraries(lazy_static wengert::wengert_lazy_static)
add_executable(bpl_shared bpl.c)
target_link_libraries(bpl_shared wengert::wengert_bpl)
add_executable(bpl_static bpl.c)
target_link_libraries(bpl_static wengert::wengert_bpl_static)
add_executable(model_shared model.c)
target_link_libraries(model_shared wengert::wengert_model)
add_executable(model_static model.c)
target_link_libraries(model_static wengert::wengert_model_static)
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


def prints_f32(report, program, libraries, how):
    done = run([program], env=dict(os.environ, LD_LIBRARY_PATH=str(libraries)))
    report.check((done.returncode, done.stdout) == (0, "f32\n"), f"a program linked by {how}: exit {done.returncode}, {done.stdout!r}")


def check_files(report, prefix, libraries):
    for header in sorted((ROOT / "include" / "wengert").iterdir()):
        report.check((prefix / "include" / "wengert" / header.name).exists(), f"{header.name} is not installed")
    names = ["libwengert.so", "libwengert.a", "libwengert-lazy.so", "libwengert-lazy.a", "pkgconfig/wengert.pc", "pkgconfig/wengert-lazy.pc"]
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
    for package, source in ("wengert", "program.c"), ("wengert-lazy", "lazy.c"), ("wengert-bpl", "bpl.c"), ("wengert-model", "model.c"):
        flags = run(["pkg-config", "--cflags", "--libs", package], env=environment).stdout.split()
        linked = run(["cc", "-std=c11", directory / source, "-o", directory / package, *flags])
        if report.check(linked.returncode == 0, f"pkg-config's flags {flags} do not link:\n{linked.stdout}"):
            prints_f32(report, directory / package, libraries, f"pkg-config {package}")
        run(["cc", "-std=c11", directory / source, "-o", directory / package, *flags, f"-Wl,-rpath,{libraries}"])
        prints_f32(report, directory / package, "", f"pkg-config {package} and an rpath")


def check_find_package(report, directory, prefix, libraries):
    (directory / "CMakeLists.txt").write_text(PROJECT)
    configured = run(["cmake", "-G", "Ninja", "-S", directory, "-B", directory / "out", f"-DCMAKE_PREFIX_PATH={prefix}"])
    built = run(["cmake", "--build", directory / "out"])
    if report.check(built.returncode == 0, f"find_package does not build:\n{configured.stdout}{built.stdout}"):
        prints_f32(report, directory / "out" / "shared", libraries, "find_package")
        prints_f32(report, directory / "out" / "static", libraries, "find_package, static")
        prints_f32(report, directory / "out" / "lazy_shared", libraries, "find_package, lazy")
        prints_f32(report, directory / "out" / "lazy_static", libraries, "find_package, lazy and static")
        for name in "bpl_shared", "bpl_static", "model_shared", "model_static":
            prints_f32(report, directory / "out" / name, libraries, f"find_package, {name}")


def main():
    report = Report()
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        # DESTDIR and a prefix that was not configured, at once.
        installed = run(["cmake", "--install", BUILD, "--prefix", "/opt/place"], env=dict(os.environ, DESTDIR=str(directory / "stage")))
        prefix = directory / "stage" / "opt" / "place"
        found = sorted(prefix.rglob("libwengert.so"))
        if report.check(installed.returncode == 0 and found, f"cmake --install failed:\n{installed.stdout}"):
            (directory / "program.c").write_text(PROGRAM)
            (directory / "lazy.c").write_text(LAZY_PROGRAM)
            (directory / "bpl.c").write_text(BPL_PROGRAM)
            (directory / "model.c").write_text(MODEL_PROGRAM)
            check_files(report, prefix, found[0].parent)
            check_pkg_config(report, directory, found[0].parent)
            check_find_package(report, directory, prefix, found[0].parent)
    report.finish()


if __name__ == "__main__":
    main()
