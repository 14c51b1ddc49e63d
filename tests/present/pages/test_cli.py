"""`rushes report` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from rushes.cli.main import app


def test_the_path_comes_last_and_the_default_lies_in_the_run(clip_run: Path) -> None:
    done = CliRunner().invoke(app, ["report", str(clip_run), "--no-strips"])
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines()[-1] == str(clip_run / "report.html")
    assert (clip_run / "report.html").exists()
    (clip_run / "report.html").unlink()


def test_json_is_alone_on_stdout(clip_run: Path, sweep_run: Path, tmp_path: Path) -> None:
    target = tmp_path / "both.html"
    done = CliRunner().invoke(app, ["report", str(clip_run), str(sweep_run), "-o", str(target), "--json"])
    answer = json.loads(done.stdout)
    assert answer["report"] == str(target) and answer["bytes"] == target.stat().st_size
    assert [(run["instrument"], run["status"], run["subjects"]) for run in answer["runs"]] == [
        ("clip", "complete", 5),
        ("robustness", "complete", 1),
    ]


def test_a_folder_that_is_no_run_is_one_line(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["report", str(tmp_path)])
    assert done.exit_code == 1 and len(done.stderr.splitlines()) == 1
    assert "expected a run directory" in done.stderr and "Traceback" not in done.stderr
