"""A share of votes: the mean of what each of them is worth, with the interval clustered by rater and prompt."""

from __future__ import annotations

from collections.abc import Iterable

from rushes.core import Estimate
from rushes.instruments.preference.votes import Vote
from rushes.stats.clustered import clustered_mean
from rushes.stats.intervals import LEVEL


def vote_share(scored: Iterable[tuple[Vote, float | None]], *, confidence: float = LEVEL) -> Estimate:
    """The share over the votes that are worth something.

    Formula     Σ points / votes, a vote whose points are None (a tie that is dropped, an unknown side) left out
    Unit        ratio, 0 to 1; the interval is cut to it
    Edge cases  no vote is left: no value

    >>> one = Vote.seen(sample="s", left="x", right="y", choice="left", rater="r")
    >>> vote_share([(one, one.left_points(ties="drop"))]).value
    1.0
    """
    counted = [(vote, points) for vote, points in scored if points is not None]
    votes, values = [vote for vote, _ in counted], [points for _, points in counted]
    raters, prompts = [vote.rater for vote in votes], [vote.prompt_key for vote in votes]
    return clustered_mean(values, raters, prompts, confidence=confidence, lowest=0.0, highest=1.0)
