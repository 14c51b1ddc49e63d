"""Runs in shards and in one piece give the same comparison, to the byte, and neither holds a number for each clip."""

from __future__ import annotations

import gc
import json
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.storage.runs.shard_material import defined, entry, names

from rushes.compare.gate.gate import check_regression
from rushes.compare.gate.report import as_data as gate_data
from rushes.compare.runs.as_data import comparison_data
from rushes.compare.runs.checks import unchecked
from rushes.compare.runs.many import compare_all, compare_runs
from rushes.compare.runs.page.clips import most_changed
from rushes.core import Measurement
from rushes.core.canonical import canonical_json, stored_float
from rushes.stats.rounding import stored_floats
from rushes.storage.columns import reading_columns, reason_kinds, with_subjects
from rushes.storage.runs import Entry, Subject, open_run, read_run
from rushes.storage.shards import scanning
from rushes.storage.shards.reading import Shards

pytest.importorskip("pyarrow")
CLIPS = names(24)
SETTINGS = {"tier": 0, "profile": "general", "profile_sha256": "ab" * 32, "input": "raw"}
SIZED = replace(defined("sized"), depends_on=("frame_size",))
SIZES = ((64, 36), (64, 36), (64, 36), (128, 72))


def clip(name: str, seed: int, system: str) -> Entry:
    """A clip with every kind of number, of a size that may differ from its partner's."""
    made = entry(name, seed=seed)
    width, height = random.Random(f"{name} {seed} size").choice(SIZES)
    facts = {"media": {"video": {"width": width, "height": height}}}
    subject = Subject(
        id=name,
        kind="clip",
        path=f"{system}/{name}.mp4",
        sha256=made.subject.sha256,
        facts=facts,
        badge=made.subject.badge,
        why=made.subject.why,
    )
    sized = Measurement(definition=SIZED, value=random.Random(f"{name} {seed}").random(), count=1)
    return Entry(subject=subject, measurements=(*made.measurements, sized))


def write(folder: Path, seed: int, *, shards: int, clips: list[str] = CLIPS) -> Path:
    with open_run(folder, instrument="clip", settings=SETTINGS, inputs=clips, asked=["x"], shards=shards) as run:
        if shards:
            run.plan(clips, clips)  # type: ignore[attr-defined]
        for name in clips:
            run.add(clip(name, seed, folder.name))
        run.finish(clips)
    return folder


@pytest.fixture
def both_ways(tmp_path: Path) -> list[tuple[Path, Path]]:
    """Two systems, each in one piece and in shards, under the same names."""
    fewer = [name for name in CLIPS if name not in (CLIPS[3], CLIPS[17])]
    return [
        (
            write(tmp_path / kind / "amber", 1, shards=shards),
            write(tmp_path / kind / "birch", 2, shards=shards, clips=fewer),
        )
        for kind, shards in (("whole", 0), ("parts", 5))
    ]


def test_a_comparison_of_runs_in_shards_is_that_of_runs_in_one_piece(both_ways: list[tuple[Path, Path]]) -> None:
    told = [canonical_json(comparison_data(compare_all(pair, top=4))) for pair in both_ways]
    whole, parts = (text.replace("/whole/", "/").replace("/parts/", "/") for text in told)
    assert json.loads(parts) == json.loads(whole)
    assert parts == whole
    assert '"largest":[{' in whole and '"not_comparable":[{' in whole


def test_a_gate_on_runs_in_shards_is_that_on_runs_in_one_piece(both_ways: list[tuple[Path, Path]]) -> None:
    margins = {"blur_score": "50%", "decode_ok": 0.2}
    told = [str(gate_data(check_regression(*pair, metrics=margins))) for pair in both_ways]
    whole, parts = (text.replace("/whole/", "/").replace("/parts/", "/") for text in told)
    assert parts == whole


def test_clips_that_changed_most_and_those_not_checked_are_the_same(both_ways: list[tuple[Path, Path]]) -> None:
    found = [compare_all(pair) for pair in both_ways]
    changed = [[(one.subject, [row.size for row in one.changes]) for one in most_changed(each, 6)] for each in found]
    assert changed[0] == changed[1] and len(changed[0]) == 6
    left = [unchecked(compare_runs(*pair), "blur_score") for pair in both_ways]
    assert left[0] == left[1] and left[0]


def test_columns_have_the_numbers_of_the_run(both_ways: list[tuple[Path, Path]]) -> None:
    for whole, parts in zip(*both_ways, strict=True):
        one, other = read_run(whole), read_run(parts)
        ids = [subject.id for subject in one.subjects]
        ours, theirs = reading_columns(one, ids), reading_columns(other, ids)
        assert [column.same for column in ours] == [column.same for column in theirs]
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(a.values, b.values)
            np.testing.assert_array_equal(a.there, b.there)
            assert a.is_flag == b.is_flag and list(a.numbers) == list(b.numbers)
            kinds = [(type(m.value), m.note, m.interval) for m in a.numbers if m is not None]
            assert kinds == [(type(m.value), m.note, m.interval) for m in b.numbers if m is not None]


def interrupted(folder: Path, shards: int, before: int, many: int) -> Path:
    """A run that was complete with some clips, and was stopped while others were added: those are in no shard yet."""
    done = CLIPS[:before]
    if done:
        write(folder, 1, shards=shards, clips=done)
    with open_run(
        folder, instrument="clip", settings=SETTINGS, inputs=CLIPS, asked=["x"], shards=shards, add=bool(done)
    ) as run:
        if shards:
            run.plan(CLIPS, CLIPS[before:])  # type: ignore[attr-defined]
        for name in CLIPS[before:many]:
            run.add(clip(name, 1, folder.name))
    return folder


@pytest.mark.parametrize(("before", "many"), [(0, 4), (10, 13)])
def test_columns_of_a_run_that_was_stopped_have_its_numbers(tmp_path: Path, before: int, many: int) -> None:
    runs = [read_run(interrupted(tmp_path / name, size, before, many)) for name, size in (("one", 0), ("parts", 5))]
    assert runs[1].shards is not None and len(runs[1].shards.loose) == many - before
    columns = [reading_columns(run, CLIPS[:many]) for run in runs]
    assert any(m and m.note for column in columns[0] for m in column.numbers)
    for a, b in zip(*columns, strict=True):
        assert (a.same, a.is_flag, a.kind, list(a.numbers)) == (b.same, b.is_flag, b.kind, list(b.numbers))
        np.testing.assert_array_equal(a.values, b.values)


def test_columns_are_read_some_at_a_time(both_ways: list[tuple[Path, Path]], monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def watched(shards: Shards, columns: Sequence[str]) -> list[np.ndarray]:
        asked.append(len(columns))
        return values(shards, columns)

    values = scanning.values
    monkeypatch.setattr(scanning, "values", watched)
    monkeypatch.setattr("rushes.storage.columns._TOGETHER", 3)
    found = compare_all(both_ways[1])
    assert asked == [3, 3, 3, 3]  # of both runs, in turn
    assert all(one.largest for one in found.judged if one.p.count) and len(asked) == 4  # cells, and no column
    asked.clear()
    monkeypatch.setattr("rushes.storage.columns._TOGETHER", 1)
    compare_all(both_ways[1], only="sized,frame_count")
    assert asked == [1, 1, 1, 1]  # of each run those two


def test_what_a_file_says_of_itself_is_not_kept(both_ways: list[tuple[Path, Path]]) -> None:
    shards = read_run(both_ways[1][0]).shards
    assert shards is not None
    columns = [key.column(part) for key in shards.readings for part in ("value", "note")]
    lines = [json.loads(line)["measurements"] for line in shards.lines()]
    gc.collect()
    gc.disable()
    try:
        told = scanning.filled(shards, columns)
        assert not [one for one in gc.get_objects() if type(one).__name__ == "FileMetaData"]
    finally:
        gc.enable()
    for key in shards.readings:
        rows = [
            row
            for clip in lines
            for row in clip
            if (row["signature"], row.get("at", {})) == (key.signature, dict(key.at))
        ]
        assert told[key.column("value")] == sum(row["value"] is not None for row in rows)
        assert told[key.column("note")] == sum(bool(row["note"]) for row in rows)


def test_light_subjects_are_the_subjects(both_ways: list[tuple[Path, Path]]) -> None:
    whole, parts = (read_run(pair[0]) for pair in both_ways)
    light = with_subjects(parts).subjects
    assert isinstance(light, tuple) and with_subjects(whole) is whole
    for one, other in zip(whole.subjects, light, strict=True):
        assert (one.id, one.kind, one.sha256, one.badge, one.facts) == (
            *(other.id, other.kind, other.sha256, other.badge),
            other.facts,
        )
        assert tuple(other.why) == one.why and reason_kinds(other) == reason_kinds(one)


def test_rounding_many_numbers_is_rounding_each() -> None:
    rng = np.random.default_rng(5)
    ties = (rng.integers(-(10**12), 10**12, 4000) + 0.5) / 1e8
    given = np.concatenate([rng.normal(0, 10.0**size, 500) for size in range(-9, 9)] + [ties, [0.0, -0.0, -1e-12]])
    assert stored_floats(given).tolist() == [stored_float(float(value)) for value in given]
    assert not np.signbit(stored_floats(np.array([-1e-12, -0.0]))).any()
    assert np.isnan(stored_floats(np.array([np.nan]))).all()
