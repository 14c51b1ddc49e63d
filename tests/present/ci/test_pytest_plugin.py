"""The pytest plugin in a pytest of its own: what fails, what it says, and that it costs nothing unused."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from tests.clips import noise, write_luma
from tests.doc_material import gate_runs

from rushes.instruments.clip.demo.samples import SAMPLES, make_samples

ROOT = Path(__file__).parents[3]

TESTS = """
import pathlib, sys

def test_same(rushes):
    report = rushes.assert_not_worse("runs/int8", "runs/full", repeats=["runs/full-seed2", "runs/full-seed3"])
    assert report.answer == "same"

def test_worse(rushes):
    rushes.assert_not_worse("runs/int4", baseline="runs/full", metrics={"psnr": 0.5})

def test_unclear_is_allowed(rushes):
    rushes.assert_not_worse("runs/int8", "runs/full", metrics={"psnr": 0.01}, allow_unclear=True)

def test_unclear(rushes):
    rushes.assert_not_worse("runs/int8", "runs/full", metrics={"psnr": 0.01})

def test_not_run(rushes):
    rushes.assert_not_worse("runs/int8", "runs/nowhere")

def test_clip(rushes):
    result = rushes.assert_passes("ball.mp4")
    assert result.badge == "pass" and rushes.measure("ball.mp4").measurements

def test_still(rushes):
    rushes.assert_passes("still.mkv", fail_on="flagged")

def test_unjudged(rushes):
    rushes.assert_passes("ball.mp4", profile="talking-head", tier=0)

def test_unjudged_is_allowed(rushes):
    rushes.assert_passes("ball.mp4", profile="talking-head", tier=0, allow_unjudged=True)
"""


def run_pytest(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Without what is installed, so that the plugin is this checkout's and is there once."""
    environment = os.environ | {
        "PYTHONPATH": str(ROOT / "src"),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTEST_ADDOPTS": "",
    }
    plugin = ("-p", "rushes.integrations.pytest_plugin")
    command = [sys.executable, "-W", "error", "-m", "pytest", *plugin, "-p", "no:cacheprovider"]
    return subprocess.run([*command, *arguments], cwd=folder, env=environment, capture_output=True, text=True)


def test_what_fails_and_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    gate_runs()
    make_samples(tmp_path, SAMPLES[:1])
    write_luma(tmp_path / "still.mkv", noise(1, size=(64, 48)) * 30, "gray")
    (tmp_path / "test_gate.py").write_text(TESTS)
    done = run_pytest(tmp_path, "-q", "-rA")
    outcomes = {
        line.split()[1].rpartition("::")[2]: line.split()[0] for line in done.stdout.splitlines() if "::" in line
    }
    assert outcomes == {
        "test_same": "PASSED", "test_worse": "FAILED", "test_unclear_is_allowed": "PASSED", "test_unclear": "FAILED",
        "test_not_run": "FAILED", "test_clip": "PASSED", "test_still": "FAILED",
        "test_unjudged": "FAILED", "test_unjudged_is_allowed": "PASSED",
    }, done.stdout  # fmt: skip
    assert "The gate does not hold: 1 metric is worse by more than the margin over 6 clips: psnr." in done.stdout
    assert (
        "psnr: worse, -" in done.stdout
        and "% interval" in done.stdout
        and "paired_mean_difference|of:psnr" in done.stdout
    )
    assert done.stdout.count(" → ") >= 3 and "prompt" in done.stdout, "the clips that lost most"
    assert "the gate was not run: runs/nowhere" in done.stdout
    assert "still.mkv: flagged" in done.stdout and "frozen" in done.stdout
    assert "ball.mp4: not judged: face_present_ratio (1 clip: it needs tier 1); allow_unjudged=True" in done.stdout
    assert "Traceback" not in done.stdout and "pytest_plugin.py" not in done.stdout


def test_it_costs_nothing_unused(tmp_path: Path) -> None:
    (tmp_path / "test_lazy.py").write_text(
        "import sys\n\ndef test_lazy():\n    ours = {n for n in sys.modules if n.startswith('rushes')}\n"
        "    home = 'rushes.integrations'\n"
        "    assert ours == {'rushes', 'rushes._lazy', home, f'{home}.pytest_plugin'}\n"
        "    assert 'numpy' not in sys.modules\n"
    )
    done = run_pytest(tmp_path, "-q")
    assert done.returncode == 0, done.stdout + done.stderr


def test_pytest_finds_it_by_its_entry_point() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {"rushes": "rushes.integrations.pytest_plugin"}
