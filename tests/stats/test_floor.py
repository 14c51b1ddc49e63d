"""No interval of zero width: coverage of shares with few prompts and strong preferences, and scales where all agree."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import expit

from rushes.stats.clustered import clustered_mean


def test_votes_that_all_agree_leave_something_open() -> None:
    raters, prompts = ["r1"] * 4 + ["r2"] * 4, [f"p{k % 4}" for k in range(8)]
    share = clustered_mean([1.0] * 8, raters, prompts, lowest=0.0, highest=1.0)
    # Wilson's interval of 2 of 2, the smaller number of clusters: 1 / (1 + z²/2)
    assert share.interval.low == pytest.approx(2 / (2 + 1.959964**2), abs=1e-5) and share.interval.high == 1.0
    rated = clustered_mean([4.0] * 8, raters, prompts, lowest=1.0, highest=5.0, step=1.0)
    assert 3.2 < rated.interval.low < 3.5 and 4.5 < rated.interval.high < 4.8


def test_a_wide_interval_stays_as_it_is() -> None:
    draw = np.random.default_rng(3)
    raters, prompts = [f"r{k % 20}" for k in range(400)], [f"p{k // 8}" for k in range(400)]
    values = draw.integers(0, 2, 400).astype(float)
    bounded = clustered_mean(values, raters, prompts, lowest=0.0, highest=1.0)
    free = clustered_mean(values, raters, prompts)
    assert bounded.interval.low == pytest.approx(free.interval.low, abs=0.003)


@pytest.mark.parametrize("prompts", [4, 8, 17])
@pytest.mark.parametrize("gap", [1.0, 2.0, 3.0])
def test_shares_are_covered_with_few_prompts(prompts: int, gap: float) -> None:
    nodes, weights = np.polynomial.hermite_e.hermegauss(61)
    truth = float(weights / weights.sum() @ expit(gap + nodes))  # taste and leaning of 0.5 on both systems
    draw, held, studies = np.random.default_rng([prompts, int(gap)]), 0, 200
    for _ in range(studies):
        rater = np.concatenate([draw.choice(12, 2, replace=False) for _ in range(prompts)])
        prompt = np.repeat(np.arange(prompts), 2)
        taste, leaning = draw.normal(0, math.sqrt(0.5), 12), draw.normal(0, math.sqrt(0.5), prompts)
        won = draw.random(len(rater)) < expit(gap + taste[rater] + leaning[prompt])
        span = clustered_mean(
            won.astype(float), rater.astype(str), prompt.astype(str), lowest=0.0, highest=1.0
        ).interval
        assert span.low < span.high
        held += span.low <= truth <= span.high
    assert held / studies >= 0.93
