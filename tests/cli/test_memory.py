"""Where memory runs out, a command says so in one line: Python, OpenCV and the loader each have their own words."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import cv2
import numpy as np
import pytest
from tests.clips import write_luma
from typer.testing import CliRunner

from rushes.cli.main import app
from rushes.core.machine.memory import ran_out_of_memory
from rushes.instruments.clip import clip_task
from rushes.workers.engine import inline_work


def film(path: Path) -> Path:
    return write_luma(path, [np.full((48, 64), light, np.uint8) for light in (20, 60, 120)], "gray")


def opencv(code: int) -> Exception:
    error: Exception = cv2.error("alloc.cpp: (-4:Insufficient memory)")
    error.code = code  # type: ignore[attr-defined]
    return error


@pytest.mark.parametrize(
    ("error", "is_memory"),
    [
        (opencv(-4), True),
        (opencv(-215), False),
        (ImportError("libx.so: failed to map segment from shared object"), True),
        (ImportError("No module named 'x'"), False),
        (RuntimeError(), False),
    ],
)
def test_each_librarys_own_words(error: Exception, is_memory: bool) -> None:
    assert ran_out_of_memory(error) is is_memory


def test_a_clip_without_memory_is_a_clip_that_crashed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """OpenCV's own error in the work of one clip, as under `ulimit -v`."""

    def full(*arguments: object, **settings: object) -> None:
        raise opencv(-4)

    monkeypatch.setattr(clip_task, "measure", full)
    clip = film(tmp_path / "a.mkv")
    with inline_work():
        done = CliRunner().invoke(app, ["clip", str(clip), "-o", str(tmp_path / "run")])
    assert "ran out of memory" in done.stdout and not isinstance(done.exception, cv2.error)


@pytest.mark.parametrize("limit_mb", [150, 250])
def test_under_a_limit_that_is_too_small_there_is_one_line(limit_mb: int, tmp_path: Path) -> None:
    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (limit_mb * 2**20,) * 2)

    clip = film(tmp_path / "a.mkv")
    command = [sys.executable, "-m", "rushes", "clip", str(clip), "-o", str(tmp_path / "run"), "--jobs", "1"]
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=limited, timeout=120)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert [line for line in done.stderr.splitlines() if "ran out of memory" in line], done.stderr
