"""A study's ranking as labelled measurements: strengths, ranks, fit and fragility, over all families and in each."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from rushes.core import Measurement
from rushes.preference import definitions as d
from rushes.preference.conditions import Conditions, measured
from rushes.preference.statistics.connection import RankingError
from rushes.preference.statistics.fragility import drop_k
from rushes.preference.statistics.intervals import (
    CLUSTERS,
    ONE_PROMPT,
    ONE_WAY,
    TWO_WAY,
    Bounds,
    Estimate,
    IntervalKind,
    Uncertainty,
    clustered_mean,
    score_intervals,
    uncertainty,
)
from rushes.preference.statistics.rank_ranges import rank_ranges
from rushes.preference.statistics.ranking import ELO_CENTRE, ELO_PER_LOGIT, Ranking, rank
from rushes.preference.statistics.tally import tally
from rushes.preference.votes import TiePolicy, Vote


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """What the caller chose for the numbers."""

    ties: TiePolicy
    prior: float
    interval: IntervalKind
    first: int
    """How many votes of a sample agreement rests on."""

    @property
    def params(self) -> dict[str, str]:
        """Of the model, as signatures spell them."""
        return {"ties": self.ties, "prior": f"normal precision {self.prior!r}" if self.prior else "none"}


def ranking_numbers(raw: Sequence[Vote], chosen: Choices, conditions: Conditions) -> Iterator[Measurement]:
    """Strengths, ranks, tie parameter, fit and fragility over all families."""
    ranking = yield from _strengths(raw, {}, chosen, conditions)
    if isinstance(ranking, Estimate):
        for definition in (d.BT_TIE_PARAMETER, d.BT_FIT_P, d.DROP_K_VOTES, d.DROP_K_SHARE):
            yield measured(definition, ranking, conditions, **chosen.params)
    else:
        yield from _model_numbers(ranking, conditions, chosen.params)


def family_ranking(raw: Sequence[Vote], family: str, chosen: Choices, conditions: Conditions) -> Iterator[Measurement]:
    """Strengths and ranks from the votes of one task family alone, which the numbers' place names."""
    yield from _strengths(raw, {"family": family}, chosen, conditions)


def _strengths(
    raw: Sequence[Vote], about: Mapping[str, str], chosen: Choices, conditions: Conditions
) -> Generator[Measurement, None, Ranking | Estimate]:
    """Strength and rank of every system; returns the ranking, or why there is none."""
    votes, params = tally(raw), {**chosen.params, "clusters": CLUSTERS[chosen.interval]}
    try:
        ranking = rank(votes, tie_policy=chosen.ties, prior=chosen.prior)
    except RankingError as error:
        nothing = Estimate.undefined(str(error), count=votes.votes)
        for system in votes.systems:
            for definition in (d.BT_ELO, d.BT_RANK):
                yield measured(definition, nothing, conditions, {"system": system, **about}, **params)
        return nothing
    spread = uncertainty(ranking, votes, kind=chosen.interval, confidence=conditions.confidence)
    ranges = {one.system: one for one in rank_ranges(ranking, spread, confidence=conditions.confidence)}
    met = Counter(name for vote in raw for name in (vote.system_a, vote.system_b))
    method = chosen.interval if isinstance(spread, str) else spread.kind
    note = _caution(ranking, spread, chosen.interval)
    for system, theta, width in zip(ranking.systems, ranking.log_worth, score_intervals(ranking, spread), strict=True):
        at, count, span = {"system": system, **about}, met[system], ranges[system]
        elo = Estimate(value=_elo(theta), count=count, interval=_elo_bounds(width, note))
        yield measured(d.BT_ELO, elo, conditions, at, method=method, **params)
        open_ranks = Bounds(lower=span.best, upper=span.worst, reason=span.reason or note)
        place = Estimate(value=span.rank, count=count, interval=open_ranks)
        yield measured(d.BT_RANK, place, conditions, at, method=f"{method} bonferroni", **params)
    return ranking


def _elo(theta: float) -> float:
    return float(ELO_CENTRE + ELO_PER_LOGIT * theta)


def _elo_bounds(width: Bounds, note: str) -> Bounds:
    if width.lower is None or width.upper is None:
        return width
    return Bounds(lower=_elo(width.lower), upper=_elo(width.upper), reason=note)


def _caution(ranking: Ranking, spread: Uncertainty | str, asked: IntervalKind) -> str:
    """What to know about clustered intervals: they rest on one number per rater and per prompt, and need enough."""
    if isinstance(spread, str) or spread.freedom is None:
        return ""
    size = len(ranking.systems)
    found = [ONE_PROMPT] if asked == TWO_WAY and spread.kind == ONE_WAY else []
    found += [f"only {spread.raters} raters for {size} systems"] if spread.raters < size else []
    if spread.kind == TWO_WAY and spread.prompts < size:
        found.append(f"only {spread.prompts} prompts for {size} systems")
    return "; ".join(found)


def _model_numbers(ranking: Ranking, conditions: Conditions, params: dict[str, str]) -> Iterator[Measurement]:
    count, goodness = int(ranking.votes), ranking.goodness
    tie = Estimate(value=ranking.tie_parameter, count=count)
    if tie.value is None:
        tie = replace(tie, reason=f"{ranking.tie_policy} has no tie parameter")
    yield measured(d.BT_TIE_PARAMETER, tie, conditions, **params)
    p = goodness.p_value if goodness else None
    fit = Estimate(value=p, count=count, reason="" if p is not None else _no_fit(ranking))
    yield measured(d.BT_FIT_P, fit, conditions, **params)
    weak = drop_k(ranking)
    note = weak.reason or f"{weak.challenger} then leads instead of {weak.leader}"
    for definition, value in ((d.DROP_K_VOTES, weak.votes), (d.DROP_K_SHARE, weak.share)):
        yield measured(definition, Estimate(value=value, count=count, reason=note), conditions, **params)


def _no_fit(ranking: Ranking) -> str:
    if ranking.tie_policy == "half-tie":
        return "half a tie is no count to compare with"
    return "a prior holds the strengths back" if ranking.problem.prior else "no degrees of freedom left"


def win_shares(raw: Sequence[Vote], family: str, conditions: Conditions) -> Iterator[Measurement]:
    """Per system: the share of its votes that it won, a tie as half."""
    points: dict[str, list[tuple[float, Vote]]] = defaultdict(list)
    for vote in raw:
        points[vote.system_a].append((_POINTS[vote.winner], vote))
        points[vote.system_b].append((1.0 - _POINTS[vote.winner], vote))
    for system in sorted(points):
        at = {"family": family, "system": system}
        share = _share(points[system], conditions)
        yield measured(d.WIN_SHARE, share, conditions, at, method=TWO_WAY, clusters=CLUSTERS[TWO_WAY])


def head_to_head(raw: Sequence[Vote], conditions: Conditions) -> Iterator[Measurement]:
    """Per two systems that met, both ways: the share of their votes that the one won against the other."""
    points: dict[tuple[str, str], list[tuple[float, Vote]]] = defaultdict(list)
    for vote in raw:
        points[vote.system_a, vote.system_b].append((_POINTS[vote.winner], vote))
        points[vote.system_b, vote.system_a].append((1.0 - _POINTS[vote.winner], vote))
    for system, against in sorted(points):
        at = {"against": against, "system": system}
        share = _share(points[system, against], conditions)
        yield measured(d.HEAD_TO_HEAD, share, conditions, at, method=TWO_WAY, clusters=CLUSTERS[TWO_WAY])


_POINTS = {"a": 1.0, "b": 0.0, "tie": 0.5}


def _share(points: Sequence[tuple[float, Vote]], conditions: Conditions) -> Estimate:
    values, votes = [value for value, _ in points], [vote for _, vote in points]
    raters, prompts = [vote.rater for vote in votes], [vote.prompt_key for vote in votes]
    interval = clustered_mean(values, raters, prompts, confidence=conditions.confidence)
    return Estimate(value=sum(values) / len(values), count=len(values), interval=interval.within(0.0, 1.0))
