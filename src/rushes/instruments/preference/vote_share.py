"""Shares of votes: the mean of what each of them is worth, with the interval clustered by rater and prompt."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import TypeAlias, TypeVar

import numpy as np

from rushes.core import Estimate
from rushes.instruments.preference.votes import SIDES, Ties, Vote
from rushes.stats.clustered import Clusters, numbered
from rushes.stats.intervals import LEVEL
from rushes.stats.votes.shares import clustered_share

Scored: TypeAlias = tuple[Vote, float | None]
"""A vote and what it is worth to somebody; None where it does not count."""
Name = TypeVar("Name")


def both_ways(
    votes: Iterable[Vote], names: Callable[[Vote], tuple[Name, Name]], *, ties: Ties
) -> dict[Name, list[Scored]]:
    """What each vote is worth to either side, by what `names` calls the sides of system a and of system b."""
    found: dict[Name, list[Scored]] = defaultdict(list)
    for vote in votes:
        for side, name in zip(SIDES, names(vote), strict=True):
            found[name].append((vote, vote.points(side, ties=ties)))
    return found


def vote_share(scored: Iterable[Scored], *, confidence: float = LEVEL) -> Estimate:
    """The share over the votes that are worth something.

    Formula     Σ points / votes, a vote whose points are None (a tie that is dropped, an unknown side) left out
    Unit        ratio, 0 to 1; the interval is Wilson's with effective votes, so it stays inside and has a width
    Edge cases  no vote is left: no value

    >>> one = Vote.seen(sample="s", left="x", right="y", choice="left", rater="r")
    >>> vote_share([(one, one.left_points(ties="drop"))]).value
    1.0
    """
    counted = [(vote, points) for vote, points in scored if points is not None]
    votes, values = [vote for vote, _ in counted], [points for _, points in counted]
    clusters = Clusters(*numbered([vote.rater for vote in votes]), *numbered([vote.prompt_key for vote in votes]))
    return clustered_share(np.array(values), np.ones(len(values), dtype=np.int64), clusters, confidence=confidence)
