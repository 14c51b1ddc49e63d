"""The worker pool: all results, whatever a task does to its worker."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.workers.misbehaving import eat, fail, misbehave, square

from rushes.workers.local import Crash, run_tasks


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


def test_a_task_sent_ahead_to_a_worker_that_dies_is_not_blamed(tmp_path: Path) -> None:
    """With one worker, each task is sent while the one before it is at work, and is lost with it."""
    kinds = ["segfault" if n % 2 == 0 else "fine" for n in range(6)]
    results = dict(run_tasks(misbehave, [(kind, str(tmp_path)) for kind in kinds], jobs=1))
    assert [results[n] for n in (1, 3, 5)] == ["fine"] * 3
    assert [results[n] for n in (0, 2, 4)] == [Crash("the decoder crashed (SIGSEGV)")] * 3


def test_the_time_a_task_waits_in_the_pipe_is_not_its_own() -> None:
    assert dict(run_tasks(nap, [1.5] * 5, jobs=1, timeout=2.5)) == {n: 1.5 for n in range(5)}


def test_tasks_and_results_larger_than_the_pipe() -> None:
    tasks = [bytes([n]) * 2_000_000 for n in range(8)]
    assert dict(run_tasks(reverse, tasks, jobs=2)) == dict(enumerate(tasks))


def nap(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


def reverse(task: bytes) -> bytes:
    return task[::-1]


def test_a_hang_is_stopped() -> None:
    results = dict(run_tasks(misbehave, [("hang", ""), ("fine", ""), ("fine", "")], jobs=2, timeout=4))
    assert results[0] == Crash("took longer than 4 s", may_retry=False)
    assert results[1] == results[2] == "fine"


def test_a_defect_is_raised_not_hidden() -> None:
    with pytest.raises(ValueError, match="a defect"):
        list(run_tasks(fail, [1], jobs=1))


def test_runaway_memory_takes_down_its_own_task_only() -> None:
    results = dict(run_tasks(eat, [20, 3000, 30, 20], jobs=2, memory_mb=400))
    assert results.pop(1) == Crash("used more than 400 MB of memory", may_retry=False)
    assert results == {0: 20, 2: 30, 3: 20}


def test_no_room_for_an_allocation_is_a_crash_too() -> None:
    assert dict(run_tasks(misbehave, [("no-room", "")], jobs=1)) == {0: Crash("ran out of memory", may_retry=False)}


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel ends workers with their parent on Linux only")
def test_workers_end_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(
        "import os, sys, time\n"
        "from pathlib import Path\n"
        "from rushes.workers.local import run_tasks\n"
        "def note(folder):\n"
        "    Path(folder, str(os.getpid())).touch()\n"
        "    while True:\n"
        "        pass  # never reads the pipe again: only the kernel can end this\n"
        "if __name__ == '__main__':\n"
        "    list(run_tasks(note, [sys.argv[1]] * 2, jobs=2))\n"
    )
    notes = tmp_path / "pids"
    notes.mkdir()
    parent = subprocess.Popen([sys.executable, str(script), str(notes)])
    while parent.poll() is None and len(list(notes.iterdir())) < 2:
        time.sleep(0.02)
    parent.kill()
    parent.wait()
    workers = [int(note.name) for note in notes.iterdir()]
    assert len(workers) == 2
    end = time.monotonic() + 60
    while any(is_alive(pid) for pid in workers) and time.monotonic() < end:
        time.sleep(0.02)
    assert not any(is_alive(pid) for pid in workers)


def is_alive(pid: int) -> bool:
    """Whether the process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False
