"""What a report says about a study, from the real numbers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rushes.core import Measurement
from rushes.preference.section import facts, grids, summary
from rushes.preference.study_numbers import study_measurements
from rushes.preference.votes import Vote
from rushes.runs import Entry, Run, RunWriter, Subject, read_run


def votes(winners: str) -> list[Vote]:
    """amber against birch; a letter per sample, by four raters in turn."""
    return [
        Vote(sample=f"s{k}", system_a="amber", system_b="birch", winner=letter, rater=f"r{k % 4}")  # type: ignore[arg-type]
        for k, letter in enumerate(winners)
    ]


def a_run(folder: Path, measurements: tuple[Measurement, ...], **known: object) -> Run:
    with RunWriter(folder, instrument="preference", settings={}) as writer:
        subject = Subject(id="mine", kind="study", path="mine", sha256=None, facts=known)
        writer.add(Entry(subject=subject, measurements=measurements))
        writer.finish(["mine"])
    return read_run(folder)


def test_the_order_is_open_where_the_intervals_meet(tmp_path: Path) -> None:
    found = study_measurements(votes("aabaabba"), rubric_version="0.1", confidence=0.9, simulated=True)
    run = a_run(tmp_path / "r", found, simulated_raters=True, votes=8, raters=4, samples=8)
    ranking = grids(run)[0]
    assert [row[1] for row in ranking.texts()] == ["amber", "birch"]
    assert ranking.caption == "Intervals: 90 % rater- and prompt-clustered. Where they overlap, the order is open."
    assert summary(run) == (
        "Simulated raters put amber, then birch. The first two intervals overlap: the order is open."
    )
    assert ("Votes", "8 by 4 simulated raters on 8 pairs") in facts(run)


def test_intervals_that_do_not_meet(tmp_path: Path) -> None:
    # Every rater gives amber four votes of five: raters do not differ, and of 200 votes chance leaves little open.
    by_rater = [vote for k in range(50) for vote in votes("aaaa" if k % 5 else "bbbb")]
    named = [
        Vote(sample=str(k), system_a="amber", system_b="birch", winner=v.winner, rater=v.rater)
        for k, v in enumerate(by_rater)
    ]
    run = a_run(tmp_path / "r", study_measurements(named, rubric_version="0.1"))
    assert summary(run) == "Raters put amber, then birch. The first two intervals do not overlap."


def test_a_study_without_a_ranking_says_why(tmp_path: Path) -> None:
    only_ties = [Vote(sample="s", system_a="amber", system_b="birch", winner="tie", rater="r")]
    run = a_run(tmp_path / "r", study_measurements(only_ties, rubric_version="0.1"))
    assert "mine: no ranking; every vote is a tie" in summary(run)
    empty = a_run(tmp_path / "e", study_measurements([], rubric_version="0.1"))
    assert summary(empty) == "mine: no ranking; no votes yet."


def test_a_run_of_the_first_format_shows_its_numbers_and_no_half_understood_table(tmp_path: Path) -> None:
    settings = {"system": "amber", "exclusion": "none", "labels": "raw"}
    (elo,) = [m for m in study_measurements(votes("ab"), rubric_version="0.1") if m.at == (("system", "amber"),)][:1]
    for_one = replace(elo.definition, places=()).add_params(bound="estimate", system="amber")
    assert settings.items() <= dict(for_one.params).items()
    run = a_run(tmp_path / "r", (Measurement(definition=for_one, value=1000.0, count=2),))
    assert grids(run) == ()
    assert summary(run) == "mine: no ranking; this run is of an earlier version; write it again."
