"""The mean over people and its interval, and the scales that ratings are on."""

from __future__ import annotations

import pytest

from rushes.compare.agreement.human_scores import HumanScores
from rushes.compare.readings.people import mean_over_people, question_scales
from rushes.core import Why
from rushes.stats.clustered import clustered_mean


def test_the_interval_by_hand() -> None:
    """p0 (5, 3), p1 (4, 2): mean 3.5, residuals 1.5, −0.5, 0.5, −1.5.

    Raters   sums 2 and −2: 8 · 2/1 = 16.  Prompts  sums 1 and −1: 2 · 2/1 = 4.  Both  5 · 4/3 = 6.67.
    Variance 16 + 4 − 6.67 = 13.33, no smaller than 16; error √16 / 4 = 1; t(1, .975) = 12.7062.
    """
    ratings = [{"r0": 5.0, "r1": 3.0}, {"r0": 4.0, "r1": 2.0}]
    found = mean_over_people(ratings)
    assert (found.value, found.count) == (3.5, 2) and found.interval is not None
    assert found.interval.low == pytest.approx(3.5 - 12.7062, abs=1e-3)
    assert found.interval.high == pytest.approx(3.5 + 12.7062, abs=1e-3)
    assert found.interval.method == "rater- and prompt-clustered"
    cut = mean_over_people(ratings, lowest=1, highest=5).interval
    assert cut is not None and (cut.low, cut.high) == (1, 5)


def test_balanced_ratings_have_the_studys_interval() -> None:
    table = [[4, 5, 3], [2, 3, 3], [5, 5, 4], [1, 2, 2]]
    ours = mean_over_people([{f"r{n}": float(v) for n, v in enumerate(row)} for row in table])
    theirs = clustered_mean(
        [v for row in table for v in row], ["r0", "r1", "r2"] * 4, [p for p in "abcd" for _ in "xyz"]
    )
    assert ours.interval == theirs.interval and ours.value == pytest.approx(theirs.value)


def test_a_prompt_counts_once_however_many_rated_it() -> None:
    assert mean_over_people([{"a": 1.0, "b": 1.0, "c": 1.0, "d": 1.0}, {"a": 5.0}]).value == 3.0


def test_without_single_raters_it_is_over_prompts() -> None:
    """2 and 4: mean 3, s = √2, error 1, t(1, .975) = 12.7062."""
    found = mean_over_people([{"": 2.0}, {"": 4.0}])
    assert found.interval is not None and found.interval.low == pytest.approx(3 - 12.7062, abs=1e-3)


@pytest.mark.parametrize(
    ("ratings", "why"),
    [
        ([{"a": 4.0, "b": 5.0}], Why.ONE_PROMPT),
        ([{"a": 5.0, "b": 5.0}, {"a": 5.0}], Why.EQUAL_VALUES),
        ([{"a": 5.0, "b": 4.0}, {"a": 4.0, "b": 5.0}], Why.EQUAL_VALUES),  # nobody differs from anybody on the whole
        ([{"": 5.0}, {"": 5.0}], Why.EQUAL_VALUES),
    ],
)
def test_no_interval_says_why(ratings: list[dict[str, float]], why: Why) -> None:
    found = mean_over_people(ratings)
    assert found.interval is None and found.why is why


Z2 = 1.959963984540054**2


@pytest.mark.parametrize(
    ("ratings", "mean", "effective"),
    [
        ([{"a": 5.0, "b": 5.0, "c": 5.0}] * 4, 5.0, 3),  # min(3 raters, 4 prompts)
        ([{"a": 5.0, "b": 4.0}, {"a": 4.0, "b": 5.0}], 4.5, 2),
    ],
)
def test_ratings_without_spread_have_the_floor_of_their_scale(
    ratings: list[dict[str, float]], mean: float, effective: int
) -> None:
    """m ± step · z²/(n* + z²), what Wilson leaves open after n* equal answers, cut to the scale."""
    found = mean_over_people(ratings, lowest=1, highest=5, step=1)
    half = Z2 / (effective + Z2)
    assert found.interval is not None and found.value == mean
    assert found.interval.low == pytest.approx(mean - half)
    assert found.interval.high == pytest.approx(min(mean + half, 5))


def test_shares_without_spread_have_wilsons_interval() -> None:
    """Of 3 in 3, the fewer of raters and prompts: 3/(3 + z²) to 1."""
    ends = mean_over_people([{"a": 1.0, "b": 1.0, "c": 1.0}] * 4, lowest=0, highest=1).interval
    assert ends is not None and ends.low == pytest.approx(3 / (3 + Z2)) and ends.high == pytest.approx(1)


@pytest.mark.parametrize(
    ("values", "scale"),
    [
        ((1.0, 5.0), "1-5"),
        ((2.0, 6.0), "1-7"),
        ((0.0, 6.0), "0-10"),
        ((0.0, 1.0), "0-1"),
        ((1.0, 1.0), "1-5"),
        ((3.0, 88.5), "0-100"),
        ((-3.0, 3.0), "open"),
    ],
)
def test_the_smallest_scale_that_holds_every_rating(values: tuple[float, float], scale: str) -> None:
    scores = {"q": {("amber", "p0"): {"r0": values[0]}, ("amber", "p1"): {"r0": values[1]}}}
    assert question_scales(HumanScores(source="x", kind="mean-rating", scores=scores), {}) == {"q": scale}


def test_a_question_nobody_gave_a_six_on_is_on_the_scale_of_the_others() -> None:
    scores = {"q": {("amber", "p0"): {"r0": 4.0}}, "other": {("amber", "p0"): {"r0": 7.0}}}
    people = HumanScores(source="x", kind="mean-rating", scores=scores)
    assert question_scales(people, {}) == {"q": "1-7", "other": "1-7"}
    assert question_scales(people, {"q": "1-5"}) == {"q": "1-5", "other": "1-7"}
