"""Metrics joined to votes."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from rushes.core import Definition, Measurement, signature_params
from rushes.core.definition import Better
from rushes.core.selection import one, select
from rushes.instruments.preference.numbers.validity import validity_measurements
from rushes.instruments.preference.votes import Vote
from rushes.stats.intervals import wilson


def metric(name: str, better: Better, **params: float) -> Definition:
    return Definition(
        name=name,
        unit="1",
        lowest=None,
        highest=None,
        better=better,
        summary="s",
        formula="f",
        params=signature_params(**params),
    )


FLICKER = metric("flicker_score", "lower", window=3)
BLUR = metric("blur_score", "higher")
FRAMES = metric("frame_count", "neither")


def measured(definition: Definition, value: float | None) -> Measurement:
    return Measurement(definition=definition, value=value, count=1, note="" if value is not None else "not measured")


def vote(sample: str, winner: str, rater: str = "r1", **more: object) -> Vote:
    return Vote(
        sample=sample,
        system_a="x",
        system_b="y",
        winner=winner,  # type: ignore[arg-type]
        rater=rater,
        clip_a=f"x/{sample}",
        clip_b=f"y/{sample}",
        **more,  # type: ignore[arg-type]
    )


def clips(
    values: Mapping[str, tuple[float | None, float | None]], definition: Definition
) -> dict[str, list[Measurement]]:
    found = {}
    for sample, (a, b) in values.items():
        found[f"x/{sample}"], found[f"y/{sample}"] = [measured(definition, a)], [measured(definition, b)]
    return found


VOTES = [
    vote("1", "a", primary_tag="Flicker / temporal jitter"),
    vote("2", "b", "r2", secondary_tags=("Flicker / temporal jitter",)),
    vote("3", "a"),
    vote("4", "tie", "r2"),
    vote("5", "a", "r2"),
    vote("6", "b"),
]
# Flicker: right on 1 and 2 (the winner flickers less), wrong on 3; people tie on 4; equal on 5; missing on 6.
VALUES: dict[str, tuple[float | None, float | None]] = {
    "1": (1.0, 9.0),
    "2": (8.0, 2.0),
    "3": (5.0, 3.0),
    "4": (1.0, 2.0),
    "5": (4.0, 4.0),
    "6": (None, 4.0),
}


def numbers(
    metrics: Mapping[str, list[Measurement]], *, votes: list[Vote] = VOTES, badges: Mapping[str, str] | None = None
) -> tuple[Measurement, ...]:
    return validity_measurements(votes, metrics, badges, rubric_version="0.1")


def test_how_often_a_metric_picks_the_winner_by_hand() -> None:
    found = numbers(clips(VALUES, FLICKER))
    drop = one(found, "metric_picks_winner", ties="drop", direction="lower")
    assert (drop.value, drop.count) == (pytest.approx(2 / 3), 3)
    assert drop.note == f"1 votes without both values left out; Wilson interval {wilson(2, 3).text()}"
    # Two right, one wrong, a tie of people and equal values half each: (2 + 1) / 5.
    half = one(found, "metric_picks_winner", ties="half")
    assert (half.value, half.count) == (pytest.approx(0.6), 5)


def test_direction_turns_the_answer() -> None:
    assert one(numbers(clips(VALUES, BLUR)), "metric_picks_winner", ties="drop").value == pytest.approx(1 / 3)


def test_a_metric_without_direction_says_what_was_assumed() -> None:
    found = numbers(clips(VALUES, FRAMES))
    assert len(select(found, "metric_picks_winner", direction="higher (assumed)")) == 2
    assert one(found, "suggested_threshold").note == "the metric has no better direction"


def test_tag_against_metric() -> None:
    found = select(numbers(clips(VALUES, FLICKER)), "tag_metric_check", tag="Flicker / temporal jitter")
    assert {m.place["tagged"]: (m.value, m.count) for m in found} == {"yes": (1.0, 2), "no": (0.0, 1)}


def test_threshold_of_the_votes() -> None:
    # Decided votes with values, winner/loser: 1/9, 2/8, 5/3, 4/4. Cut at 6.5: 2 of 4 losers beyond, 4 of 4 winners in.
    found = numbers(clips(VALUES, FLICKER))
    line, accuracy = one(found, "suggested_threshold"), one(found, "suggested_threshold_accuracy")
    assert (line.value, line.count, accuracy.value) == (6.5, 8, 0.75)


def test_win_rate_by_badge() -> None:
    badges = {
        "x/1": "pass",
        "y/1": "reject",
        "x/2": "reject",
        "y/2": "pass",
        "x/3": "flagged",
        "y/3": "pass",
        "x/5": "pass",
        "y/5": "pass",
    }
    # Between different badges: 1 pass over reject, 2 pass over reject, 3 flagged over pass; 5 is pass on both sides.
    assert {m.place["badge"]: (m.value, m.count) for m in numbers({}, badges=badges)} == {
        "flagged": (1.0, 1),
        "pass": (pytest.approx(2 / 3), 3),
        "reject": (0.0, 2),
    }


def test_two_signatures_of_one_name_are_two_metrics() -> None:
    other = metric("flicker_score", "lower", window=5)
    both = {clip: rows + [measured(other, 1.0)] for clip, rows in clips(VALUES, FLICKER).items()}
    found = select(numbers(both), "metric_picks_winner", ties="drop")
    assert [m.place["reading"] for m in found] == [FLICKER.signature, other.signature]


def test_unjoined_votes_are_counted_not_guessed() -> None:
    found = one(numbers(clips(VALUES, FLICKER), votes=[vote("9", "a")]), "metric_picks_winner", ties="drop")
    assert (found.value, found.count) == (None, 0)
    assert found.note == "no vote where people and the metric both decided"


def test_gold_repeats_and_adjudications_do_not_judge_metrics() -> None:
    extra = [vote("1", "b", is_gold=True), vote("1", "b", is_repeat=True), vote("1", "b", adjudicated=True)]
    assert numbers(clips(VALUES, FLICKER), votes=[*VOTES, *extra]) == numbers(clips(VALUES, FLICKER))


def test_measurements_carry_metric_ties_and_conditions() -> None:
    found = validity_measurements(
        VOTES, clips(VALUES, FLICKER), {"x/1": "pass", "y/1": "reject"}, rubric_version="0.1", exclusion_rule="none"
    )
    assert len({(one.signature, one.at) for one in found}) == len(found)
    for one_of in found:
        assert select([one_of], rubric="0.1", raters="people", exclusion="none", labels="raw") == (one_of,)
    drop = one(found, "metric_picks_winner", ties="drop", direction="lower")
    low, high = wilson(2, 3).low, wilson(2, 3).high
    assert drop.value == pytest.approx(2 / 3) and drop.interval is not None
    assert drop.interval.method == "wilson, rater- and prompt-clustered"
    assert drop.note == f"1 votes without both values left out; Wilson interval {low:.4f} to {high:.4f}"
    assert drop.place == {"metric": "flicker_score", "reading": "flicker_score|window:3|v:1"}
    assert one(found, "metric_picks_winner", ties="half").value == pytest.approx(0.6)
    assert one(found, "badge_win_share", badge="pass").value == 1.0
    assert {m.value for m in select(found, "tag_metric_check", tagged="yes")} == {1.0}
    assert one(found, "suggested_threshold").value == 6.5


def test_readings_of_one_metric_about_two_parts_of_a_clip_are_two_metrics() -> None:
    def both(value: float) -> list[Measurement]:
        parts = (("left_wrist", value), ("right_wrist", -value))
        return [Measurement(definition=BLUR, value=v, count=1, at={"joint": joint}) for joint, v in parts]  # type: ignore[arg-type]

    found = validity_measurements(
        [vote("1", "a"), vote("2", "a", "r2")], {"x/1": both(2), "y/1": both(1), "x/2": both(2), "y/2": both(1)},
        rubric_version="0.1",
    )  # fmt: skip
    shares = {m.place["reading"]: m.value for m in select(found, "metric_picks_winner", ties="drop")}
    assert shares == {"blur_score|v:1 at joint left_wrist": 1.0, "blur_score|v:1 at joint right_wrist": 0.0}


def test_excluded_raters_are_left_out_of_validity() -> None:
    found = validity_measurements(
        VOTES, clips(VALUES, FLICKER), rubric_version="0.1", exclusion_rule="gold_errors>0", excluded=["r2"]
    )
    assert all("exclusion:gold_errors>0" in one.signature for one in found)
    # r1 alone: votes 1 and 3 have two values, right on 1 and wrong on 3.
    assert [(m.value, m.count) for m in select(found, "metric_picks_winner", ties="drop")] == [(0.5, 2)]
