"""People's scores and metrics' values brought together, clip by clip."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field

import numpy as np

from rushes.compare.agreement.clip_values import floats_of
from rushes.compare.agreement.human_scores import MEANS, ClipKey, HumanScores, clip_text
from rushes.compare.agreement.metric_scores import MeasuredClips, MetricScores
from rushes.compare.agreement.statistics import LEVELS, Level, RatedClips, ceiling
from rushes.core.errors import InputError
from rushes.stats.correlation import Statistic
from rushes.stats.intervals import Floats, Whole
from rushes.stats.jackknife import Tested


@dataclass(frozen=True, slots=True, kw_only=True)
class Join:
    """People's scores under the clips' own keys."""

    people: HumanScores
    scores: Mapping[str, Mapping[ClipKey, Mapping[str, float]]]
    raters: tuple[str, ...]
    promptless: bool
    """Whether clips have no systems and prompts, but names alone."""
    paired: bool
    """Whether two systems were rated on some prompt."""
    remarks: tuple[str, ...]
    arrays: dict[str, _Rated] = field(default_factory=dict)

    @classmethod
    def of(cls, measured: MeasuredClips, people: HumanScores) -> Join:
        clips = measured.clips
        plain = {key for key in people.clips if key[0] and key in clips}
        names = measured.named({name for system, name in people.clips if (system, name) not in plain})
        keys = {key: key if key in plain else _resolved(key, names, clips, people) for key in people.clips}
        known = {key: clip for key, clip in keys.items() if clip in clips}
        if not known and clips:
            raise InputError(_nothing_shared(measured, people))
        if doubled := len(known) - len(set(known.values())):
            raise InputError(
                f"{people.source}: {doubled} rated names refer to a clip that another "
                f"name refers to as well; keep one name per clip"
            )
        systems = set(measured.systems)
        scores = {
            dimension: {known.get(key, key): by for key, by in of_clip.items() if key in known or key[0] in systems}
            for dimension, of_clip in people.scores.items()
        }
        return cls(
            people=people,
            scores=scores,
            raters=people.raters or (MEANS,),
            promptless=not people.systems and len({s for s, _ in known.values()}) == 1,
            paired=len({prompt for _, prompt in known.values()}) < len(known),
            remarks=_left_out(measured, people, known, clips),
        )

    @property
    def levels(self) -> tuple[Level, ...]:
        return ("clip",) if self.promptless else LEVELS

    def agreements(
        self, metric: MetricScores, dimension: str, *, confidence: float, only: Level | None = None
    ) -> tuple[int, int, dict[tuple[Level, Statistic], Tested]]:
        """How many clips and prompts have both, and every statistic; of a metric without clips, over systems alone.

        `only` leaves out the other levels.
        """
        rated, is_per_clip = self._rated(dimension), bool(metric.per_clip)
        if is_per_clip:
            levels, values = self.levels, floats_of(metric.per_clip, rated.keys)
        else:
            levels = ("system",) if not self.promptless else ()
            values = np.array([metric.per_system.get(system, np.nan) for system, _ in rated.keys])
        clips = rated.with_values(-values if metric.definition.better == "lower" else values)
        found = {
            (level, name): one
            for level in (levels if only is None else [level for level in levels if level == only])
            for name, one in clips.agreement(level, confidence=confidence).items()
        }
        return len(clips.x) if is_per_clip else 0, len(np.unique(clips.prompt)), found

    def ceilings(self, dimension: str, *, confidence: float) -> dict[tuple[Level, Statistic], Tested]:
        """One rater against the mean of the others."""
        rated = self._rated(dimension)
        clips = rated.with_values(np.zeros(len(rated.keys)))
        return {
            (level, name): one
            for level in self.levels
            for name, one in ceiling(clips.ratings, clips.prompt, clips.system, level, confidence=confidence).items()
        }

    def _rated(self, dimension: str) -> _Rated:
        """The ratings of a dimension as arrays; those of the last one asked for are kept."""
        if dimension not in self.arrays:
            self.arrays.clear()
            self.arrays[dimension] = self._as_arrays(dimension)
        return self.arrays[dimension]

    def _as_arrays(self, dimension: str) -> _Rated:
        rated, scale = self.scores[dimension], self.people.scale(dimension)
        places, keys = {rater: number for number, rater in enumerate(self.raters)}, sorted(rated)
        ratings = np.full((len(places), len(keys)), np.nan)
        for column, key in enumerate(keys):
            for rater, score in rated[key].items():
                # shares of votes as whole numbers: their means are then equal where the fractions are
                ratings[places[rater], column] = score if scale == 1 else round(score * scale)
        return _Rated(keys=keys, ratings=ratings, prompt=_numbers(keys, 1), system=_numbers(keys, 0))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rated:
    """Everything that people said on one dimension."""

    keys: Sequence[ClipKey]
    """The clips in text order."""
    ratings: Floats
    """Raters × clips; NaN where a rater did not rate a clip."""
    prompt: Whole
    system: Whole

    def with_values(self, values: Floats) -> RatedClips:
        """The clips that have one of these values, and the raters who rated any of them."""
        there = np.flatnonzero(~np.isnan(values))
        ratings = self.ratings.take(there, axis=1)
        return RatedClips(
            x=values[there],
            ratings=ratings[np.isfinite(ratings).any(axis=1) if ratings.size else slice(None)],
            prompt=self.prompt[there],
            system=self.system[there],
        )


def _numbers(keys: Sequence[ClipKey], part: int) -> Whole:
    names = {name: number for number, name in enumerate(sorted({key[part] for key in keys}))}
    return np.array([names[key[part]] for key in keys], dtype=np.int64)


def _resolved(
    key: ClipKey, names: Mapping[str, Set[ClipKey]], clips: frozenset[ClipKey], people: HumanScores
) -> ClipKey:
    """The clip that a rated name means."""
    found = names.get(key[1], frozenset()) & clips
    if key[0]:  # the prompt may be spelt as its text, of which the clip's id is made
        own = [clip for clip in found if clip[0] == key[0]]
        return own[0] if len(own) == 1 else key
    if len(found) > 1:
        systems = ", ".join(sorted(system for system, _ in found)[:3])
        raise InputError(
            f"{people.source}: {key[1]} is a clip of {len(found)} systems ({systems} …); "
            "name the clips by their paths, or give system and prompt_id"
        )
    return next(iter(found), key)


def _nothing_shared(measured: MeasuredClips, people: HumanScores) -> str:
    ours, theirs = sorted(measured.clips)[:2], sorted(people.clips)[:2]
    shown = [", ".join(clip_text(key) for key in keys) for keys in (ours, theirs)]
    return (
        f"{people.source}: no clip was both measured and rated; measured are {shown[0]} …, rated are {shown[1]} …; "
        "name the systems as the ratings do: NAME=RUN"
    )


def _left_out(
    measured: MeasuredClips, people: HumanScores, known: Mapping[ClipKey, ClipKey], clips: Iterable[ClipKey]
) -> tuple[str, ...]:
    """What was rated and not measured, and the other way round."""
    lines = []
    systems = set(measured.systems)
    if unknown := [name for name in people.systems if name not in systems]:
        lines.append(f"rated but not measured: systems {', '.join(unknown)}")
    if unmeasured := [key for key in people.clips if key not in known and (not key[0] or key[0] in systems)]:
        lines.append(f"rated but not measured: {len(unmeasured)} clips, such as {clip_text(unmeasured[0])}")
    if unrated := sorted(set(clips) - set(known.values())):
        lines.append(f"measured but not rated: {len(unrated)} clips, such as {clip_text(unrated[0])}")
    return tuple(lines)
