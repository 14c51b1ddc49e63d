"""Workers forked from a template: one start for all of them, and nothing of the process that asked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest
from tests.processes import is_alive, until
from tests.workers import threaded_start
from tests.workers.misbehaving import forebears, kill_template, open_files, threads_and_variable

from rushes.workers.local import Pool, run_tasks
from rushes.workers.template import VARIABLE, can_fork, is_standing_by, standing_by

pytestmark = pytest.mark.skipif(not can_fork(), reason="workers are forked on Linux only")
ROOT = Path(__file__).parents[2]
COMMAND = """
import json, os, sys
from rushes.core.machine.platforms import own_process
from rushes.workers import template
own_process()
with template.forkable():
    from rushes.workers.local import run_tasks
    from tests.workers import misbehaving
{before}
kept = open(sys.argv[1] + "/lock", "w")
with template.standing_by():
    {during}
"""
"""A process as a `rushes` command is one."""


def command(folder: Path, during: str, before: str = "") -> list[str]:
    return [sys.executable, "-c", COMMAND.format(before=before, during=during), str(folder)]


def said(folder: Path, during: str, before: str = "") -> object:
    done = subprocess.run(command(folder, during, before), cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def test_all_workers_are_copies_of_one_process() -> None:
    [(template, parent)] = {pair for _, pair in run_tasks(forebears, range(4), jobs=2)}
    assert parent == os.getpid() and template != parent and not is_alive(template)


def test_a_template_that_is_killed_is_replaced(tmp_path: Path) -> None:
    assert dict(run_tasks(kill_template, [str(tmp_path)] * 4, jobs=2)) == dict.fromkeys(range(4), "done")


def test_work_that_starts_threads_is_not_copied() -> None:
    assert dict(run_tasks(threaded_start.parent, range(3), jobs=2)) == dict.fromkeys(range(3), os.getpid())


def test_every_worker_by_itself_where_that_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "fresh")
    assert dict(run_tasks(threaded_start.parent, range(3), jobs=2)) == dict.fromkeys(range(3), os.getpid())


@pytest.mark.parametrize("way", ["forked", "fresh"])
def test_workers_have_one_thread_and_say_nothing_of_it(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, way)
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    assert dict(run_tasks(threads_and_variable, range(2), jobs=2)) == dict.fromkeys(range(2), (1, None))


def test_a_pool_can_be_stopped_while_its_template_imports() -> None:
    pool = Pool("tests.workers.slow_start:double", 2)
    with closing(pool):
        thread = threading.Thread(target=lambda: list(pool.drain(4, lambda n: b"")))
        thread.start()
        until(lambda: pool._source._loading, "the template is at its import")
        pool.kill()
        thread.join(60)
        assert not thread.is_alive()


def test_a_command_is_its_own_template(tmp_path: Path) -> None:
    during = "print(json.dumps([os.getpid(), *dict(run_tasks(misbehaving.forebears, range(3), jobs=2)).values()]))"
    own, *pairs = said(tmp_path, during)  # type: ignore[misc]
    assert len({tuple(pair) for pair in pairs}) == 1 and pairs[0][1] == own


def test_one_task_of_a_command_is_isolated_all_the_same(tmp_path: Path) -> None:
    during = """
    tasks = [[("segfault", "")], [("hang", "")], [("fine", "")], [("exit", "")]]
    limits = [None, 1, None, None]
    from rushes.workers.engine import run_tasks as run
    print(json.dumps([str(dict(run(misbehaving.misbehave, task, jobs=1, timeout=limit))[0])
                      for task, limit in zip(tasks, limits)]))
    """
    crashed, hung, fine, left = said(tmp_path, during.strip())  # type: ignore[misc]
    assert "SIGSEGV" in crashed and "longer than 1 s" in hung and fine == "fine" and "exit code 7" in left


def test_a_copy_has_nothing_of_the_command_open(tmp_path: Path) -> None:
    during = "print(json.dumps(dict(run_tasks(misbehaving.open_files, [0], jobs=1))[0]))"
    files = said(tmp_path, during)
    assert isinstance(files, list) and not [name for name in files if "lock" in name]
    assert [name for name in files if name == os.devnull]


def test_a_command_with_two_threads_is_not_copied(tmp_path: Path) -> None:
    thread = "import threading, time; threading.Thread(target=time.sleep, args=(60,), daemon=True).start()"
    during = "print(json.dumps(template.is_standing_by())); sys.stdout.flush(); os._exit(0)"
    assert said(tmp_path, during, before=thread) is False
    assert said(tmp_path, during) is True


def test_copies_end_with_a_command_that_is_killed(tmp_path: Path) -> None:
    during = "list(run_tasks(misbehaving.spin, [sys.argv[1]] * 2, jobs=2))"
    with subprocess.Popen(command(tmp_path, during), cwd=ROOT) as parent:
        notes = lambda: [int(path.name) for path in tmp_path.iterdir() if path.name.isdigit()]  # noqa: E731
        until(lambda: parent.poll() is not None or len(notes()) == 2, "both workers are at work")
        parent.kill()
    until(lambda: not any(is_alive(pid) for pid in notes()), "the workers have ended")


def test_a_script_is_never_copied() -> None:
    with standing_by():
        assert not is_standing_by()
        assert os.devnull not in dict(run_tasks(open_files, [0], jobs=1))[0]
