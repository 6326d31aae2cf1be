# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The Python package of a build directory: which interpreter can build it, and building it there."""

import fcntl
import os
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "house"))
from house import BUILD, ROOT, cached, run  # noqa: E402

NEEDS = """
import os, sys, sysconfig
import setuptools
sys.exit(sys.version_info < (3, 11) or not os.path.exists(sysconfig.get_path("include") + "/Python.h"))
"""


def interpreter():
    """The first interpreter that can build it, one with NumPy before one without; None and what is missing."""
    able = [
        name
        for name in dict.fromkeys(["/usr/bin/python3", sys.executable])
        if shutil.which(name) and run([name, "-c", NEEDS]).returncode == 0
    ]
    able.sort(key=lambda name: run([name, "-c", "import numpy"]).returncode)
    if not able:
        return (
            None,
            "no Python 3.11 or later with its headers and setuptools: install python3-dev, python3-setuptools and python3-wheel",
        )
    if "address" in cached("WENGERT_SANITIZE") or "thread" in cached("WENGERT_SANITIZE"):
        return None, "this build's libraries are sanitized, which an extension cannot be"
    return able[0], None


def built(python):
    """The package with its extension, in a directory to be put on the path; the output of the build, where it failed, as an exception."""
    place = BUILD / "python"
    place.mkdir(exist_ok=True)
    with open(place / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests that need it run side by side
        done = run([python, ROOT / "python" / "setup.py", "-q", "build", "--build-base", place / "temp", "--build-lib", place / "lib"],
                   env=dict(os.environ, WENGERT_BUILD=str(BUILD)))
    if done.returncode:
        raise RuntimeError(done.stdout)
    return place / "lib"
