"""How far raters agree, as labelled measurements, from the first votes of every sample."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from rushes.core import Measurement
from rushes.preference import definitions as d
from rushes.preference.conditions import ALL_FAMILIES, Conditions, first_votes_text, measured
from rushes.preference.statistics.agreement import first_votes, percent_agreement, rating_table, winner_table
from rushes.preference.statistics.jackknife import JACKKNIFE, jackknifed
from rushes.preference.statistics.kappa import KAPPA_WEIGHTS, fleiss_kappa, gwet_ac1, mean_cohen_kappa
from rushes.preference.statistics.krippendorff import LEVELS, Level, krippendorff_alpha
from rushes.preference.votes import Vote

_RATING_LEVELS: tuple[Level, ...] = ("ordinal", "interval")


def agreement_numbers(raw: Sequence[Vote], family: str, first: int, conditions: Conditions) -> Iterator[Measurement]:
    """Agreement on the winner: a vote after the first ones comes only where those disagree, and does not count."""
    given, rule, at = first_votes(raw, first), first_votes_text(first), {"family": family}
    table, confidence = winner_table(given), conditions.confidence
    percent = percent_agreement(table, confidence=confidence)
    yield measured(d.PERCENT_AGREEMENT, percent, conditions, at, method="wilson samples", votes=rule)
    for level in LEVELS[:3]:
        alpha = jackknifed(table, partial(krippendorff_alpha, level=level), confidence=confidence)
        yield measured(
            d.KRIPPENDORFF_ALPHA, alpha, conditions, at, method=JACKKNIFE, level=level, of="winner", votes=rule
        )
    for definition, statistic in ((d.GWET_AC1, gwet_ac1), (d.FLEISS_KAPPA, fleiss_kappa)):
        value = jackknifed(table, statistic, confidence=confidence)
        yield measured(definition, value, conditions, at, method=JACKKNIFE, votes=rule)
    for weights in KAPPA_WEIGHTS:
        kappa = mean_cohen_kappa(given, weights=weights, confidence=confidence)
        yield measured(d.COHEN_KAPPA, kappa, conditions, at, method=JACKKNIFE, votes=rule, weights=weights)


def rating_agreement(raw: Sequence[Vote], first: int, conditions: Conditions) -> Iterator[Measurement]:
    """Agreement on the 1–5 ratings of each dimension."""
    given, rule = first_votes(raw, first), first_votes_text(first)
    for dimension in sorted({key for vote in raw for key in vote.ratings}):
        table, at = rating_table(given, dimension), {"dimension": dimension, "family": ALL_FAMILIES}
        for level in _RATING_LEVELS:
            alpha = jackknifed(table, partial(krippendorff_alpha, level=level), confidence=conditions.confidence)
            yield measured(
                d.KRIPPENDORFF_ALPHA, alpha, conditions, at, method=JACKKNIFE, level=level, of="rating", votes=rule
            )
