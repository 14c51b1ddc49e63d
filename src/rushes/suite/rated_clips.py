"""One metric and one human dimension over the same clips, as arrays: every statistic at every level, with its interval.

Levels      clip           all clips in one pool
            within-prompt  only clips of one prompt are held against each other
            system         means of the systems over the prompts that all of them have
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rushes.paired.clustered import (
    BOOTSTRAP,
    BOOTSTRAP_PROMPTS,
    LEVEL,
    REPLICATES,
    SEED,
    Clustered,
    drawn,
    percentiles,
    prompt_groups,
    two_way_jackknife,
)
from rushes.paired.correlation import STATISTICS, Floats, Statistic, Sums, Whole, group_names, row_sums, sums

Level: TypeAlias = Literal["within-prompt", "clip", "system"]
LEVELS: tuple[Level, ...] = ("within-prompt", "clip", "system")
LEAST_CLIPS = 3
_CHUNK = 2_000_000
"""Numbers in one step of the bootstrap."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """One statistic at one level, before it gets its definition."""

    value: float | None
    count: int
    """Clips, or systems at the level of systems."""
    sure: Clustered = Clustered()
    why: str = ""
    """Why there is no value."""


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

    def agreement(self, level: Level, *, confidence: float = LEVEL) -> dict[Statistic, Agreement]:
        """Every statistic that the level has; pairwise accuracy is of pairs of systems, so not of the pool."""
        if level == "system":
            return self._of_systems(confidence)
        names = [s for s in STATISTICS if level == "within-prompt" or s != "pairwise_accuracy"]
        if why := self._undefined(level):
            return {name: Agreement(value=None, count=len(self.x), why=why) for name in names}
        whole, by_prompt, by_rater = self._leave_outs(level)
        return {name: self._one(name, whole, by_prompt, by_rater, confidence) for name in names}

    def _undefined(self, level: Level) -> str:
        if len(self.x) < LEAST_CLIPS:
            return f"{len(self.x)} clips have both the metric and a rating; {LEAST_CLIPS} are needed"
        if level == "within-prompt" and len(np.unique(self.prompt)) == len(self.prompt):
            return "no prompt has two systems"
        if np.ptp(self.x) == 0:
            return "the metric has one value on all clips"
        return "people gave all clips the same rating" if np.ptp(self.y) == 0 else ""

    def _one(
        self, name: Statistic, whole: Sums, by_prompt: list[Sums], by_rater: list[Sums], confidence: float
    ) -> Agreement:
        value = whole.value(name)
        if value is None:
            return Agreement(value=None, count=len(self.x), why="nothing varies within a prompt")
        prompts, raters = ([part.value(name) for part in way] for way in (by_prompt, by_rater))
        sure = two_way_jackknife(value, prompts, raters, name, level=confidence)
        return Agreement(value=value, count=len(self.x), sure=sure)

    def _leave_outs(self, level: Level) -> tuple[Sums, list[Sums], list[Sums]]:
        """The sums of all, without each group of prompts, and without each rater."""
        group = self.prompt if level == "within-prompt" else None
        whole = sums(self.x, self.y, group)
        parts = prompt_groups(self.prompt)
        if group is None:
            keep = [np.delete(np.arange(len(self.x)), part) for part in parts]
            by_prompt = [sums(self.x[rest], self.y[rest]) for rest in keep]
        else:
            names = group_names(group)
            by_prompt = [whole.without(np.searchsorted(names, np.unique(group[part]))) for part in parts]
        return whole, by_prompt, [self._without_rater(rater, group) for rater in self._removable()]

    def _removable(self) -> range:
        return range(self.raters if self.raters > 1 else 0)

    def _without_rater(self, rater: int, group: Whole | None) -> Sums:
        y = mean_rating(np.delete(self.ratings, rater, axis=0))
        has = np.isfinite(y)
        return sums(self.x[has], y[has], None if group is None else group[has])

    def _of_systems(self, confidence: float) -> dict[Statistic, Agreement]:
        table = SystemMeans.of(self)
        count = len(table.systems)
        if table.why:
            return {name: Agreement(value=None, count=count, why=table.why) for name in STATISTICS}
        x, y = table.means()
        whole = sums(x[0], y[0])
        draws = table.bootstrap()
        method = BOOTSTRAP if self.raters > 1 else BOOTSTRAP_PROMPTS
        found: dict[Statistic, Agreement] = {}
        for name in STATISTICS:
            value = whole.value(name)
            why = "the metric or people rate all systems alike" if value is None else ""
            sure = Clustered() if value is None else percentiles(draws[name], method, level=confidence)
            found[name] = Agreement(value=value, count=count, sure=sure, why=why)
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
    why: str = ""

    @classmethod
    def of(cls, clips: RatedClips) -> SystemMeans:
        systems, prompts = np.unique(clips.system), np.unique(clips.prompt)
        row, column = np.searchsorted(prompts, clips.prompt), np.searchsorted(systems, clips.system)
        shape = (len(prompts), len(systems))
        x, ratings = np.full(shape, np.nan), np.full((clips.raters, *shape), np.nan)
        x[row, column] = clips.x
        ratings[:, row, column] = clips.ratings
        shared = np.isfinite(x).all(axis=1)
        why = "" if shared.any() else "no prompt is shared by all systems"
        if len(systems) < LEAST_CLIPS:
            why = f"{len(systems)} systems; {LEAST_CLIPS} are needed"
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

    def bootstrap(self, replicates: int = REPLICATES, seed: int = SEED) -> dict[Statistic, Floats]:
        rng = np.random.Generator(np.random.PCG64(seed))
        w = drawn(replicates, len(self.x), rng)
        v = drawn(replicates, len(self.ratings), rng)
        step = max(1, _CHUNK // max(1, self.x.size))
        rows = [self.means(w[i : i + step], v[i : i + step]) for i in range(0, replicates, step)]
        x, y = (np.concatenate([row[side] for row in rows]) for side in (0, 1))
        whole = np.isfinite(y).all(axis=1)
        found = row_sums(x[whole], y[whole])
        return {name: np.concatenate([found.each(name), np.full(int((~whole).sum()), np.nan)]) for name in STATISTICS}


def ceiling(
    ratings: Floats, prompt: Whole, system: Whole, level: Level, *, confidence: float = LEVEL
) -> dict[Statistic, Agreement]:
    """One rater against the mean of the others, the mean over raters: what a metric as good as a person would reach.

    Needs two raters; its interval leaves out prompts, and raters where there are three or more. At the level of systems
    it has no interval.
    """
    names = [s for s in STATISTICS if level != "clip" or s != "pairwise_accuracy"]
    if len(ratings) < 2:
        why = "single raters are not known" if len(ratings) else "no ratings"
        return {name: Agreement(value=None, count=ratings.shape[1], why=why) for name in names}
    alone = _Alone(ratings=ratings, prompt=prompt, system=system, level=level)
    everything = np.arange(len(prompt))
    parts = [] if level == "system" else prompt_groups(prompt)
    by_prompt = [alone.mean_of(np.delete(everything, part), ratings) for part in parts]
    raters = range(len(ratings) if len(ratings) > 2 and level != "system" else 0)
    by_rater = [alone.mean_of(everything, np.delete(ratings, rater, axis=0)) for rater in raters]
    whole = alone.mean_of(everything, ratings)
    found: dict[Statistic, Agreement] = {}
    for name in names:
        value = whole[name]
        if value is None:
            found[name] = Agreement(value=None, count=len(prompt), why="a rater and the others share too little")
            continue
        sure = Clustered(why="not drawn at the level of systems")
        if level != "system":
            prompts, others = ([one[name] for one in way] for way in (by_prompt, by_rater))
            sure = two_way_jackknife(value, prompts, others, name, level=confidence)
        found[name] = Agreement(value=value, count=len(prompt), sure=sure)
    return found


@dataclass(frozen=True, kw_only=True)
class _Alone:
    """Each rater against the mean of the others."""

    ratings: Floats
    prompt: Whole
    system: Whole
    level: Level

    def mean_of(self, clips: Whole, ratings: Floats) -> dict[Statistic, float | None]:
        """Mean over raters of each statistic over these clips; None where a rater has none."""
        per_rater = [self._sums(clips, ratings, rater) for rater in range(len(ratings))]
        values = {name: [one.value(name) if one else None for one in per_rater] for name in STATISTICS}
        return {name: _mean(found) for name, found in values.items()}

    def _sums(self, clips: Whole, ratings: Floats, rater: int) -> Sums | None:
        own = ratings[rater, clips]
        others = mean_rating(np.delete(ratings, rater, axis=0)[:, clips])
        has = np.isfinite(own) & np.isfinite(others)
        x, y, prompt, system = own[has], others[has], self.prompt[clips][has], self.system[clips][has]
        if self.level != "system":
            return sums(x, y, prompt if self.level == "within-prompt" else None)
        table = SystemMeans.of(RatedClips(x=x, ratings=y[None, :], prompt=prompt, system=system))
        if table.why:
            return None
        one, other = table.means()
        return sums(one[0], other[0])


def _mean(values: list[float | None]) -> float | None:
    found = [value for value in values if value is not None]
    return sum(found) / len(found) if len(found) == len(values) and found else None
