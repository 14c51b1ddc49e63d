"""Prediction-powered means: people rated some prompts, a metric was measured on all of them, one interval from both.

The metric's mean over the prompts that nobody rated, less its mean over the rated ones, says how the rated prompts
differ from the rest. A share λ of that corrects people's mean. λ is estimated; a metric that has nothing to do with
people, or runs against them, gets λ ≈ 0 and leaves people's own mean. The interval holds whatever the metric is worth,
as long as the rated prompts are a random draw from all of them.

Formulas    y ratings' mean per rated prompt (n), f the metric there, g the metric on the N other prompts, both metrics
            multiplied by s_y / s_fg, which brings them to the spread of the ratings:
            λ = cov(y, f) / ((1 + n/N) · var(f and g)), cut to 0 … 1; cov over n, var over n + N − 1 (PPI++)
            mean = ȳ + λ (ḡ − f̄)
            variance = Σ(y − ȳ − λ(f − f̄))² / (n d) + λ² s_g² / N, d = n − 2 where λ > 0, as in a regression, else n − 1
            interval = mean ± √(t(d)² · first part + t(N − 1)² · second part), each part with its own Student's t
Choice      where the metric does not make the interval narrower, people alone are the answer, and λ is 0: so it is
            never wider than theirs. Simulated for 20 to 60 prompts this costs less than 0.5 % of coverage.
Limit       the level is reached with many prompts. With few, and scores without bounds that are skewed along with the
            metric (z² with noise, metric e^0.8z), the interval held the mean in 87 to 91 % for 20 to 60 prompts, people
            alone in 91 to 93 %; with ratings from 1 to 5 in 93.5 to 96.3 % (`benchmarks/powered_people.py`).
Raters      a prompt's ratings are averaged first. `raters="fixed"`: the interval is over prompts, for these raters.
            `raters="drawn"`: raters too are a draw from many; G/(G−1) Σ_r S_r² is added to the variance, S_r the sum of
            a rater's residuals over (n · raters of the prompt), with t(G − 1): three raters are no more than three. A
            metric cannot narrow that part.
Unit        the ratings' own
Edge cases  no rating: none. One rated prompt, or equal ratings: no interval. Fewer than three rated prompts, fewer than
            two others, a rated prompt without the metric, a metric with one value: people alone, and `why` says so.
Reference   Angelopoulos, Bates, Fannjiang, Jordan and Zrnic 2023 (prediction-powered inference); Angelopoulos, Duchi
            and Zrnic 2023 (PPI++, arXiv 2311.01453); the package ppi-python as test oracle
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from rushes.core import Estimate, Interval, Why
from rushes.core.errors import InputError
from rushes.stats.intervals import LEVEL, STUDENT_T, Floats, check_confidence, student_quantile

Ratings: TypeAlias = Mapping[str, Mapping[str, float]]
"""By prompt, by rater."""
Raters: TypeAlias = Literal["fixed", "drawn"]
METHOD = "prediction-powered"
_Part: TypeAlias = tuple[float, float]
"""A variance and its degrees of freedom."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Powered(Estimate):
    """A mean that people and a metric give together; `count` is the prompts that people rated."""

    people: Estimate
    """Of people alone, on the prompts that they rated."""
    weight: float = 0.0
    """λ, from 0 to 1: how much of the metric was used."""
    others: int = 0
    """Prompts with the metric that nobody rated."""

    @property
    def width(self) -> float | None:
        """Of the interval, as a share of people's own; None where one of them has none."""
        ours, theirs = self.interval, self.people.interval
        return None if ours is None or theirs is None else (ours.high - ours.low) / (theirs.high - theirs.low)


def powered_mean(
    ratings: Ratings, metric: Mapping[str, float], *, raters: Raters = "fixed", level: float = LEVEL
) -> Powered:
    """The mean rating over prompts like these, from people on some of them and a metric on all.

    `metric` is turned so that higher is better. Formulas and edge cases are the module's.

    >>> ratings = {f"p{number}": {"ann": number % 7 / 2 + number % 2} for number in range(20)}
    >>> found = powered_mean(ratings, {f"p{number}": float(number % 7) for number in range(60)})
    >>> round(found.people.value, 3), round(found.value, 3), round(found.weight, 2), round(found.width, 2)
    (1.925, 1.949, 0.56, 0.7)
    """
    check_confidence(level)
    if raters not in ("fixed", "drawn"):
        raise InputError(f"expected raters fixed (these) or drawn (from many); got {raters!r}")
    rated = {prompt: by for prompt, by in ratings.items() if by}
    if not rated:
        return Powered(value=None, count=0, why=Why.NO_DATA, people=Estimate.none(Why.NO_DATA))
    y = np.array([math.fsum(by.values()) / len(by) for by in rated.values()])
    rows = list(rated.values()) if raters == "drawn" else []
    people = _estimate(float(y.mean()), y - y.mean(), rows, (), level)
    others = [value for prompt, value in metric.items() if prompt not in rated]
    why = _unusable(rated, metric, others)
    if why is None and people.interval is not None:
        f, g = np.array([metric[prompt] for prompt in rated]), np.array(others)
        scale = float(y.std(ddof=1) / np.concatenate([f, g]).std(ddof=1))
        found = _powered(y, scale * f, scale * g, rows, people, level)
        if found is not None:
            return found
    return Powered(
        value=people.value,
        count=len(y),
        interval=people.interval,
        why=people.why or why,
        people=people,
        others=len(others),
    )


def powered_difference(
    ratings: tuple[Ratings, Ratings],
    metric: tuple[Mapping[str, float], Mapping[str, float]],
    *,
    raters: Raters = "fixed",
    level: float = LEVEL,
) -> Powered:
    """The mean of one system's ratings less another's, prompt by prompt: `powered_mean` of the paired differences.

    A rater counts on the prompts where they rated both systems, so how high a person rates in general drops out.
    """
    (one, other), (ours, theirs) = ratings, metric
    pairs = {
        prompt: {rater: by[rater] - other[prompt][rater] for rater in by if rater in other[prompt]}
        for prompt, by in one.items()
        if prompt in other
    }
    both = {prompt: ours[prompt] - theirs[prompt] for prompt in ours if prompt in theirs}
    return powered_mean(pairs, both, raters=raters, level=level)


def tuned_weight(y: Floats, f: Floats, g: Floats) -> float:
    """λ of PPI++: the share of the metric that gives the least variance, cut to 0 … 1."""
    spread = float(np.concatenate([f, g]).var(ddof=1))
    if spread <= 0:
        return 0.0
    together = float(((y - y.mean()) * (f - f.mean())).mean())
    return min(1.0, max(0.0, together / ((1 + len(f) / len(g)) * spread)))


def prompts_needed(alone: float, correlation: float, prompts: float = math.inf) -> float:
    """How many rated prompts give, with the metric on all of them, the interval that `alone` give without it.

    Formula     n' = n (1 − ρ²) / (1 − ρ² n / M): the powered mean's variance is σ² (1 − ρ² (1 − n'/M)) / n' in large
                samples, ρ the correlation of metric and mean rating over prompts (of differences: of both differences),
                M the prompts with the metric, the rated ones among them
    Unit        prompts; at ρ = 0.7 and endless prompts half of them
    Edge cases  ρ ≤ 0, or no more prompts than people rate alone: as many as alone. ρ = 1: 0

    >>> round(prompts_needed(60, 0.7), 1), round(prompts_needed(60, 0.5, prompts=619), 1), prompts_needed(60, -0.4)
    (30.6, 46.1, 60)
    """
    if not -1.0 <= correlation <= 1.0 or alone < 0:
        raise InputError(f"a correlation lies between -1 and 1, prompts from 0; got {correlation} and {alone}")
    if prompts <= alone or correlation <= 0:
        return alone
    return alone * (1.0 - correlation**2) / (1.0 - correlation**2 * alone / prompts)


def _unusable(rated: Ratings, metric: Mapping[str, float], others: Sequence[float]) -> Why | None:
    if any(prompt not in metric for prompt in rated):
        return Why.METRIC_GAPS
    if len(rated) < 3 or len(others) < 2:
        return Why.FEW_OTHER_PROMPTS
    return Why.ONE_METRIC_VALUE if len(set(metric.values())) == 1 else None


def _powered(
    y: Floats, f: Floats, g: Floats, rows: Sequence[Mapping[str, float]], people: Estimate, level: float
) -> Powered | None:
    """With the metric; None where people alone are as narrow."""
    weight = tuned_weight(y, f, g)
    value = float(y.mean() + weight * (g.mean() - f.mean()))
    residual = y - y.mean() - weight * (f - f.mean())
    part = (weight**2 * float(g.var(ddof=1)) / len(g), len(g) - 1.0)
    found = _estimate(value, residual, rows, (part,), level)
    ours, theirs = found.interval, people.interval
    if weight == 0 or ours is None or theirs is None or ours.high - ours.low >= theirs.high - theirs.low:
        return None
    return Powered(value=value, count=len(y), interval=ours, people=people, weight=weight, others=len(g))


def _estimate(
    value: float, residual: Floats, rows: Sequence[Mapping[str, float]], metric: Sequence[_Part], level: float
) -> Estimate:
    """A mean whose residuals over rated prompts are given, with the metric's own part of the variance."""
    n = len(residual)
    freedom = n - 1.0 - len(metric)
    if n < 2 or freedom < 1:
        return Estimate(value=value, count=n, why=Why.NEEDS_TWO_PROMPTS)
    parts = [(float(residual @ residual) / (n * freedom), freedom), *metric]
    if rows:
        people = {rater for by in rows for rater in by}
        if len(people) < 2:
            return Estimate(value=value, count=n, why=Why.NEEDS_TWO_RATERS)
        parts.append((_rater_variance(residual, rows, len(people)), len(people) - 1.0))
    half = math.sqrt(math.fsum(each * student_quantile(0.5 + level / 2, degrees) ** 2 for each, degrees in parts))
    if half <= 0:
        return Estimate(value=value, count=n, why=Why.EQUAL_VALUES)
    method = f"{METHOD if metric else STUDENT_T}-prompt{'-rater' if rows else ''}"
    interval = Interval(low=value - half, high=value + half, level=level, method=method)
    return Estimate(value=value, count=n, interval=interval)


def _rater_variance(residual: Floats, rows: Sequence[Mapping[str, float]], people: int) -> float:
    """G/(G−1) Σ_r S_r²: what another draw of raters would move."""
    sums: dict[str, float] = {}
    for left, by in zip(residual.tolist(), rows, strict=True):
        mean = math.fsum(by.values()) / len(by)
        for rater, rating in by.items():
            sums[rater] = sums.get(rater, 0.0) + (rating - mean + left) / (len(rows) * len(by))
    return people / (people - 1.0) * math.fsum(each**2 for each in sums.values())
