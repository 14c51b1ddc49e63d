"""Intervals over prompts and raters: by hand, then counted on made-up studies."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import t

from rushes.paired.clustered import drawn, percentiles, prompt_groups, two_way_jackknife


def test_two_way_jackknife_by_hand() -> None:
    # On the atanh scale: value 0.5; prompts leave 0.4 0.5 0.6 (variance 2/3 · .02), raters 0.45 0.55 (1/2 · .005).
    prompts, raters = [math.tanh(v) for v in (0.4, 0.5, 0.6)], [math.tanh(v) for v in (0.45, 0.55)]
    found = two_way_jackknife(math.tanh(0.5), prompts, raters, "spearman")
    a, b = 2 / 3 * 0.02, 0.5 * 0.005
    freedom = (a + b) ** 2 / (a**2 / 2 + b**2 / 1)
    half = t.ppf(0.975, freedom) * math.sqrt(a + b)
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == pytest.approx((math.tanh(0.5 - half), math.tanh(0.5 + half)))
    assert found.p == pytest.approx(2 * t.sf(0.5 / math.sqrt(a + b), freedom))
    assert found.interval.method == "jackknife-prompt-rater"


def test_an_accuracy_is_curved_around_a_half() -> None:
    leave = [0.70, 0.74, 0.78]
    one = two_way_jackknife(0.74, leave, [], "pairwise_accuracy").interval
    other = two_way_jackknife(2 * 0.74 - 1, [2 * v - 1 for v in leave], [], "kendall_tau_b").interval
    assert one is not None and other is not None and one.method == "jackknife-prompt"
    assert (one.low, one.high) == pytest.approx(((other.low + 1) / 2, (other.high + 1) / 2))


def test_where_there_is_no_interval_it_says_why() -> None:
    assert two_way_jackknife(0.5, [0.5], [], "pearson").why == "needs two prompts or more"
    assert "no prompt and no rater moves it" in two_way_jackknife(1.0, [1.0, 1.0], [1.0, 1.0], "pearson").why
    assert "there is no value" in two_way_jackknife(0.5, [0.5, None], [], "pearson").why
    assert two_way_jackknife(1.0, [1.0, 0.8], [], "pearson").interval.high == 1.0  # type: ignore[union-attr]
    assert percentiles(np.array([np.nan, np.nan, 1.0]), "m").why


def test_groups_of_prompts_and_draws() -> None:
    assert [list(part) for part in prompt_groups(np.array([7, 7, 2, 9]))] == [[2], [0, 1], [3]]
    assert [list(part) for part in prompt_groups(np.array([0, 1, 2, 3, 4]), most=2)] == [[0, 2, 4], [1, 3]]
    weights = drawn(10, 4, np.random.default_rng(0))
    assert weights.shape == (10, 4) and (weights.sum(axis=1) == 4).all()
