"""Ratings and tags."""

from __future__ import annotations

import pytest

from rushes.core import Why
from rushes.instruments.preference.dimensions import dimension_means, tag_counts

from .conftest import MakeVote


def test_means_per_system_in_rubric_order(make: MakeVote) -> None:
    votes = [
        make("a", sample="1", rater="r1", ratings={"temporal": (5, 1), "adherence": (4, None)}),
        make("a", sample="2", rater="r2", ratings={"temporal": (4, 2)}),
        make("a", sample="3", rater="admin", adjudicated=True, ratings={"temporal": (1, 1)}),
    ]
    found = dimension_means(votes)
    assert [(*key, mean.value, mean.count) for key, mean in found.items()] == [
        ("adherence", "x", 4.0, 1),
        ("temporal", "x", 4.5, 2),
        ("temporal", "y", 1.5, 2),
    ]
    assert found["adherence", "x"].why is Why.NEEDS_TWO_RATERS
    interval = found["temporal", "x"].interval
    assert interval is not None
    # t(1) is wide: the interval is cut to the scale.
    assert (interval.low, interval.high) == (pytest.approx(1.0), 5)


def test_no_ratings_no_rows(make: MakeVote) -> None:
    assert dimension_means([make("a")]) == {}


def test_tags_are_counted_against_the_loser(make: MakeVote) -> None:
    flicker, blur = "Flicker / temporal jitter", "Artifacts / blur / distortion"
    votes = [
        make("a", sample="1", primary_tag=flicker, secondary_tags=(blur,)),
        make("b", sample="2", primary_tag=blur),
        make("tie", sample="3", primary_tag=flicker),
        make("a", sample="4", primary_tag="mine"),
        make("a", sample="5", primary_tag=flicker, is_gold=True),
    ]
    found = tag_counts(votes)
    assert [(t.tag, t.primary, t.secondary, t.total, dict(t.against)) for t in found] == [
        (flicker, 2, 0, 2, {"y": 1}),
        (blur, 1, 1, 2, {"x": 1, "y": 1}),
        ("mine", 1, 0, 1, {"y": 1}),
    ]
