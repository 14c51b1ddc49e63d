"""How far raters agree, as labelled measurements, from the first votes of every sample."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from rushes.core import Definition, Measurement
from rushes.core.definition import Setting
from rushes.instruments.preference.definitions import study as d
from rushes.instruments.preference.numbers.conditions import ALL_FAMILIES, ALL_VOTES, Conditions, measured
from rushes.instruments.preference.tallies import (
    WINNER_CATEGORIES,
    agreement_votes,
    rating_table,
    winner_table,
    winners_by_rater,
)
from rushes.instruments.preference.votes import Vote
from rushes.stats.agreement import LEVELS, Agreement, Level, jackknifed, krippendorff_alpha, percent_agreement
from rushes.stats.kappa import KAPPA_WEIGHTS, fleiss_kappa, gwet_ac1, mean_cohen_kappa

_RATING_LEVELS: tuple[Level, ...] = ("ordinal", "interval")


def agreement_numbers(raw: Sequence[Vote], family: str, first: int, conditions: Conditions) -> Iterator[Measurement]:
    """Agreement on the winner: a vote after the first ones comes only where those disagree, and does not count."""
    (given, rule), at = agreement_votes(raw, first), {"family": family}
    table, by_rater, confidence = winner_table(given), winners_by_rater(given), conditions.confidence
    percent = percent_agreement(table, confidence=confidence)
    note = ALL_VOTES if rule == "all" else ""
    yield measured(d.PERCENT_AGREEMENT, percent, conditions, at, note=note, votes=rule)
    for level in LEVELS[:3]:
        alpha = jackknifed(table, partial(krippendorff_alpha, level=level), confidence=confidence)
        yield _measured(d.KRIPPENDORFF_ALPHA, alpha, conditions, at, level=level, of="winner", votes=rule)
    for definition, statistic in ((d.GWET_AC1, gwet_ac1), (d.FLEISS_KAPPA, fleiss_kappa)):
        value = jackknifed(table, statistic, confidence=confidence)
        yield _measured(definition, value, conditions, at, votes=rule)
    for weights in KAPPA_WEIGHTS:
        kappa = mean_cohen_kappa(by_rater, categories=WINNER_CATEGORIES, weights=weights, confidence=confidence)
        yield _measured(d.COHEN_KAPPA, kappa, conditions, at, votes=rule, weights=weights)


def rating_agreement(raw: Sequence[Vote], first: int, conditions: Conditions) -> Iterator[Measurement]:
    """Agreement on the 1–5 ratings of each dimension."""
    given, rule = agreement_votes(raw, first)
    for dimension in sorted({key for vote in raw for key in vote.ratings}):
        table, at = rating_table(given, dimension), {"dimension": dimension, "family": ALL_FAMILIES}
        for level in _RATING_LEVELS:
            alpha = jackknifed(table, partial(krippendorff_alpha, level=level), confidence=conditions.confidence)
            yield _measured(d.KRIPPENDORFF_ALPHA, alpha, conditions, at, level=level, of="rating", votes=rule)


def _measured(
    definition: Definition, found: Agreement, conditions: Conditions, at: Mapping[str, str], **params: Setting
) -> Measurement:
    """The note has the pairs of raters that were left out, and the standard error."""
    pairs, words = found.count + found.left_out, []
    if found.left_out and found.value is None:
        words.append(f"in all {pairs} rater pairs, all votes are in one category")
    elif found.left_out:
        words.append(f"{found.left_out} of {pairs} rater pairs left out: all their votes in one category")
    if found.error is not None:
        words.append(f"standard error {found.error:.4f}")
    return measured(definition, found, conditions, at, note="; ".join(words), **params)
