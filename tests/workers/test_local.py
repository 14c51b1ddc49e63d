"""The worker pool: all results, whatever a task does to its worker."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from tests.processes import is_alive, until
from tests.workers import bad_start
from tests.workers.misbehaving import eat, fail, misbehave, print_and_die, reverse, square
from tests.workers.slow_start import IMPORT_S, double

from rushes.core.errors import InputError, RunError
from rushes.workers import source
from rushes.workers.limits import Limits
from rushes.workers.local import Crash, Pool, run_tasks
from rushes.workers.template import VARIABLE
from rushes.workers.wire import Message
from rushes.workers.worker import WorkerProcess


@pytest.fixture(params=["forked", "fresh"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """How a pool of several gets its workers: from a template, or each by itself, as on macOS."""
    if request.param == "forked" and sys.platform != "linux":
        pytest.skip("workers are forked on Linux only")
    monkeypatch.setenv(VARIABLE, request.param)
    return str(request.param)


@pytest.mark.parametrize("jobs", [1, 3, 50])
def test_every_task_has_its_result(jobs: int) -> None:
    assert dict(run_tasks(square, range(7), jobs=jobs)) == {n: n * n for n in range(7)}


def test_no_tasks() -> None:
    assert list(run_tasks(square, [], jobs=2)) == []


@pytest.mark.usefixtures("way")
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


@pytest.mark.parametrize("kind", ["segfault", "no-room"])
def test_of_many_tasks_sent_ahead_the_one_at_work_is_blamed(kind: str) -> None:
    """Every task ends once, whichever worker held it when another died, and in whatever read its answer came."""
    tasks = [(kind if n in (0, 7, 8, 59) else "fine", "") for n in range(60)]
    outcomes = []
    most = 0
    with closing(Pool("tests.workers.misbehaving:misbehave", 2, attempts=1, ahead=8)) as pool:
        for number, outcome in pool.drain(len(tasks), lambda n: pickle.dumps(tasks[n])):
            outcomes.append((number, isinstance(outcome, Crash)))
            most = max(most, *(len(worker.held) for worker in pool._workers))
    assert sorted(outcomes) == [(n, n in (0, 7, 8, 59)) for n in range(60)]
    assert 2 < most <= 9


def test_a_task_tried_again_gets_a_worker_of_its_own() -> None:
    """The second try of a task is never behind another in the same process, so the verdict is about it alone."""
    pool = Pool("tests.workers.misbehaving:misbehave", 2)
    tasks = [("fine", ""), ("segfault", "")] + [("fine", "")] * 6
    given: list[tuple[int, bool]] = []
    give = WorkerProcess.give

    def noted(worker: WorkerProcess, tasks: dict[int, bytes]) -> None:
        given.extend((number, worker.is_fresh) for number in tasks)
        give(worker, tasks)

    with closing(pool), patch.object(WorkerProcess, "give", noted):
        assert len(list(pool.drain(len(tasks), lambda n: pickle.dumps(tasks[n])))) == 8
    assert [fresh for number, fresh in given if number == 1][-1]


def test_tasks_and_results_larger_than_the_pipe() -> None:
    tasks = [bytes([n]) * 2_000_000 for n in range(8)]
    assert dict(run_tasks(reverse, tasks, jobs=2)) == dict(enumerate(tasks))


def test_a_generator_gives_its_parts_in_order() -> None:
    with closing(Pool("tests.workers.misbehaving:ramp", 1)) as pool:
        outcomes = [outcome for _, outcome in pool.drain(1, lambda n: pickle.dumps(100_000))]
    *parts, end = [outcome for outcome in outcomes if isinstance(outcome, Message)]
    assert end.kind == "done" and end.value() is None
    assert [part.value()[0] for part in parts] == [0, 1, 2]


@dataclass
class Clock:
    """Time that passes when a test says so."""

    now: float = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_time_of_a_task_starts_when_its_worker_begins_it() -> None:
    """A hundred seconds go by at each start of a worker and between any two answers; a task may take ten."""
    clock = Clock()

    def late_worker(*given: Any, **options: Any) -> WorkerProcess:
        worker = WorkerProcess(*given, **options)
        clock.now += 100
        return worker

    tasks = [("fine", ""), ("segfault", "")] + [("fine", "")] * 5
    outcomes = {}
    with patch.object(source, "WorkerProcess", late_worker):
        pool = Pool("tests.workers.misbehaving:misbehave", 1, limits=Limits(10, None, clock))
        with closing(pool):
            for number, outcome in pool.drain(len(tasks), lambda n: pickle.dumps(tasks[n])):
                outcomes[number] = outcome
                clock.now += 100
    assert outcomes.pop(1) == Crash("the decoder crashed (SIGSEGV)")
    assert sorted(outcomes) == [0, 2, 3, 4, 5, 6]
    assert {outcome.value() for outcome in outcomes.values() if isinstance(outcome, Message)} == {"fine"}


@pytest.mark.usefixtures("way")
def test_a_slow_start_is_not_the_task_s() -> None:
    """Importing the work takes longer than a task may; so does every replacement."""
    assert IMPORT_S > 2
    assert dict(run_tasks(double, range(4), jobs=2, limits=Limits(2))) == {0: 0, 1: 2, 2: 4, 3: 6}


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_start_that_fails_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: int) -> None:
    for name in ("once", "twice"):
        (tmp_path / name).touch()
    monkeypatch.setenv("BAD_START", str(tmp_path))
    assert dict(run_tasks(bad_start.double, [1, 2, 3], jobs=jobs)) == {0: 2, 1: 4, 2: 6}


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("jobs", [1, 4])
def test_workers_that_cannot_start_are_one_line_and_no_result(
    jobs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "always").touch()
    monkeypatch.setenv("BAD_START", str(tmp_path))
    with pytest.raises(RunError, match=r"end before they begin a task \(the worker stopped with exit code 3\)"):
        list(run_tasks(bad_start.double, [1, 2, 3, 4], jobs=jobs))


def test_a_pool_goes_on_with_the_workers_that_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One worker has started; no other ever does. It does all the work."""
    monkeypatch.setenv("BAD_START", str(tmp_path))
    with closing(Pool("tests.workers.bad_start:double", 1)) as pool:
        pool.start()
        while not pool._workers[0].is_ready:
            pool._news()
        (tmp_path / "always").touch()
        pool._size = 3
        numbers = [number for number, _ in pool.drain(5, lambda n: pickle.dumps(n))]
        assert sorted(numbers) == [0, 1, 2, 3, 4]


def test_work_that_a_worker_cannot_import_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(square, "__module__", "tests.workers.nowhere")
    with pytest.raises(RunError, match=r"\(ModuleNotFoundError: No module named 'tests.workers.nowhere'\)"):
        list(run_tasks(square, [1], jobs=2))


def test_an_idle_worker_that_is_killed_costs_no_task() -> None:
    """Killed between two tasks, of which it has begun none: another takes its place and nothing is blamed."""
    with closing(Pool("tests.workers.misbehaving:pid", 1)) as pool:
        seen = []
        for _ in range(3):
            [(_, outcome)] = pool.drain(1, lambda n: pickle.dumps(n))
            assert isinstance(outcome, Message)
            seen.append(outcome.value())
            os.kill(seen[-1], signal.SIGKILL)
    assert len(set(seen)) == 3


class OnlyHere:
    """A class that a worker cannot import, once it is said to be of a script."""


def test_a_task_of_the_script_s_own_class_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OnlyHere, "__module__", "__main__")
    monkeypatch.setattr(sys.modules["__main__"], "OnlyHere", OnlyHere, raising=False)
    with pytest.raises(InputError, match="a worker cannot load its task .*OnlyHere.*; keep its classes in a module"):
        list(run_tasks(square, [OnlyHere()], jobs=1))  # type: ignore[list-item]


def test_a_function_of_the_script_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(square, "__module__", "__main__")
    with pytest.raises(InputError, match="'square' must be in a module, not a script"):
        list(run_tasks(square, [1], jobs=1))


def test_what_a_worker_prints_stays_out_of_ours(capfd: pytest.CaptureFixture[str]) -> None:
    assert dict(run_tasks(print_and_die, [1], jobs=1)) == {0: Crash("the worker stopped with exit code 7")}
    assert capfd.readouterr() == ("", "")


@pytest.mark.usefixtures("way")
def test_a_hang_is_stopped() -> None:
    results = dict(run_tasks(misbehave, [("hang", ""), ("fine", ""), ("fine", "")], jobs=2, limits=Limits(2)))
    assert results[0] == Crash("took longer than 2 s", may_retry=False)
    assert results[1] == results[2] == "fine"


def test_a_defect_is_raised_not_hidden() -> None:
    with pytest.raises(ValueError, match="a defect"):
        list(run_tasks(fail, [1], jobs=1))


@pytest.mark.usefixtures("way")
def test_runaway_memory_takes_down_its_own_task_only() -> None:
    results = dict(run_tasks(eat, [20, 3000, 30, 20], jobs=2, limits=Limits(memory_mb=400)))
    assert results.pop(1) == Crash("used more than 400 MB of memory", may_retry=False)
    assert results == {0: 20, 2: 30, 3: 20}


def test_no_room_for_an_allocation_is_a_crash_too() -> None:
    assert dict(run_tasks(misbehave, [("no-room", "")], jobs=1)) == {0: Crash("ran out of memory", may_retry=False)}


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel ends workers with their parent on Linux only")
@pytest.mark.usefixtures("way")
def test_workers_end_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    notes = tmp_path / "pids"
    notes.mkdir()
    script = (
        "import sys; from rushes.workers.local import run_tasks; from tests.workers.misbehaving import spin; "
        "list(run_tasks(spin, [sys.argv[1]] * 2, jobs=2))"
    )
    root = str(Path(__file__).parents[2])
    with subprocess.Popen([sys.executable, "-c", script, str(notes)], cwd=root) as parent:
        until(lambda: parent.poll() is not None or len(list(notes.iterdir())) == 2, "both workers are at work")
        parent.kill()  # and not the workers, which are of its group
    workers = [int(note.name) for note in notes.iterdir()]
    assert len(workers) == 2
    until(lambda: not any(is_alive(pid) for pid in workers), "the workers have ended")
