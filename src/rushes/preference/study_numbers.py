"""All numbers of a study as labelled measurements: what `rushes study report` writes into a run directory.

Rankings and rates rest on all raw votes. Adjudicator's labels are their own rows (`labels:adjudicated`). Where a rule
excludes raters, every number is given twice: without exclusions and under the rule.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from rushes.core import Measurement
from rushes.preference import definitions as d
from rushes.preference.conditions import (
    ALL_FAMILIES,
    NO_RULE,
    Conditions,
    counted_votes,
    family_place,
    measured,
    rule_text,
)
from rushes.preference.rubric import rubric
from rushes.preference.statistics.agreement import percent_agreement, rating_table, winner_table
from rushes.preference.statistics.connection import RankingError
from rushes.preference.statistics.dimensions import dimension_means, tag_counts
from rushes.preference.statistics.fragility import drop_k
from rushes.preference.statistics.intervals import (
    CONFIDENCE,
    Bounds,
    Estimate,
    IntervalKind,
    clustered_mean,
    score_intervals,
    uncertainty,
)
from rushes.preference.statistics.kappa import fleiss_kappa, gwet_ac1, mean_cohen_kappa
from rushes.preference.statistics.krippendorff import LEVELS, Level, krippendorff_alpha
from rushes.preference.statistics.position_bias import position_bias
from rushes.preference.statistics.rank_ranges import rank_ranges
from rushes.preference.statistics.ranking import ELO_CENTRE, ELO_PER_LOGIT, Ranking, rank
from rushes.preference.statistics.tally import tally
from rushes.preference.statistics.tie_models import check_policy
from rushes.preference.votes import TiePolicy, Vote

_CLUSTERED = "rater-clustered"
_RATING_LEVELS: tuple[Level, ...] = ("ordinal", "interval")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Choices:
    """What the caller chose for the ranking."""

    ties: TiePolicy
    prior: float
    interval: IntervalKind


def study_measurements(
    votes: Iterable[Vote],
    *,
    rubric_version: str,
    tie_policy: TiePolicy = "davidson",
    exclusion_rule: str = NO_RULE,
    excluded: Collection[str] = (),
    interval: IntervalKind = "rater-clustered",
    confidence: float = CONFIDENCE,
    prior: float = 0.0,
    simulated: bool = False,
    pairing: str = "round-robin",
) -> tuple[Measurement, ...]:
    """Every number of a study.

    Inputs      all votes of the study, gold, repeats and adjudications included (they are told apart here);
                `excluded` are the raters who meet `exclusion_rule`, declared before the votes
    Edge cases  votes that cannot be ranked: the ranking's numbers are None with the reason, the others stand
    """
    check_policy(tie_policy)
    given = tuple(votes)
    chosen = _Choices(ties=tie_policy, prior=prior, interval=interval)
    rules = {NO_RULE: frozenset[str]()}
    if (declared := rule_text(exclusion_rule)) != NO_RULE:
        rules[declared] = frozenset(excluded)
    conditions = Conditions(
        rubric_version=rubric_version,
        exclusion_rule=NO_RULE,
        confidence=confidence,
        simulated=simulated,
        pairing=pairing,
    )
    found: list[Measurement] = []
    for rule, left_out in rules.items():
        raw = counted_votes(given, excluded=left_out)
        found += _all_numbers(raw, chosen, replace(conditions, exclusion_rule=rule))
    found += _adjudicated(given, replace(conditions, labels="adjudicated"))
    return tuple(found)


def _all_numbers(raw: Sequence[Vote], chosen: _Choices, conditions: Conditions) -> Iterator[Measurement]:
    yield from _ranking(raw, chosen, conditions)
    yield from _shares(raw, conditions)
    yield from _agreement(raw, ALL_FAMILIES, conditions)
    families = defaultdict(list)
    for vote in raw:
        families[family_place(vote.family)].append(vote)
    for family in sorted(families):
        yield from _agreement(families[family], family, conditions)
        yield from _win_shares(families[family], family, conditions)
    yield from _judgements(raw, conditions)


def _ranking(raw: Sequence[Vote], chosen: _Choices, conditions: Conditions) -> Iterator[Measurement]:
    """Strengths, ranks, tie parameter, fit and fragility."""
    votes = tally(raw)
    params = {"ties": chosen.ties, "prior": _prior_text(chosen.prior)}
    try:
        ranking = rank(votes, tie_policy=chosen.ties, prior=chosen.prior)
    except RankingError as error:
        yield from _unranked(votes.systems, Estimate.undefined(str(error), count=votes.votes), conditions, params)
        return
    spread = uncertainty(ranking, votes, kind=chosen.interval, confidence=conditions.confidence)
    ranges = {one.system: one for one in rank_ranges(ranking, spread, confidence=conditions.confidence)}
    met = Counter(name for vote in raw for name in (vote.system_a, vote.system_b))
    note = _few_raters(ranking, len(votes.raters)) if chosen.interval == _CLUSTERED else ""
    for system, theta, width in zip(ranking.systems, ranking.log_worth, score_intervals(ranking, spread), strict=True):
        at, count, span = {"system": system}, met[system], ranges[system]
        elo = Estimate(value=_elo(theta), count=count, interval=_elo_bounds(width, note))
        yield measured(d.BT_ELO, elo, conditions, at, method=chosen.interval, **params)
        open_ranks = Bounds(lower=span.best, upper=span.worst, reason=span.reason or note)
        place = Estimate(value=span.rank, count=count, interval=open_ranks)
        yield measured(d.BT_RANK, place, conditions, at, method=f"{chosen.interval} bonferroni", **params)
    yield from _model_numbers(ranking, conditions, params)


def _prior_text(prior: float) -> str:
    return f"normal precision {prior!r}" if prior else "none"


def _elo(theta: float) -> float:
    return float(ELO_CENTRE + ELO_PER_LOGIT * theta)


def _elo_bounds(width: Bounds, note: str) -> Bounds:
    if width.lower is None or width.upper is None:
        return width
    return Bounds(lower=_elo(width.lower), upper=_elo(width.upper), reason=note)


def _few_raters(ranking: Ranking, raters: int) -> str:
    """Clustered intervals rest on one number per rater; with fewer raters than systems they are too narrow."""
    return f"only {raters} raters for {len(ranking.systems)} systems" if raters < len(ranking.systems) else ""


def _unranked(
    systems: Sequence[str], nothing: Estimate, conditions: Conditions, params: dict[str, str]
) -> Iterator[Measurement]:
    for system in systems:
        for definition in (d.BT_ELO, d.BT_RANK):
            yield measured(definition, nothing, conditions, {"system": system}, **params)
    for definition in (d.BT_TIE_PARAMETER, d.BT_FIT_P, d.DROP_K_VOTES, d.DROP_K_SHARE):
        yield measured(definition, nothing, conditions, **params)


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


def _shares(raw: Sequence[Vote], conditions: Conditions) -> Iterator[Measurement]:
    ties = sum(vote.winner == "tie" for vote in raw)
    share = Estimate(value=ties / len(raw), count=len(raw)) if raw else Estimate.undefined("no votes")
    yield measured(d.TIE_SHARE, share, conditions)
    yield from _win_shares(raw, ALL_FAMILIES, conditions)
    bias = position_bias(raw, confidence=conditions.confidence)
    note = f"{bias.side_unknown} votes without a known side left out" if bias.side_unknown else ""
    left = replace(bias.left_share, reason=bias.left_share.reason or note)
    yield measured(d.LEFT_SHARE, left, conditions, method=_CLUSTERED)


def _win_shares(raw: Sequence[Vote], family: str, conditions: Conditions) -> Iterator[Measurement]:
    points: dict[str, list[tuple[float, str]]] = defaultdict(list)
    for vote in raw:
        for_a = {"a": 1.0, "b": 0.0, "tie": 0.5}[vote.winner]
        points[vote.system_a].append((for_a, vote.rater))
        points[vote.system_b].append((1.0 - for_a, vote.rater))
    for system in sorted(points):
        values = [value for value, _ in points[system]]
        interval = clustered_mean(values, [r for _, r in points[system]], confidence=conditions.confidence)
        share = Estimate(value=sum(values) / len(values), count=len(values), interval=interval.within(0.0, 1.0))
        at = {"family": family, "system": system}
        yield measured(d.WIN_SHARE, share, conditions, at, method=_CLUSTERED)


def _agreement(raw: Sequence[Vote], family: str, conditions: Conditions) -> Iterator[Measurement]:
    table, at = winner_table(raw), {"family": family}
    percent = percent_agreement(table, confidence=conditions.confidence)
    yield measured(d.PERCENT_AGREEMENT, percent, conditions, at, method="wilson samples")
    for level in LEVELS[:3]:
        alpha = krippendorff_alpha(table, level=level)
        yield measured(d.KRIPPENDORFF_ALPHA, alpha, conditions, at, level=level, of="winner")
    for definition, value in (
        (d.GWET_AC1, gwet_ac1(table)),
        (d.FLEISS_KAPPA, fleiss_kappa(table)),
        (d.COHEN_KAPPA, mean_cohen_kappa(raw)),
    ):
        yield measured(definition, value, conditions, at)


def _judgements(raw: Sequence[Vote], conditions: Conditions) -> Iterator[Measurement]:
    """Ratings per dimension and reason tags."""
    words = rubric(conditions.rubric_version)
    for row in dimension_means(raw, rubric=words, confidence=conditions.confidence):
        at = {"dimension": row.dimension, "system": row.system}
        yield measured(d.DIMENSION_MEAN, row.mean, conditions, at, method=_CLUSTERED)
    for dimension in sorted({key for vote in raw for key in vote.ratings}):
        table, at = rating_table(raw, dimension), {"dimension": dimension, "family": ALL_FAMILIES}
        for level in _RATING_LEVELS:
            alpha = krippendorff_alpha(table, level=level)
            yield measured(d.KRIPPENDORFF_ALPHA, alpha, conditions, at, level=level, of="rating")
    for tag in tag_counts(raw, rubric=words):
        for role, number in (("primary", tag.primary), ("secondary", tag.secondary)):
            count = Estimate(value=number, count=len(raw))
            yield measured(d.TAG_COUNT, count, conditions, {"tag": tag.tag, "role": role})


def _adjudicated(given: Iterable[Vote], conditions: Conditions) -> Iterator[Measurement]:
    """Win shares by adjudicator's labels alone, the last label of each sample."""
    labels = {vote.sample: vote for vote in given if vote.adjudicated and not vote.is_gold}
    yield from _win_shares([labels[sample] for sample in sorted(labels)], ALL_FAMILIES, conditions)
