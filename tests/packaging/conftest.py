"""The wheel, built without a network, and without compiling the loops a second time."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMPILED = """
import shutil, sys
target = sys.argv[sys.argv.index("-o") + 1]
shutil.copyfile(target.rpartition("/")[0] + "/loops.so", target)
"""
"""In the compiler's place: gives the library that lies there. tests/native compiles it, by the same command line."""


@pytest.fixture(scope="package")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    pytest.importorskip("hatchling", reason="building the wheel needs hatchling (pip install hatchling)")
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    compiler = shlex.join([sys.executable, "-ISc", COMPILED])
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"CC": compiler})
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = folder.glob("rushes-*.whl")
    return zipfile.ZipFile(built)
