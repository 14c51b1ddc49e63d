"""One metric and one human dimension over the same clips, as arrays: every statistic at every level, with its interval.

Levels      clip           all clips in one pool
            within-prompt  only clips of one prompt are compared with each other
            within-system  only clips of one system are compared with each other; mean over the systems with a value
            system         means of the systems over the prompts that all of them have
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from rushes.core import Why
from rushes.stats.bootstrap import percentiles, times_drawn
from rushes.stats.correlation import STATISTICS, Coded, Statistic, Sums, group_names, row_sums, sums
from rushes.stats.intervals import LEVEL, Floats, Whole, student_quantile
from rushes.stats.jackknife import Tested, prompt_groups, two_way_jackknife

Level: TypeAlias = Literal["within-prompt", "clip", "within-system", "system"]
_Values: TypeAlias = Mapping[Statistic, float | None]
LEVELS: tuple[Level, ...] = get_args(Level)
LEAST_CLIPS = 3
REPLICATES = 1000
SEED = 0
BOOTSTRAP = "bootstrap-prompt-rater"
BOOTSTRAP_PROMPTS = "bootstrap-prompt"
_MOST_PROMPTS = 100_000
_CHUNK = 2_000_000
"""Numbers in one step of the bootstrap."""


@dataclass(frozen=True, kw_only=True)
class RatedClips:
    """A metric's values and people's ratings over the same clips."""

    x: Floats
    """Per clip, turned so that higher is better."""
    ratings: Floats
    """Raters × clips; NaN where a rater did not rate a clip. One row where a table has means alone."""
    prompt: Whole
    system: Whole

    def __post_init__(self) -> None:
        assert self.x.shape == self.prompt.shape == self.system.shape == self.ratings.shape[1:]

    @cached_property
    def y(self) -> Floats:
        """Mean over raters, per clip."""
        return mean_rating(self.ratings)

    @property
    def raters(self) -> int:
        return len(self.ratings)

    def agreement(self, level: Level, *, confidence: float = LEVEL) -> dict[Statistic, Tested]:
        """Every statistic that the level has; pairwise accuracy is of pairs of systems."""
        if level == "system":
            return self._of_systems(confidence)
        names = _names(level)
        if why := self._undefined(level):
            return dict.fromkeys(names, Tested(value=None, count=len(self.x), why=why))
        whole, *by_prompt = self.values_without(level, prompt_groups(self.prompt))
        raters = range(self.raters if self.raters > 1 else 0)
        by_rater = [_values(self._without_rater(rater, self._groups(level)), level) for rater in raters]
        return _jackknifed(names, whole, by_prompt, by_rater, len(self.x), Why.EQUAL_PROMPTS, confidence)

    def _undefined(self, level: Level) -> Why | None:
        if len(self.x) < LEAST_CLIPS:
            return Why.FEW_RATED_CLIPS
        if level == "within-prompt" and len(np.unique(self.prompt)) == len(self.prompt):
            return Why.NO_TWO_SYSTEMS
        if np.ptp(self.x) == 0:
            return Why.ONE_METRIC_VALUE
        return Why.ONE_RATING if np.ptp(self.y) == 0 else None

    def sums_at(self, level: Level) -> Sums | None:
        """What every statistic at this level is made from; None where systems share too little for one."""
        if level != "system":
            return sums(self.x, self.y, self._groups(level))
        table = SystemMeans.of(self)
        return None if table.why else table.sums()

    def values_without(self, level: Level, parts: Sequence[Whole]) -> list[_Values]:
        """Every statistic of all clips, then without each of these parts of them: whole prompts."""
        return [_values(one, level) for one in self._sums_without(level, parts)]

    def _sums_without(self, level: Level, parts: Sequence[Whole]) -> Iterator[Sums]:
        group, x, y = self._groups(level), Coded.of(self.x), Coded.of(self.y)
        whole = sums(x, y, group)
        yield whole
        if level == "within-prompt" and group is not None:
            names = group_names(group)
            yield from (whole.without(np.searchsorted(names, np.unique(group[part]))) for part in parts)
        else:
            keep = (np.delete(np.arange(len(self.x)), part) for part in parts)
            yield from (sums(x.take(rest), y.take(rest), None if group is None else group[rest]) for rest in keep)

    def _groups(self, level: Level) -> Whole | None:
        return {"within-prompt": self.prompt, "within-system": self.system}.get(level)

    def _without_rater(self, rater: int, group: Whole | None) -> Sums:
        y = mean_rating(np.delete(self.ratings, rater, axis=0))
        has = np.isfinite(y)
        return sums(self.x[has], y[has], None if group is None else group[has])

    def _of_systems(self, confidence: float) -> dict[Statistic, Tested]:
        table = SystemMeans.of(self)
        count = len(table.systems)
        if table.why:
            return dict.fromkeys(STATISTICS, Tested(value=None, count=count, why=table.why))
        whole, draws = _values(table.sums(), "system"), table.bootstrap()
        method = BOOTSTRAP if self.raters > 1 else BOOTSTRAP_PROMPTS
        return {
            name: Tested(value=None, count=count, why=Why.EQUAL_SYSTEMS)
            if (value := whole[name]) is None
            else percentiles(value, draws[name], method, count=count, level=confidence)
            for name in STATISTICS
        }


def prompts_for_none(
    statistic: Statistic, level: Level, systems: int, *, margin: float, level_of: float = LEVEL
) -> int:
    """Prompts with which no relation at all would have an interval within ± `margin`: fewer cannot show that.

    Formula     the smallest n with t(n − 1) · σ ≤ margin, σ² the variance that a statistic has where there is none:
                within prompts of s systems τ 2(2s + 5) / 9s(s − 1) / n, ρ and r 1 / (s − 1) / n; over N = n s clips
                the same with N in place of s, not divided by n. Raters are left out, so it is a least number
    Reference   Kendall 1938; of pairs right the margin is halved, as twice their share less 1 is a τ

    >>> [prompts_for_none("kendall_tau_b", "within-prompt", systems, margin=0.2) for systems in (3, 4, 5)]
    [42, 26, 19]
    """
    for n in range(3, _MOST_PROMPTS):
        size, groups = (systems, n) if level == "within-prompt" else (max(n * systems, 3), 1)
        size = max(size, 2)
        rank = statistic in ("kendall_tau_b", "kendall_tau_c", "pairwise_accuracy")
        variance = (2 * (2 * size + 5) / (9 * size * (size - 1)) if rank else 1 / (size - 1)) / groups
        if student_quantile((1 + level_of) / 2, n - 1) * math.sqrt(variance) <= margin:
            return n
    return _MOST_PROMPTS


def _names(level: Level) -> list[Statistic]:
    """The statistics of a level: pairs of systems there are within prompts and over systems."""
    return [s for s in STATISTICS if level in ("within-prompt", "system") or s != "pairwise_accuracy"]


def _values(found: Sums | None, level: Level) -> dict[Statistic, float | None]:
    if found is None:
        return dict.fromkeys(STATISTICS)
    if level != "within-system":
        pooled = found.pooled()
        return {name: pooled.value(name) for name in STATISTICS}
    each = {name: [v for v in found.each(name).tolist() if not math.isnan(v)] for name in STATISTICS}
    return {name: _mean(list(values)) for name, values in each.items()}


def _jackknifed(
    names: Sequence[Statistic],
    whole: _Values,
    by_prompt: Sequence[_Values],
    by_rater: Sequence[_Values],
    count: int,
    why: Why,
    confidence: float,
) -> dict[Statistic, Tested]:
    """Each statistic with its interval; `why` is the reason where one has no value."""
    found = {}
    for name in names:
        prompts, raters = ([one[name] for one in way] for way in (by_prompt, by_rater))
        found[name] = (
            Tested(value=None, count=count, why=why)
            if (value := whole[name]) is None
            else two_way_jackknife(value, prompts, raters, name, count=count, level=confidence)
        )
    return found


def mean_rating(ratings: Floats) -> Floats:
    """Mean over the raters of each clip; NaN where nobody rated it. Sums are exact for whole ratings, so equals tie."""
    rated = np.isfinite(ratings)
    count = rated.sum(axis=0)
    total = np.where(rated, ratings, 0.0).sum(axis=0)
    return np.asarray(np.divide(total, count, out=np.full(len(total), np.nan), where=count > 0))


@dataclass(frozen=True, kw_only=True)
class SystemMeans:
    """Prompts × systems, over the prompts that every system has."""

    x: Floats
    ratings: Floats
    """Raters × prompts × systems."""
    systems: NDArray[np.int64]
    why: Why | None = None

    @classmethod
    def of(cls, clips: RatedClips) -> SystemMeans:
        systems, prompts = np.unique(clips.system), np.unique(clips.prompt)
        row, column = np.searchsorted(prompts, clips.prompt), np.searchsorted(systems, clips.system)
        shape = (len(prompts), len(systems))
        x, ratings = np.full(shape, np.nan), np.full((clips.raters, *shape), np.nan)
        x[row, column] = clips.x
        ratings[:, row, column] = clips.ratings
        shared = np.isfinite(x).all(axis=1)
        why = None if shared.any() else Why.NO_SHARED_PROMPT
        if len(systems) < LEAST_CLIPS:
            why = Why.FEW_SYSTEMS
        return cls(x=x[shared], ratings=ratings[:, shared], systems=systems, why=why)

    def means(self, prompts: Floats | None = None, raters: Floats | None = None) -> tuple[Floats, Floats]:
        """Draws × systems: mean of the metric and of people, under weights of prompts and raters (draws × each)."""
        w = np.ones((1, len(self.x))) if prompts is None else prompts
        v = np.ones((1, len(self.ratings))) if raters is None else raters
        rated = np.isfinite(self.ratings)
        flat = np.where(rated, self.ratings, 0.0).reshape(len(self.ratings), -1)
        shape = (len(w), *self.x.shape)
        with np.errstate(invalid="ignore"):  # a clip that none of the drawn raters rated is left out
            clip = ((v @ flat) / (v @ rated.reshape(len(rated), -1).astype(float))).reshape(shape)
        has = np.isfinite(clip)
        weight = w[:, :, None] * has
        with np.errstate(invalid="ignore"):
            people = (weight * np.where(has, clip, 0.0)).sum(axis=1) / weight.sum(axis=1)
        return w @ self.x / w.sum(axis=1, keepdims=True), people

    def sums(self) -> Sums:
        x, y = self.means()
        return sums(x[0], y[0])

    def bootstrap(self, replicates: int = REPLICATES, seed: int = SEED) -> dict[Statistic, Floats]:
        rng = np.random.Generator(np.random.PCG64(seed))
        w = times_drawn(replicates, len(self.x), rng)
        v = times_drawn(replicates, len(self.ratings), rng)
        step = max(1, _CHUNK // max(1, self.x.size))
        rows = [self.means(w[i : i + step], v[i : i + step]) for i in range(0, replicates, step)]
        x, y = (np.concatenate([row[side] for row in rows]) for side in (0, 1))
        whole = np.isfinite(y).all(axis=1)
        found = row_sums(x[whole], y[whole])
        return {name: np.concatenate([found.each(name), np.full(int((~whole).sum()), np.nan)]) for name in STATISTICS}


def ceiling(
    ratings: Floats, prompt: Whole, system: Whole, level: Level, *, confidence: float = LEVEL
) -> dict[Statistic, Tested]:
    """One rater against the mean of the others, the mean over raters: what a metric as good as a person would reach.

    Needs two raters; its interval leaves out prompts, and raters where there are three or more. At the level of systems
    it has no interval.
    """
    names = _names(level)
    if len(ratings) < 2:
        why = Why.UNKNOWN_RATERS if len(ratings) else Why.NO_RATINGS
        return dict.fromkeys(names, Tested(value=None, count=ratings.shape[1], why=why))
    count = len(prompt)
    if level == "system":
        values = _each_alone(ratings, prompt, system, level)[0]
        whys = {name: Why.FEW_SHARED_RATINGS if values[name] is None else Why.NOT_DRAWN for name in names}
        return {name: Tested(value=values[name], count=count, why=why) for name, why in whys.items()}
    whole, *by_prompt = _each_alone(ratings, prompt, system, level, prompt_groups(prompt))
    raters = range(len(ratings) if len(ratings) > 2 else 0)
    by_rater = [_each_alone(np.delete(ratings, rater, axis=0), prompt, system, level)[0] for rater in raters]
    return _jackknifed(names, whole, by_prompt, by_rater, count, Why.FEW_SHARED_RATINGS, confidence)


def _each_alone(
    ratings: Floats, prompt: Whole, system: Whole, level: Level, parts: Sequence[Whole] = ()
) -> list[dict[Statistic, float | None]]:
    """Each rater against the mean of the others: mean over raters of each statistic; None where a rater has none.

    Of all clips, then without each of these parts of them.
    """
    per_rater = []
    for rater, own in enumerate(ratings):
        others = mean_rating(np.delete(ratings, rater, axis=0))
        has = np.isfinite(own) & np.isfinite(others)
        both = RatedClips(x=own[has], ratings=others[None, has], prompt=prompt[has], system=system[has])
        place = np.cumsum(has) - 1
        per_rater.append(
            [_values(both.sums_at(level), level)]
            if level == "system"
            else both.values_without(level, [place[part[has[part]]] for part in parts])
        )
    return [{name: _mean([one[name] for one in row]) for name in STATISTICS} for row in zip(*per_rater, strict=True)]


def _mean(values: list[float | None]) -> float | None:
    found = [value for value in values if value is not None]
    return sum(found) / len(found) if len(found) == len(values) and found else None
