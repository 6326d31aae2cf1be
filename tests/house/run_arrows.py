#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The include arrows of the tree, and of a planted tree that breaks each rule once."""
import pathlib
import tempfile

import arrows
from house import ROOT, Report

PLANTED = {
    # file: (line, must be refused)
    "src/base/up.c": ('#include "graph/tape.h"', True),
    "src/base/public_up.c": ('#include "wengert/graph.h"', True),
    "src/graph/down.c": ('#include "base/text.h"', False),
    "src/graph/library.c": ("#include <zlib.h>", True),
    "src/graph/system.c": ("#include <string.h>", False),
    "src/exec/judge.c": ('#include "interp/interp.h"', True),
    "src/interp/executor.h": ('  #  include "exec/kernels.h"', True),
    "src/nn/private.c": ('#include "graph/tape.h"', True),
    "src/nn/public.c": ('#include "wengert/plan.h"', False),
    "src/nn/own.c": ('#include "nn/layer.h"', False),
    "src/text/beside.c": ('#include "nn/layer.h"', True),
    "src/plan/lost.c": ('#include "../graph/tape.h"', True),
    "src/plan/own.inc": ('#include "exec/kernels.h"', True),
    "src/tools/zip.c": ("#include <zlib.h>", False),
    "src/attic/any.c": ("#include <string.h>", True),
}

report = Report()
count, complaints = arrows.read(ROOT)
report.passed += count - len(complaints)
for text in complaints:
    report.check(False, text)
with tempfile.TemporaryDirectory() as directory:
    for name, (line, _) in PLANTED.items():
        path = pathlib.Path(directory, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(line + "\n")
    _, refused = arrows.read(pathlib.Path(directory))
for name, (line, must) in PLANTED.items():
    report.check(any(text.startswith(name + ":") for text in refused) == must,
                 f"planted {name} with `{line}` must {'' if must else 'not '}be refused")
report.finish()
