"""The report of a run in shards: the worst clips, and the counts of all of them, as a run in one piece has them."""

from __future__ import annotations

import html
import re
from dataclasses import replace
from pathlib import Path

import pytest
from tests.storage.runs.shard_material import entry, names

from rushes.compare.report import write_report
from rushes.instruments.clip.show import section as many
from rushes.instruments.clip.show.section import section
from rushes.present.pages.section import ReportOptions
from rushes.storage.runs import Run, RunWriter, read_run
from rushes.storage.shards.reading import Shards
from rushes.storage.shards.writer import ShardedWriter

pytest.importorskip("pyarrow")

REASONS = ("frozen 1.0–2.4 s (longest_freeze_ms=1320 > 450)", "frozen 3 s (longest_freeze_ms=900 > 450)", "late")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Run]:
    folder, every = tmp_path_factory.mktemp("runs"), []
    for place, name in enumerate(names(30)):
        one = entry(name)
        facts = {**one.subject.facts, "not_judged": ["blur_score", "share"][: place % 3]}
        every.append(replace(one, subject=replace(one.subject, facts=facts, reasons=REASONS[: place % 4])))
    ids = [one.subject.id for one in every]
    with RunWriter(folder / "whole/run", instrument="clip", settings={}) as run:
        for one in every:
            run.add(one)
        run.finish(ids)
    with ShardedWriter(folder / "parts/run", size=7, instrument="clip", settings={}, inputs=ids, asked=["x"]) as run:
        run.plan(ids, ids)
        for one in every:
            run.add(one)
        run.finish(ids)
    return read_run(folder / "whole/run"), read_run(folder / "parts/run")


def test_the_section_has_the_worst_and_counts_everything(
    runs: tuple[Run, Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = section(runs[0], "run-1", ReportOptions(strips=0))
    monkeypatch.setattr(many.many_clips, "__kwdefaults__", {"most": 12})
    monkeypatch.setattr(Shards, "lines", None)  # nothing goes over all clips
    parts = section(runs[1], "run-1", ReportOptions(strips=0))
    assert whole.subjects is not None and parts.subjects is not None
    for name in ("counts", "reasons", "not_judged", "total"):
        assert getattr(parts.subjects, name) == getattr(whole.subjects, name), name
    assert parts.subjects.first == whole.subjects.first[:12] and parts.subjects.shown == 12
    assert parts.verdict is not None and whole.verdict is not None
    assert (parts.verdict.counts, parts.verdict.headline) == (whole.verdict.counts, whole.verdict.headline)
    assert parts.verdict.reasons == whole.verdict.reasons == (("frozen", 22), ("late", 7))
    assert [take.id for take in parts.verdict.takes] == [take.id for take in whole.verdict.takes]


def test_the_page_says_how_many_it_has(runs: tuple[Run, Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(many.many_clips, "__kwdefaults__", {"most": 12})
    write_report(runs[1], tmp_path / "report.html", strips=0)
    text = html.unescape((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert "12 of 30 clips, worst first." in text and '"whole":30' in text
    assert len(re.findall(r'id="run-1-x\d+"', text)) == 12


def test_a_run_in_shards_that_has_room_is_shown_whole(runs: tuple[Run, Run]) -> None:
    whole, parts = (section(run, "run-1", ReportOptions(strips=0)) for run in runs)
    assert parts.subjects == whole.subjects and many.many_clips(runs[1]) is None and many.many_clips(runs[0]) is None
