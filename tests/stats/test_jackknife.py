"""Intervals over prompts and raters: by hand, then counted on made-up studies."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import t

from rushes.core import Why
from rushes.stats.bootstrap import percentiles, times_drawn
from rushes.stats.jackknife import pooled_over_clips, prompt_groups, two_way_jackknife


def test_two_way_jackknife_by_hand() -> None:
    # On the atanh scale: value 0.5; prompts leave 0.4 0.5 0.6 (variance 2/3 · .02), raters 0.45 0.55 (1/2 · .005).
    prompts, raters = [math.tanh(v) for v in (0.4, 0.5, 0.6)], [math.tanh(v) for v in (0.45, 0.55)]
    found = two_way_jackknife(math.tanh(0.5), prompts, raters, "spearman", count=9)
    a, b = 2 / 3 * 0.02, 0.5 * 0.005
    freedom = (a + b) ** 2 / (a**2 / 2 + b**2 / 1)
    half = t.ppf(0.975, freedom) * math.sqrt(a + b)
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == pytest.approx((math.tanh(0.5 - half), math.tanh(0.5 + half)))
    assert found.p == pytest.approx(2 * t.sf(0.5 / math.sqrt(a + b), freedom))
    assert found.interval.method == "jackknife-prompt-rater"


def test_an_accuracy_is_curved_around_a_half() -> None:
    leave = [0.70, 0.74, 0.78]
    one = two_way_jackknife(0.74, leave, [], "pairwise_accuracy", count=3).interval
    other = two_way_jackknife(2 * 0.74 - 1, [2 * v - 1 for v in leave], [], "kendall_tau_b", count=3).interval
    assert one is not None and other is not None and one.method == "jackknife-prompt"
    assert (one.low, one.high) == pytest.approx(((other.low + 1) / 2, (other.high + 1) / 2))


def test_where_there_is_no_interval_it_says_why() -> None:
    assert two_way_jackknife(0.5, [0.5], [], "pearson", count=2).why is Why.NEEDS_TWO_PROMPTS
    assert two_way_jackknife(1.0, [1.0, 1.0], [1.0, 1.0], "pearson", count=2).why is Why.NO_PROMPT_MOVES_IT
    assert two_way_jackknife(0.5, [0.5, None], [], "pearson", count=2).why is Why.NEEDS_EVERY_PROMPT
    found = two_way_jackknife(1.0, [1.0, 0.8], [], "pearson", count=2)
    assert found.interval is not None and found.interval.high == 1.0 and found.count == 2
    assert percentiles(1.0, np.array([np.nan, np.nan, 1.0]), "m", count=3).why is Why.FEW_DRAWS_OF_PROMPTS


def test_groups_of_prompts_and_draws() -> None:
    assert [list(part) for part in prompt_groups(np.array([7, 7, 2, 9]))] == [[2], [0, 1], [3]]
    assert [list(part) for part in prompt_groups(np.array([0, 1, 2, 3, 4]), most=2)] == [[0, 2, 4], [1, 3]]
    weights = times_drawn(10, 4, np.random.default_rng(0))
    assert weights.shape == (10, 4) and (weights.sum(axis=1) == 4).all()


def test_pooled_over_clips_by_hand() -> None:
    # 10 joints at 0.2 and 30 at 0.6: (2 + 18) / 40. Without either clip: 0.6 and 0.2; on the logit scale
    # ±0.895880 apart from their centre (ln 1.5 and −ln 4), so variance ½ · Σ = ½ · 2 · 0.895880².
    found = pooled_over_clips([(0.2, 10), (0.6, 30)], lowest=0.0, highest=1.0)
    spread = (math.log(1.5) + math.log(4.0)) / 2
    half = t.ppf(0.975, 1) * math.sqrt(0.5 * 2 * spread**2)
    assert (found.value, found.count) == (0.5, 40) and found.interval is not None
    assert found.interval.low == pytest.approx(1 / (1 + math.exp(half)))
    assert found.interval.high == pytest.approx(1 / (1 + math.exp(-half)))
    assert pooled_over_clips([(0.2, 10)]).why is Why.NEEDS_TWO_CLIPS
    assert pooled_over_clips([(0.2, 10), (0.2, 30)]).why is Why.EQUAL_CLIPS
    assert pooled_over_clips([]).why is Why.NO_DATA
