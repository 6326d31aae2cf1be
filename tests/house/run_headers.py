#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Each public header compiles alone, twice over, as C11, C++17 and C++20, without a warning; and a program of calls on arrays does."""
import pathlib
import tempfile

from house import ROOT, Report, run

LANGUAGES = (("cc", "c11", "c"), ("c++", "c++17", "cpp"), ("c++", "c++20", "cpp"))
# What macros make of lists and numbers, in each language.
ARRAYS = """#include "wengert/array.h"
wg_array *program(wg_array *a, wg_array *p);
wg_array *program(wg_array *a, wg_array *p)
{
    wg_array *b = wg_array_index(wg_array_add(a, 1.5), WG_INDEXES(wg_index_at(1), wg_index_by(p), wg_index_slice(WG_MISSING, 3, -1)));
    wg_array *pair[2] = {a, wg_array_reshape(wg_array_sum(b, WG_AXES(0, -1), true), WG_EXTENTS(2, -1))}, *same[2];
    if (!wg_array_promote(pair, 2, same)) return NULL;
    return wg_array_max(wg_array_mul(same[0], wg_array_maximum(same[1], 0)), WG_ALL_AXES, false);
}
"""

report = Report()
with tempfile.TemporaryDirectory() as directory:
    for header in sorted((ROOT / "include" / "wengert").glob("*.h")):
        for compiler, standard, suffix in LANGUAGES:
            source = pathlib.Path(directory, "alone." + suffix)
            # Twice: the guard is tested too.
            source.write_text(f'#include "wengert/{header.name}"\n' * 2)
            compiled = run([compiler, f"-std={standard}", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{ROOT / 'include'}", source])
            report.check(compiled.returncode == 0, f"include/wengert/{header.name} as {standard}:\n{compiled.stdout}")
    for compiler, standard, suffix in LANGUAGES:
        source = pathlib.Path(directory, "arrays." + suffix)
        source.write_text(ARRAYS)
        compiled = run([compiler, f"-std={standard}", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{ROOT / 'include'}", source])
        report.check(compiled.returncode == 0, f"calls on arrays as {standard}:\n{compiled.stdout}")
report.finish()
