#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Each public header compiles alone, twice over, as C11, C++17 and C++20, without a warning."""
import pathlib
import tempfile

from house import ROOT, Report, run

LANGUAGES = (("cc", "c11", "c"), ("c++", "c++17", "cpp"), ("c++", "c++20", "cpp"))

report = Report()
with tempfile.TemporaryDirectory() as directory:
    for header in sorted((ROOT / "include" / "wengert").glob("*.h")):
        for compiler, standard, suffix in LANGUAGES:
            source = pathlib.Path(directory, "alone." + suffix)
            # Twice: the guard is tested too.
            source.write_text(f'#include "wengert/{header.name}"\n' * 2)
            compiled = run([compiler, f"-std={standard}", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{ROOT / 'include'}", source])
            report.check(compiled.returncode == 0, f"include/wengert/{header.name} as {standard}:\n{compiled.stdout}")
report.finish()
