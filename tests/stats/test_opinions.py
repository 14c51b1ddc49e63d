"""Opinion scores against published values and small cases by hand."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from rushes.stats.opinions import clustered_difference, subject_model

PUBLISHED = json.loads((Path(__file__).parents[1] / "goldens/subject_bias.json").read_text())


@pytest.mark.parametrize("case", ["published", "missing"])
def test_the_subject_model_is_that_of_p913s_reference_code(case):
    told = PUBLISHED[case]
    ratings = np.array([[np.nan if mark == "-" else float(mark) for mark in row] for row in told["ratings"]])
    found = subject_model(ratings)
    for ours, theirs in (
        (found.scores, told["mos_j"]),
        (found.errors, told["sos_j"]),
        (found.bias, told["bias_i"]),
        (found.inconsistency, told["inconsistency_i"]),
    ):
        assert ours == pytest.approx(theirs, abs=1e-7)


def test_bias_by_hand():
    # Subject 2 always rates 1 higher: the scores are the mean of the two, the biases ∓½, nobody is inconsistent.
    found = subject_model(np.array([[1.0, 2.0], [3.0, 4.0], [4.0, 5.0]]))
    assert found.scores.tolist() == pytest.approx([1.5, 3.5, 4.5]) and found.bias.tolist() == pytest.approx([-0.5, 0.5])
    assert found.inconsistency.tolist() == pytest.approx([0, 0], abs=1e-12)
    alone = subject_model(np.array([[2.0], [5.0]]))
    assert alone.scores.tolist() == [2.0, 5.0] and alone.bias.tolist() == [0.0]


def test_a_fit_that_follows_one_subject_is_known():
    # Four subjects of twelve clips, one of them nearly perfect: the likelihood has no maximum but to believe that one.
    draw = np.random.default_rng(1)
    truth = draw.uniform(1, 5, 12)
    ratings = np.clip(np.rint(truth[:, None] + draw.normal(0, [0.05, 0.9, 0.9, 0.9], (12, 4))), 1, 5)
    found = subject_model(ratings)
    assert found.follows_one and found.inconsistency[0] < 1e-3
    assert not subject_model(np.array([[1.0, 2.0], [3.0, 4.0]])).follows_one
    plain = subject_model(ratings, weighted=False)  # everybody rated everything: the mean is the mean
    assert plain.scores == pytest.approx(ratings.mean(axis=1)) and not plain.follows_one


def test_a_difference_of_one_prompt_is_a_paired_t_test():
    # One prompt and every rater rates both: clustering by rater is the paired t test.
    first, second = [4.0, 3.0, 5.0, 4.0, 2.0], [3.0, 3.0, 3.0, 2.0, 2.0]
    raters = [f"r{k}" for k in range(5)] * 2
    gap, p = clustered_difference([*first, *second], [True] * 5 + [False] * 5, raters, ["p"] * 10)
    theirs = stats.ttest_rel(first, second)
    ends = theirs.confidence_interval(0.95)
    assert gap.value == pytest.approx(1.0) and p == pytest.approx(theirs.pvalue)
    assert (gap.interval.low, gap.interval.high) == pytest.approx((ends.low, ends.high))


def test_what_both_share_cancels():
    draw = np.random.default_rng(2)
    rows = [(rater, prompt, group) for rater in range(6) for prompt in range(5) for group in (True, False)]
    noise = draw.normal(0, 0.3, len(rows))
    plain = [float(group) + noise[k] for k, (_, _, group) in enumerate(rows)]
    moved = [value + 3 * rater - 2 * prompt for value, (rater, prompt, _) in zip(plain, rows, strict=True)]
    names = [f"r{rater}" for rater, _, _ in rows], [f"p{prompt}" for _, prompt, _ in rows]
    groups = [group for *_, group in rows]
    one, other = (clustered_difference(values, groups, *names)[0] for values in (plain, moved))
    assert other.value == pytest.approx(one.value)
    assert (other.interval.low, other.interval.high) == pytest.approx((one.interval.low, one.interval.high))


def test_equal_answers_have_width_and_few_have_none():
    gap, p = clustered_difference([5, 5, 1, 1], [True, True, False, False], ["a", "b"] * 2, ["p", "q"] * 2)
    assert gap.value == 4 and gap.interval.low < 4 < gap.interval.high and 0 < p < 1
    assert clustered_difference([1.0, 2.0], [True, False], ["a", "a"], ["p", "p"])[0].interval is None
    assert clustered_difference([1.0], [True], ["a"], ["p"])[0].value is None
