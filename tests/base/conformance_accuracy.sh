#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# The elementary functions over every f32, and over many more places than in run_accuracy.sh, against MPFR.
set -u
if [ ! -x "$TESTED_BUILD/tests/accuracy" ]; then
    echo "mpfr (libmpfr-dev) is not installed: the accuracy of the elementary functions is not measured"
    echo "0 passed, 1 failed"
    exit 1
elif "$TESTED_BUILD/tests/accuracy" --full; then
    echo "1 passed, 0 failed"
else
    echo "0 passed, 1 failed"
    exit 1
fi
