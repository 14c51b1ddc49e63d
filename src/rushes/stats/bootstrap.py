"""Intervals by drawing anew: whole clips, or prompts and raters.

Over clips (`clip_mean`, `clip_alpha`). Whole clips are drawn with replacement, with PCG64 from a fixed seed, and
the interval runs between percentiles of the draws (inverse of the empirical distribution, so that each end is a value
that was drawn). Of few clips the plain 2.5th and 97.5th lie too close together: a bootstrap divides by n and knows no
Student's t. So they are moved outwards by what that is worth (Hesterberg's expanded percentiles). Where every clip is
at 0 or every clip at 1 nothing varies, and a drawn interval would be a point: the exact binomial bound over clips
stands in for it.

Over prompts and raters (`times_drawn`, `percentiles`), for a rank correlation of a few systems, which moves in steps
that a jackknife cannot see: both are drawn anew, each with replacement (the pigeonhole bootstrap). The systems are
taken as they are: the interval says nothing about other systems.

Reference   Davison and Hinkley 1997; Hesterberg 2015 (expanded percentiles); Owen 2007 (pigeonhole)
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import replace

import numpy as np

from rushes.core import Estimate, Interval, Why
from rushes.stats.agreement import krippendorff_alpha, nominal_alphas, unit_table
from rushes.stats.intervals import LEVEL, Floats, student_quantile
from rushes.stats.jackknife import Tested
from rushes.stats.special.normal import normal_cdf

REPLICATES = 2000
"""Draws of clips."""
SEED = 0
FEWEST_CLIPS = 5
"""Below this many clips there are too few draws to tell apart, and no interval is given."""
METHOD = f"cluster-bootstrap-clips-{REPLICATES}-expanded"
EXACT_METHOD = "clopper-pearson-clips"
_MOST_LOST = 0.05


def clip_mean(values: Sequence[float]) -> Estimate:
    """A mean over clips with its bootstrap interval; none for fewer than five clips."""
    if not values:
        return Estimate.none(Why.NO_DATA)
    mean, count = sum(values) / len(values), len(values)
    if count < FEWEST_CLIPS:
        return Estimate(value=mean, count=count, why=Why.NEEDS_FIVE_CLIPS)
    data = np.asarray(values, float)
    if (data == 1).all() or (data == 0).all():
        bound = ((1 - LEVEL) / 2) ** (1 / len(data))  # Clopper and Pearson's for n of n
        low, high = (bound, 1.0) if data[0] == 1 else (0.0, 1.0 - bound)
        interval = Interval(low=low, high=high, level=LEVEL, method=EXACT_METHOD)
    else:
        interval = _between(data[_draws(count)].mean(axis=1), count)
    return Estimate(value=mean, count=count, interval=interval)


def clip_alpha(units: Sequence[Sequence[Hashable]]) -> Estimate:
    """Krippendorff's nominal α whose units are clips, with its bootstrap interval.

    Edge cases  fewer than two clips, or all answers alike: none. Fewer than five clips, or draws that too often have
                no value: no interval.
    """
    if len(units) < 2:
        return Estimate.none(Why.NEEDS_TWO_CLIPS, count=len(units))
    whole = krippendorff_alpha(unit_table(units))
    if whole.value is None:
        return whole
    if len(units) < FEWEST_CLIPS:
        return replace(whole, why=Why.NEEDS_FIVE_CLIPS)
    drawn = drawn_alphas(units)
    usable = drawn[~np.isnan(drawn)]
    if len(usable) < (1 - _MOST_LOST) * REPLICATES:
        return replace(whole, why=Why.FEW_DRAWS_OF_CLIPS)
    return replace(whole, interval=_between(usable, len(units)))


def drawn_alphas(units: Sequence[Sequence[Hashable]]) -> Floats:
    """Nominal α of every draw of clips, NaN where a draw has none."""
    drawn = np.zeros((REPLICATES, len(units)))
    np.add.at(drawn, (np.arange(REPLICATES)[:, None], _draws(len(units))), 1)
    return nominal_alphas(unit_table(units).counts, drawn)


def _draws(units: int) -> np.ndarray:
    return np.random.Generator(np.random.PCG64(SEED)).integers(0, units, (REPLICATES, units))


def _between(values: np.ndarray, clips: int) -> Interval:
    tail = expanded_tail(clips)
    low, high = np.quantile(values, [tail, 1 - tail], method="inverted_cdf")
    return Interval(low=float(low), high=float(high), level=LEVEL, method=METHOD)


def expanded_tail(clips: int) -> float:
    """The share of draws below the interval: Φ(−√(n / (n − 1)) t), t the quantile of Student's t with n − 1 degrees.

    >>> round(expanded_tail(5), 5), round(expanded_tail(100_000), 5)
    (0.00095, 0.025)
    """
    spread = math.sqrt(clips / (clips - 1)) * student_quantile((1 + LEVEL) / 2, clips - 1)
    return float(normal_cdf(-spread))


def times_drawn(number: int, count: int, rng: np.random.Generator) -> Floats:
    """How often each of `count` is drawn, `number` times over: number × count, each row sums to count."""
    return rng.multinomial(count, np.full(count, 1 / count), size=number).astype(np.float64)


def percentiles(value: float, values: Floats, method: str, *, count: int, level: float = LEVEL) -> Tested:
    """A value with the interval between the percentiles of its replicates, those without a value left out.

    Edge cases  replicates that are all alike have no spread to show: no interval, with the reason
    """
    found = values[np.isfinite(values)]
    if len(found) < len(values) / 2:
        return Tested(value=value, count=count, why=Why.FEW_DRAWS_OF_PROMPTS)
    low, high = np.quantile(found, [(1 - level) / 2, (1 + level) / 2])
    if high - low <= 1e-12:
        return Tested(value=value, count=count, why=Why.NO_PROMPT_MOVES_IT)
    interval = Interval(low=float(low), high=float(high), level=level, method=method)
    return Tested(value=value, count=count, interval=interval)
