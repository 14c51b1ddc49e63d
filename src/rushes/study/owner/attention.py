"""Signs that a rater did not look: out of line with everybody else, one answer in a row, or quicker than one can think.

consensus   Each vote on a sample is compared with the choice of most other raters of it (none where they are split). A
            rater agreed k times of n; all the others together agree a share q of the time. p = P(X ≤ k) for X binomial
            of n and q: how rarely a typical rater would agree so little. Few votes and hard samples give a large p, so
            nobody is left out for disagreeing on what is a matter of taste.
same run    The longest run k of one and the same answer on the screen (A, B or tie), in the order of n votes.
            p = 2^(1−k) · (1 + (n−k)/2), at most 1: a bound on how often a fair coin has such a run.
thinking    Seconds from the first showing to the vote, less the least time that watching takes: full watches times the
            longer clip. The median over a rater's votes.

`benchmarks/screening_rates.py` measures how many careless raters each rule finds, and how many honest ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import median

from scipy.special import bdtr

from rushes.core.grouping import grouped

LEAST_COMPARED = 10
"""Votes to compare before a rater's agreement is looked at."""
LEAST_TIMED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenVote:
    """One vote on a sample, as far as attention goes."""

    rater: int
    sample: int
    winner: str
    screen: str
    """What was chosen on the screen: A, B or Tie."""
    order: int
    think_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Attention:
    """What one rater's votes show."""

    agreed: int = 0
    compared: int = 0
    consensus_p: float | None = None
    """None with fewer than `LEAST_COMPARED` votes to compare, and where nobody else has any."""
    longest_run: int = 0
    run_p: float | None = None
    """None without a vote."""
    think_s: float | None = None
    """None with fewer than `LEAST_TIMED` timed votes."""


def attention(votes: Sequence[GivenVote]) -> dict[int, Attention]:
    """By rater, what their votes show.

    >>> votes = [GivenVote(rater=r, sample=s, winner="a" if r < 3 else "b", screen="A", order=s)
    ...          for r in range(4) for s in range(20)]
    >>> one = attention(votes)[3]
    >>> one.agreed, one.compared, one.consensus_p == 0.0, one.longest_run
    (0, 20, True, 20)
    """
    agreed, compared = consensus(votes)
    all_agreed, all_compared = agreed.total(), compared.total()
    found = {}
    for rater, mine in grouped((vote.rater, vote) for vote in votes).items():
        others = all_compared - compared[rater]
        share = (all_agreed - agreed[rater]) / others if others else 0.0
        enough = others and compared[rater] >= LEAST_COMPARED
        times = [vote.think_s for vote in mine if vote.think_s is not None]
        run = longest_run(vote.screen for vote in sorted(mine, key=lambda one: one.order))
        found[rater] = Attention(
            agreed=agreed[rater],
            compared=compared[rater],
            consensus_p=float(bdtr(agreed[rater], compared[rater], share)) if enough else None,
            longest_run=run,
            run_p=run_probability(run, len(mine)),
            think_s=median(times) if len(times) >= LEAST_TIMED else None,
        )
    return found


def consensus(votes: Sequence[GivenVote]) -> tuple[Counter[int], Counter[int]]:
    """By rater, how often they agreed with most of the others, and how often that could be compared."""
    agreed: Counter[int] = Counter()
    compared: Counter[int] = Counter()
    for row in grouped((vote.sample, vote) for vote in votes).values():
        counts = Counter(vote.winner for vote in row)
        for vote in row:
            most = _most(counts - Counter([vote.winner]))
            if most is not None:
                compared[vote.rater] += 1
                agreed[vote.rater] += most == vote.winner
    return agreed, compared


def _most(counts: Mapping[str, int]) -> str | None:
    """The choice that more made than any other; None for a split, and for nobody."""
    ranked = sorted(counts.items(), key=lambda item: -item[1])
    if not ranked or (len(ranked) > 1 and ranked[0][1] == ranked[1][1]):
        return None
    return ranked[0][0]


def run_probability(run: int, votes: int) -> float:
    """How often a fair coin thrown so many times has a run of at least this length: an upper bound.

    >>> run_probability(13, 13), run_probability(3, 40)
    (0.000244140625, 1.0)
    """
    return min(1.0, 2.0 ** (1 - run) * (1 + (votes - run) / 2))


def longest_run(answers: Iterable[str]) -> int:
    """
    >>> longest_run("AABBBA"), longest_run("")
    (3, 0)
    """
    return max((len(list(run)) for _, run in groupby(answers)), default=0)
