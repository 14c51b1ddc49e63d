"""The demo on a small installation: parts whose packages are missing are left out, in one line each."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from rushes.cli.demo import demo_part
from rushes.errors import MissingDependency


def test_a_part_without_its_package_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)  # importing it now fails as if it were not there
    for name in [name for name in sys.modules if name.startswith("rushes.distribution")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(MissingDependency, match=r"needs torch.*pip install 'rushes\[all\]'"):
        demo_part("rushes.distribution.demo:run", tmp_path)


def test_faces_without_the_package_that_runs_the_models_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rushes.clip import demo_face as face
    from rushes.clip.faces import _pipeline

    _pipeline.cache_clear()  # an earlier test may have loaded the models
    monkeypatch.setattr(face, "pull", lambda name: ())
    monkeypatch.setattr(face, "read_portrait", lambda: None)
    monkeypatch.setitem(sys.modules, "ai_edge_litert", None)
    monkeypatch.setitem(sys.modules, "ai_edge_litert.interpreter", None)
    monkeypatch.setenv("RUSHES_CACHE", str(tmp_path))
    with pytest.raises(MissingDependency, match="rushes"):
        face.run(tmp_path)


def test_a_defect_of_our_own_is_not_taken_for_a_missing_package(tmp_path: Path) -> None:
    with pytest.raises(ModuleNotFoundError, match="rushes.pose.nothing"):
        demo_part("rushes.pose.nothing:run", tmp_path)


def test_naming_the_parts_loads_none_of_them() -> None:
    code = (
        "import sys; from rushes.instruments import INSTRUMENTS; list(INSTRUMENTS.items()); "
        "print([m for m in ('torch', 'numpy', 'av') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"
