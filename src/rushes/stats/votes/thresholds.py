"""The threshold that votes would suggest for a metric.

Formula     over clips in decided votes, the midpoint between neighbouring values that best separates losing from
            winning clips: highest (share of losers beyond + share of winners within) / 2
Edge cases  fewer than two different values, or no midpoint better than chance: none, with the reason. Of several
            equally good midpoints, the one that puts the fewest clips beyond.
Caution     fitted and judged on the same votes: a suggestion for review, not an estimate of what it will do
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from rushes.stats.intervals import Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class SuggestedThreshold:
    """Where the votes would draw the line."""

    value: float | None
    balanced_accuracy: float | None
    clips: int
    """Clip showings it rests on: two per decided vote."""
    reason: str = ""

    @classmethod
    def none(cls, reason: str, *, clips: int = 0) -> SuggestedThreshold:
        return cls(value=None, balanced_accuracy=None, clips=clips, reason=reason)


def suggested_threshold(*, won: Floats, lost: Floats, better: Literal["higher", "lower"]) -> SuggestedThreshold:
    """From the metric's values on winning and on losing clips.

    >>> suggested_threshold(won=np.array([1.0, 2.0]), lost=np.array([8.0, 9.0]), better="lower").value
    5.0
    """
    if not len(won) or not len(lost):
        return SuggestedThreshold.none("no decided vote with a value on both sides")
    sign = 1.0 if better == "lower" else -1.0
    bad_won, bad_lost = np.sort(sign * won), np.sort(sign * lost)
    values = np.unique(np.concatenate([bad_won, bad_lost]))
    clips = len(won) + len(lost)
    if len(values) < 2:
        return SuggestedThreshold.none("all clips have the same value", clips=clips)
    cuts = (values[:-1] + values[1:]) / 2.0
    caught = 1.0 - np.searchsorted(bad_lost, cuts, side="right") / len(bad_lost)
    spared = np.searchsorted(bad_won, cuts, side="right") / len(bad_won)
    accuracy = (caught + spared) / 2.0
    best = int(np.flatnonzero(accuracy >= accuracy.max() - 1e-12)[-1])
    if accuracy[best] <= 0.5:
        return SuggestedThreshold.none("no threshold separates losing from winning clips", clips=clips)
    return SuggestedThreshold(value=float(sign * cuts[best]), balanced_accuracy=float(accuracy[best]), clips=clips)
