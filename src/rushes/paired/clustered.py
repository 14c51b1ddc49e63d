"""How sure an agreement with people is: other prompts and other raters would have given another number.

Clips of one prompt resemble each other, and so do one rater's ratings. Two ways, by what the statistic is:

Over clips (`two_way_jackknife`). The statistic is computed anew with each group of prompts left out, and with each
rater left out; v = atanh(value) of a correlation, atanh(2a − 1) of an accuracy a; Tukey's variance of each way is
(G − 1)/G Σ(v_g − v̄)². The two variances are added, which counts the chance of a single rating twice and so errs on the
wide side; the critical value is Student's t with Satterthwaite's degrees of freedom, so that three raters are no more
than three. Where the value or a leave-out is ±1, v is the value itself and the interval is cut to the range.

Over systems (`percentiles` of a bootstrap). A rank correlation of five systems moves in steps, which a jackknife cannot
see. So prompts and raters are drawn anew, each with replacement (the pigeonhole bootstrap), and the interval runs
between the percentiles. The systems are taken as they are: the interval says nothing about other systems.

Reference   Tukey 1958; Satterthwaite 1946; Cameron, Gelbach and Miller 2011 (two ways); Owen 2007 (pigeonhole)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rushes.core import Interval
from rushes.paired.correlation import Floats, Statistic, Whole

LEVEL = 0.95
MOST_GROUPS = 50
"""Prompts are left out one by one up to this many; more are dealt into so many groups in order."""
REPLICATES = 1000
SEED = 0
JACKKNIFE = "jackknife-prompt-rater"
JACKKNIFE_PROMPTS = "jackknife-prompt"
BOOTSTRAP = "bootstrap-prompt-rater"
BOOTSTRAP_PROMPTS = "bootstrap-prompt"


@dataclass(frozen=True, slots=True, kw_only=True)
class Clustered:
    """An interval and the two-sided p of no agreement at all; why there is none."""

    interval: Interval | None = None
    p: float | None = None
    why: str = ""


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
    level: float = LEVEL,
) -> Clustered:
    """Interval and p of a statistic from its leave-outs; without raters (fewer than two), by prompts alone.

    Edge cases  fewer than two groups of prompts, a leave-out without a value, no spread at all: none, with the reason
    """
    if len(by_prompt) < 2:
        return Clustered(why="needs two prompts or more")
    every = [*by_prompt, *by_rater]
    if any(one is None for one in every):
        return Clustered(why="without one of the prompts or raters there is no value")
    accuracy = statistic == "pairwise_accuracy"
    plain = [2 * one - 1 if accuracy else one for one in (value, *(o for o in every if o is not None))]
    curved = max(map(abs, plain)) < 1 - 1e-9
    v, *left_out = [math.atanh(one) if curved else one for one in plain]
    ways = [np.array(way) for way in (left_out[: len(by_prompt)], left_out[len(by_prompt) :]) if len(way) > 1]
    variances = [(len(way) - 1) / len(way) * float(((way - way.mean()) ** 2).sum()) for way in ways]
    variance = sum(variances)
    if variance <= 1e-18:
        return Clustered(why="no prompt and no rater moves it: its spread cannot be told")
    from scipy.stats import t

    freedom = variance**2 / sum(one**2 / (len(way) - 1) for one, way in zip(variances, ways, strict=True))
    error = math.sqrt(variance)
    half = float(t.ppf((1 + level) / 2, freedom)) * error
    ends = [math.tanh(end) if curved else min(1.0, max(-1.0, end)) for end in (v - half, v + half)]
    low, high = ((end + 1) / 2 if accuracy else end for end in ends)
    method = JACKKNIFE if len(ways) > 1 else JACKKNIFE_PROMPTS
    return Clustered(
        interval=Interval(low=low, high=high, level=level, method=method),
        p=float(2 * t.sf(abs(v) / error, freedom)),
    )


def drawn(number: int, count: int, rng: np.random.Generator) -> Floats:
    """How often each of `count` is drawn, `number` times over: number × count, each row sums to count."""
    return rng.multinomial(count, np.full(count, 1 / count), size=number).astype(np.float64)


def percentiles(values: Floats, method: str, *, level: float = LEVEL) -> Clustered:
    """The interval between the percentiles of a bootstrap; replicates without a value are left out."""
    found = values[np.isfinite(values)]
    if len(found) < len(values) / 2:
        return Clustered(why="most draws of prompts and raters give no value")
    low, high = np.quantile(found, [(1 - level) / 2, (1 + level) / 2])
    return Clustered(interval=Interval(low=float(low), high=float(high), level=level, method=method))
