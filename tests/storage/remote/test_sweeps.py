"""`rushes sweep` on a clip in a store, and into one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rushes.core.errors import InputError
from rushes.instruments.robustness.evaluate import measure_robustness
from rushes.instruments.robustness.sweep.evaluate import sweep_clips
from rushes.storage.remote import store as remote
from rushes.storage.remote import transfer
from rushes.storage.runs import subject_ids

from .conftest import Bucket, left_behind

AXES = {"brightness": [0.8, 1.0]}


def tree(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_same_bytes_as_the_same_clip_here(
    bucket: Bucket, here: Path, tmp_path: Path, settings: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    url = bucket.put("takes/take2.mkv", here / "take2.mkv")
    fetches: list[str] = []
    download = transfer._download
    monkeypatch.setattr(
        transfer, "_download", lambda place, local: fetches.append(str(place)) or download(place, local)
    )
    sweep_clips([here / "take2.mkv"], axes=AXES, out=tmp_path / "near")
    sweep_clips([url], axes=AXES, out=tmp_path / "far", jobs=1)
    assert tree(tmp_path / "near") == tree(tmp_path / "far")
    assert fetches == [url], "one copy serves every perturbed version"
    assert left_behind(settings) == []


def test_a_clip_that_cannot_be_swept_is_named_by_its_address(bucket: Bucket, here: Path, tmp_path: Path) -> None:
    url = bucket.put("take2.mkv", here / "take2.mkv")
    with pytest.raises(InputError, match=f"^{url}: has no sound"):
        sweep_clips([url], axes={"audio_shift": [0, 40]}, out=tmp_path / "sweep")
    assert subject_ids([remote.stat(url).stem]) == ["take2"]


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the runs that are made."""
    made: list[str] = []
    monkeypatch.setattr(
        "rushes.instruments.robustness.sweep.evaluate.run_tasks",
        lambda work, tasks, **options: enumerate(made.append(task.name) or work(task) for task in tasks),
    )
    return made


def test_a_sweep_in_a_store_is_the_sweep_here(
    bucket: Bucket, here: Path, tmp_path: Path, settings: dict[str, str], made: list[str]
) -> None:
    clips = [here / "take2.mkv", here / "take 1.mkv"]
    sweep_clips(clips, axes=AXES, out=tmp_path / "near")
    far = sweep_clips(clips, axes=AXES, out=bucket.url("sweeps/monday/"))
    assert bucket.tree("sweeps/monday/") == tree(tmp_path / "near")
    assert far.sweeps == (bucket.url("sweeps/monday/take2"), bucket.url("sweeps/monday/take_1"))
    for sweeps, run in ((tmp_path / "near", tmp_path / "run"), (bucket.url("sweeps/monday/"), bucket.url("run"))):
        measure_robustness(sweeps, run=run)
    for name in ("subjects.jsonl", "measurements.jsonl"):
        measured = bucket.get(f"run/{name}").decode().replace(bucket.url("sweeps/monday"), str(tmp_path / "near"))
        assert measured == (tmp_path / "run" / name).read_text(encoding="utf-8")
    assert left_behind(settings) == []
    made.clear()
    again = sweep_clips(clips, axes=AXES, out=bucket.url("sweeps/monday"))
    assert made == [] and again.kept == again.runs == 4
    assert bucket.tree("sweeps/monday/") == tree(tmp_path / "near")
    assert [
        path for path in Path(settings["RUSHES_STAGING"]).rglob("*") if path.is_file() and path.suffix != ".guard"
    ] == []


def test_a_sweep_that_stopped_goes_on_on_another_machine(
    bucket: Bucket,
    here: Path,
    tmp_path: Path,
    settings: dict[str, str],
    made: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clip = here / "take2.mkv"
    sweep_clips([clip], axes=AXES, out=tmp_path / "near")

    def stops(work: Any, tasks: Any, **options: Any) -> Any:
        yield 0, work(tasks[0])
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("rushes.instruments.robustness.sweep.evaluate.run_tasks", stops)
        sweep_clips([clip], axes=AXES, out=bucket.url("sweep"))
    assert len([key for key in bucket.keys("sweep/") if key.endswith("/manifest.json")]) == 1
    monkeypatch.setenv("RUSHES_STAGING", settings["RUSHES_STAGING"] + "-other")
    made.clear()
    assert sweep_clips([clip], axes=AXES, out=bucket.url("sweep")).kept == 1
    assert len(made) == 1
    assert bucket.tree("sweep/") == tree(tmp_path / "near")


def test_a_place_that_holds_something_else_is_refused(bucket: Bucket, here: Path) -> None:
    bucket.put("sweep/holiday.jpg", b"x")
    with pytest.raises(InputError, match=r"it holds holiday\.jpg"):
        sweep_clips([here / "take2.mkv"], axes=AXES, out=bucket.url("sweep"))
    assert bucket.keys() == ["sweep/holiday.jpg"]
