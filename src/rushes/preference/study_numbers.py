"""All numbers of a study as labelled measurements: what `rushes study report` writes into a run directory.

Rankings and rates rest on all raw votes. Adjudicator's labels are their own rows (`labels:adjudicated`). Where a rule
excludes raters, every number is given twice: without exclusions and under the rule.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from rushes.core import Measurement
from rushes.errors import InputError
from rushes.preference import definitions as d
from rushes.preference.agreement_numbers import agreement_numbers, rating_agreement
from rushes.preference.assignment import MINIMUM_RATERS
from rushes.preference.conditions import (
    ALL_FAMILIES,
    NO_RULE,
    Conditions,
    counted_votes,
    family_place,
    measured,
    rule_text,
)
from rushes.preference.ranking_numbers import Choices, family_ranking, head_to_head, ranking_numbers, win_shares
from rushes.preference.rubric import rubric
from rushes.preference.scale_numbers import jod_numbers, side_numbers
from rushes.preference.statistics.dimensions import dimension_means, tag_counts
from rushes.preference.statistics.intervals import CLUSTERS, CONFIDENCE, TWO_WAY, Estimate, IntervalKind
from rushes.preference.statistics.position_bias import position_bias
from rushes.preference.statistics.tie_models import check_policy
from rushes.preference.votes import TiePolicy, Vote


def study_measurements(
    votes: Iterable[Vote],
    *,
    rubric_version: str,
    tie_policy: TiePolicy = "davidson",
    exclusion_rule: str = NO_RULE,
    excluded: Collection[str] = (),
    interval: IntervalKind = TWO_WAY,
    confidence: float = CONFIDENCE,
    prior: float = 0.0,
    simulated: bool = False,
    min_raters: int = MINIMUM_RATERS,
    pairing: str = "round-robin",
) -> tuple[Measurement, ...]:
    """Every number of a study.

    Inputs      all votes of the study, gold, repeats and adjudications included (they are told apart here);
                `excluded` are the raters who meet `exclusion_rule`, declared before the votes; `min_raters` is how many
                every sample gets whatever they choose, so agreement rests on so many first votes (`Vote.turn`)
    Edge cases  votes that cannot be ranked: the ranking's numbers are None with the reason, the others stand
    """
    check_policy(tie_policy)
    given = tuple(votes)
    if min_raters < MINIMUM_RATERS:
        raise InputError(f"agreement needs {MINIMUM_RATERS} raters per sample or more; got {min_raters}")
    chosen = Choices(ties=tie_policy, prior=prior, interval=interval, first=min_raters)
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


def _all_numbers(raw: Sequence[Vote], chosen: Choices, conditions: Conditions) -> Iterator[Measurement]:
    yield from ranking_numbers(raw, chosen, conditions)
    yield from jod_numbers(raw, conditions)
    yield from _shares(raw, conditions)
    yield from side_numbers(raw, chosen, conditions)
    yield from head_to_head(raw, conditions)
    yield from agreement_numbers(raw, ALL_FAMILIES, chosen.first, conditions)
    families = defaultdict(list)
    for vote in raw:
        families[family_place(vote.family)].append(vote)
    for family in sorted(families):
        yield from agreement_numbers(families[family], family, chosen.first, conditions)
        yield from win_shares(families[family], family, conditions)
        if len(families) > 1:
            yield from family_ranking(families[family], family, chosen, conditions)
    yield from _judgements(raw, conditions)
    yield from rating_agreement(raw, chosen.first, conditions)


def _shares(raw: Sequence[Vote], conditions: Conditions) -> Iterator[Measurement]:
    ties = sum(vote.winner == "tie" for vote in raw)
    share = Estimate(value=ties / len(raw), count=len(raw)) if raw else Estimate.undefined("no votes")
    yield measured(d.TIE_SHARE, share, conditions)
    yield from win_shares(raw, ALL_FAMILIES, conditions)
    bias = position_bias(raw, confidence=conditions.confidence)
    note = f"{bias.side_unknown} votes without a known side left out" if bias.side_unknown else ""
    left = replace(bias.left_share, reason=bias.left_share.reason or note)
    yield measured(d.LEFT_SHARE, left, conditions, method=TWO_WAY, clusters=CLUSTERS[TWO_WAY])


def _judgements(raw: Sequence[Vote], conditions: Conditions) -> Iterator[Measurement]:
    """Ratings per dimension, and reason tags: how often given, and to the disadvantage of which system."""
    words = rubric(conditions.rubric_version)
    for row in dimension_means(raw, rubric=words, confidence=conditions.confidence):
        at = {"dimension": row.dimension, "system": row.system}
        yield measured(d.DIMENSION_MEAN, row.mean, conditions, at, method=TWO_WAY, clusters=CLUSTERS[TWO_WAY])
    systems = sorted({name for vote in raw for name in (vote.system_a, vote.system_b)})
    for tag in tag_counts(raw, rubric=words):
        for role, number in (("primary", tag.primary), ("secondary", tag.secondary)):
            count = Estimate(value=number, count=len(raw))
            yield measured(d.TAG_COUNT, count, conditions, {"tag": tag.tag, "role": role})
        for system in systems:
            lost = Estimate(value=tag.against.get(system, 0), count=len(raw))
            yield measured(d.TAG_AGAINST, lost, conditions, {"system": system, "tag": tag.tag})


def _adjudicated(given: Iterable[Vote], conditions: Conditions) -> Iterator[Measurement]:
    """Win shares by adjudicator's labels alone, the last label of each sample."""
    labels = {vote.sample: vote for vote in given if vote.adjudicated and not vote.is_gold}
    yield from win_shares([labels[sample] for sample in sorted(labels)], ALL_FAMILIES, conditions)
