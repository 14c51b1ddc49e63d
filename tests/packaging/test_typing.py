"""A user's type checker sees the real types: the wheel in an environment of its own, and mypy on a script outside."""

from __future__ import annotations

import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

SCRIPT = """
from collections.abc import Sequence
from pathlib import Path
from typing import assert_type

import rushes
from rushes import Measurement, Run
from rushes.errors import MediaError
from rushes.pose import PckNormalization, pck_at
from rushes.preference import tally
from rushes.runs import RunWriter

run = rushes.evaluate_clips(["takes/"], run="runs/monday")
assert_type(run, Run)
assert_type(run.one("blur_score", subject="a"), Measurement)
assert_type(run.select("blur_score"), tuple[Measurement, ...])
assert_type(run.table("blur_score"), rushes.Table)
assert_type(run.one("blur_score").interval, rushes.Interval | None)
assert_type(rushes.evaluate_clip("take.mp4"), rushes.ClipResult)
assert_type(rushes.read_run("runs/monday").subjects, Sequence[rushes.Subject])
assert_type(rushes.compare_runs("a", run), rushes.RunComparison)
assert_type(rushes.write_report(run, "report.html"), rushes.Report)
assert_type(rushes.probe("take.mp4"), rushes.MediaFacts)
assert_type(rushes.canonicalize("a.mov", "b.mp4"), Path)
assert_type(rushes.robustness.MetricsEngine(), rushes.robustness.MetricsEngine)
assert_type(rushes.clips("takes/"), Run)
assert_type(rushes.fvd("generated/", "real/"), rushes.SetComparison)
assert_type(rushes.fidelity("out/", "truth/"), rushes.FidelityEvaluation)
assert_type(rushes.pose("p.npz", "g.npz", norms="all"), rushes.PoseEvaluation | rushes.PoseSetEvaluation)
assert_type(rushes.compare("a", run), rushes.RunsComparison)
assert_type(rushes.board("out"), rushes.Board)
assert_type(rushes.gate("a", "b"), rushes.GateReport)
assert_type(rushes.judge("out/", judge="replay:a.jsonl"), rushes.Judged)
assert_type(rushes.view("runs"), rushes.View)
assert_type(rushes.suite.run("systems/", "out"), rushes.SuiteRun)
assert_type(run.summary, str)
assert_type(MediaError("take.mp4"), rushes.MediaError)
assert_type(RunWriter("runs/mine", instrument="mine", settings={}).path, Path)
assert_type(rushes.fvd("a", "b").notes, tuple[str, ...])


def show(done: int, total: int, step: str) -> None:
    print(step, done, total)


progress: rushes.Progress = show
rushes.write_report([run, "runs/tuesday"], "report.html", progress=progress)
try:
    rushes.read_run("nowhere")
except rushes.RunError as error:
    print(error)
"""
WRONG = {
    "rushes.evaluate_clip(5)": "arg-type",
    "rushes.read_run('runs/monday').nothing": "attr-defined",
    "rushes.fvd2()": "attr-defined",
    "rushes.probe('take.mp4') + 1": "operator",
}


@pytest.fixture(scope="module")
def environment(wheel: zipfile.ZipFile, tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("mypy", reason="the types are checked with mypy")
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder)
    (site,) = folder.glob("lib/python3*/site-packages")
    wheel.extractall(site)
    return folder


def mypy(environment: Path, code: str) -> str:
    script = environment / "script.py"
    script.write_text(code, encoding="utf-8")
    options = ["--strict", "--config-file=", "--no-error-summary", f"--python-executable={environment}/bin/python"]
    command = [sys.executable, "-m", "mypy", *options, f"--cache-dir={environment}/cache", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=environment, env={"PATH": "/usr/bin:/bin"})
    return done.stdout + done.stderr


def test_a_script_sees_real_types(environment: Path) -> None:
    assert mypy(environment, SCRIPT) == ""


def test_and_its_mistakes(environment: Path) -> None:
    found = mypy(environment, "import rushes\n" + "\n".join(WRONG) + "\n").splitlines()
    assert [line.rpartition("[")[2].rstrip("]") for line in found if ": error:" in line] == list(WRONG.values()), found
