"""Planting a list of clips: samples decided by names, what is there is kept, what does not fit is left out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.planting.clips import Clip, read_clips
from benchmarks.planting.facts import facts_of
from benchmarks.planting.faults import FAULTS
from benchmarks.planting.source import ENCODERS, write_source
from benchmarks.planting.work import Cell, Task, cells, look, plant
from tests.planting.test_picture import moving

from rushes.core.errors import InputError


def clip(folder: Path, name: str, count: int) -> Clip:
    path = write_source(moving(count), folder / f"{name}.mp4")
    return Clip(path=path, name=name, source="here", speech=False, split="tune", faulty=False)


def some(*faults: str, encoder: int = 0) -> tuple[Cell, ...]:
    strengths = {f.name: next(s.label for s in f.strengths if s.declared) for f in FAULTS} | {"": "clean"}
    return tuple(Cell(fault=name, strength=strengths[name], encoder=ENCODERS[encoder].name) for name in faults)


def test_a_second_call_keeps_what_is_there_and_makes_what_is_gone(tmp_path: Path) -> None:
    task = Task(clip=clip(tmp_path, "one", 50), folder=str(tmp_path / "out"), cells=some("", "strobe"))
    files = plant(task)
    clean, strobe = (Path(file.path) for file in files)
    assert (clean.parent.name, strobe.parent.name) == ("clean", "strobe@7-levels")
    assert strobe.parent.parent.name == "x264-ultrafast-crf-16"
    first = strobe.read_bytes()
    clean.write_bytes(b"kept")
    strobe.unlink()
    assert plant(task) == files
    assert strobe.read_bytes() == first and clean.read_bytes() == b"kept"
    assert not list((tmp_path / "out").rglob(".*.part*"))


def test_every_encoder_writes_the_same_bytes_twice(tmp_path: Path) -> None:
    given = clip(tmp_path, "one", 40)
    for n in range(len(ENCODERS)):
        one, two = (plant(Task(clip=given, folder=str(tmp_path / f), cells=some("soft", encoder=n)))[0] for f in "ab")
        assert Path(one.path).read_bytes() == Path(two.path).read_bytes()


def test_samples_are_decided_by_names_others_for_every_encoder_and_one_clip_of_each_at_the_other_strengths() -> None:
    facts = facts_of(moving())
    clips = [
        Clip(path=Path(f"{n}.mp4"), name=f"c{n:02}", source=f"s{n}", speech=False, split="check", faulty=False)
        for n in range(12)
    ]
    planned = cells(clips, dict.fromkeys((c.name for c in clips), facts), sample=4)
    again = cells(clips[::-1], dict.fromkeys((c.name for c in clips), facts), sample=4)
    assert {name: set(found) for name, found in planned.items()} == {name: set(found) for name, found in again.items()}
    chosen = {
        (cell.strength, cell.encoder): {n for n, found in planned.items() if cell in found}
        for cell in (c for found in planned.values() for c in found if c.fault == "strobe")
    }
    declared = {encoder.name: chosen["±7 levels", encoder.name] for encoder in ENCODERS}
    assert all(len(names) == 4 for names in declared.values()) and len(frozenset().union(*declared.values())) == 12
    others = {key: names for key, names in chosen.items() if key[0] != "±7 levels"}
    assert len(others) == 6 and all(len(names) == 1 and names < declared[e] for (_, e), names in others.items())
    screens = [replace(one, kind="screen") for one in clips]
    only_clean = cells(screens, dict.fromkeys((c.name for c in clips), facts), sample=4)
    assert all({cell.fault for cell in found} == {""} for found in only_clean.values())


def test_a_short_clip_and_one_that_cannot_be_read_are_left_out_with_a_reason(tmp_path: Path) -> None:
    short = Task(clip=clip(tmp_path, "short", 25), folder=str(tmp_path / "out"), cells=())
    assert look(short) == "1.0 s is too short to plant anything in"
    (tmp_path / "text.mp4").write_text("no video")
    given = Clip(path=tmp_path / "text.mp4", name="text", source="", speech=False, split="tune", faulty=False)
    reason = look(Task(clip=given, folder=str(tmp_path / "out"), cells=()))
    assert isinstance(reason, str) and "\n" not in reason


def test_a_folder_without_clips_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        read_clips([tmp_path])


def test_clips_of_one_name_are_told_apart(tmp_path: Path) -> None:
    """Their planted files would overwrite each other: each name is there once."""
    for folder, name in (("a", "take.mp4"), ("a", "take.mov"), ("b/a", "take.mp4")):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / folder / name).write_bytes(b"")
    rows = "path\na/take.mp4\na/take.mov\nb/a/take.mp4\n"
    (tmp_path / "list.csv").write_text(rows, "utf-8")
    assert [one.name for one in read_clips([tmp_path / "list.csv"])] == ["a-take", "a-take-mov", "a-take-mp4"]


def test_a_list_names_clips_says_where_to_plant_and_refuses_another_file(tmp_path: Path) -> None:
    (tmp_path / "a.mp4").write_bytes(b"one")
    digest = "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed"  # of b"one"
    (tmp_path / "list.csv").write_text(f"path,name,plant,sha256\na.mp4,first,no,{digest}\n", "utf-8")
    (only,) = read_clips([tmp_path / "list.csv"])
    assert (only.name, only.planted) == ("first", False)
    (tmp_path / "a.mp4").write_bytes(b"two")
    with pytest.raises(InputError, match="sha256 7692c3ad3540"):
        read_clips([tmp_path / "list.csv"])
