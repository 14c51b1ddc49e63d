"""Thresholds that votes would suggest."""

from __future__ import annotations

import numpy as np
import pytest

from rushes.stats.votes.thresholds import suggested_threshold


def test_lower_is_better_by_hand() -> None:
    # Losers 4, 8, 9; winners 1, 2, 5. Cut at 3: all losers caught, 2 of 3 winners spared: 5/6; at 6.5: 2/3 and 1: 5/6.
    # Both are best; the higher puts fewer clips beyond it.
    found = suggested_threshold(won=np.array([1.0, 2, 5]), lost=np.array([4.0, 8, 9]), better="lower")
    assert (found.value, found.balanced_accuracy, found.clips) == (6.5, pytest.approx(5 / 6), 6)


def test_higher_is_better_mirrors() -> None:
    found = suggested_threshold(won=-np.array([1.0, 2, 5]), lost=-np.array([4.0, 8, 9]), better="higher")
    assert (found.value, found.balanced_accuracy) == (-6.5, pytest.approx(5 / 6))


@pytest.mark.parametrize(
    ("won", "lost", "says"),
    [
        ([], [], "no decided vote"),
        ([2.0, 2.0], [2.0, 2.0], "same value"),
        ([9.0, 8.0], [1.0, 2.0], "no threshold separates"),
    ],
)
def test_nothing_to_suggest(won: list[float], lost: list[float], says: str) -> None:
    found = suggested_threshold(won=np.array(won), lost=np.array(lost), better="lower")
    assert found.value is None and says in found.reason
