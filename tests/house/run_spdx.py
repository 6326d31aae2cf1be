#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Every source states its licence in its first line, or in the second after `#!`, and none has the marks of a merge that was not ended."""
from house import ROOT, Report, source_files

LINE = "SPDX-License-Identifier: Apache-2.0 OR MIT"
MARKS = ("<" * 7 + " ", ">" * 7 + " ")

report = Report()
for path in source_files():
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    first = lines[1:2] if lines and lines[0].startswith("#!") else lines[:1]
    report.check(first and LINE in first[0], f"{path.relative_to(ROOT)}:1: no `{LINE}`; add it as the first line")
    for number, line in enumerate(lines, 1):
        if line.startswith(MARKS):
            report.check(False, f"{path.relative_to(ROOT)}:{number}: a merge was not ended here")
for name, words in ("LICENSE-APACHE", "Apache License"), ("LICENSE-MIT", "Copyright 2026 The Wengert Authors"):
    text = (ROOT / name).read_text() if (ROOT / name).exists() else ""
    report.check(words in text, f"{name}: the text of the licence is missing")
report.finish()
