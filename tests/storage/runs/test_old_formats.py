"""Runs of formats 1 to 3, which stored sentences: they open, keep every sentence, and are continued."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from tests.storage.runs.shard_material import entry

from rushes.core.reason import Cause, Reason
from rushes.core.span import Span
from rushes.instruments.clip.show.section import section
from rushes.instruments.clip.show.tables import csv_of
from rushes.instruments.clip.signals.badges import fired_rules
from rushes.present.pages.section import ReportOptions
from rushes.storage.runs import Entry, Run, RunWriter, Subject, read_run
from rushes.storage.runs.old_reasons import read_reason
from rushes.web.runs.summary import read_head, read_summary

GOLDENS = Path(__file__).parents[2] / "goldens/runs"
NO_VIDEO = "expected a video, got something that cannot be read (Invalid data found when processing input)"
FROZEN, SHORT = "frozen 0.1–1.2 s (longest_freeze_ms=1100 > 450)", "picture ends 0.4 s before the file says"
SAID = {
    "cut": ("blur_p10=47792 < 47850", f"{SHORT} (800 of 1200 ms)", "4 of 12 frames missing"),
    "fine": (),
    "still": (FROZEN,),
    "torn": (f"cannot be decoded: {NO_VIDEO} (decode_ok=false)",),
}
FIRST = {"fine": (), "still": ("freeze_frame_ratio=0.69 > 0.3",), "torn": (f"decode_ok=false: {NO_VIDEO}",)}
DIGESTS = {
    1: "858716a0caeffd9c7a2671dbb420799488dccd086046cacd16c4e454c7c9f2a7",
    2: "142dbdc347be66fe867f7bdc6dd59a6ea467d7a91ba70f3a9c3472d5ab298b9b",
    3: "142dbdc347be66fe867f7bdc6dd59a6ea467d7a91ba70f3a9c3472d5ab298b9b",
}
"""As the version that wrote them computed them."""


@pytest.fixture(params=DIGESTS)
def old(request: pytest.FixtureRequest) -> Run:
    if request.param == 3:
        pytest.importorskip("pyarrow")
    return read_run(GOLDENS / f"format{request.param}")


def by_id(run: Run) -> dict[str, Entry]:
    return {found.subject.id: found for found in run.entries}


def test_every_sentence_is_kept(old: Run) -> None:
    number = old.info["format"]
    assert {subject.id: subject.reasons for subject in old.subjects} == (FIRST if number == 1 else SAID)
    assert old.digest == DIGESTS[number], "the rows are what they were, to the byte"
    assert "still" in csv_of(old) and old.series("still")["time_ms"].shape == (14,)


def test_what_a_sentence_says_is_read(old: Run) -> None:
    still, torn = by_id(old)["still"].subject.why[0], by_id(old)["torn"].subject.why[0]
    assert (torn.metric, torn.value, torn.level, torn.note) == ("decode_ok", False, None, NO_VIDEO)
    if old.info["format"] == 1:
        assert (still.metric, still.value, still.limit) == ("freeze_frame_ratio", 0.69, "> 0.3")
        return
    assert (still.metric, still.value, still.limit) == ("longest_freeze_ms", 1100.0, "> 450")
    assert (still.kind, still.brief, still.span, still.level) == (
        *("frozen", "frozen 0.1–1.2 s", Span(100.0, 1200.0)),
        "flagged",
    )
    assert [reason.cause for reason in by_id(old)["cut"].subject.why] == [Cause.RULE, Cause.ENDS_EARLY, Cause.MISSING]


def test_old_media_facts_are_read_back(old: Run) -> None:
    media = by_id(old)["fine"].subject.media
    assert media is not None and media.video is not None and by_id(old)["torn"].subject.media is None
    assert (media.video.upright, media.video.fps, media.duration_ms, media.audio) == ((64, 48), 10, 1200.0, None)
    assert media.video.transfer == (None if old.info["format"] == 1 else "sdr")


def test_the_number_behind_each_reason_is_found(old: Run) -> None:
    """`blur_p10` is a reading of blur_score: the registry knows which, though the sentence does not."""
    if old.info["format"] == 1:
        assert [s.partition("|")[0] for s in fired_rules(by_id(old)["still"])] == ["freeze_frame_ratio"]
        return
    fired = fired_rules(by_id(old)["cut"])
    assert [signature.partition("|")[0] for signature in fired] == [
        *("blur_score", "duration_shortfall_ms", "missing_frames")
    ]
    assert "statistic:p10" in next(iter(fired)) and list(fired.values()) == ["< 47850", "", ""]


def test_pages_are_made_of_them(old: Run) -> None:
    found = section(old, "run-1", ReportOptions(strips=0))
    assert found.verdict is not None and found.subjects is not None and found.verdict.takes[0].id == "torn"
    assert read_head(old.path).openable and read_summary(old.path).badges["reject"] == 1
    assert read_summary(old.path).worst[0] == "torn"


@pytest.mark.parametrize("number", [1, 2])
def test_an_old_run_is_continued_in_the_latest_format(tmp_path: Path, number: int) -> None:
    folder = Path(shutil.copytree(GOLDENS / f"format{number}", tmp_path / "run"))
    before, info = read_run(folder), json.loads((folder / "run.json").read_bytes())
    asked = {"instrument": "clip", "settings": info["settings"], "inputs": ["takes/new.mkv"]}
    with RunWriter(folder, **asked, asked=info.get("asked", ["takes"]), add=True) as run:
        run.add(_judged(entry("new")))
        run.finish(["new"])
    after = read_run(folder)
    assert after.info["format"] == 4
    assert after.subjects[:-1] == before.subjects and after.subjects[-1].why == (_REASON,)


def test_an_old_run_in_shards_is_continued_in_the_latest_format(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    from rushes.storage.shards.scanning import count_reasons
    from rushes.storage.shards.writer import ShardedWriter

    folder = Path(shutil.copytree(GOLDENS / "format3", tmp_path / "run"))
    before, info = read_run(folder), json.loads((folder / "run.json").read_bytes())
    asked = {"instrument": "clip", "settings": info["settings"], "inputs": ["takes/new.mkv"]}
    with ShardedWriter(folder, size=4, **asked, asked=info["asked"], add=True) as run:
        run.plan(["new"], ["new"])
        run.add(_judged(entry("new")))
        run.finish(["new"])
    after = read_run(folder)
    assert after.info["format"] == 5 and after.shards is not None and len(after.shards.index.shards) == 2
    assert list(after.subjects)[:-1] == list(before.subjects) and after.subjects[-1].why == (_REASON,)
    found = count_reasons(after.shards)
    assert found.about == {
        "blur_p10": 1,
        "picture ends": 1,
        "frames missing": 1,
        "decode_ok": 1,
        "longest_freeze_ms": 2,
    }
    assert found.kinds["frozen"] == 2 and found.words["longest_freeze_ms"] == "frozen"


def test_sql_has_sentences_whatever_the_format() -> None:
    pytest.importorskip("duckdb")
    from rushes.storage.query.sql import query

    for number in (2, 3):
        rows = query(GOLDENS / f"format{number}", "select id, reasons from clips").to_pylist()
        assert {row["id"]: tuple(row["reasons"]) for row in rows} == SAID


_REASON = Reason(
    level="flagged",
    metric="longest_freeze_ms",
    value=900.0,
    comparison="above",
    threshold=450,
    words="frozen",
    span=Span(0.0, 900.0),
)


def _judged(one: Entry) -> Entry:
    subject = one.subject
    facts = {"id": subject.id, "kind": subject.kind, "path": "takes/new.mkv", "sha256": subject.sha256}
    return Entry(subject=Subject(**facts, badge="flagged", why=(_REASON,)), measurements=one.measurements)


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("frozen 1.0–2.4 s (longest_freeze_ms=1400 > 450)", Span(1000.0, 2400.0)),
        ("glitch at 2.0 s (odd_frame_score=3.97 > 3.5)", Span(2000.0, 2000.0)),
        ("face lost 0.5–1.5 s, the longest of 2 gaps (longest_face_gap_ms=1000 > 500)", Span(500.0, 1500.0)),
        ("out of sync, sound about 200 ms early (mouth_audio_margin=-1 < 0.0)", None),
        ("late by 3 s", None),
    ],
)
def test_a_sentence_names_its_place(text: str, span: Span | None) -> None:
    assert read_reason(text).span == span and read_reason(text).text == text


@pytest.mark.parametrize(
    ("text", "kind", "about"),
    [
        ("crashed", "crashed", "crashed"),
        ("", "", ""),
        ("Straße (p10_x2=3 < 4)", "Straße", "p10_x2"),
        ("x=1.2.3 > 4", "x=… > …", "x=… > …"),
        ("105 of 200 frames missing", "frames missing", "frames missing"),
        ("1 packet could not be decoded", "could not be decoded", "could not be decoded"),
        ("not measured as a whole: frame 4; re-encode it", "not measured as a whole", "not measured as a whole"),
    ],
)
def test_sentences_are_counted_by_what_they_share(text: str, kind: str, about: str) -> None:
    found = read_reason(text)
    assert (found.kind, found.about, found.text) == (kind, about, text)
