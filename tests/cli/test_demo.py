"""The demo on a small installation: parts whose packages are missing are left out, in one line each."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rushes.cli.main import app
from rushes.cli.workbench import demo as command
from rushes.cli.workbench.demo import demo_part
from rushes.compare.board.demo import DemoBoard
from rushes.core.errors import MissingDependency
from rushes.core.instrument import DemoPart
from rushes.core.machine.installing import extra_command
from rushes.storage.runs import Entry, RunWriter, Subject


def test_a_part_without_its_package_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)  # importing it now fails as if it were not there
    for name in [name for name in sys.modules if name.startswith("rushes.instruments.distribution")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(MissingDependency, match=f"needs torch.*{re.escape(extra_command('all'))}"):
        demo_part("rushes.instruments.distribution.demo:run", tmp_path)


def test_faces_without_the_package_that_runs_the_models_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rushes.instruments.clip.demo import faces as face
    from rushes.instruments.clip.faces.models import _pipeline

    _pipeline.cache_clear()  # an earlier test may have loaded the models
    monkeypatch.setattr(face, "pull", lambda name: ())
    monkeypatch.setattr(face, "read_portrait", lambda: None)
    monkeypatch.setitem(sys.modules, "ai_edge_litert", None)
    monkeypatch.setitem(sys.modules, "ai_edge_litert.interpreter", None)
    monkeypatch.setenv("RUSHES_CACHE", str(tmp_path))
    with pytest.raises(MissingDependency, match="rushes"):
        face.run(tmp_path)


def test_a_defect_of_our_own_is_not_taken_for_a_missing_package(tmp_path: Path) -> None:
    with pytest.raises(ModuleNotFoundError, match="rushes.instruments.pose.nothing"):
        demo_part("rushes.instruments.pose.nothing:run", tmp_path)


def test_naming_the_parts_loads_none_of_them() -> None:
    code = (
        "import sys; from rushes.instruments.catalogue import INSTRUMENTS; list(INSTRUMENTS.items()); "
        "print([m for m in ('torch', 'numpy', 'av') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


def test_a_folder_of_an_older_version_is_replaced(tmp_path: Path) -> None:
    first = demo_part("rushes.instruments.pose.demo:run", tmp_path)
    info = json.loads((first.run / "run.json").read_text())
    info["settings"]["input"] = None  # asked otherwise, as by a version that knew no such setting
    (first.run / "run.json").write_text(json.dumps(info))
    again = demo_part("rushes.instruments.pose.demo:run", tmp_path)
    assert again.as_expected and again.rows == first.rows


def test_the_story_fits_one_screen_and_tables_are_behind_v(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = (
        "amber is surely better than every other system on 2 of 2 metrics (PSNR and SSIM). birch and cedar cannot be "
        "told apart on any metric. Systems are compared prompt by prompt, over 14 shared prompts. How sure that is: a "
        "board of systems that do not differ at all would name any difference in at most 5 of 100 cases (Holm's "
        "correction over 6 comparisons)."
    )
    made = DemoBoard(path=Path("demo/board.html"), found=found, as_expected=True, winner="amber")
    with RunWriter(Path("demo/clip"), instrument="clip", settings={}) as run:
        for name, badge, reasons in (("good", "pass", ()), ("frozen", "flagged", ("frozen 1.0–2.4 s (x_ms=9 > 4)",))):
            path = f"demo/clips/{name}.mp4"
            subject = Subject(id=name, kind="clip", path=path, sha256=None, badge=badge, reasons=reasons)
            run.add(Entry(subject=subject, measurements=()))
        run.finish(["good", "frozen"])
    rows = [("frozen", "35 frames stand still")]
    clips = DemoPart(
        title="Clips", run=Path("demo/clip"), found="Found.", header=("clip", "what was put in"), rows=rows
    )
    other = DemoPart(title="Pose", run=tmp_path / "pose", found="Found.", header=("a", "b"), rows=[("x", "y")])
    monkeypatch.setattr(command, "demo_part", lambda name, folder: clips if "clip.demo.samples:" in name else other)
    monkeypatch.setattr(command, "_board", lambda folder: made)
    monkeypatch.setattr(command, "_report", lambda parts, path: path)

    def printed(*words: str) -> str:
        done = CliRunner().invoke(app, ["demo", *words], env={"COLUMNS": "80"})
        assert done.exit_code == 0, done.output
        return done.stdout

    short = printed()
    assert len(short.splitlines()) <= 24
    assert short.startswith("Which of three made-up systems is better? amber.\n") and "5 of 100 cases" in short
    assert (
        "  demo/clips/frozen.mp4  flagged  frozen 1.0–2.4 s (2.25× its threshold)\n" in short
        and "what was put in" not in short
    )
    assert short.splitlines()[-1].endswith("rushes view demo")
    assert "what was put in" in printed("-v")
