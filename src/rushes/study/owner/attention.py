"""Signs that a rater did not look: out of line with everybody else, one answer in a row, or quicker than one can think.

consensus   Of pairs and sets, each choice (the winner; the best and the worst) is compared with that of most other
            raters of the sample (none where they are split). Of single clips, a score agrees if it is above one's own
            mean where the others' are above theirs, in the mean, or below where theirs are below. A rater agreed k
            times of n; all the others together agree a share q of the time. p = P(X ≤ k) for X beta-binomial of n, with
            mean q and honest raters' own spread, 0.06: how rarely an honest rater would agree so little. Few answers
            and hard samples give a large p, so nobody is left out for disagreeing on what is a matter of taste.
same run    The longest run k of one and the same answer on the screen (A, B or tie; the places of best and worst; the
            score), in the order of n answers. Of pairs and sets p = 2^(1−k) · (1 + (n−k)/2), at most 1: a bound on how
            often a fair coin has such a run. Of single clips p = s^k · (1 + (n−k)(1−s)): the same of a rater who gives
            one score with the share s = 0.7, or with the largest share that a score has among all answers.
thinking    Seconds from the first showing to the answer, less the least time that watching takes: full watches times
            the longest clip, and of `dcr` the reference's length too. The median over a rater's answers.

The reference of `acr-hr` is a clip like any other here; as raters agree about it most, who ignores it stands out.
`benchmarks/screening_rates.py` measures how many careless raters each rule finds, and how many honest ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import exp, lgamma
from statistics import fmean, median

from rushes.core.grouping import grouped

LEAST_COMPARED = 10
"""Votes to compare before a rater's agreement is looked at."""
LEAST_TIMED = 5
_STEADY = 0.7
"""Share of one score that an honest rater of single clips may have: many use little of the scale."""
_SPREAD = 0.06
"""Standard deviation of honest raters' shares of agreement: eyes and tastes differ."""
_EVEN = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenVote:
    """One answer to a sample, as far as attention goes."""

    rater: int
    sample: int
    screen: str
    """What was chosen on the screen: A, B or Tie; "AC" for best and worst; the score."""
    order: int
    choices: tuple[str, ...] = ()
    """Of pairs the winner, of sets the best and the worst; clips, not sides."""
    score: float | None = None
    """Of single clips."""
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

    >>> votes = [GivenVote(rater=r, sample=s, choices=("a" if r < 3 else "b",), screen="A", order=s)
    ...          for r in range(4) for s in range(20)]
    >>> one = attention(votes)[3]
    >>> one.agreed, one.compared, one.consensus_p < 1e-6, one.longest_run
    (0, 20, True, 20)
    """
    rated = any(vote.score is not None for vote in votes)
    agreed, compared = score_consensus(votes) if rated else consensus(votes)
    usual = max(_STEADY, _largest_share(votes)) if rated else None
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
            consensus_p=agreement_probability(agreed[rater], compared[rater], share) if enough else None,
            longest_run=run,
            run_p=run_probability(run, len(mine)) if usual is None else steady_run_probability(run, len(mine), usual),
            think_s=median(times) if len(times) >= LEAST_TIMED else None,
        )
    return found


def agreement_probability(agreed: int, compared: int, share: float) -> float:
    """How often an honest rater agrees so seldom or less, where others agree with this share; see the module.

    >>> round(agreement_probability(4, 20, 0.6), 4), agreement_probability(20, 20, 0.6)
    (0.0014, 1.0)
    """
    if agreed >= compared:
        return 1.0
    mean = min(max(share, _SPREAD), 1 - _SPREAD)
    size = mean * (1 - mean) / _SPREAD**2 - 1
    a, b = mean * size, (1 - mean) * size

    def of(k: int) -> float:
        ways = lgamma(compared + 1) - lgamma(k + 1) - lgamma(compared - k + 1)
        return exp(ways + _log_beta(k + a, compared - k + b) - _log_beta(a, b))

    return sum(map(of, range(agreed + 1)))


def _log_beta(a: float, b: float) -> float:
    return lgamma(a) + lgamma(b) - lgamma(a + b)


def consensus(votes: Sequence[GivenVote]) -> tuple[Counter[int], Counter[int]]:
    """By rater, how often they agreed with most of the others, and how often that could be compared."""
    agreed: Counter[int] = Counter()
    compared: Counter[int] = Counter()
    for row in grouped((vote.sample, vote) for vote in votes).values():
        for asked in range(len(row[0].choices)):
            counts = Counter(vote.choices[asked] for vote in row)
            for vote in row:
                most = _most(counts - Counter([vote.choices[asked]]))
                if most is not None:
                    compared[vote.rater] += 1
                    agreed[vote.rater] += most == vote.choices[asked]
    return agreed, compared


def score_consensus(votes: Sequence[GivenVote]) -> tuple[Counter[int], Counter[int]]:
    """The same of scores: how often one's own was above one's own mean where the others' were above theirs, or below.

    >>> votes = [GivenVote(rater=r, sample=s, score=5 - s if r == 3 else s + r, screen="", order=s)
    ...          for r in range(4) for s in range(6)]
    >>> [dict(part) for part in score_consensus(votes)]
    [{0: 6, 1: 6, 2: 6, 3: 0}, {0: 6, 1: 6, 2: 6, 3: 6}]
    """
    rows = grouped((vote.rater, vote) for vote in votes)
    means = {rater: fmean(vote.score or 0.0 for vote in mine) for rater, mine in rows.items()}
    agreed: Counter[int] = Counter()
    compared: Counter[int] = Counter()
    for row in grouped((vote.sample, vote) for vote in votes).values():
        above = [(vote.score or 0.0) - means[vote.rater] for vote in row]
        for vote, own in zip(row, above, strict=True):
            others = sum(above) - own
            if len(row) > 1 and abs(others) > _EVEN:
                compared[vote.rater] += 1
                agreed[vote.rater] += own * others > _EVEN**2
    return agreed, compared


def _largest_share(votes: Sequence[GivenVote]) -> float:
    counts = Counter(vote.screen for vote in votes)
    return max(counts.values()) / counts.total()


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


def steady_run_probability(run: int, votes: int, share: float) -> float:
    """The same of a rater who gives one score with this share.

    >>> round(steady_run_probability(20, 20, 0.7), 5), round(steady_run_probability(5, 20, 0.7), 2)
    (0.0008, 0.92)
    """
    return min(1.0, share**run * (1 + (votes - run) * (1 - share)))


def longest_run(answers: Iterable[str]) -> int:
    """
    >>> longest_run("AABBBA"), longest_run("")
    (3, 0)
    """
    return max((len(list(run)) for _, run in groupby(answers)), default=0)
