"""Kendall, Spearman, Pearson, pairwise accuracy: by hand, then against scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from rushes.stats.correlation import STATISTICS, Floats, correlate, sums


def array(*values: float) -> Floats:
    return np.array(values, dtype=float)


def test_ties_by_hand() -> None:
    # x = 1 1 2 3, y = 1 2 2 3. Pairs: (1,2) x equal; (1,3) +; (1,4) +; (2,3) y equal; (2,4) +; (3,4) +. S = 4.
    # T_x = T_y = 5. τ-b = 4/√25 = .8. n = 4, m = 3: τ-c = 4 / (16·2/6) = .75.
    x, y = array(1, 1, 2, 3), array(1, 2, 2, 3)
    assert correlate(x, y, "kendall_tau_b") == pytest.approx(0.8)
    assert correlate(x, y, "kendall_tau_c") == pytest.approx(0.75)
    # ranks x 1.5 1.5 3 4, y 1 2.5 2.5 4, less 2.5: −1 −1 .5 1.5 and −1.5 0 0 1.5; 3.75 / √(4.5·4.5) = 5/6
    assert correlate(x, y, "spearman") == pytest.approx(5 / 6)
    # y orders 5 pairs; x orders 4 of them alike and leaves (1,2) equal: 4.5 / 5
    assert correlate(x, y, "pairwise_accuracy") == pytest.approx(0.9)


def test_perfect_reversed_and_undefined() -> None:
    x = array(3, 1, 2, 5)
    for statistic in STATISTICS:
        assert correlate(x, 2 * x, statistic) == pytest.approx(1.0)
        assert correlate(x, -x, statistic) == pytest.approx(0.0 if statistic == "pairwise_accuracy" else -1.0)
        assert correlate(x, array(2, 2, 2, 2), statistic) is None  # nobody orders any pair
        assert correlate(array(1), array(1), statistic) is None
        assert correlate(array(), array(), statistic) is None
    # a metric that says nothing is right about half of the pairs, and correlates with nothing
    constant = np.full(4, 0.1 + 0.2)
    assert correlate(constant, x, "pairwise_accuracy") == 0.5
    assert [correlate(constant, x, s) for s in STATISTICS[:4]] == [None] * 4


def test_within_groups_only_clips_of_one_group_are_held_against_each_other() -> None:
    # Two prompts with two systems each: x agrees in the first and disagrees in the second. S = 1 − 1 = 0.
    # Pooled, the prompts' own levels make it look like agreement: ranks of x 1 2 4 3, of y 1 2 3 4.
    x, y, prompt = array(0, 1, 11, 10), array(0, 1, 10, 11), np.array([0, 0, 1, 1])
    assert correlate(x, y, "kendall_tau_b", prompt) == 0.0
    assert correlate(x, y, "pairwise_accuracy", prompt) == 0.5
    assert correlate(x, y, "kendall_tau_b") == pytest.approx(4 / 6)
    # centred: x ∓.5 ±.5, y ∓.5 ∓.5 → Σ = .5 − .5 = 0
    assert correlate(x, y, "pearson", prompt) == correlate(x, y, "spearman", prompt) == 0.0


def test_a_level_of_the_prompt_drops_out() -> None:
    rng = np.random.default_rng(3)
    prompt = np.repeat(np.arange(20), 4)
    x, y = rng.normal(size=80), rng.normal(size=80)
    shift = rng.normal(scale=50, size=20)[prompt]
    for statistic in STATISTICS:
        assert correlate(x + shift, y, statistic, prompt) == pytest.approx(correlate(x, y, statistic, prompt))


@pytest.mark.parametrize("seed", range(20))
def test_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 300))
    x = rng.normal(size=n) if seed % 2 else rng.integers(0, 6, n).astype(float)
    y = np.round(0.5 * x + rng.normal(size=n), seed % 3)
    expected = {
        "kendall_tau_b": stats.kendalltau(x, y, variant="b").statistic,
        "kendall_tau_c": stats.kendalltau(x, y, variant="c").statistic,
        "spearman": stats.spearmanr(x, y).statistic,
        "pearson": stats.pearsonr(x, y).statistic,
    }
    found = sums(x, y)
    for name, value in expected.items():
        assert found.value(name) == pytest.approx(value, abs=1e-12)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(6))
def test_pairwise_accuracy_counted_pair_by_pair(seed: int) -> None:
    rng = np.random.default_rng(seed)
    prompt = rng.integers(0, 7, 40)
    x, y = rng.integers(0, 4, 40).astype(float), rng.integers(0, 4, 40).astype(float)
    credit = [
        0.5 if x[i] == x[j] else float((x[i] < x[j]) == (y[i] < y[j]))
        for i in range(40)
        for j in range(i)
        if prompt[i] == prompt[j] and y[i] != y[j]
    ]
    assert correlate(x, y, "pairwise_accuracy", prompt) == pytest.approx(sum(credit) / len(credit))


def test_order_of_the_clips_does_not_matter() -> None:
    rng = np.random.default_rng(1)
    x, y, prompt = rng.normal(size=60), rng.integers(1, 6, 60).astype(float), np.repeat(np.arange(15), 4)
    turn = rng.permutation(60)
    for statistic in STATISTICS:
        assert correlate(x[turn], y[turn], statistic, prompt[turn]) == pytest.approx(
            correlate(x, y, statistic, prompt), abs=1e-14
        )


@pytest.mark.parametrize("seed", range(4))
def test_many_small_groups_at_once_equal_each_on_its_own(seed: int) -> None:
    rng = np.random.default_rng(seed)
    prompt = rng.integers(0, 30, 90)  # groups of one clip among them
    x, y = rng.integers(0, 4, 90) / 3, np.round(rng.normal(size=90), 1)
    alone = np.array([sums(x[prompt == p], y[prompt == p]).rows[0] for p in np.unique(prompt)])
    assert sums(x, y, prompt).rows == pytest.approx(alone, abs=1e-12)
