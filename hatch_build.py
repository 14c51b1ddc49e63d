"""The C loops of `src/rushes/native`, compiled into one library while Rushes is built.

`python hatch_build.py` does it in a checkout. The compiler is $CC, or else cc, gcc or clang.
"""

from __future__ import annotations

import os
import platform
import re
import runpy
import shlex
import shutil
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NATIVE = Path(__file__).resolve().parent / "src" / "rushes" / "native"

# No option that lets the compiler reorder or fuse floating-point operations: numbers are the same on every processor.
OPTIONS = [
    "-std=gnu11",
    "-O3",
    "-fPIC",
    "-shared",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fwrapv",
    "-fvisibility=hidden",
]


class NativeLoops(BuildHookInterface):  # type: ignore[type-arg]
    """One wheel for each platform, whatever the Python: the library is loaded with ctypes."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, for a wheel and for an editable installation alike; a source distribution carries the C files."""
        if self.target_name != "wheel":
            return
        library = compile_loops()
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{_platform()}"
        if version != "editable":  # there it lies beside its sources
            build_data["force_include"][str(library)] = "rushes/native/loops.so"


def compile_loops() -> Path:
    """Make `loops.so` beside its sources. It takes its name when it is whole, so a running Rushes keeps the old one."""
    library = NATIVE / "loops.so"
    unfinished = NATIVE / f"loops.{os.getpid()}.tmp"
    # Without PYTHONPATH, by which pip hides what is installed: $CC may be a program of Python's.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    try:
        if subprocess.run(command(unfinished), env=environment).returncode:
            raise SystemExit("The C loops of Rushes do not compile: the lines above say why.")
        unfinished.replace(library)
    finally:
        unfinished.unlink(missing_ok=True)
    return library


def command(library: Path) -> list[str]:
    """The compiler's command line for the library."""
    sources = runpy.run_path(str(NATIVE / "sources.py"))
    known = f'-DRUSHES_SOURCES="{sources["digest"]()}"'
    return [*_compiler(), *OPTIONS, known, "-o", str(library), *map(str, sources["c_files"]()), "-lm"]


def _compiler() -> list[str]:
    if given := os.environ.get("CC"):
        return shlex.split(given)
    for name in ("cc", "gcc", "clang"):
        if found := shutil.which(name):
            return [found]
    raise SystemExit(
        "Building Rushes from source needs a C compiler, and there is no cc, gcc or clang here: install "
        "one (Debian: apt install gcc libc6-dev), or `pip install ziglang` and set "
        'CC="$(command -v python3) -m ziglang cc".'
    )


def _platform() -> str:
    tag = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    if platform.system() != "Darwin":
        return tag
    # A Python for both processors may name a macOS older than the first one on ARM, and pip refuses such a tag there.
    return re.sub(r"macosx_10_\d+_arm64", "macosx_11_0_arm64", tag.replace("universal2", platform.machine()))


if __name__ == "__main__":
    print(compile_loops())
