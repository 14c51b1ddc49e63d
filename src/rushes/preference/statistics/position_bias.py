"""Does the left side win by standing on the left? Share of decided votes for the left clip.

Formula     left wins / (left wins + right wins), ties left out
Unit        ratio, 0 to 1; 0.5 is no bias when sides are counter-balanced
Inputs      raw votes whose side is known
Edge cases  no decided vote with a known side: None with a reason. Imported votes without sides are counted apart.
Interval    clustered by rater and prompt; the exact two-sided binomial test against 0.5 takes votes as independent
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rushes.preference.statistics.intervals import CONFIDENCE, Bounds, Estimate, clustered_mean, wilson
from rushes.preference.votes import Vote


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionBias:
    """The left share with its interval and test, per rater, and how often each system stood left."""

    left_share: Estimate
    """Interval: clustered by rater and prompt, cut to 0–1."""
    wilson: Bounds
    p_value: float | None
    by_rater: Mapping[str, Estimate]
    """Each rater's left share, with Wilson's interval."""
    shown_left: Mapping[str, tuple[int, int]]
    """Per system: times on the left, times shown with a known side."""
    side_unknown: int


def position_bias(votes: Iterable[Vote], *, confidence: float = CONFIDENCE) -> PositionBias:
    """Position bias over raw votes.

    >>> one = Vote.seen(sample="s", left="x", right="y", choice="left", rater="r")
    >>> position_bias([one]).left_share.value
    1.0
    """
    from scipy.stats import binomtest  # slow to load, and most commands do not need it

    raw = [vote for vote in votes if vote.counts_in_results]
    known = [vote for vote in raw if vote.shown_left is not None]
    decided = [vote for vote in known if vote.winner != "tie"]
    picked = [float(vote.winner == vote.shown_left) for vote in decided]
    return PositionBias(
        left_share=_share(picked, decided, confidence),
        wilson=wilson(sum(picked), len(picked), confidence=confidence),
        p_value=float(binomtest(int(sum(picked)), len(picked)).pvalue) if picked else None,
        by_rater=_by_rater(decided, confidence),
        shown_left=_times_left(known),
        side_unknown=len(raw) - len(known),
    )


def _share(picked: list[float], decided: list[Vote], confidence: float) -> Estimate:
    if not picked:
        return Estimate.undefined("no decided vote has a known side")
    raters, prompts = [vote.rater for vote in decided], [vote.prompt_key for vote in decided]
    return Estimate(
        value=sum(picked) / len(picked),
        count=len(picked),
        interval=clustered_mean(picked, raters, prompts, confidence=confidence).within(0.0, 1.0),
    )


def _by_rater(decided: list[Vote], confidence: float) -> dict[str, Estimate]:
    left: dict[str, list[bool]] = defaultdict(list)
    for vote in decided:
        left[vote.rater].append(vote.winner == vote.shown_left)
    return {
        rater: Estimate(
            value=sum(left[rater]) / len(left[rater]),
            count=len(left[rater]),
            interval=wilson(sum(left[rater]), len(left[rater]), confidence=confidence),
        )
        for rater in sorted(left)
    }


def _times_left(known: list[Vote]) -> dict[str, tuple[int, int]]:
    on_left = Counter(vote.system_a if vote.shown_left == "a" else vote.system_b for vote in known)
    shown = Counter(name for vote in known for name in (vote.system_a, vote.system_b))
    return {name: (on_left[name], shown[name]) for name in sorted(shown)}
