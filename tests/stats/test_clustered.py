"""Two-way clustering: by hand, against one-way where prompts add nothing, and its coverage where prompts differ."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.interval_coverage import SCENARIOS, coverage

from rushes.core import Why
from rushes.stats.clustered import Clusters, clustered_mean, positive, two_way_error
from rushes.stats.votes.ranking import rank
from rushes.stats.votes.tally import tally_arrays
from rushes.stats.votes.uncertainty import Uncertainty, strength_estimates, uncertainty


def test_two_ways_by_hand() -> None:
    # Raters (0, 0, 1, 1), prompts (0, 1, 0, 1), residuals −½ −½ ½ ½: rater sums ∓1, so 2/1 · 2 = 4; prompt sums 0;
    # meetings of both 4/3 · 4 · ¼ = 4/3. 4 + 0 − 4/3 is below raters alone, so 4 stands: √4 / 4 = ½.
    residuals = np.array([-0.5, -0.5, 0.5, 0.5])
    rater, prompt = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    assert two_way_error(residuals, Clusters(rater, 2, prompt, 2)) == pytest.approx(0.5)
    # Both ways at once: every rater and every prompt pulls. Sums of raters (−1, 1), prompts (−1, 1) of (−1, 0, 0, 1):
    # 4 + 4 − 4/3 · 2 = 16/3, over 4.
    both = np.array([-1.0, 0.0, 0.0, 1.0])
    assert two_way_error(both, Clusters(rater, 2, prompt, 2)) == pytest.approx(np.sqrt(16 / 3) / 4)


def test_one_prompt_is_raters_alone_and_says_so() -> None:
    values, raters = [0.0, 1.0, 1.0, 0.0], ["r", "r", "s", "t"]
    alone = clustered_mean(values, raters)
    one = clustered_mean(values, raters, ["p"] * 4)
    assert one.interval == alone.interval and one.interval is not None and alone.why is None
    assert (one.interval.method, one.why) == ("rater-clustered", Why.ONE_PROMPT)


def test_prompts_of_one_vote_each_leave_the_raters() -> None:
    values, raters = [0.0, 1.0, 1.0, 1.0, 0.0, 1.0], ["r", "r", "r", "s", "s", "s"]
    by_both = clustered_mean(values, raters, [str(k) for k in range(6)]).interval
    by_rater = clustered_mean(values, raters).interval
    # V_prompt and V_both cancel; a lucky spread of raters is not taken below that of prompts.
    assert by_both is not None and by_rater is not None and by_both.low <= by_rater.low


def test_clustered_mean_by_hand() -> None:
    # Groups (0, 0) and (1, 1): m = ½, group sums −1 and 1, se = √(2/1 · 2)/4 = ½; t(1) at 0.95 = 12.7062.
    found = clustered_mean([0, 0, 1, 1], ["r", "r", "s", "s"])
    assert (found.value, found.count) == (0.5, 4)
    assert found.interval is not None and found.interval.low == pytest.approx(0.5 - 12.7062047 / 2)
    cut = clustered_mean([0, 0, 1, 1], ["r", "r", "s", "s"], lowest=0.0, highest=1.0).interval
    assert cut is not None and (cut.low, cut.high) == (0.0, 1.0)
    alone = clustered_mean([1.0, 2.0], ["r", "r"])
    assert (alone.value, alone.interval, alone.why) == (1.5, None, Why.NEEDS_TWO_RATERS)
    assert clustered_mean([], []).why is Why.NO_DATA


def test_a_matrix_that_is_no_covariance_is_made_one() -> None:
    assert np.linalg.eigvalsh(positive(np.array([[1.0, 2.0], [2.0, 1.0]]))).min() >= -1e-12


def test_the_two_way_interval_is_never_narrower_than_either_way() -> None:
    draw = np.random.default_rng(1)
    for _ in range(20):
        first, second, outcome = np.zeros(120, int), np.ones(120, int), draw.integers(0, 3, 120)
        rater, prompt = np.repeat(np.arange(6), 20), np.tile(np.arange(20), 6)
        votes = tally_arrays(["x", "y"], first, second, outcome, rater=rater, prompt=prompt)
        fit = rank(votes)
        two, one = uncertainty(fit, votes), uncertainty(fit, votes, kind="rater-clustered")
        assert isinstance(two, Uncertainty) and isinstance(one, Uncertainty)
        assert (two.freedom, two.prompts) == (5, 20)
        assert two.difference_se(0, 1) >= one.difference_se(0, 1) - 1e-12
        widths = [one.interval.high - one.interval.low for one in strength_estimates(fit, two) if one.interval]
        assert len(widths) == 2 and min(widths) > 0.0


def test_chunks_of_clusters_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(2)
    columns = np.zeros(300, int), np.ones(300, int), draw.integers(0, 3, 300)
    votes = tally_arrays(["x", "y"], *columns, rater=draw.integers(0, 9, 300), prompt=draw.integers(0, 25, 300))
    fit = rank(votes)
    whole = uncertainty(fit, votes)
    monkeypatch.setattr("rushes.stats.votes.uncertainty._MOST_CELLS", 20)
    parts = uncertainty(fit, votes)
    assert isinstance(whole, Uncertainty) and isinstance(parts, Uncertainty)
    assert parts.covariance == pytest.approx(whole.covariance, rel=1e-9)


@pytest.mark.parametrize("name", ["12 raters × 60, prompts", "50 raters × 20, prompts"])
def test_intervals_cover_where_prompts_differ(name: str) -> None:
    # A light run of `benchmarks/interval_coverage.py` (300 studies a line): 50 studies, 4 systems each.
    found = coverage(SCENARIOS[name], runs=50)
    assert found["rater- and prompt-clustered"] >= 0.93
    assert found["rater-clustered"] < 0.88


@pytest.mark.soak
@pytest.mark.parametrize("name", SCENARIOS)
def test_intervals_cover_in_full(name: str) -> None:
    assert coverage(SCENARIOS[name], runs=300)["rater- and prompt-clustered"] >= 0.93
