"""Rushes in a plain script without `if __name__ == "__main__":`, and on a machine where no worker can start."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rushes
from rushes.media import write_clip
from rushes.workers.template import VARIABLE

SCRIPT = """
import json, rushes
run = rushes.evaluate_clips(["takes"], run="runs/x", jobs=2)
rushes.write_report(["runs/x"], "report.html", jobs=1)
print(json.dumps([subject.badge for subject in run.subjects]))
"""
ONLY_WORKERS_DIE = """
import os, signal, sys
if {words!r} in " ".join(sys.orig_argv):
    {deed}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory: three takes that differ, and one that cannot be read."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "takes").mkdir()
    for number in range(3):
        still = np.random.default_rng(number).integers(0, 256, (64, 96, 3), dtype=np.uint8)
        write_clip(tmp_path / "takes" / f"take{number}.mp4", [np.roll(still, 3 * n, axis=1) for n in range(16)])
    (tmp_path / "takes" / "take3.mp4").write_bytes(b"no clip at all")
    return tmp_path


def test_a_script_needs_no_guard(folder: Path) -> None:
    """Its rows are those of the same call here, and its report has film strips, which workers take as well."""
    (folder / "script.py").write_text(SCRIPT)
    done = subprocess.run([sys.executable, "script.py"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    here = rushes.evaluate_clips(["takes"], run="here")
    badges = json.loads(done.stdout)
    assert badges == [subject.badge for subject in here.subjects] and badges.count("reject") == 1
    read = [(folder / name / "measurements.jsonl").read_bytes() for name in ("runs/x", "here")]
    assert read[0] == read[1]
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
    variables = os.environ | {"PYTHONPATH": paths, VARIABLE: "fresh"}  # a worker forked from the command cannot fail so
    command = [sys.executable, "-m", "rushes", "clip", "takes", "-o", "run", "--jobs", "1"]
    done = subprocess.run(command, capture_output=True, text=True, env=variables)
    assert done.returncode == 1, done.stderr
    assert len(done.stderr.splitlines()) == 1 and done.stderr.startswith("rushes: ") and reason in done.stderr
    assert not [path for path in (folder / "run").rglob("*.jsonl") if path.read_bytes()]
    assert not (folder / "run").exists(), "what came to nothing leaves nothing behind"
    assert len(rushes.evaluate_clips(["takes"], run="run").subjects) == 4
