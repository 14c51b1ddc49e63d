"""Work in the calling process, as most tests have it: the bytes, rows and failures of real workers."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import numpy as np
import pytest
from benchmarks.faults import contents
from tests.workers.misbehaving import fail, grow, misbehave, pid, ramp, square

import rushes
from rushes.core.errors import InputError
from rushes.media import write_clip
from rushes.workers.engine import Crash, inline_work, run_tasks, worker_count


@pytest.fixture(scope="module")
def takes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two clips that move, and a file that is none."""
    folder = tmp_path_factory.mktemp("takes")
    for number in range(2):
        still = np.random.default_rng(number).integers(0, 256, (64, 96, 3), dtype=np.uint8)
        write_clip(folder / f"take{number}.mp4", [np.roll(still, 3 * n, axis=1) for n in range(8)])
    (folder / "broken.mp4").write_bytes(b"no clip at all")
    return folder


@pytest.mark.parametrize("shards", [None, 2])
def test_a_run_has_the_bytes_that_workers_give(takes: Path, tmp_path: Path, shards: int | None) -> None:
    if shards:
        pytest.importorskip("pyarrow")
    pages = []
    for is_inline, name in ((True, "here"), (False, "workers")):
        with inline_work(is_inline):
            run = rushes.evaluate_clips(takes, run=tmp_path / name, jobs=1, shards=shards)
            page = rushes.write_report(run, tmp_path / "report.html", jobs=1) if shards is None else None
        if page is not None:
            pages.append(Path(page.path).read_text(encoding="utf-8").replace(str(tmp_path / name), "run"))
    assert contents(tmp_path / "here") == contents(tmp_path / "workers")
    assert all("data:image/jpeg" in page for page in pages)
    assert len({page.replace("here", "workers") for page in pages}) == len(pages[:1])
    assert [subject.badge for subject in run.subjects].count("reject") == 1


def test_tasks_are_done_in_this_process_in_order() -> None:
    assert list(run_tasks(pid, [None])) == [(0, os.getpid())]
    assert list(run_tasks(square, [3, 4])) == [(0, 9), (1, 16)] and list(run_tasks(square, [])) == []
    with inline_work(False):
        assert list(run_tasks(pid, [None], jobs=1)) != [(0, os.getpid())]


def test_every_thread_works_here_and_no_worker_is_wanted() -> None:
    found: list[object] = []
    thread = threading.Thread(target=lambda: found.extend(run_tasks(pid, [None])))
    thread.start()
    thread.join()
    assert found == [(0, os.getpid())] and worker_count() == 0


def test_failures_are_those_of_a_worker() -> None:
    both = []
    for is_inline in (True, False):
        with inline_work(is_inline):
            both.append(list(run_tasks(misbehave, [("no-room", "")], jobs=1)))
            with pytest.raises(ValueError, match="a defect"):
                list(run_tasks(fail, [1], jobs=1))
            with pytest.raises(InputError, match="must be in a module, not a script"):
                list(run_tasks(lambda task: task, [1], jobs=1))
    assert both[0] == both[1] == [(0, Crash("ran out of memory", may_retry=False))]


def test_a_generator_gives_its_parts_and_then_none() -> None:
    with inline_work(False):
        workers = [(number, type(part)) for number, part in run_tasks(ramp, [3], jobs=1)]
    assert [(number, type(part)) for number, part in run_tasks(ramp, [3])] == workers


def test_a_task_cannot_change_what_its_caller_holds() -> None:
    task = ["a"]
    assert list(run_tasks(grow, [task])) == [(0, ["a", "b"])] and task == ["a"]
