"""Planting a list of clips: what is there is kept, what is gone is made again, what does not fit is left out."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.planting.clips import Clip
from benchmarks.planting.source import write_source
from benchmarks.planting.work import Task, plant
from tests.planting.test_picture import moving

from rushes.core.errors import InputError


def clip(folder: Path, name: str, count: int) -> Clip:
    path = write_source(moving(count), folder / f"{name}.mp4")
    return Clip(path=path, name=name, source="here", speech=False, split="tune", faulty=False)


def test_a_second_call_keeps_what_is_there_and_makes_what_is_gone(tmp_path: Path) -> None:
    task = Task(clip=clip(tmp_path, "one", 50), other=None, folder=str(tmp_path / "out"), declared_only=True)
    files, left_out = plant(task)
    assert not left_out
    by_fault = {(file.fault, file.strength): Path(file.path) for file in files}
    clean, strobe = by_fault["", "clean"], by_fault["strobe", "±7 levels"]
    assert (clean.parent.name, strobe.parent.name) == ("clean", "strobe")
    assert not {"long sound", "late sound", "lost face"} & {file.fault for file in files}  # no sound, nobody speaks
    first = strobe.read_bytes()
    clean.write_bytes(b"kept")
    strobe.unlink()
    assert plant(task) == (files, [])
    assert strobe.read_bytes() == first
    assert clean.read_bytes() == b"kept"
    assert not list((tmp_path / "out").rglob(".*.part*"))


def test_a_short_clip_and_one_that_cannot_be_read_are_left_out_with_a_reason(tmp_path: Path) -> None:
    short = Task(clip=clip(tmp_path, "short", 25), other=None, folder=str(tmp_path / "out"))
    assert plant(short) == ([], ["short: 1.0 s is too short to plant anything in"])
    (tmp_path / "text.mp4").write_text("no video")
    given = Clip(path=tmp_path / "text.mp4", name="text", source="", speech=False, split="tune", faulty=False)
    files, (reason,) = plant(Task(clip=given, other=None, folder=str(tmp_path / "out")))
    assert not files and reason.startswith("text: ") and "\n" not in reason


def test_a_folder_without_clips_is_an_error(tmp_path: Path) -> None:
    from benchmarks.planting.clips import read_clips

    with pytest.raises(InputError):
        read_clips([tmp_path])
