"""The wheel holds the whole package: every file of the tree, the data files among them, and nothing else."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "rushes"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    pytest.importorskip("hatchling", reason="building the wheel needs hatchling (pip install hatchling)")
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = folder.glob("rushes-*.whl")
    return zipfile.ZipFile(built)


def tree() -> set[str]:
    files = (path for path in PACKAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {f"rushes/{path.relative_to(PACKAGE).as_posix()}" for path in files}


def test_every_file_of_the_tree_is_inside_and_nothing_else(wheel: zipfile.ZipFile) -> None:
    inside = {name for name in wheel.namelist() if not name.split("/")[0].endswith(".dist-info")}
    assert inside == tree()


@pytest.mark.parametrize("suffix", [".toml", ".html", ".css", ".js", ".mako"])
def test_the_data_files_are_among_them(wheel: zipfile.ZipFile, suffix: str) -> None:
    assert any(name.endswith(suffix) for name in wheel.namelist())


def test_the_command_and_the_licence(wheel: zipfile.ZipFile) -> None:
    entries = next(name for name in wheel.namelist() if name.endswith("entry_points.txt"))
    assert "rushes = rushes.cli.main:main" in wheel.read(entries).decode()
    assert any(name.endswith("licenses/LICENSE") for name in wheel.namelist())
