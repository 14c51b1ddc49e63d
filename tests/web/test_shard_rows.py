"""Runs in shards in the browser: the same answers as from a run in one piece, without reading it whole."""

from __future__ import annotations

import hashlib
import os
import random
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.storage.runs.shard_material import entry as made_up
from tests.storage.runs.shard_material import names

from rushes.instruments.clip.show.section import many_clips
from rushes.media import write_clip
from rushes.storage.runs import Entry, RunWriter, read_run
from rushes.storage.shards import scanning
from rushes.storage.shards.reading import ShardPlace, Shards
from rushes.storage.shards.writer import ShardedWriter
from rushes.web.clips.triage import Change, change_mark, read_marks
from rushes.web.runs.cache import OpenRun, Row, RunCache
from rushes.web.runs.query import Range, RunQuery
from rushes.web.runs.rows import MemoryRows, ShardRows, rows_of
from rushes.web.runs.run_rows import RunRows
from rushes.web.runs.summary import read_summary

from .livesite import Site
from .runsite import SETTINGS, entry, owner

pytest.importorskip("pyarrow")

REASONS = ("frozen 1.0–2.4 s (longest_freeze_ms=1320 > 450)", "Straße (p10_x2=3 < 4)", "105 of 200 frames missing")


def entries() -> list[Entry]:
    """Sixty clips with every kind of value, ids in no order, names and reasons in other alphabets."""
    found = []
    for place, name in enumerate(random.Random(3).sample(names(60), 60)):
        one = made_up(name)
        reasons = (*one.subject.reasons, REASONS[place % 3])[: place % 4]
        path = "takes/GROẞ/K.mp4" if place % 7 == 0 else one.subject.path
        found.append(replace(one, subject=replace(one.subject, reasons=reasons, path=path)))
    return found


def both(folder: Path) -> tuple[Path, Path]:
    every = entries()
    ids = [one.subject.id for one in every]
    with RunWriter(folder / "whole", instrument="clip", settings={}) as run:
        for one in every:
            run.add(one)
        run.finish(ids)
    with ShardedWriter(folder / "parts", size=9, instrument="clip", settings={}, inputs=ids, asked=["x"]) as run:
        run.plan(ids, ids)
        for one in every:
            run.add(one)
        run.finish(ids)
    return folder / "whole", folder / "parts"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    found = both(tmp_path_factory.mktemp("runs"))
    for folder in found:
        change_mark(folder, "take0007", Change(star=True, add=("keep",)))
        change_mark(folder, "take0021", Change(star=True))
    return found


@pytest.fixture(scope="module")
def rows(runs: tuple[Path, Path]) -> tuple[RunRows, RunRows]:
    whole, parts = (rows_of(OpenRun(read_run(folder), "")) for folder in runs)
    assert isinstance(whole, MemoryRows) and isinstance(parts, ShardRows)
    return whole, parts


def questions(keys: list[str]) -> list[RunQuery]:
    rng = random.Random(5)
    texts = (
        "",
        "",
        "take00",
        "TAKE000",
        "frozen",
        "1.0–2",
        "STRASSE",
        "groß",
        "gross",
        "k.mp4",
        "blur_score=3",
        "nope",
    )
    found = []
    for _ in range(120):
        ranges = [Range(key, *rng.choice([(0.5, None), (None, 40.0), (0.0, 1.0)])) for key in rng.sample(keys, 2)]
        found.append(
            RunQuery(
                badges=tuple(rng.sample(("reject", "flagged", "pass"), rng.choice([0, 0, 1, 2]))),
                text=rng.choice(texts),
                ranges=tuple(ranges[: rng.choice([0, 0, 1, 2])]),
                starred=rng.random() < 0.1,
                tags=("keep",) if rng.random() < 0.05 else (),
                sort=rng.choice(["", "id", *keys]),
                descending=rng.random() < 0.5,
            )
        )
    return found


def kept(opened: OpenRun, query: RunQuery) -> list[str]:
    """What a query keeps, in its order, gone through clip by clip."""
    marks = read_marks(opened.run.path).marks
    order = {"reject": 0, "flagged": 1, "pass": 2}

    def worst(row: Row) -> tuple[int, float]:
        subject = row.entry.subject
        return order.get(subject.badge or "", 3), -max((reason.severity for reason in subject.why), default=0.0)

    every = sorted(opened.rows, key=worst)

    def value(row: Row, key: str) -> float | None:
        found = row.values.get(key)
        return None if found is None or found.value is None else float(found.value)

    def keeps(row: Row) -> bool:
        subject, mark = row.entry.subject, marks.get(row.entry.subject.id)
        texts = (text.casefold() for text in (subject.id, subject.path, *subject.reasons))
        return (
            (not query.badges or subject.badge in query.badges)
            and any(query.text.casefold() in text for text in texts)
            and (not query.starred or (mark is not None and mark.star))
            and (not query.tags or (mark is not None and set(query.tags) <= set(mark.tags)))
            and all(
                (found := value(row, one.key)) is not None
                and (one.low is None or found >= one.low)
                and (one.high is None or found <= one.high)
                for one in query.ranges
            )
        )

    found = [row for row in every if keeps(row)]
    if query.sort == "id":
        found.sort(key=lambda row: row.entry.subject.id, reverse=query.descending)
    elif query.sort:
        have = [row for row in found if value(row, query.sort) is not None]
        lack = [row for row in found if value(row, query.sort) is None]
        found = sorted(have, key=lambda row: value(row, query.sort) or 0.0, reverse=query.descending) + lack
    return [row.entry.subject.id for row in found]


def test_every_question_has_the_answer_of_a_run_in_one_piece(
    runs: tuple[Path, Path], rows: tuple[RunRows, RunRows]
) -> None:
    whole, parts = rows
    opened = OpenRun(read_run(runs[0]), "")
    for query in questions(list(whole.readings)):
        assert parts.ids(query) == whole.ids(query) == kept(opened, query), query
        for first, size in ((0, 7), (5, 100), (59, 3), (70, 2)):
            assert parts.page(query, first, size) == whole.page(query, first, size), query
        for subject in ("take0007", "take0030", "nope"):
            assert parts.beside(query, subject) == whole.beside(query, subject), query


def test_counts_readings_and_distributions_are_equal(rows: tuple[RunRows, RunRows]) -> None:
    whole, parts = rows
    assert parts.total == whole.total == 60 and dict(parts.readings) == dict(whole.readings)
    assert list(parts.readings) == list(whole.readings)
    assert parts.badge_counts == whole.badge_counts and sum(whole.badge_counts.values()) < 60
    assert parts.reasons == whole.reasons and len(whole.reasons) >= 4
    assert dict(parts.reason_words) == dict(whole.reason_words)
    for key in whole.readings:
        assert parts.histogram(key) == whole.histogram(key) and parts.has_values(key) == whole.has_values(key), key
    assert parts.rows(["take0003"]) == whole.rows(["take0003"]) and not parts.has("nope")
    assert not parts.has_values("nope")
    some = random.Random(1).sample(names(60), 60)
    assert parts.places(some) == whole.places(some) and parts.places(some * 4) == whole.places(some * 4)


MakeSite = Callable[..., Site]


def test_one_look_opens_each_shard_once_and_has_the_same_answers(
    runs: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, parts = (rows_of(OpenRun(read_run(folder), "")) for folder in runs)
    keys, opened, really = list(whole.readings)[:4], [], scanning.open_table

    def counting(place: ShardPlace, name: str, **how: Any) -> Any:
        opened.append(name)
        return really(place, name, **how)

    monkeypatch.setattr(scanning, "open_table", counting)
    parts.look(keys)
    parts.look(keys)
    shown = (parts.badge_counts, parts.reasons, parts.histograms(keys), parts.page(RunQuery(), 0, 9))
    assert sorted(opened) == sorted(set(opened)) and len(opened) == 7, "sixty clips in shards of nine"
    assert shown == (whole.badge_counts, whole.reasons, whole.histograms(keys), whole.page(RunQuery(), 0, 9))


def test_pages_of_a_run_in_shards(make_site: MakeSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sheet, the table, a filter, a clip's page and picture, home, the list: no row is read but theirs."""
    every = [entry(f"c{place:02d}", place / 40, 100 - place, badge=badge) for place, badge in enumerate(_badges(40))]
    clip = write_clip(tmp_path / "c39.mp4", [np.full((32, 32, 3), 90, np.uint8)] * 8)
    digest = hashlib.sha256(clip.read_bytes()).hexdigest()
    every[39] = replace(every[39], subject=replace(every[39].subject, sha256=digest, path=str(clip)))
    ids = [one.subject.id for one in every]
    with ShardedWriter(tmp_path / "big", size=8, instrument="clip", settings=SETTINGS, inputs=ids, asked=["x"]) as run:
        run.plan(ids, ids)
        for one in every:
            run.add(one)
        run.finish(ids)
    client = owner(make_site(runs=[tmp_path / "big"]))

    def whole(self: object) -> None:
        raise AssertionError("the run was read whole")

    monkeypatch.setattr(Shards, "lines", whole)
    sheet = client.get("/runs/big")
    assert sheet.status_code == 200 and sheet.text.count('class="tile') >= 40
    data = client.get("/runs/big.json").json()
    assert (data["matching"], data["run"]["badges"]) == (40, {"reject": 10, "flagged": 10, "pass": 20})
    assert [row["id"] for row in data["rows"]][:3] == ["c39", "c38", "c37"]
    assert client.get("/runs/big?view=table&sort=blur_score").status_code == 200
    found = client.get("/runs/big.json?signal=reject&min.freeze_frame_ratio=0.9&sort=blur_score").json()
    assert [row["id"] for row in found["rows"]] == ["c39", "c38", "c37", "c36"]
    take = client.get("/runs/big/clip.json?id=c38&signal=reject").json()
    assert (take["place"], take["listed"], take["clip"]["id"]) == (2, 10, "c38")
    page = client.get("/runs/big/clip?id=c38&signal=reject").text
    assert "id=c37" in page and "id=c39" in page
    assert client.get("/runs/big/clip?id=nope").status_code == 404
    listed = client.get("/runs/big/selection.txt?signal=reject&sort=id&order=desc").text.splitlines()
    assert listed[0] == str(clip) and listed[1:] == [f"c{place}.mp4" for place in range(38, 29, -1)]
    table = client.get("/runs/big/selection.csv?only=c38&only=c01").text
    assert "c38.mp4,reject" in table and "c01.mp4,pass" in table
    home = client.get("/home.json").json()["runs"][0]
    assert [one["id"] for one in home["worst"]] == ["c39", "c38", "c37"] and home["subjects"] == 40
    assert client.get("/runs/big/tiles?page=1").status_code == 200
    picture = re.search(r"/thumbnails/[0-9a-f]+", client.get("/runs/big?q=c39").text)
    assert picture is not None and client.get(picture[0]).headers["content-type"] == "image/jpeg"


def _badges(count: int) -> list[str]:
    return [("pass", "pass", "flagged", "reject")[4 * place // count] for place in range(count)]


def test_the_home_page_names_the_worst_clips_of_shards(runs: tuple[Path, Path]) -> None:
    whole, parts = map(read_summary, runs)
    # which clips the badges belong to is not read out of shards
    assert parts == replace(whole, signals={}) and len(parts.worst) == 3


def test_columns_of_a_state_that_is_gone_are_let_go(tmp_path: Path) -> None:
    _, parts = both(tmp_path)
    cache = RunCache()
    opened = cache.read(parts)
    assert rows_of(opened) is rows_of(cache.read(parts)) and opened.kept
    (parts / "run.json").touch()
    os.utime(parts / "run.json", ns=(1, 1))
    assert cache.read(parts) is not opened and not opened.kept and rows_of(opened).total == 60


def test_a_run_under_way_answers_with_what_is_finished(tmp_path: Path) -> None:
    """Some clips are in shards, others not yet; a shard in the middle is still to come."""
    every = entries()[:24]
    ids = [one.subject.id for one in every]
    with ShardedWriter(tmp_path / "run", size=6, instrument="clip", settings={}, inputs=ids, asked=["x"]) as run:
        run.plan(ids, ids)
        for one in (*every[:6], *every[7:20]):
            run.add(one)
        opened = OpenRun(read_run(tmp_path / "run"), "")
        parts, whole = rows_of(opened), MemoryRows(opened)
        assert isinstance(parts, ShardRows) and parts.total == whole.total == 19 and opened.run.shards.loose
        for query in questions(list(whole.readings))[:30]:
            assert parts.ids(query) == whole.ids(query) and parts.page(query, 0, 30) == whole.page(query, 0, 30), query
        assert all(parts.histogram(key) == whole.histogram(key) for key in whole.readings)
        assert all(parts.has_values(key) == whole.has_values(key) for key in whole.readings)
        assert parts.beside(RunQuery(), ids[19]) == whole.beside(RunQuery(), ids[19])


def test_a_silent_clip_in_shards_skips_no_sound_rule(make_site: MakeSite, tmp_path: Path) -> None:
    """Neither on its page nor in the counts of a report; a clip with sound and without the value does."""
    sound = {"codec": "aac", "sample_rate": 48000, "channels": 1}
    facts = [
        {"media": {"audio": audio}, "not_judged": ["av_duration_delta_ms", "sharpness"]} for audio in (None, sound)
    ]
    every = [
        replace(one, subject=replace(one.subject, facts=about))
        for one, about in zip((entry("silent", 0.1), entry("heard", 0.1)), facts, strict=True)
    ]
    ids = [one.subject.id for one in every]
    with ShardedWriter(tmp_path / "big", size=8, instrument="clip", settings=SETTINGS, inputs=ids, asked=["x"]) as run:
        run.plan(ids, ids)
        for one in every:
            run.add(one)
        run.finish(ids)
    stored = read_run(tmp_path / "big")
    assert (many := many_clips(stored, most=1)) is not None
    assert many.whole.not_judged == {"av_duration_delta_ms": 1, "sharpness": 2}
    client = owner(make_site(runs=[tmp_path / "big"]))
    told = {name: client.get(f"/runs/big/clip.json?id={name}").json()["clip"]["not_judged"] for name in ids}
    assert told == {"silent": ["sharpness"], "heard": ["av_duration_delta_ms", "sharpness"]}
