#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What libwengert exports, needs and weighs.

Its dynamic symbols are the sorted lines of src/wengert.exports, each starts with wg_ and is found by dlsym, and each function that
the public headers declare is among them. It needs libc and threads alone. `--write` rewrites the list."""
import ctypes
import pathlib
import re
import shutil
import sys
import tempfile

from house import BUILD, ROOT, Report, run

LIST = ROOT / "src" / "wengert.exports"
LIBRARY = BUILD / "libwengert.so"
STRIPPED_LIMIT = 2 * 1024 * 1024
NEEDED = re.compile(r"^(libc|libpthread|ld-linux[-a-z0-9_]*|ld64)\.so\.\d+$")
DECLARED = re.compile(r'visibility\s*\(\s*"default"\s*\)\s*\)\s*\)[^;{}]*?\b(wg_\w+)\s*\)?\s*\(')


def symbols(path, *options):
    """Names that nm -D prints, without their versions."""
    names = (line.split()[-1].split("@")[0] for line in run(["nm", "-D", *options, path]).stdout.splitlines() if line.strip())
    return sorted(set(names))


def declared():
    """The functions that the public headers declare, macros expanded."""
    headers = sorted((ROOT / "include" / "wengert").glob("*.h"))
    text = "".join(f'#include "wengert/{path.name}"\n' for path in headers)
    with tempfile.TemporaryDirectory() as directory:
        source = pathlib.Path(directory, "all.c")
        source.write_text(text)
        expanded = run(["cc", "-std=c11", "-E", "-P", f"-I{ROOT / 'include'}", source])
    return sorted(set(DECLARED.findall(expanded.stdout)))


def check_list(report, exported):
    listed = LIST.read_text().split() if LIST.exists() else []
    for name in sorted(set(exported) - set(listed)):
        report.check(False, f"{name} is exported but not in src/wengert.exports; if it should be, run `make exports`")
    for name in sorted(set(listed) - set(exported)):
        report.check(False, f"{name} is in src/wengert.exports but not exported; an ABI break unless it never was released")
    report.check(listed == sorted(listed), "src/wengert.exports is not sorted; run `make exports`")
    for name in exported:
        report.check(name.startswith("wg_"), f"{name} is exported and does not start with wg_; make it hidden")


def check_declared(report, exported):
    names = declared()
    report.check(names, "no declaration was found in the public headers")
    for name in names:
        report.check(name in exported, f"{name} is declared in a public header and not exported")
    for name in sorted(set(exported) - set(names)):
        report.check(False, f"{name} is exported and no public header declares it")
    library = ctypes.CDLL(str(LIBRARY))
    for name in names:
        report.check(hasattr(library, name), f"dlsym does not find {name}")


def check_needs(report):
    dynamic = run(["readelf", "-dW", LIBRARY]).stdout
    for name in re.findall(r"NEEDED.*\[(.+)\]", dynamic):
        report.check(NEEDED.match(name), f"the library needs {name}; libc and threads are all it may need")
    report.check(re.search(r"SONAME.*\[libwengert\.so\.\d+(\.\d+)?\]", dynamic), "the library has no SONAME libwengert.so.<abi>")
    report.check(constructors() == 0, "the library runs code when it is loaded")
    # libc has a few of libm's functions (ldexp, frexp, ...) too: those come from libc here, and depend on nothing of libm.
    libm = run(["cc", "-print-file-name=libm.so.6"]).stdout.strip()
    libc = run(["cc", "-print-file-name=libc.so.6"]).stdout.strip()
    functions = set(symbols(libm, "--defined-only")) - set(symbols(libc, "--defined-only"))
    report.check(len(functions) > 100, f"the symbols of {libm} cannot be read")
    for name in sorted(functions & set(symbols(LIBRARY, "--undefined-only"))):
        report.check(False, f"the library calls {name} of libm")


def constructors():
    """Entries of .init_array beyond those of the C runtime: its own, and the compiler's look at the processor."""
    sections = run(["readelf", "-SW", LIBRARY]).stdout
    size = re.search(r"\.init_array\s+INIT_ARRAY\s+\w+\s+\w+\s+(\w+)", sections)
    runtime = 1 + ("__cpu_indicator_init" in run(["nm", LIBRARY]).stdout)
    return max(0, int(size[1], 16) // ctypes.sizeof(ctypes.c_void_p) - runtime) if size else 0


def check_size(report):
    with tempfile.TemporaryDirectory() as directory:
        copy = pathlib.Path(directory, "libwengert.so")
        shutil.copyfile(LIBRARY, copy)
        run(["strip", copy])
        size = copy.stat().st_size
    print(f"libwengert stripped: {size:,} bytes")
    report.check(size < STRIPPED_LIMIT, f"the stripped library has {size:,} bytes; less than {STRIPPED_LIMIT:,} is promised")


def main():
    exported = symbols(LIBRARY, "--defined-only")
    if "--write" in sys.argv[1:]:
        LIST.write_text("".join(name + "\n" for name in exported))
        print(f"{LIST.relative_to(ROOT)}: {len(exported)} symbols")
        return
    report = Report()
    if report.check(LIBRARY.exists(), f"{LIBRARY} is not there"):
        check_list(report, exported)
        check_declared(report, exported)
        check_needs(report)
        check_size(report)
    report.finish()


if __name__ == "__main__":
    main()
