"""Simulated studies of single clips: coverage, family-wise error, and the plan's power."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.study.test_command import done, rushes

from rushes.core.errors import InputError
from rushes.instruments.preference.numbers.opinion_plan import (
    OpinionDesign,
    found_pairs,
    opinion_power,
    simulated_ratings,
)
from rushes.stats.opinions import clustered_difference

DESIGNS = (
    OpinionDesign(systems=4, raters=10, prompts=8, ratings_per_rater=16, difference=0.0, bias=1.0),
    OpinionDesign(systems=3, raters=20, prompts=6, ratings_per_rater=9, difference=0.0, bias=1.0, prompt=0.8),
    OpinionDesign(systems=3, raters=12, prompts=15, ratings_per_rater=45, difference=0.0, leaning=0.6),
)


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("runs", [150, pytest.param(1500, marks=pytest.mark.soak)])
def test_intervals_cover_and_nothing_is_found_where_nothing_is(design, runs):
    covered = false = 0
    for number in range(runs):
        ratings = simulated_ratings(design, np.random.default_rng([11, number]))
        false += bool(found_pairs(design, ratings))
        kept = ratings.system < 2
        names = ratings.rater[kept].astype(str).tolist(), ratings.prompt[kept].astype(str).tolist()
        gap, _ = clustered_difference(ratings.score[kept].tolist(), (ratings.system[kept] == 0).tolist(), *names)
        covered += gap.interval.low <= 0 <= gap.interval.high
    assert covered / runs >= 0.93
    assert false / runs <= 0.05 + (0.02 if runs < 1000 else 0.0)


def test_power_grows_with_the_difference_and_is_the_same_every_time():
    small, large = (
        opinion_power(OpinionDesign(difference=gap, raters=10, prompts=10, ratings_per_rater=20), runs=60)
        for gap in (0.1, 1.0)
    )
    assert small.value < large.value and large.value > 0.9
    again = opinion_power(OpinionDesign(difference=0.1, raters=10, prompts=10, ratings_per_rater=20), runs=60)
    assert again == small


def test_what_cannot_be_planned():
    with pytest.raises(InputError, match="a rater rates 1 to 4 clips, each once; got 60"):
        OpinionDesign(prompts=2)
    with pytest.raises(InputError, match="fewer than two for each of 60 clips"):
        OpinionDesign(raters=3, ratings_per_rater=10)


def test_the_plan_prints_the_line_that_creates_it():
    size = ("--raters", "8", "--prompts", "6", "--votes-per-rater", "12", "--runs", "20")
    told = done("study", "plan", "--method", "acr", *size).stdout
    assert "rushes study create NAME SUITE --method acr --min-raters 8 --quota 13" in told.splitlines()
    data = json.loads(done("study", "plan", "--method", "acr", *size, "--json").stdout)
    assert data["ratings"] == 96 and data["measurements"][0]["signature"].startswith("opinion_study_power|")
    refused = rushes("study", "plan", "--method", "mushra")
    assert refused.exit_code == 1 and "a method is one of pairs, acr, acr-hr, dcr, best-worst" in refused.stderr
    refused = rushes("study", "plan", "--method", "dcr", "--simple")
    assert refused.exit_code == 1 and "--simple and --with are for pairs; got --method dcr" in refused.stderr


def test_longer_scales_stretch_and_the_hidden_reference_is_rated_but_not_ranked():
    size = {"raters": 12, "prompts": 8, "ratings_per_rater": 16}
    hidden = OpinionDesign(hidden_reference=True, points=11, difference=1.0, **size)
    assert (hidden.clips, hidden.raters_per_clip, hidden.ratings) == (24, 8, 192)
    ratings = simulated_ratings(hidden, np.random.default_rng(1))
    assert set(ratings.system.tolist()) == {0, 1, 2} and ratings.score.min() >= 0 and ratings.score.max() > 5
    assert all(2 not in pair for pair in found_pairs(hidden, ratings))
    # A point of five is two of nine: the same study on either scale, but for rounding.
    five, nine = (opinion_power(OpinionDesign(points=n, difference=d, **size), runs=150) for n, d in ((5, 0.5), (9, 1)))
    assert five.value == pytest.approx(nine.value, abs=0.1)
    with pytest.raises(InputError, match="fewer than 9 for each of 24 clips"):
        OpinionDesign(hidden_reference=True, min_raters=9, **size)
