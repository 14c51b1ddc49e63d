"""All numbers of a study as labelled measurements: what `rushes study report` writes into a run directory.

Rankings and rates rest on all raw votes. Adjudicator's labels are their own rows (`labels:adjudicated`). Where a rule
excludes raters, every number is given twice: without exclusions and under the rule.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from rushes.core import Estimate, Measurement, Why
from rushes.core.errors import InputError
from rushes.instruments.preference.assignment import MINIMUM_RATERS
from rushes.instruments.preference.definitions import study as d
from rushes.instruments.preference.definitions.conditions_of import ties_of
from rushes.instruments.preference.dimensions import dimension_means, tag_counts
from rushes.instruments.preference.methods.judgements import Judgement
from rushes.instruments.preference.methods.method import PAIRS, Method
from rushes.instruments.preference.numbers.agreement import agreement_numbers, rating_agreement
from rushes.instruments.preference.numbers.best_worst import best_worst_scores, comparison_scores
from rushes.instruments.preference.numbers.conditions import (
    ALL_FAMILIES,
    NO_RULE,
    Conditions,
    counted_votes,
    family_place,
    measured,
    rule_text,
    some_bent,
)
from rushes.instruments.preference.numbers.opinions import fault_numbers, opinion_numbers
from rushes.instruments.preference.numbers.ranking import (
    Choices,
    family_ranking,
    head_to_head,
    ranking_numbers,
    win_shares,
)
from rushes.instruments.preference.numbers.scales import jod_numbers, side_numbers
from rushes.instruments.preference.rubric import rubric
from rushes.instruments.preference.tallies import votes_by_sample
from rushes.instruments.preference.vote_share import vote_share
from rushes.instruments.preference.votes import TiePolicy, Vote
from rushes.stats.clustered import CLUSTERS, TWO_WAY, IntervalKind
from rushes.stats.intervals import LEVEL
from rushes.stats.votes.estimation import check_policy


def study_measurements(
    votes: Iterable[Vote | Judgement],
    *,
    rubric_version: str,
    tie_policy: TiePolicy = "davidson",
    exclusion_rule: str = NO_RULE,
    excluded: Collection[str] = (),
    interval: IntervalKind = TWO_WAY,
    confidence: float = LEVEL,
    prior: float = 0.0,
    simulated: bool = False,
    min_raters: int = MINIMUM_RATERS,
    pairing: str = "round-robin",
    method: Method = PAIRS,
    reference: str = "",
) -> tuple[Measurement, ...]:
    """Every number of a study.

    Inputs      all answers of the study, votes on pairs or judgements of other methods, gold, repeats and adjudications
                included (they are told apart here);
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
        method=method.text,
    )
    found: list[Measurement] = []
    for rule, left_out in rules.items():
        ruled = replace(conditions, exclusion_rule=rule)
        answers = [one for one in given if isinstance(one, Judgement)]
        counted = [one for one in answers if one.counts_in_results and one.rater not in left_out]
        if method.rates:
            found += opinion_numbers(counted, method, ruled, reference=reference)
        elif method.name == "best-worst":
            found += _set_numbers(counted, chosen, ruled)
        else:
            raw = counted_votes((one for one in given if isinstance(one, Vote)), excluded=left_out)
            found += _all_numbers(raw, chosen, replace(ruled, lenient=some_bent(raw)))
            found += comparison_scores(raw, ruled) if method.degree else ()
            found += fault_numbers([fault for vote in raw for fault in vote.faults], ruled, count=len(raw))
    found += _adjudicated([one for one in given if isinstance(one, Vote)], replace(conditions, labels="adjudicated"))
    return tuple(found)


def _set_numbers(raw: Sequence[Judgement], chosen: Choices, conditions: Conditions) -> Iterator[Measurement]:
    """Best–worst: counts, and the ranking of the votes that the answers imply (`Judgement.implied_votes`)."""
    yield from best_worst_scores(raw, conditions)
    implied = [vote for one in raw for vote in one.implied_votes()]
    yield from ranking_numbers(implied, chosen, conditions)
    yield from win_shares(implied, ALL_FAMILIES, conditions)
    yield from head_to_head(implied, conditions)
    yield from fault_numbers([fault for one in raw for fault in one.faults], conditions, count=len(raw))


def _all_numbers(raw: Sequence[Vote], chosen: Choices, conditions: Conditions) -> Iterator[Measurement]:
    yield from ranking_numbers(raw, chosen, conditions)
    yield from jod_numbers(raw, conditions)
    yield from _shares(raw, conditions)
    yield from side_numbers(raw, chosen, conditions)
    yield from head_to_head(raw, conditions)
    yield _below_minimum(raw, ALL_FAMILIES, conditions)
    yield from agreement_numbers(raw, ALL_FAMILIES, chosen.first, conditions)
    families = defaultdict(list)
    for vote in raw:
        families[family_place(vote.family)].append(vote)
    for family in sorted(families):
        yield _below_minimum(families[family], family, conditions)
        yield from agreement_numbers(families[family], family, chosen.first, conditions)
        yield from win_shares(families[family], family, conditions)
        if len(families) > 1:
            yield from family_ranking(families[family], family, chosen, conditions)
    yield from _judgements(raw, conditions)
    yield from rating_agreement(raw, chosen.first, conditions)


def _below_minimum(raw: Sequence[Vote], family: str, conditions: Conditions) -> Measurement:
    minimum, samples = rubric(conditions.rubric_version).minimum_raters, votes_by_sample(raw).values()
    few = Estimate(value=sum(len(given) < minimum for given in samples), count=len(samples))
    note = "" if raw else "no votes"
    return measured(d.SAMPLES_BELOW_MINIMUM, few, conditions, {"family": family}, note=note, minimum=minimum)


def _shares(raw: Sequence[Vote], conditions: Conditions) -> Iterator[Measurement]:
    ties = sum(vote.winner == "tie" for vote in raw)
    share = Estimate(value=ties / len(raw), count=len(raw)) if raw else Estimate.none(Why.NO_DATA)
    yield measured(d.TIE_SHARE, share, conditions, note="" if raw else "no votes")
    yield from win_shares(raw, ALL_FAMILIES, conditions)
    left = left_share(raw, confidence=conditions.confidence)
    unknown = sum(vote.shown_left is None for vote in raw)
    note = f"{unknown} votes without a known side left out" if unknown else ""
    note = note if left.count else "no decided vote has a known side"
    yield measured(d.LEFT_SHARE, left, conditions, note=note, clusters=CLUSTERS[TWO_WAY])


def left_share(raw: Iterable[Vote], *, confidence: float = LEVEL) -> Estimate:
    """Does the left side win by standing on the left? See the definition."""
    scored = ((vote, vote.left_points(ties=ties_of(d.LEFT_SHARE))) for vote in raw)
    return vote_share(scored, confidence=confidence)


def _judgements(raw: Sequence[Vote], conditions: Conditions) -> Iterator[Measurement]:
    """Ratings per dimension, and reason tags: how often given, and to the disadvantage of which system."""
    words = rubric(conditions.rubric_version)
    for (dimension, system), mean in dimension_means(raw, rubric=words, confidence=conditions.confidence).items():
        at = {"dimension": dimension, "system": system}
        yield measured(d.DIMENSION_MEAN, mean, conditions, at, clusters=CLUSTERS[TWO_WAY])
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
