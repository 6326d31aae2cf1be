#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What the libraries export, need and weigh.

The dynamic symbols of a library lib<name> are the sorted lines of src/<name>.exports; each starts with wg_ and is found by dlsym, and each
function that the library's public headers declare is among them. libwengert needs libc and threads alone, the others what OTHERS says.
`--write` rewrites the lists."""
import ctypes
import pathlib
import re
import shutil
import sys
import tempfile

from house import BUILD, LIBRARIES, ROOT, Report, run

# The public headers of the libraries (libwengert: every other one), and what they may need beside libc and threads.
HEADERS = {"wengert-lazy": {"array.h", "array_sites.h", "lazy.h"}, "wengert-bpl": {"bpl.h"}, "wengert-model": {"model.h", "tokenizer.h", "generate.h"}}
OWN = r"|^libwengert\.so\.\d+(\.\d+)?$"
LAZY = r"|^libwengert-lazy\.so\.\d+(\.\d+)?$"
OTHERS = {"wengert": "", "wengert-lazy": OWN, "wengert-bpl": OWN + LAZY + r"|^lib(gmp|pcre2-8|utf8proc)\.so\.\d+$",
          "wengert-model": OWN + r"|^libutf8proc\.so\.\d+$"}
FILES = {name: BUILD / f"lib{name}.so" for name in LIBRARIES}
NEEDED = {name: re.compile(r"^(libc|libpthread|ld-linux[-a-z0-9_]*|ld64)\.so\.\d+$" + more) for name, more in OTHERS.items()}
STRIPPED_LIMIT = 2 * 1024 * 1024
DECLARED = re.compile(r'visibility\s*\(\s*"default"\s*\)\s*\)\s*\)[^;{}]*?\b(wg_\w+)\s*\)?\s*\(')


def symbols(path, *options):
    """Names that nm -D prints, without their versions."""
    names = (line.split()[-1].split("@")[0] for line in run(["nm", "-D", *options, path]).stdout.splitlines() if line.strip())
    return sorted(set(names))


def list_of(name):
    return ROOT / "src" / f"{name}.exports"


def declared(name):
    """The functions that the library's own public headers declare, macros expanded: by the header that each line comes from."""
    headers = sorted(path.name for path in (ROOT / "include" / "wengert").glob("*.h"))
    owned = set().union(*HEADERS.values())
    with tempfile.TemporaryDirectory() as directory:
        source = pathlib.Path(directory, "all.c")
        source.write_text("".join(f'#include "wengert/{header}"\n' for header in headers))
        expanded = run(["cc", "-std=c11", "-E", f"-I{ROOT / 'include'}", source]).stdout
    text, mine = [], False
    for line in expanded.splitlines():
        marker = re.match(r'# \d+ "([^"]*)"', line)
        if marker and marker[1].endswith(".def"):
            continue  # the tables are part of the header that includes them
        if marker:
            path = pathlib.Path(marker[1])
            mine = path.parent.name == "wengert" and (path.name in HEADERS[name] if name in HEADERS else path.name not in owned)
        elif mine:
            text.append(line)
    return sorted(set(DECLARED.findall("\n".join(text))))


def check_list(report, name, exported):
    path = list_of(name)
    listed = path.read_text().split() if path.exists() else []
    for symbol in sorted(set(exported) - set(listed)):
        report.check(False, f"{symbol} is exported but not in {path.name}; if it should be, run `make exports`")
    for symbol in sorted(set(listed) - set(exported)):
        report.check(False, f"{symbol} is in {path.name} but not exported; an ABI break unless it never was released")
    report.check(listed == sorted(listed), f"{path.name} is not sorted; run `make exports`")
    for symbol in exported:
        report.check(symbol.startswith("wg_"), f"{symbol} is exported and does not start with wg_; make it hidden")


def check_declared(report, name, exported):
    names = declared(name)
    report.check(names, "no declaration was found in the public headers")
    for symbol in names:
        report.check(symbol in exported, f"{symbol} is declared in a public header and lib{name} does not export it")
    for symbol in sorted(set(exported) - set(names)):
        report.check(False, f"{symbol} is exported and no public header declares it")
    library = ctypes.CDLL(str(FILES[name]))
    for symbol in names:
        report.check(hasattr(library, symbol), f"dlsym does not find {symbol}")


def check_needs(report, name):
    dynamic = run(["readelf", "-dW", FILES[name]]).stdout
    for needed in re.findall(r"NEEDED.*\[(.+)\]", dynamic):
        report.check(NEEDED[name].match(needed), f"lib{name} needs {needed}; see OTHERS for what it may need")
    soname = rf"SONAME.*\[lib{name}\.so\.\d+(\.\d+)?\]"
    report.check(re.search(soname, dynamic), f"the library has no SONAME lib{name}.so.<abi>")
    report.check(constructors(FILES[name]) == 0, f"lib{name} runs code when it is loaded")
    # libc has a few of libm's functions (ldexp, frexp, ...) too: those come from libc here, and depend on nothing of libm.
    libm = run(["cc", "-print-file-name=libm.so.6"]).stdout.strip()
    libc = run(["cc", "-print-file-name=libc.so.6"]).stdout.strip()
    functions = set(symbols(libm, "--defined-only")) - set(symbols(libc, "--defined-only"))
    report.check(len(functions) > 100, f"the symbols of {libm} cannot be read")
    for symbol in sorted(functions & set(symbols(FILES[name], "--undefined-only"))):
        report.check(False, f"lib{name} calls {symbol} of libm")


def constructors(library):
    """Entries of .init_array beyond those of the C runtime: its own, and the compiler's look at the processor."""
    sections = run(["readelf", "-SW", library]).stdout
    size = re.search(r"\.init_array\s+INIT_ARRAY\s+\w+\s+\w+\s+(\w+)", sections)
    runtime = 1 + ("__cpu_indicator_init" in run(["nm", library]).stdout)
    return max(0, int(size[1], 16) // ctypes.sizeof(ctypes.c_void_p) - runtime) if size else 0


def check_size(report):
    with tempfile.TemporaryDirectory() as directory:
        copy = pathlib.Path(directory, "libwengert.so")
        shutil.copyfile(FILES["wengert"], copy)
        run(["strip", copy])
        size = copy.stat().st_size
    print(f"libwengert stripped: {size:,} bytes")
    report.check(size < STRIPPED_LIMIT, f"the stripped library has {size:,} bytes; less than {STRIPPED_LIMIT:,} is promised")


def main():
    if "--write" in sys.argv[1:]:
        for name, library in FILES.items():
            exported = symbols(library, "--defined-only")
            list_of(name).write_text("".join(symbol + "\n" for symbol in exported))
            print(f"{list_of(name).relative_to(ROOT)}: {len(exported)} symbols")
        return
    report = Report()
    for name, library in FILES.items():
        if not report.check(library.exists(), f"{library} is not there"):
            continue
        exported = symbols(library, "--defined-only")
        check_list(report, name, exported)
        check_declared(report, name, exported)
        check_needs(report, name)
    if FILES["wengert"].exists():
        check_size(report)
    report.finish()


if __name__ == "__main__":
    main()
