# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Benches on a machine that others use too."""
import contextlib
import fcntl
import os


@contextlib.contextmanager
def locked():
    """Nobody else who asks times anything meanwhile: the file BENCH_LOCK of the environment is locked; without it nothing is."""
    with open(os.environ.get("BENCH_LOCK", os.devnull), "w") as file:
        if "BENCH_LOCK" in os.environ:
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
