# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Builds the extension wengert._core. CMake builds the libraries, with the flags that their bits depend on, and the extension takes
them in: the wheel needs no other file. WENGERT_BUILD names a build directory of the tree whose libraries are taken as they are."""

import os
import pathlib
import re
import subprocess

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parent
VERSION = re.search(r"project\(wengert VERSION (\S+)", (TREE / "CMakeLists.txt").read_text())[1]


def libraries(directory):
    """The static libraries in a build directory; made there where it is not a finished one."""
    if "WENGERT_BUILD" in os.environ:
        directory = pathlib.Path(os.environ["WENGERT_BUILD"])
    else:
        generator = ["-G", "Ninja"] if subprocess.run(["ninja", "--version"], capture_output=True, check=False).returncode == 0 else []
        subprocess.run(["cmake", *generator, "-S", TREE, "-B", directory, "-DWENGERT_TESTS=OFF", "-DCMAKE_BUILD_TYPE=Release"], check=True)
        subprocess.run(["cmake", "--build", directory, "--parallel", "--target", "wengert_static", "wengert_lazy_static"], check=True)
    return [str(directory / name) for name in ("libwengert-lazy.a", "libwengert.a")]


class BuildWithLibraries(build_ext):
    def build_extension(self, extension):
        extension.extra_objects = libraries(pathlib.Path(self.build_temp).resolve() / "libraries")
        super().build_extension(extension)


os.chdir(HERE)
setup(
    version=VERSION,
    ext_modules=[
        Extension(
            "wengert._core",
            sorted(str(path.relative_to(HERE)) for path in (HERE / "src").glob("*.c")),
            include_dirs=[str(TREE / "include")],
            depends=["src/core.h", "src/calls.def"],
            define_macros=[("WENGERT_VERSION", f'"{VERSION}"'), ("_GNU_SOURCE", "1")],
            extra_compile_args=["-std=c11", "-fvisibility=hidden", "-ffp-contract=off"],
            extra_link_args=["-Wl,--exclude-libs,ALL"],
            libraries=["pthread", "dl"],
            py_limited_api=True,
        )
    ],
    cmdclass={"build_ext": BuildWithLibraries},
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
