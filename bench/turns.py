# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Benches on a machine that others use too."""
import contextlib
import fcntl
import os
import time


@contextlib.contextmanager
def locked():
    """Nobody else who asks times anything meanwhile: the file BENCH_LOCK of the environment is locked; without it nothing is."""
    with open(os.environ.get("BENCH_LOCK", os.devnull), "w") as file:
        if "BENCH_LOCK" in os.environ:
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def favoured():
    """In a process that begins: other work on the machine then matters less. Where sessions are groups that share the machine equally, niceness is among
    a group's own, and the group's counts."""
    os.setsid()
    with contextlib.suppress(OSError):
        os.nice(-20)
    with contextlib.suppress(OSError), open("/proc/self/autogroup", "w") as group:
        group.write("-20")


def runs(process):
    """Whether a thread of the process has something to do."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for task in os.listdir(f"/proc/{process}/task"):
            with open(f"/proc/{process}/task/{task}/stat") as facts:
                if facts.read().rpartition(")")[2].split()[0] == "R":
                    return True
    return False


def rest(process, seconds=1):
    """Waits until no thread of the process has something to do, if that is so soon: ONNX Runtime's spin for some 60 ms after a turn."""
    quiet, end = 0, time.monotonic() + seconds
    while quiet < 3 and time.monotonic() < end:
        quiet = 0 if runs(process) else quiet + 1
        time.sleep(0.001)
