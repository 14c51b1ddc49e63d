"""The jackknife: how much a number moves when a clip, a group of videos, a prompt or a rater is left out.

Joints of one clip resemble each other, so the clip is what is left out. Where prompts and raters both vary
(`two_way_jackknife`), the statistic is computed anew with each group of prompts left out, and with each rater left
out; v = atanh(value) of a correlation, atanh(2a − 1) of an accuracy a; Tukey's variance of each way is
(G − 1)/G Σ(v_g − v̄)². The two variances are added, which counts the chance of a single rating twice and so errs on the
wide side; the critical value is Student's t with Satterthwaite's degrees of freedom, so that three raters are no more
than three. Where the value or a leave-out is ±1, v is the value itself and the interval is cut to the range.

Reference   Quenouille 1956; Tukey 1958; Satterthwaite 1946; Cameron, Gelbach and Miller 2011 (two ways)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from rushes.core import Estimate, Interval, Why
from rushes.stats.correlation import Statistic
from rushes.stats.intervals import LEVEL, Whole, student_quantile
from rushes.stats.special.beta import student_cdf

JACKKNIFE_GROUPS = 20
JACKKNIFE_CLIPS = "jackknife-clip"
MOST_GROUPS = 50
"""Prompts are left out one by one up to this many; more are dealt into so many groups in order."""
JACKKNIFE = "jackknife-prompt-rater"
JACKKNIFE_PROMPTS = "jackknife-prompt"

_Scale: TypeAlias = tuple[Callable[[float], float], Callable[[float], float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tested(Estimate):
    """An estimate with the two-sided p of no agreement at all."""

    p: float | None = None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What leaving out groups of videos says about a value."""

    variance: float
    bias: float


def left_out(videos: int, whole: float, value: Callable[[list[int]], float]) -> LeftOut:
    """The jackknife: `value` is given the videos that are kept, once for each group left out; `whole` is of them all.

    Formula     variance = (g − 1)/g · Σ(v_(i) − mean v_(i))² over g groups, as many as 20 and no more than videos;
                bias = mean of (N − n_i)/n_i · (v_(i) − v), n_i the videos of group i: exact for a bias of c/N
    Reference   Quenouille 1956; Tukey 1958; Busing et al. 1999 for groups that differ by one.
    """
    groups = min(videos, JACKKNIFE_GROUPS)
    parts = [[n for n in range(videos) if n % groups != group] for group in range(groups)]
    values = np.array([value(kept) for kept in parts])
    weights = np.array([len(kept) / (videos - len(kept)) for kept in parts])
    variance = (groups - 1) / groups * np.sum((values - values.mean()) ** 2)
    return LeftOut(variance=float(variance), bias=float(np.mean(weights * (values - whole))))


def pooled_over_clips(
    parts: Sequence[tuple[float, int]], *, lowest: float | None = None, highest: float | None = None
) -> Estimate:
    """Σ value · count / Σ count over clips, each a value and what it rests on: long clips count for more.

    Interval    the value without each clip in turn, on the scale where it is freest (logit of a ratio, logarithm of a
                distance), Student's t of clips − 1; cut to `lowest` and `highest`
    Edge cases  no clip: none. One clip, or clips that are all alike: no interval.
    """
    if not parts:
        return Estimate.none(Why.NO_DATA)
    value, count, n = _ratio(parts), sum(count for _, count in parts), len(parts)
    if n < 2:
        return Estimate(value=value, count=count, why=Why.NEEDS_TWO_CLIPS)
    without = [_ratio([*parts[:row], *parts[row + 1 :]]) for row in range(n)]
    into, back = _scale(lowest, highest, [value, *without])
    moved = [into(each) for each in without]
    centre = math.fsum(moved) / n
    variance = (n - 1) / n * math.fsum((each - centre) ** 2 for each in moved)
    if variance <= 1e-24:
        return Estimate(value=value, count=count, why=Why.EQUAL_CLIPS)
    half = student_quantile((1 + LEVEL) / 2, n - 1) * math.sqrt(variance)
    low, high = (back(into(value) + side) for side in (-half, half))
    interval = Interval(low=low, high=high, level=LEVEL, method=JACKKNIFE_CLIPS)
    return Estimate(value=value, count=count, interval=interval.within(lowest, highest))


def _ratio(parts: Iterable[tuple[float, int]]) -> float:
    rows = list(parts)
    return math.fsum(value * count for value, count in rows) / sum(count for _, count in rows)


def _scale(lowest: float | None, highest: float | None, values: Sequence[float]) -> _Scale:
    """Logit for a ratio strictly between 0 and 1, logarithm for a distance above 0, else the value itself."""
    if (lowest, highest) == (0.0, 1.0) and 0 < min(values) and max(values) < 1:
        return lambda p: math.log(p / (1 - p)), lambda x: 1 / (1 + math.exp(-x)) if x > -700 else 0.0
    if lowest == 0.0 and highest is None and min(values) > 0:
        return math.log, lambda x: math.exp(min(x, 700.0))
    return lambda x: x, lambda x: x


def prompt_groups(prompt: Whole, most: int = MOST_GROUPS) -> list[Whole]:
    """The numbers of the clips of each group to leave out: one prompt each, or prompts dealt in order."""
    names, index = np.unique(prompt, return_inverse=True)
    group = index % min(len(names), most) if len(names) else index
    return [np.flatnonzero(group == number) for number in range(int(group.max()) + 1 if len(group) else 0)]


def two_way_jackknife(
    value: float,
    by_prompt: Sequence[float | None],
    by_rater: Sequence[float | None],
    statistic: Statistic,
    *,
    count: int,
    level: float = LEVEL,
) -> Tested:
    """A statistic with interval and p from its leave-outs; without raters (fewer than two), by prompts alone.

    `count` is what the statistic rests on.

    Edge cases  fewer than two groups of prompts, a leave-out without a value, no spread at all: none, with the reason
    """
    if len(by_prompt) < 2:
        return Tested(value=value, count=count, why=Why.NEEDS_TWO_PROMPTS)
    every = [*by_prompt, *by_rater]
    if any(one is None for one in every):
        return Tested(value=value, count=count, why=Why.NEEDS_EVERY_PROMPT)
    accuracy = statistic == "pairwise_accuracy"
    plain = [2 * one - 1 if accuracy else one for one in (value, *(o for o in every if o is not None))]
    curved = max(map(abs, plain)) < 1 - 1e-9
    v, *left_out = [math.atanh(one) if curved else one for one in plain]
    ways = [np.array(way) for way in (left_out[: len(by_prompt)], left_out[len(by_prompt) :]) if len(way) > 1]
    variances = [(len(way) - 1) / len(way) * float(((way - way.mean()) ** 2).sum()) for way in ways]
    variance = sum(variances)
    if variance <= 1e-18:
        return Tested(value=value, count=count, why=Why.NO_PROMPT_MOVES_IT)
    freedom = variance**2 / sum(one**2 / (len(way) - 1) for one, way in zip(variances, ways, strict=True))
    error = math.sqrt(variance)
    half = student_quantile((1 + level) / 2, freedom) * error
    ends = [math.tanh(end) if curved else min(1.0, max(-1.0, end)) for end in (v - half, v + half)]
    low, high = ((end + 1) / 2 if accuracy else end for end in ends)
    method = JACKKNIFE if len(ways) > 1 else JACKKNIFE_PROMPTS
    return Tested(
        value=value,
        count=count,
        interval=Interval(low=low, high=high, level=level, method=method),
        p=2 * student_cdf(-abs(v) / error, freedom),
    )
