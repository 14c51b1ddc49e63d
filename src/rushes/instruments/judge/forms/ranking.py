"""A judge's pairs as a ranking: the code that ranks people's votes, under names of its own.

A judge is one rater, so what clusters its votes is the prompt: intervals are over prompts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from rushes.core import Definition, Estimate, Interval, Measurement, Why
from rushes.core.grouping import grouped
from rushes.instruments.judge import definitions as d
from rushes.stats.clustered import ONE_WAY
from rushes.stats.families import holm, possible_ranks
from rushes.stats.intervals import LEVEL
from rushes.stats.means import student_mean
from rushes.stats.sign_flip import sign_flip
from rushes.stats.votes.connection import RankingError
from rushes.stats.votes.ranking import ELO_CENTRE, ELO_PER_LOGIT, Ranking, rank
from rushes.stats.votes.tally import Tally, tally_arrays
from rushes.stats.votes.tie_policies import TiePolicy
from rushes.stats.votes.uncertainty import Uncertainty, rank_ranges, strength_estimates, uncertainty

PRIOR = 1.0
"""Precision of a normal prior on the log strengths: a judge often prefers one system every time, which has no finite
strength without it."""
METHOD = "prompt-clustered"
_TIES: TiePolicy = "davidson"


@dataclass(frozen=True, slots=True)
class PairVote:
    """One pair of clips: what the first system won of it."""

    prompt: str
    first: str
    second: str
    points: float
    """1, ½ or 0."""


def ranking_numbers(votes: Sequence[PairVote], named: Callable[[Definition], Definition]) -> Iterator[Measurement]:
    """Strength, rank and share of wins of every system; `named` fills in who judged and how."""
    systems = sorted({name for vote in votes for name in (vote.first, vote.second)})
    elo, place, wins = (
        named(one.with_params(ties=_TIES, prior=f"normal precision {PRIOR!r}"))
        for one in (d.JUDGE_ELO, d.JUDGE_RANK, d.JUDGE_WIN_SHARE)
    )
    votes_of = {name: sum(name in (vote.first, vote.second) for vote in votes) for name in systems}
    for name, strength, held in _ranked(systems, votes):
        at = {"system": name}
        note = "" if strength.value is not None else held if isinstance(held, str) else ""
        yield Measurement.of(elo, replace(strength, count=votes_of[name]), at=at, note=note)
        if isinstance(held, Estimate):
            yield Measurement.of(place, replace(held, count=votes_of[name]), at=at)
        else:
            yield Measurement.missing(place, held, count=votes_of[name], at=at)
        yield Measurement.of(wins, _win_share(name, votes), at=at)


def _ranked(systems: Sequence[str], votes: Sequence[PairVote]) -> Iterator[tuple[str, Estimate, Estimate | str]]:
    try:
        tally = _tally(systems, votes)
        ranking = rank(tally, tie_policy=_TIES, prior=PRIOR)
    except RankingError as error:
        nothing = Estimate.none(Why.NOT_RANKABLE, count=len(votes))
        yield from ((name, nothing, str(error)) for name in systems)
        return
    spread = _spread(ranking, tally)
    place = {one.system: one.rank for one in rank_ranges(ranking, spread)}
    ranges = possible_ranks(systems, _surely_better(systems, votes))
    for name, strength in zip(ranking.systems, strength_estimates(ranking, spread), strict=True):
        best, worst = ranges[name]
        ends = Interval(low=best, high=worst, level=LEVEL, method="sign-flip holm")
        yield name, _elo(strength), Estimate(value=place[name], count=len(votes), interval=ends)


def _surely_better(systems: Sequence[str], votes: Sequence[PairVote]) -> list[tuple[str, str]]:
    """Every two systems of which one won significantly more prompts: sign-flip tests over prompts, Holm's rule."""
    met = grouped(((vote.first, vote.second), vote) for vote in votes)
    sums = [_by_prompt(first, rows) for (first, _), rows in met.items()]
    adjusted = holm([float(sign_flip([value - 0.5 for value in one]).value or 1.0) for one in sums])
    return [
        (first, second) if math.fsum(one) > 0.5 * len(one) else (second, first)
        for (first, second), one, p in zip(met, sums, adjusted, strict=True)
        if p <= 1.0 - LEVEL
    ]


def _spread(ranking: Ranking, tally: Tally) -> Uncertainty | Why:
    """Over prompts, and never narrower than if every pair were independent: a judge may answer alike on all of them."""
    found, single = uncertainty(ranking, tally, kind=ONE_WAY), uncertainty(ranking, kind="fisher")
    if isinstance(found, Why) or isinstance(single, Why):
        return Why.NEEDS_TWO_PROMPTS
    return replace(found, floors=(*found.floors, single.covariance))


def _tally(systems: Sequence[str], votes: Sequence[PairVote]) -> Tally:
    number = {name: place for place, name in enumerate(systems)}
    prompts = {name: place for place, name in enumerate(sorted({vote.prompt for vote in votes}))}
    outcome = [{1.0: 0, 0.0: 1}.get(vote.points, 2) for vote in votes]
    first, second = [number[vote.first] for vote in votes], [number[vote.second] for vote in votes]
    return tally_arrays(systems, first, second, outcome, rater=[prompts[vote.prompt] for vote in votes])


def _elo(strength: Estimate) -> Estimate:
    scaled = ELO_CENTRE + ELO_PER_LOGIT * float(strength.value or 0.0)
    if (found := strength.interval) is None:
        return replace(strength, value=scaled)
    low, high = (ELO_CENTRE + ELO_PER_LOGIT * end for end in (found.low, found.high))
    return replace(strength, value=scaled, interval=replace(found, low=low, high=high, method=METHOD))


def _win_share(system: str, votes: Sequence[PairVote]) -> Estimate:
    """Mean over prompts, whose pairs resemble each other."""
    mine = [vote for vote in votes if system in (vote.first, vote.second)]
    found = student_mean(_by_prompt(system, mine))
    interval = found.interval and found.interval.within(0.0, 1.0)
    return replace(found, interval=interval and replace(interval, method=METHOD))


def _by_prompt(system: str, votes: Sequence[PairVote]) -> list[float]:
    """What a system won of each prompt, the mean over its pairs there."""
    points = grouped((vote.prompt, vote.points if vote.first == system else 1.0 - vote.points) for vote in votes)
    return [math.fsum(group) / len(group) for group in points.values()]
