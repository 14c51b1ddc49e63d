"""What a judge is worth, from its own answers: control, plants, repeats, order, yes-bias. Numbers in, estimates out.

A judge is *shown* to follow the prompt where own prompts score higher than other clips' in the sign-flip test
(p ≤ 0.05) with an interval of the gap above 0. It is *blind* where that is not so, and the interval of the wins
excludes ⅘: a judge that sees the difference four times in five would have been found. Else the clips are too few, or
the effect too small, to know: *unclear*. Only a judge that is shown to follow gets a verdict. The same holds for
planted degradations, original against strong.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from rushes.core import Estimate, Why
from rushes.core.grouping import grouped
from rushes.stats.means import share, student_mean
from rushes.stats.sign_flip import sign_flip

ALPHA = 0.05
SEEING = 0.8
"""Wins of a judge that sees what it is asked about; one whose interval lies below is blind."""


class Standing(StrEnum):
    """What the control of a run shows about its judge."""

    SHOWN = "shown"
    BLIND = "blind"
    UNCLEAR = "unclear"
    NONE = "none"
    """No control was asked for, or none was answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """Own against other, by prompt or by clip."""

    wins: Estimate
    gap: Estimate
    p: Estimate

    @property
    def standing(self) -> Standing:
        if self.wins.value is None or self.wins.interval is None:
            return Standing.NONE
        gap, p = self.gap, self.p
        surely = gap.interval is None or gap.interval.low > 0
        if p.value is not None and p.value <= ALPHA and float(gap.value or 0) > 0 and surely:
            return Standing.SHOWN
        return Standing.BLIND if self.wins.interval.high < SEEING else Standing.UNCLEAR


def contrast(rows: Iterable[tuple[str, float]]) -> Contrast:
    """Differences own − other on a scale from −1 to 1, each with what it belongs to: those of one prompt are one.

    >>> [str(contrast([(f"p{n}", d) for n in range(12)]).standing) for d in (0.5, 0.0)]
    ['shown', 'blind']
    >>> str(contrast([("p1", 0.5), ("p2", 0.5)]).standing)
    'unclear'
    """
    groups = grouped(rows).values()
    differences = [math.fsum(group) / len(group) for group in groups]
    wins = [math.fsum((d > 0) + 0.5 * (d == 0) for d in group) / len(group) for group in groups]
    gap = student_mean(differences)
    gap = replace(gap, interval=gap.interval and gap.interval.within(-1.0, 1.0))
    return Contrast(wins=share(math.fsum(wins), len(wins)), gap=gap, p=sign_flip(differences))


def repeat_spread(items: Iterable[Sequence[float]], *, width: float) -> Estimate:
    """Mean of the sample standard deviations of repeated answers, over the width of the scale."""
    found = [_deviation(values) / width for values in items if len(values) > 1]
    return student_mean(found) if found else Estimate.none(Why.NO_DATA)


def repeat_changes(items: Iterable[Sequence[float]]) -> Estimate:
    """Share of repeated answers that are not all equal."""
    repeated = [values for values in items if len(values) > 1]
    return share(sum(len(set(values)) > 1 for values in repeated), len(repeated))


def _deviation(values: Sequence[float]) -> float:
    middle = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - middle) ** 2 for value in values) / (len(values) - 1))


def order_flips(pairs: Iterable[tuple[float, float]]) -> Estimate:
    """Share of pairs whose winner depends on the order; points of the first system's clip in either order.

    >>> order_flips([(1.0, 0.0), (1.0, 1.0), (0.5, 1.0)]).value
    0.5
    """
    decided = [two for two in pairs if 0.5 not in two]
    return share(sum((one > 0.5) != (other > 0.5) for one, other in decided), len(decided))


def first_share(choices: Sequence[float]) -> Estimate:
    """Share of decided answers for the clip that was shown first; 1 for A, 0 for B, ½ for a tie."""
    decided = [choice for choice in choices if choice != 0.5]
    return share(sum(choice > 0.5 for choice in decided), len(decided))


def yes_bias(clips: Mapping[str, Sequence[tuple[float, float]]]) -> Estimate:
    """By clip: (yes to the question, yes to its negation). The mean over clips of (a + b)/2 − ½, and its interval.

    >>> yes_bias({"a": [(1.0, 1.0)], "b": [(1.0, 0.0)]}).value
    0.25
    """
    found = [math.fsum((a + b) / 2 - 0.5 for a, b in rows) / len(rows) for rows in clips.values() if rows]
    return student_mean(found) if found else Estimate.none(Why.NO_DATA)


def monotone(clips: Iterable[tuple[float, float, float]]) -> Estimate:
    """Share of clips with original ≥ mild ≥ strong and original > strong."""
    found = [original >= mild >= strong and original > strong for original, mild, strong in clips]
    return share(sum(found), len(found))
