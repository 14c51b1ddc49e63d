"""SIGTERM, as a scheduler sends it: the run says that it was interrupted, no worker is left, and it goes on."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from tests.clips import write_luma

from rushes.core.machine.interrupt import Terminated, stop_on_sigterm

CLIPS = 24


@pytest.mark.workers
def test_a_run_that_is_terminated_is_interrupted_and_goes_on(tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    for number in range(CLIPS):
        frames = [draw.integers(0, 256, (96, 128), dtype=np.uint8) for _ in range(25)]
        (tmp_path / "takes").mkdir(exist_ok=True)
        write_luma(tmp_path / "takes" / f"t{number:02}.mkv", frames, "gray")

    def command(run: str) -> list[str]:
        return [sys.executable, "-m", "rushes", "clip", str(tmp_path / "takes"), "-o", str(tmp_path / run)]

    started = subprocess.Popen([*command("run"), "--jobs", "1"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    journal = tmp_path / "run" / "journal.jsonl"
    for _ in range(1200):
        if journal.is_file() and journal.stat().st_size:
            break
        time.sleep(0.05)
    started.send_signal(signal.SIGTERM)
    _, errors = started.communicate(timeout=120)
    assert started.returncode == 143 and b"run the same command again to continue" in errors
    assert json.loads((tmp_path / "run" / "run.json").read_text())["status"] == "interrupted"
    for run in ("run", "whole"):
        assert subprocess.run(command(run), stdout=subprocess.DEVNULL, timeout=240).returncode == 0
    for name in ("subjects.jsonl", "measurements.jsonl"):
        assert (tmp_path / "run" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_whoever_started_it_may_have_decided_otherwise() -> None:
    before = signal.getsignal(signal.SIGTERM)
    try:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        stop_on_sigterm()
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        stop_on_sigterm()
        with pytest.raises(Terminated):
            signal.raise_signal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)
