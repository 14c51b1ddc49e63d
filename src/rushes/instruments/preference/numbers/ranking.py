"""A study's ranking as labelled measurements: strengths, ranks, fit and fragility, over all families and in each."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from rushes.core import Estimate, Interval, Measurement, Why
from rushes.instruments.preference.definitions import study as d
from rushes.instruments.preference.definitions.conditions_of import ties_of
from rushes.instruments.preference.numbers.conditions import Conditions, measured
from rushes.instruments.preference.tallies import tally
from rushes.instruments.preference.votes import TiePolicy, Vote
from rushes.stats.clustered import BY_PROMPT, CLUSTERS, ONE_WAY, TWO_WAY, IntervalKind
from rushes.stats.votes import shares
from rushes.stats.votes.connection import RankingError
from rushes.stats.votes.fragility import drop_k
from rushes.stats.votes.ranking import ELO_CENTRE, ELO_PER_LOGIT, Ranking, rank
from rushes.stats.votes.tally import Tally
from rushes.stats.votes.uncertainty import Uncertainty, rank_ranges, strength_estimates, uncertainty


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """What the caller chose for the numbers."""

    ties: TiePolicy
    prior: float
    interval: IntervalKind
    first: int = 0
    """How many votes of a sample agreement rests on."""

    @property
    def params(self) -> dict[str, str]:
        """Of the model, as signatures spell them."""
        prior = f"normal precision {self.prior!r}" if self.prior else "none"
        return {"ties": self.ties, "prior": prior}


def ranking_numbers(raw: Sequence[Vote], chosen: Choices, conditions: Conditions) -> Iterator[Measurement]:
    """Strengths, ranks, tie parameter, fit and fragility over all families."""
    ranking = yield from strength_numbers(tally(raw), {}, chosen, conditions)
    if isinstance(ranking, RankingError):
        nothing = Estimate.none(Why.NOT_RANKABLE, count=len(raw))
        for definition in (d.BT_TIE_PARAMETER, d.BT_FIT_P, d.DROP_K_VOTES, d.DROP_K_SHARE):
            yield measured(definition, nothing, conditions, note=str(ranking), **chosen.params)
    else:
        yield from _model_numbers(ranking, conditions, chosen.params)


def family_ranking(raw: Sequence[Vote], family: str, chosen: Choices, conditions: Conditions) -> Iterator[Measurement]:
    """Strengths and ranks from the votes of one task family alone, which the numbers' place names."""
    yield from strength_numbers(tally(raw), {"family": family}, chosen, conditions)


def strength_numbers(
    votes: Tally, about: Mapping[str, str], chosen: Choices, conditions: Conditions
) -> Generator[Measurement, None, Ranking | RankingError]:
    """Strength and rank of every system; returns the ranking, or why there is none."""
    params = {**chosen.params, "clusters": CLUSTERS[chosen.interval]}
    try:
        ranking = rank(votes, tie_policy=chosen.ties, prior=chosen.prior)
    except RankingError as error:
        for system in votes.systems:
            nothing = Estimate.none(Why.NOT_RANKABLE, count=votes.met(system))
            for definition in (d.BT_ELO, d.BT_RANK):
                at = {"system": system, **about}
                yield measured(definition, nothing, conditions, at, note=str(error), **params)
        return error
    spread = uncertainty(ranking, votes, kind=chosen.interval, confidence=conditions.confidence)
    ranges = {one.system: one for one in rank_ranges(ranking, spread, confidence=conditions.confidence)}
    method = f"{chosen.interval if isinstance(spread, Why) else spread.kind} bonferroni"
    note = _caution(ranking, spread, chosen.interval)
    for system, strength in zip(ranking.systems, strength_estimates(ranking, spread), strict=True):
        at, count, span = {"system": system, **about}, votes.met(system), ranges[system]
        yield measured(d.BT_ELO, _elo(strength, count), conditions, at, note=note, **params)
        ranks = Interval(low=span.best, high=span.worst, level=conditions.confidence, method=method)
        place = Estimate(value=span.rank, count=count, interval=ranks, why=span.why)
        yield measured(d.BT_RANK, place, conditions, at, note=note, **params)
    return ranking


def _elo(strength: Estimate, count: int) -> Estimate:
    """A strength on the scale of Elo, over so many votes."""
    value, *ends = (
        float(ELO_CENTRE + ELO_PER_LOGIT * theta)
        for theta in (
            float(strength.value or 0),
            *(() if strength.interval is None else (strength.interval.low, strength.interval.high)),
        )
    )
    interval = strength.interval and replace(strength.interval, low=ends[0], high=ends[1])
    return Estimate(value=value, count=count, interval=interval, why=strength.why)


def _caution(ranking: Ranking, spread: Uncertainty | Why, asked: IntervalKind) -> str:
    """What to know about clustered intervals: they rest on one number per rater and per prompt, and need enough."""
    if isinstance(spread, Why) or spread.freedom is None:
        return ""
    size = len(ranking.systems)
    found = [Why.ONE_PROMPT.text] if asked == TWO_WAY and spread.kind == ONE_WAY else []
    found += [f"only {spread.raters} raters for {size} systems"] if 0 < spread.raters < size else []
    if spread.kind in (TWO_WAY, BY_PROMPT) and spread.prompts < size:
        found.append(f"only {spread.prompts} prompts for {size} systems")
    return "; ".join(found)


def _model_numbers(ranking: Ranking, conditions: Conditions, params: dict[str, str]) -> Iterator[Measurement]:
    count, goodness = int(ranking.votes), ranking.goodness
    tie = Estimate(value=ranking.tie_parameter, count=count)
    note = "" if tie.value is not None else f"{ranking.tie_policy} has no tie parameter"
    yield measured(d.BT_TIE_PARAMETER, tie, conditions, note=note, **params)
    p = goodness.p_value if goodness else None
    note = "" if p is not None else _no_fit(ranking)
    yield measured(d.BT_FIT_P, Estimate(value=p, count=count), conditions, note=note, **params)
    weak = drop_k(ranking)
    note = weak.reason or f"{weak.challenger} then leads instead of {weak.leader}"
    for definition, value in ((d.DROP_K_VOTES, weak.votes), (d.DROP_K_SHARE, weak.share)):
        yield measured(definition, Estimate(value=value, count=count), conditions, note=note, **params)


def _no_fit(ranking: Ranking) -> str:
    if ranking.tie_policy == "half-tie":
        return "half a tie is no count to compare with"
    return "a prior holds the strengths back" if ranking.problem.prior else "no degrees of freedom left"


def win_shares(raw: Sequence[Vote], family: str, conditions: Conditions) -> Iterator[Measurement]:
    """Per system: the share of its votes that it won, a tie as half."""
    found = shares.win_shares(tally(raw), ties=ties_of(d.WIN_SHARE), confidence=conditions.confidence)
    yield from share_numbers(found, {"family": family}, conditions)


def head_to_head(raw: Sequence[Vote], conditions: Conditions) -> Iterator[Measurement]:
    """Per two systems that met, both ways: the share of their votes that the one won against the other."""
    found = shares.head_to_head(tally(raw), ties=ties_of(d.HEAD_TO_HEAD), confidence=conditions.confidence)
    yield from share_numbers(found, {}, conditions)


def share_numbers(
    found: Iterable[shares.Share], about: Mapping[str, str], conditions: Conditions, kind: IntervalKind = TWO_WAY
) -> Iterator[Measurement]:
    """Shares as measurements: `head_to_head` where they are against one system, else `win_share`."""
    for one in found:
        definition = d.HEAD_TO_HEAD if one.against else d.WIN_SHARE
        at = {**({"against": one.against} if one.against else {}), **about, "system": one.system}
        yield measured(definition, one.estimate, conditions, at, clusters=CLUSTERS[kind])
