"""The human study's figures: what they show, the same bytes, nothing to draw."""

from __future__ import annotations

from pathlib import Path

import pytest

from rushes.core import Definition, Measurement
from rushes.instruments.preference.numbers.study import study_measurements
from rushes.instruments.preference.numbers.validity import validity_measurements
from rushes.instruments.preference.show.charts import charts
from rushes.instruments.preference.votes import Vote
from rushes.storage.runs import Entry, Run, RunWriter, Subject, read_run


def some_votes(winners: str, families: int = 2) -> list[Vote]:
    """x against y; a letter of `winners` per sample, two raters each."""
    spelt = {"a": "a", "b": "b", "t": "tie"}
    return [
        Vote(
            sample=f"s{k}",
            system_a="one|x",
            system_b="two",
            winner=spelt[letter],  # type: ignore[arg-type]
            rater=f"r{r}",
            family=f"T{k % families + 1}",
            clip_a=f"x{k}",
            clip_b=f"y{k}",
        )
        for k, letter in enumerate(winners)
        for r in range(2)
    ]


def a_run(folder: Path, measurements: tuple[Measurement, ...]) -> Run:
    with RunWriter(folder, instrument="preference", settings={}) as writer:
        subject = Subject(id="mine", kind="study", path="mine", sha256=None)
        writer.add(Entry(subject=subject, measurements=measurements))
        writer.finish(["mine"])
    return read_run(folder)


def metric_values(votes: list[Vote], *windows: int) -> dict[str, list[Measurement]]:
    values: dict[str, list[Measurement]] = {}
    for window in windows:
        flicker = Definition(
            name="flicker_score",
            unit="1",
            lowest=None,
            highest=None,
            better="lower",
            summary="s",
            formula="f",
            params=(("window", str(window)),),
        )
        for number, clip in enumerate(sorted({v.clip_a for v in votes} | {v.clip_b for v in votes})):
            values.setdefault(clip, []).append(Measurement(definition=flicker, value=float(number), count=1))
    return values


def test_ranking_agreement_and_metrics_are_drawn_with_the_same_bytes_every_time(tmp_path: Path) -> None:
    votes = some_votes("aabatab")
    found = (
        *study_measurements(votes, rubric_version="0.1", exclusion_rule="side_bias>0.35", excluded=["r1"]),
        *validity_measurements(votes, metric_values(votes, 3), rubric_version="0.1"),
    )
    run = a_run(tmp_path / "run", found)
    ranking, agreement, metrics = drawn = charts(run)
    assert charts(run) == drawn, "the same run gives the same bytes"
    assert ranking.title == "mine: ranking"
    assert "one|x" in ranking.svg and "two" in ranking.svg
    assert "after excluding side_bias" in ranking.svg
    assert "ties by davidson" in ranking.caption and "95 % rater- and prompt-clustered" in ranking.caption
    assert "T1 multi-constraint adherence" in agreement.svg and "all families" in agreement.svg
    assert "flicker_score" in metrics.svg and "window" not in metrics.svg


def test_two_signatures_of_one_metric_are_told_apart(tmp_path: Path) -> None:
    votes = some_votes("aabatab")
    found = validity_measurements(votes, metric_values(votes, 3, 5), rubric_version="0.1")
    (metrics,) = charts(a_run(tmp_path / "run", found))
    assert ", window 3" in metrics.svg and ", window 5" in metrics.svg


def test_votes_that_cannot_be_ranked_have_no_ranking_chart(tmp_path: Path) -> None:
    run = a_run(tmp_path / "run", study_measurements(some_votes("tttt"), rubric_version="0.1"))
    assert [figure.title for figure in charts(run)] == ["mine: agreement per task family"]


@pytest.mark.parametrize("kind", ["clip", "study"])
def test_a_run_of_something_else_or_of_nothing_has_no_figures(tmp_path: Path, kind: str) -> None:
    with RunWriter(tmp_path / "run", instrument="clip", settings={}) as writer:
        subject = Subject(id="take", kind=kind, path="take", sha256=None)  # type: ignore[arg-type]
        writer.add(Entry(subject=subject, measurements=()))
        writer.finish(["take"])
    assert charts(read_run(tmp_path / "run")) == ()
