"""Rushes in a plain script without `if __name__ == "__main__":`, and on a machine where no worker can start."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rushes.media import write_clip

EVALUATE = """
import json, rushes
run = rushes.evaluate_clips(["takes"], run="runs/x", jobs=2)
print(json.dumps([subject.badge for subject in run.subjects]))
"""
REPORT = """
import rushes
rushes.write_report(["runs/x"], "report.html", jobs=2)
"""
ONLY_WORKERS_DIE = """
import os, signal, sys
if {words!r} in " ".join(sys.orig_argv):
    {deed}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three takes that differ, and one that cannot be read."""
    (tmp_path / "takes").mkdir()
    for number in range(3):
        still = np.random.default_rng(number).integers(0, 256, (64, 96, 3), dtype=np.uint8)
        write_clip(tmp_path / "takes" / f"take{number}.mp4", [np.roll(still, 3 * n, axis=1) for n in range(16)])
    (tmp_path / "takes" / "take3.mp4").write_bytes(b"no clip at all")
    return tmp_path


def python(folder: Path, script: str, **environment: str) -> subprocess.CompletedProcess[str]:
    (folder / "script.py").write_text(script)
    return subprocess.run(
        [sys.executable, "script.py"], cwd=folder, capture_output=True, text=True, env=os.environ | environment
    )


def guarded(script: str) -> str:
    return 'if __name__ == "__main__":\n' + "".join(f"    {line}\n" for line in script.strip().splitlines())


def test_a_script_needs_no_guard(folder: Path) -> None:
    plain = python(folder, EVALUATE)
    assert (plain.returncode, plain.stderr) == (0, "")
    (folder / "runs").rename(folder / "first")
    under_guard = python(folder, guarded(EVALUATE))
    badges = json.loads(plain.stdout)
    assert badges == json.loads(under_guard.stdout) and badges.count("reject") == 1
    read = [(folder / name / "x" / "measurements.jsonl").read_bytes() for name in ("first", "runs")]
    assert read[0] == read[1]


def test_a_report_from_a_script_has_film_strips(folder: Path) -> None:
    assert python(folder, EVALUATE + REPORT).stderr == ""
    page = (folder / "report.html").read_text()
    assert page.count("data:image/jpeg;base64,") >= 3 and "could not be decoded again" not in page


@pytest.mark.parametrize(
    ("deed", "reason"),
    [
        ("os._exit(3)", "the worker stopped with exit code 3"),
        pytest.param("os.kill(os.getpid(), signal.SIGKILL)", "the worker was killed (SIGKILL)", marks=pytest.mark.soak),
        ("sys.modules['av'] = None", "ModuleNotFoundError: No module named 'av.audio'; 'av' is not a package"),
    ],
)
def test_workers_that_cannot_start_end_the_command(folder: Path, deed: str, reason: str) -> None:
    """No clip becomes a row for it, and the run is not complete."""
    poison = folder / "poison"
    poison.mkdir()
    (poison / "sitecustomize.py").write_text(ONLY_WORKERS_DIE.format(words="rushes.workers.child", deed=deed))
    paths = os.pathsep.join([str(poison), *filter(None, sys.path)])
    command = [sys.executable, "-m", "rushes", "clip", "takes", "-o", "run", "--jobs", "2"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": paths})
    assert done.returncode == 1, done.stderr
    assert len(done.stderr.splitlines()) == 1 and done.stderr.startswith("rushes: ") and reason in done.stderr
    assert not [path for path in (folder / "run").rglob("*.jsonl") if path.read_bytes()]
    assert json.loads((folder / "run" / "run.json").read_text())["status"] == "interrupted"
    again = python(folder, 'import rushes\nrun = rushes.evaluate_clips(["takes"], run="run")\nprint(len(run.subjects))')
    assert (again.stdout, again.stderr) == ("4\n", "")
