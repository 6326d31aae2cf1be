#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# The formulas of one item against the widest vectors over every f32 (each sixteenth where the f32 result is a rounded f64 one).
set -u
if WENGERT_CONFORMANCE=1 "$TESTED_BUILD/tests/test_base_formula_forms"; then
    echo "1 passed, 0 failed"
else
    echo "0 passed, 1 failed"
    exit 1
fi
