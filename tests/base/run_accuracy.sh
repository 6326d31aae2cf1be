#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# The elementary functions on a sample of places against MPFR, where that is installed: errors within what is promised, special values right.
set -u
if [ ! -x "$TESTED_BUILD/tests/accuracy" ]; then
    echo "mpfr (libmpfr-dev) is not installed: the accuracy of the elementary functions is not measured"
    echo "0 passed, 0 failed"
elif "$TESTED_BUILD/tests/accuracy"; then
    echo "1 passed, 0 failed"
else
    echo "0 passed, 1 failed"
    exit 1
fi
