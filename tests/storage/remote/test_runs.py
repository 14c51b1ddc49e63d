"""Runs written to a store: the bytes of a run written here, continued by any machine, read by address."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.processes import until

import rushes
from rushes.core import Definition, Measurement
from rushes.core.errors import RunError
from rushes.storage.remote import store as remote
from rushes.storage.remote.address import RemoteFile
from rushes.storage.remote.errors import RemoteError
from rushes.storage.runs import Entry, RunWriter, Subject, open_run, read_run

from .conftest import Bucket, left_behind

DEFINITION = Definition(
    name="brightness", unit="level", lowest=0, highest=None, better="neither", summary="s", formula="f"
)
SETTINGS = {"tier": 0}


def entry(name: str, value: float = 1.0) -> Entry:
    subject = Subject(id=name, kind="clip", path=f"{name}.mp4", sha256="0" * 64, facts={"frames": 3})
    measurement = Measurement(definition=DEFINITION, value=value, count=3)
    return Entry(subject=subject, measurements=(measurement,), series={"luma": np.arange(3.0) + value})


def opened(target: Path | str) -> RunWriter:
    return open_run(target, instrument="clip", settings=SETTINGS, inputs=["a.mp4"])


def timeless(tree: dict[str, bytes]) -> dict[str, object]:
    """A run's files; of run.json, what is no time."""
    info = json.loads(tree["run.json"])
    assert info.pop("started") and info.pop("finished")
    return tree | {"run.json": info}


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def slow_pushes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is pushed but at the opening and at the end."""
    monkeypatch.setenv("RUSHES_PUSH_SECONDS", "1000")


@pytest.fixture
def whole(tmp_path: Path) -> dict[str, object]:
    """What a run of a, b and c written here looks like."""
    with opened(tmp_path / "whole") as run:
        for name in "abc":
            run.add(entry(name))
        run.finish(["a", "b", "c"])
    return timeless(files(tmp_path / "whole"))


def staged(settings: dict[str, str]) -> list[Path]:
    """What stayed of runs on their way."""
    return [path for path in Path(settings["RUSHES_STAGING"]).rglob("*") if path.is_file() and path.suffix != ".guard"]


@pytest.mark.usefixtures("slow_pushes")
def test_a_run_in_a_store_is_the_run_here(bucket: Bucket, whole: dict[str, object], settings: dict[str, str]) -> None:
    with opened(bucket.url("runs/monday/")) as run:
        assert json.loads(bucket.get("runs/monday/run.json"))["status"] == "running"
        for name in "cab":
            run.add(entry(name))
        run.finish(["a", "b", "c"])
    assert timeless(bucket.tree("runs/monday/")) == whole
    assert staged(settings) == []


@pytest.mark.usefixtures("slow_pushes")
def test_a_writer_that_leaves_early_pushes_what_it_has(bucket: Bucket, whole: dict[str, object]) -> None:
    with pytest.raises(KeyboardInterrupt), opened(bucket.url("run")) as run:
        run.add(entry("b"))
        raise KeyboardInterrupt
    half = read_run(bucket.url("run"))
    assert half.status == "interrupted" and [subject.id for subject in half.subjects] == ["b"]
    assert half.series("b")["luma"].tolist() == [1, 2, 3] and half.series("c") == {}
    assert ".rushes-lock" not in bucket.tree("run/")
    with opened(bucket.url("run")) as run:
        assert run.finished("b") is not None and run.finished("a") is None
        run.add(entry("a")), run.add(entry("c"))
        run.finish(["a", "b", "c"])
    assert timeless(bucket.tree("run/")) == whole


def test_work_is_pushed_while_it_goes_on(
    bucket: Bucket, whole: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUSHES_PUSH_SECONDS", "0.05")
    with opened(bucket.url("run")) as run:
        for count, name in enumerate("abc", 1):
            run.add(entry(name))
            until(lambda count=count: len(read_run(bucket.url("run")).subjects) == count, "the subject is in the store")
        assert sorted(key for key in bucket.tree("run/") if key.startswith("series/")) == [
            f"series/{name}.npz" for name in "abc"
        ]
        assert list((run.path / "series").iterdir()) == [], "what is in the store takes no room here"
        assert len(bucket.keys("run/journal/")) == 3, "each push holds only what is new"
        run.finish(["a", "b", "c"])
    assert timeless(bucket.tree("run/")) == whole


@pytest.mark.usefixtures("slow_pushes")
def test_a_complete_run_takes_new_subjects_and_keeps_old_ones(bucket: Bucket, tmp_path: Path) -> None:
    for target in (bucket.url("run"), tmp_path / "run"):
        for names in ("abc", "cdb"):
            with opened(target) as run:
                for name in names:
                    if run.finished(name) is None:
                        run.add(entry(name))
                run.finish(list(names))
    assert timeless(bucket.tree("run/")) == timeless(files(tmp_path / "run"))
    assert "series/a.npz" in bucket.tree("run/")
    assert [subject.id for subject in read_run(bucket.url("run")).subjects] == ["c", "d", "b", "a"]


@pytest.mark.usefixtures("slow_pushes")
def test_a_run_that_could_not_be_pushed_is_kept_here_and_pushed_by_the_next(
    bucket: Bucket, whole: dict[str, object], settings: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*args: object, **options: object) -> None:
        raise RemoteError("s3://takes/run: access is denied")

    with monkeypatch.context() as patch, pytest.raises(RunError, match="the same command uploads it") as error:
        with opened(bucket.url("run")) as run:
            for name in "abc":
                run.add(entry(name))
            patch.setattr("rushes.storage.mirrors.staging.put_files", refused)
            run.finish(["a", "b", "c"])
    assert str(run.path) in str(error.value) and len(staged(settings)) == 6
    with opened(bucket.url("run")) as run:
        assert all(run.finished(name) for name in "abc")
        run.finish(["a", "b", "c"])
    assert timeless(bucket.tree("run/")) == whole
    assert staged(settings) == []


@pytest.mark.usefixtures("slow_pushes")
def test_a_folder_here_that_fell_behind_the_store_is_not_gone_on_from(
    bucket: Bucket, settings: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine stops with work that it could not push; another one goes on from the store; the first comes back."""

    def refused(*args: object, **options: object) -> None:
        raise RemoteError("s3://takes/run: access is denied")

    first = settings["RUSHES_STAGING"]
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt), opened(bucket.url("run")) as run:
        run.add(entry("a", 1.0))
        patch.setattr("rushes.storage.mirrors.staging.put_files", refused)
        raise KeyboardInterrupt
    assert len(staged(settings)) == 3
    monkeypatch.setenv("RUSHES_STAGING", f"{first}-other")
    with pytest.raises(KeyboardInterrupt), opened(bucket.url("run")) as run:
        assert run.finished("a") is None
        run.add(entry("b"))
        raise KeyboardInterrupt
    monkeypatch.setenv("RUSHES_STAGING", first)
    with opened(bucket.url("run")) as run:
        assert run.finished("a") is None and run.finished("b") is not None
        run.finish(["b"])
    assert [subject.id for subject in read_run(bucket.url("run")).subjects] == ["b"]


@pytest.mark.usefixtures("slow_pushes")
def test_other_settings_and_other_things_are_refused(bucket: Bucket) -> None:
    with opened(bucket.url("run")) as run:
        run.add(entry("a"))
        run.finish(["a"])
    with pytest.raises(RunError, match=f"^{bucket.url('run')}: already contains a run with tier"):
        open_run(bucket.url("run"), instrument="clip", settings={"tier": 1})
    bucket.put("other/holiday.jpg", b"x")
    with pytest.raises(RunError, match=r"expected nothing or a run; it holds holiday\.jpg"):
        opened(bucket.url("other"))
    with pytest.raises(RunError, match="the folder is missing"):
        opened(bucket.url())
    assert bucket.keys("other/") == ["other/holiday.jpg"], "and the lock is given back"


@pytest.mark.parametrize("name", ["series/../../../evil.npz", "journal//x", "a\\b.jsonl"])
def test_a_name_that_leads_elsewhere_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    listing = remote.Listing("folder", (RemoteFile(f"s3://takes/run/{name}", 1, "x"),))
    monkeypatch.setattr("rushes.storage.mirrors.pulling.list_objects", lambda url, hidden: listing)
    with pytest.raises(RunError, match="which Rushes did not write"):
        read_run("s3://takes/run")


def test_no_run_there(bucket: Bucket, settings: dict[str, str]) -> None:
    with pytest.raises(RunError, match=f"^{bucket.url('run')}: expected a run directory with run.json; found none$"):
        read_run(bucket.url("run"))
    assert left_behind(settings) == []


def test_a_run_that_was_read_leaves_nothing_behind(bucket: Bucket, settings: dict[str, str]) -> None:
    with opened(bucket.url("runs/monday")) as writer:
        writer.add(entry("a"))
        writer.finish(["a"])
    run = read_run(bucket.url("runs/monday"))
    assert run.place == bucket.url("runs/monday") and run.path.name == "monday"
    assert run.series("a")["luma"].tolist() == [1, 2, 3] and run.series("../a") == {}
    assert len(left_behind(settings)) == 1
    del run
    assert left_behind(settings) == []


# Two writers.


@pytest.mark.usefixtures("slow_pushes")
def test_a_second_writer_is_refused(bucket: Bucket, settings: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(bucket.url("run")) as run:
        with pytest.raises(RunError, match="another rushes process on this machine is writing it"):
            opened(bucket.url("run"))
        monkeypatch.setenv("RUSHES_STAGING", settings["RUSHES_STAGING"] + "-other")
        with pytest.raises(RunError, match="another rushes process is writing it; wait for it"):
            opened(bucket.url("run"))
        run.finish([])


@pytest.mark.usefixtures("slow_pushes")
@pytest.mark.parametrize(
    ("facts", "is_dead"),
    [
        ({"machine": "another", "pid": 1, "at": 0}, False),
        ({"machine": "another", "pid": 1, "at": -300}, True),
        ({"machine": "this", "pid": 2**22 + 1, "at": 0}, True),
        ({"machine": "this", "pid": "own", "at": 0}, False),
        ({}, True),
    ],
)
def test_a_dead_writers_lock_is_taken_over(bucket: Bucket, facts: dict[str, Any], is_dead: bool) -> None:
    from rushes.storage.mirrors.staging import _machine

    known = {"this": _machine(), "own": os.getpid()}
    lock = {key: known.get(value, value) for key, value in facts.items()} | {"token": "theirs"}
    if "at" in facts:
        lock["at"] = time.time() + facts["at"]
    bucket.put("run/.rushes-lock", json.dumps(lock).encode())
    if is_dead:
        with opened(bucket.url("run")) as run:
            run.finish([])
        assert bucket.keys("run/") == [f"run/{name}" for name in ("measurements.jsonl", "run.json", "subjects.jsonl")]
    else:
        with pytest.raises(RunError, match="another rushes process is writing it"):
            opened(bucket.url("run"))


def test_a_writer_whose_lock_was_taken_over_stops(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUSHES_PUSH_SECONDS", "0.05")
    with (
        pytest.raises(RunError, match="another rushes process has taken over this run"),
        opened(bucket.url("run")) as run,
    ):
        bucket.put("run/.rushes-lock", b'{"token": "theirs"}')

        def goes_on() -> bool:
            run.add(entry("a"))
            return False

        until(goes_on, "the writer has noticed")
    assert json.loads(bucket.get("run/.rushes-lock"))["token"] == "theirs"


def test_a_store_without_conditional_writes_is_locked_as_well_as_it_can_be(
    bucket: Bucket, settings: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from rushes.storage.mirrors import staging

    put_bytes = staging.put_bytes

    def without_create(data: bytes, url: str, *, create: bool = False) -> bool:
        if create:
            raise RemoteError(f"{url}: the store refused (NotImplemented)")
        return put_bytes(data, url)

    monkeypatch.setattr(staging, "put_bytes", without_create)
    with opened(bucket.url("run")) as run:
        monkeypatch.setenv("RUSHES_STAGING", settings["RUSHES_STAGING"] + "-other")
        with pytest.raises(RunError, match="another rushes process is writing it"):
            opened(bucket.url("run"))
        run.finish([])


# The whole thing, killed.


@pytest.fixture
def driver(tmp_path: Path, settings: dict[str, str]) -> Iterator[Any]:
    """Starts `rushes clip` as a process that pushes often and takes its time between clips."""
    script = tmp_path / "driver.py"
    script.write_text(
        "import sys, time\n"
        "import rushes.instruments.clip.evaluate as clips\n"
        "def slowly(work, tasks, **options):\n"
        "    for number, task in enumerate(tasks):\n"
        "        yield number, work(task)\n"
        "        time.sleep(1 if number else 0)\n"
        "clips.run_tasks = slowly\n"
        "clips.evaluate_clips(sys.argv[2:], run=sys.argv[1])\n",
        encoding="utf-8",
    )
    started: list[subprocess.Popen[bytes]] = []

    def start(run: str, *clips: str) -> subprocess.Popen[bytes]:
        environment = os.environ | {"RUSHES_PUSH_SECONDS": "0.1", "PYTHONPATH": os.pathsep.join(sys.path)}
        started.append(subprocess.Popen([sys.executable, str(script), run, *clips], env=environment))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()


def test_killed_and_resumed_equals_uninterrupted(
    bucket: Bucket, here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, driver: Any
) -> None:
    """On this machine, where the killed writer's folder lies, and from a copy of the objects, which has none here."""
    monkeypatch.setattr(
        "rushes.instruments.clip.evaluate.run_tasks",
        lambda work, tasks, **options: enumerate(work(task) for task in tasks),
    )
    url = bucket.put_folder("takes", here)
    whole = rushes.evaluate_clips([url], run=tmp_path / "whole")
    process = driver(bucket.url("run"), url)
    until(lambda: bucket.keys("run/journal/"), "a push has come")
    assert process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert bucket.keys("run/.rushes-lock")
    for name, data in bucket.tree("run/").items():
        bucket.put(f"elsewhere/{name}", data)
    again: list[str] = []
    monkeypatch.setattr(
        "rushes.instruments.clip.evaluate.run_tasks",
        lambda work, tasks, **options: enumerate(again.append(task.path) or work(task) for task in tasks),
    )
    for place in ("run", "elsewhere"):
        again.clear()
        resumed = rushes.evaluate_clips([url], run=bucket.url(place))
        assert 0 < len(again) < len(whole.subjects), "what was pushed is not measured again"
        assert resumed.place == bucket.url(place) and resumed.status == "complete"
        assert timeless(bucket.tree(f"{place}/")) == timeless(files(tmp_path / "whole"))


@pytest.mark.usefixtures("slow_pushes")
def test_overwriting_takes_the_old_results_away_before_the_new_run_begins(bucket: Bucket) -> None:
    url = bucket.url("run")
    with opened(url) as run:
        run.add(entry("a"))
        run.finish(["a"])
    with pytest.raises(RunError, match=f"^{url}: already contains a run of a.mp4, not of b.mp4"):
        open_run(url, instrument="clip", settings=SETTINGS, inputs=["b.mp4"])
    with pytest.raises(KeyboardInterrupt):
        with open_run(url, instrument="clip", settings={"tier": 1}, inputs=["a.mp4"], overwrite=True):
            raise KeyboardInterrupt
    assert not [name for name in bucket.tree("run/") if name != "run.json"]
    with open_run(url, instrument="clip", settings={"tier": 1}, inputs=["a.mp4"]) as run:
        assert run.finished("a") is None, "measured under other settings"
        run.add(entry("a"))
        run.finish(["a"])
    assert [subject.id for subject in read_run(url).subjects] == ["a"]
