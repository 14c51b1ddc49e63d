"""A mean difference held against a margin: is it beyond it, inside it, or can neither be said?

Each test asks four one-sided questions of the true change δ: is it above the margin, below −margin, not above, not
below? Sameness needs the last two (two one-sided tests, Schuirmann 1987). How much a metric moves by itself, which a
margin can rest on, is the noise floor: several runs of one system over the same clips.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rushes.core import Interval
from rushes.stats.intervals import STUDENT_T, Floats
from rushes.stats.special.beta import binomial_cdf, binomial_tail, f_tail, student_cdf, student_quantile

SIGN = "sign-test"
EXACT = "binomial"
PREDICTION = "student-t-of-repeats"
"""One number against those of several runs of the baseline: (c − x̄) ± t(m − 1) · s · √(1 + 1/m)."""
ENDS = "both-intervals"
"""From low − high to high − low of the two numbers' own intervals: each end is missed by at most both tails."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarginTest:
    """What a difference says about a margin. Each p is for the claim it is named after."""

    difference: float
    """Mean of second − first."""
    count: int
    """Clips it rests on."""
    method: str
    above: float
    """p of "the change is more than the margin"."""
    below: float
    """p of "the change is less than −margin"."""
    not_above: float
    not_below: float
    interval: Interval | None = None
    """At level 1 − 2 · alpha: sameness is shown where it lies inside ±margin."""
    sd: float | None = None
    """Spread of the differences over clips; None where there is none to plan with."""
    unchanged: bool = False
    """No clip changed: nothing is left to test."""

    @property
    def same(self) -> float:
        """p of "the change lies inside ±margin"."""
        return max(self.not_above, self.not_below)


def paired_test(differences: Sequence[float] | Floats, *, margin: float, alpha: float) -> MarginTest:
    """One-sided t tests of the mean difference over clips.

    Formula     p(above) = P(T ≥ (d̄ − margin) / (s/√n)), T ~ t(n − 1), and so on
                interval d̄ ± t(n − 1, 1 − alpha) · s/√n
    Inputs      two differences or more; margin ≥ 0, in their unit
    Edge cases  all differences equal and not 0: there is no s, and an exact sign test asks whether clips lie on this
                side of the margin (p = 2^−n). All 0: unchanged
    Reference   Student 1908; Schuirmann 1987
    """
    moved = np.asarray(differences, dtype=np.float64)
    n, first = len(moved), float(moved[0])
    if (moved == first).all():
        return _constant(first, n, margin)
    mean = math.fsum(moved.tolist()) / n
    sd = math.sqrt(math.fsum(((moved - mean) ** 2).tolist()) / (n - 1))
    return replace(_t_test(mean, sd / math.sqrt(n), n - 1, margin, alpha), count=n, sd=sd)


def prediction_test(value: float, baselines: Sequence[float], *, margin: float, alpha: float) -> MarginTest:
    """One number of a candidate against those of several runs of the baseline, taken to have the same noise.

    Formula     t tests with d = value − x̄, standard error s · √(1 + 1/m), m − 1 degrees of freedom
    Inputs      two baselines or more
    Edge cases  baselines that are all equal, which leave no noise: the difference is taken as it is, and any claim that
                is true of it has p 0
    Reference   prediction of a new observation (Student's t)
    """
    m = len(baselines)
    mean = math.fsum(baselines) / m
    sd = math.sqrt(math.fsum((x - mean) ** 2 for x in baselines) / (m - 1))
    if min(baselines) == max(baselines):
        found = _as_it_is(value - baselines[0], margin, p=0.0, method=PREDICTION)
    else:
        found = replace(_t_test(value - mean, sd * math.sqrt(1 + 1 / m), m - 1, margin, alpha), method=PREDICTION)
        assert found.interval is not None
        found = replace(found, interval=replace(found.interval, method=PREDICTION))
    return replace(found, count=1)


def interval_test(first: Interval, second: Interval, difference: float, *, margin: float) -> MarginTest:
    """Two numbers by their own intervals; nothing is assumed of how they go together.

    Formula     second.low − first.high to second.high − first.low; each end is missed with a probability of at most
                1 − level, the tails of both intervals, so a claim that holds on all of it has p = 1 − level (the lower
                level of the two), else 1
    Reference   Bonferroni
    """
    level = min(first.level, second.level)
    low, high = second.low - first.high, second.high - first.low
    interval = Interval(low=low, high=high, level=round(2 * level - 1, 8), method=ENDS) if level > 0.5 else None
    found = _as_it_is(low, margin, high=high, p=round(1 - level, 8), method=ENDS)
    return replace(found, difference=difference, interval=interval, unchanged=False)


def flag_test(rose: int, fell: int, n: int, *, margin: float) -> MarginTest:
    """A true/false metric: `rose` of n clips went from false to true, `fell` from true to false.

    Formula     not below −margin: P(X ≤ fell), X ~ Bin(n, margin), for the share that is lost is at most the share that
                fell. Below: the larger of the sign test of fell against rose and P(X ≥ fell), X ~ Bin(n, margin +
                rose/n). The other side alike
    Unit        p; margin is a share of the clips
    Edge cases  none changed: unchanged. The rises are taken as seen, so the test beyond a margin is approximate where
                clips went both ways
    Reference   Clopper and Pearson 1934; the sign test
    """
    if not rose + fell:
        return _constant(0.0, n, margin)
    return MarginTest(
        difference=(rose - fell) / n,
        count=n,
        method=EXACT,
        above=_beyond_share(rose, fell, n, margin),
        below=_beyond_share(fell, rose, n, margin),
        not_above=_at_most(rose, n, margin),
        not_below=_at_most(fell, n, margin),
    )


def _beyond_share(there: int, back: int, n: int, margin: float) -> float:
    sign = binomial_tail(there - 1, there + back, 0.5)
    return max(sign, binomial_tail(there - 1, n, min(1.0, margin + back / n)))


def _at_most(changed: int, n: int, margin: float) -> float:
    return binomial_cdf(changed, n, min(1.0, margin))


def _t_test(mean: float, error: float, freedom: int, margin: float, alpha: float) -> MarginTest:
    half = student_quantile(1 - alpha, freedom) * error
    up, down = (mean - margin) / error, (mean + margin) / error
    return MarginTest(
        difference=mean,
        count=1,
        method=STUDENT_T,
        above=student_cdf(-up, freedom),
        below=student_cdf(down, freedom),
        not_above=student_cdf(up, freedom),
        not_below=student_cdf(-down, freedom),
        interval=Interval(low=mean - half, high=mean + half, level=round(1 - 2 * alpha, 8), method=STUDENT_T),
    )


def _constant(difference: float, n: int, margin: float) -> MarginTest:
    """Every clip moved by the same amount."""
    found = _as_it_is(difference, margin, p=0.5**n, method=SIGN)
    return replace(found, count=n, unchanged=difference == 0)


def _as_it_is(difference: float, margin: float, *, p: float, method: str, high: float | None = None) -> MarginTest:
    """Each claim that is true of the difference itself, or up to `high`, has this p, each other one 1."""
    high = difference if high is None else high
    return MarginTest(
        difference=difference,
        count=1,
        method=method,
        above=p if difference > margin else 1.0,
        below=p if high < -margin else 1.0,
        not_above=p if high < margin else 1.0,
        not_below=p if difference > -margin else 1.0,
        unchanged=difference == 0,
    )


COVERAGE = 0.95
"""Share of pairs of runs of one system whose values of a clip differ by less than the repeatability limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseFloor:
    """The spread of a clip over runs of one system."""

    sd: float
    """√(Σ (value − the clip's mean)² / (clips · (runs − 1)))."""
    clips: int
    runs: int
    freedom: float
    """Degrees of freedom of `sd`²: near clips · (runs − 1) where clips move independently of one another, down to
    runs − 1 where each run moves as a whole."""
    shift_p: float | None = None
    """How often chance alone sets the runs' means this far apart, when clips move independently (F test)."""

    def repeatability_limit(self) -> float:
        """What one clip moves between two runs, 95 of 100 times: t(ν, 0.975) · √2 · sd (ISO 5725-6)."""
        if self.sd == 0:
            return 0.0
        return student_quantile((1 + COVERAGE) / 2, self.freedom) * math.sqrt(2) * self.sd


def noise_floor(values: Sequence[Sequence[float]]) -> NoiseFloor:
    """The noise floor of clips × runs.

    Formula     value = clip + run + rest. MS_run = clips · Σ (run mean − grand mean)² / (runs − 1), MS_rest from the
                rest; sd² = MS_run / clips + MS_rest · (clips − 1) / clips, which is the mean variance within a clip;
                ν = sd⁴ / (Σ over both terms of term² / its degrees of freedom)
    Inputs      one row per clip, one value per run in each; at least one clip and two runs
    Edge cases  one clip: sd is that of its values, ν = runs − 1. All equal: 0
    Reference   Satterthwaite 1946; ISO 5725-2

    >>> noise_floor([[1.0, 3.0], [4.0, 4.0]]).sd        # variances 2 and 0
    1.0
    """
    clips, runs = len(values), len(values[0])
    means = [math.fsum(row) / runs for row in values]
    within = math.fsum((x - m) ** 2 for row, m in zip(values, means, strict=True) for x in row)
    if within == 0 or all(min(row) == max(row) for row in values):
        return NoiseFloor(sd=0.0, clips=clips, runs=runs, freedom=float(clips * (runs - 1)))
    sd = math.sqrt(within / (clips * (runs - 1)))
    if clips == 1:
        return NoiseFloor(sd=sd, clips=1, runs=runs, freedom=float(runs - 1))
    grand = math.fsum(means) / clips
    run_means = [math.fsum(row[r] for row in values) / clips for r in range(runs)]
    between = clips * math.fsum((m - grand) ** 2 for m in run_means)
    ms_run = between / (runs - 1)
    ms_rest = max(0.0, within - between) / ((clips - 1) * (runs - 1))
    terms = (ms_run / clips, runs - 1), (ms_rest * (clips - 1) / clips, (clips - 1) * (runs - 1))
    freedom = sum(term for term, _ in terms) ** 2 / sum(term**2 / df for term, df in terms)
    return NoiseFloor(sd=sd, clips=clips, runs=runs, freedom=freedom, shift_p=_shift_p(ms_run, ms_rest, clips, runs))


def _shift_p(ms_run: float, ms_rest: float, clips: int, runs: int) -> float:
    if ms_rest == 0:
        return 0.0
    return f_tail(ms_run / ms_rest, runs - 1, (clips - 1) * (runs - 1))
