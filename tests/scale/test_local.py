"""The worker pool: all results, whatever a task does to its worker."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from rushes.scale.local import Crash, run_tasks


def square(n: int) -> int:
    return n * n


def misbehave(task: tuple[str, str]) -> str:
    kind, folder = task
    if kind == "segfault":
        os.kill(os.getpid(), signal.SIGSEGV)
    if kind == "exit":
        os._exit(7)
    if kind == "hang":
        time.sleep(600)
    if kind == "first-time-only":
        marker = Path(folder) / "tried"
        if not marker.exists():
            marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
    return kind


def fail(_: int) -> int:
    raise ValueError("a defect")


@pytest.mark.parametrize("jobs", [1, 3, 50])
def test_every_task_has_its_result(jobs: int) -> None:
    assert dict(run_tasks(square, range(7), jobs=jobs)) == {n: n * n for n in range(7)}


def test_no_tasks() -> None:
    assert list(run_tasks(square, [], jobs=2)) == []


def test_a_crash_takes_down_its_own_task_only(tmp_path: Path) -> None:
    kinds = ["fine", "segfault", "fine", "exit", "first-time-only", "fine"]
    results = dict(run_tasks(misbehave, [(kind, str(tmp_path)) for kind in kinds], jobs=2))
    assert results[1] == Crash("the decoder crashed (SIGSEGV)")
    assert results[3] == Crash("the worker stopped with exit code 7")
    assert [results[n] for n in (0, 2, 4, 5)] == ["fine", "fine", "first-time-only", "fine"]


def test_a_hang_is_stopped() -> None:
    results = dict(run_tasks(misbehave, [("hang", ""), ("fine", ""), ("fine", "")], jobs=2, timeout=4))
    assert results[0] == Crash("took longer than 4 s", may_retry=False)
    assert results[1] == results[2] == "fine"


def test_a_defect_is_raised_not_hidden() -> None:
    with pytest.raises(ValueError, match="a defect"):
        list(run_tasks(fail, [1], jobs=1))
