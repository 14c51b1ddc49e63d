"""Closed streams and readers that go: nothing breaks, nothing is said about it. The processes are the subject."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

RUSHES = f"{sys.executable} -m rushes"
ENVIRONMENT = os.environ | {"PYTHONPATH": str(Path(__file__).parents[3] / "src")}


def shell(line: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["bash", "-c", line], env=ENVIRONMENT, capture_output=True, text=True, timeout=240)


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_closed_stream_breaks_nothing(closed: str) -> None:
    done = shell(f"{RUSHES} metrics psnr {closed}")
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr and ("psnr" in done.stdout) is (">&-" not in closed.replace("2>&-", ""))


def test_a_reader_that_goes_is_no_error_to_talk_about() -> None:
    """More than a pipe holds (64 KiB), of which one byte is read."""
    done = shell(f"{RUSHES} metrics --json | head -c 1; exit ${{PIPESTATUS[0]}}")
    assert (done.stdout, done.stderr, done.returncode) == ("[", "", 1)
