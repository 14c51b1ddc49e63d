"""The wheel holds the whole package: every file of the tree but the loops' C, compiled, and nothing else."""

from __future__ import annotations

import platform
import sysconfig
import zipfile
from pathlib import Path
from runpy import run_path

import pytest
from packaging.tags import mac_platforms

import rushes

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"


def tree() -> set[str]:
    """Both packages: `rushes`, and `video_metrics`, its names under those of a specification. No C."""
    files = (path for package in ("rushes", "video_metrics") for path in (SOURCE / package).rglob("*"))
    kept = (
        path for path in files if path.is_file() and "__pycache__" not in path.parts and path.suffix not in (".c", ".h")
    )
    return {path.relative_to(SOURCE).as_posix() for path in kept}


def test_every_file_of_the_tree_is_inside_and_nothing_else(wheel: zipfile.ZipFile) -> None:
    inside = {name for name in wheel.namelist() if not name.split("/")[0].endswith(".dist-info")}
    assert inside == tree()


def test_a_platform_has_a_wheel_for_every_python(wheel: zipfile.ZipFile) -> None:
    (file,) = (name for name in wheel.namelist() if name.endswith(".dist-info/WHEEL"))
    text = wheel.read(file).decode()
    assert "Tag: py3-none-" in text and "any" not in text and "Root-Is-Purelib: false" in text
    assert wheel.read("rushes/native/loops.so")


@pytest.mark.parametrize("machine", ["arm64", "x86_64"])
@pytest.mark.parametrize("python", ["macosx-10.9-universal2", "macosx-10.13-universal2", "macosx-11.0-{}"])
def test_pip_takes_the_wheel_on_macos(python: str, machine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """python.org's Python is for both processors and names a macOS that is older than the first one on ARM."""
    pytest.importorskip("hatchling", reason="building the wheel needs hatchling (pip install hatchling)")
    monkeypatch.setattr(sysconfig, "get_platform", lambda: python.format(machine))
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    monkeypatch.setattr(platform, "machine", lambda: machine)
    assert run_path(str(ROOT / "hatch_build.py"))["_platform"]() in mac_platforms((14, 0), machine)


@pytest.mark.parametrize("suffix", [".toml", ".html", ".css", ".js", ".mako"])
def test_the_data_files_are_among_them(wheel: zipfile.ZipFile, suffix: str) -> None:
    assert any(name.endswith(suffix) for name in wheel.namelist())


def test_the_command_and_the_licence(wheel: zipfile.ZipFile) -> None:
    entries = next(name for name in wheel.namelist() if name.endswith("entry_points.txt"))
    assert "rushes = rushes.cli.main:main" in wheel.read(entries).decode()
    assert any(name.endswith("licenses/LICENSE") for name in wheel.namelist())


def metadata(wheel: zipfile.ZipFile) -> list[str]:
    return wheel.read(next(name for name in wheel.namelist() if name.endswith("/METADATA"))).decode().splitlines()


def test_the_version_is_the_one_in_the_code(wheel: zipfile.ZipFile) -> None:
    assert f"Version: {rushes.__version__}" in metadata(wheel)
    assert "version =" not in (ROOT / "pyproject.toml").read_text(encoding="utf-8").split("[tool.")[0]


def test_what_it_runs_on(wheel: zipfile.ZipFile) -> None:
    lines = metadata(wheel)
    assert "Requires-Python: >=3.11" in lines and "License-Expression: Apache-2.0" in lines
    classifiers = {line.removeprefix("Classifier: ") for line in lines if line.startswith("Classifier: ")}
    assert {f"Programming Language :: Python :: 3.{minor}" for minor in (11, 12, 13)} <= classifiers
    assert {"Operating System :: POSIX :: Linux", "Operating System :: MacOS", "Typing :: Typed"} <= classifiers
    assert not any("Windows" in classifier for classifier in classifiers)


def test_the_classifiers_are_known_to_the_index(wheel: zipfile.ZipFile) -> None:
    known = pytest.importorskip("trove_classifiers", reason="hatchling brings it").classifiers
    used = {line.removeprefix("Classifier: ") for line in metadata(wheel) if line.startswith("Classifier: ")}
    assert used <= known
