"""Planning: votes for a power."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from rushes.core.errors import InputError
from rushes.stats.power import votes_needed


@pytest.mark.parametrize(("preference", "votes"), [(0.6, 194), (0.7, 47), (0.4, 194), (0.3, 47)])
def test_published_sizes(preference: float, votes: int) -> None:
    assert votes_needed(preference) == votes


def test_the_size_has_about_the_power_it_promises() -> None:
    # Exact binomial power of the test |z| > 1.96 that the formula is for.
    votes = votes_needed(0.6)
    wins = np.arange(votes + 1)
    significant = np.abs(wins - votes / 2) / np.sqrt(votes / 4) > 1.959964
    assert binom.pmf(wins[significant], votes, 0.6).sum() == pytest.approx(0.8, abs=0.02)


def test_ties_and_power_cost_votes() -> None:
    assert votes_needed(0.6) < votes_needed(0.6, power=0.9) < votes_needed(0.6, power=0.9, tie_share=0.3)


@pytest.mark.parametrize("wrong", [{"preference": 0.5}, {"preference": 1.0}, {"preference": 0.6, "tie_share": 1.0}])
def test_impossible_plans_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError):
        votes_needed(**wrong)
