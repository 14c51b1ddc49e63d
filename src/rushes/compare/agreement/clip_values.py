"""Values of a metric by clip, as columns where its runs are stored in columns: 8 bytes a value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from rushes.compare.agreement.human_scores import ClipKey
from rushes.core.grouping import grouped
from rushes.stats.intervals import Floats
from rushes.storage.columns import ReadingColumn

PerClip: TypeAlias = Mapping[ClipKey, float]
"""A metric's values: a plain mapping, or `ClipColumns`."""


class Clips:
    """Clips in a run's order; every column of the run shares them."""

    def __init__(self, keys: Sequence[ClipKey]) -> None:
        self.keys = keys
        self.systems = tuple(dict.fromkeys(system for system, _ in keys))

    @cached_property
    def places(self) -> Mapping[ClipKey, int]:
        """Where each clip is."""
        return {key: place for place, key in enumerate(self.keys)}

    def shares(self, other: Clips) -> bool:
        """Whether some clip is in both."""
        apart = set(self.systems).isdisjoint(other.systems)
        return not apart and not self.places.keys().isdisjoint(other.places)

    def valued(self, there: np.ndarray) -> Iterator[ClipKey]:
        """The clips for which `there` holds."""
        return map(self.keys.__getitem__, np.flatnonzero(there).tolist())


@dataclass(frozen=True, slots=True, eq=False)
class ClipColumn:
    """A column of a run: its values are read when they are asked for."""

    clips: Clips
    column: ReadingColumn
    rows: np.ndarray | None
    """Which cells are those of the clips; None where all are."""

    @property
    def values(self) -> Floats:
        """NaN where a clip has no value."""
        return self.column.values if self.rows is None else self.column.values[self.rows]

    @property
    def valued(self) -> NDArray[np.bool_]:
        """Which clips have a value."""
        return ~np.isnan(self.values)

    @property
    def has_value(self) -> bool:
        """Whether some clip has one."""
        return self.column.has_value and (self.rows is None or bool(self.valued.any()))


class ClipColumns(PerClip):
    """One column for each run, no clip in two of them."""

    def __init__(self, parts: Sequence[ClipColumn]) -> None:
        self.parts = parts

    def __len__(self) -> int:
        return sum(int(np.count_nonzero(part.valued)) for part in self.parts)

    def __bool__(self) -> bool:
        return any(part.has_value for part in self.parts)

    def __iter__(self) -> Iterator[ClipKey]:
        return (key for part in self.parts for key in part.clips.valued(part.valued))

    def __getitem__(self, key: ClipKey) -> float:
        for part in self.parts:
            place = part.clips.places.get(key)
            if place is not None and not np.isnan(value := part.values[place]):
                return float(value)
        raise KeyError(key)


def floats_of(values: PerClip, keys: Sequence[ClipKey]) -> Floats:
    """The values of these clips; NaN where one has none."""
    if not isinstance(values, ClipColumns):
        return np.array([values.get(key, np.nan) for key in keys], dtype=np.float64)
    found = np.full(len(keys), np.nan)
    for part in values.parts:
        where = np.fromiter(map(part.clips.places.get, keys, repeat(-1)), dtype=np.int64, count=len(keys))
        held = where >= 0
        found[held] = part.values[where[held]]
    return found


def by_system(values: PerClip) -> dict[str, list[float]]:
    """The values of each system's clips."""
    if not isinstance(values, ClipColumns):
        return grouped((system, value) for (system, _), value in values.items())
    found: dict[str, list[float]] = {}
    for part in values.parts:
        clips, there, column = part.clips, part.valued, part.values
        if len(clips.systems) > 1:
            for (system, _), value in zip(clips.valued(there), column[there].tolist(), strict=True):
                found.setdefault(system, []).append(value)
        elif there.any():
            found.setdefault(clips.systems[0], []).extend(column[there].tolist())
    return found


def systems_of(values: PerClip) -> tuple[str, ...]:
    """The systems that have a value, in order."""
    if not isinstance(values, ClipColumns):
        return tuple(dict.fromkeys(system for system, _ in values))
    found: dict[str, None] = {}
    for part in values.parts:
        if len(part.clips.systems) > 1:
            found |= dict.fromkeys(system for system, _ in part.clips.valued(part.valued))
        elif part.has_value:
            found[part.clips.systems[0]] = None
    return tuple(found)


def valued_clips(metrics: Iterable[PerClip]) -> frozenset[ClipKey]:
    """The clips of which some metric has a value."""
    found: set[ClipKey] = set()
    there: dict[Clips, np.ndarray] = {}
    for values in metrics:
        if isinstance(values, ClipColumns):
            for part in values.parts:
                there[part.clips] = part.valued | there.get(part.clips, np.False_)
        else:
            found.update(values)
    for clips, some in there.items():
        found.update(clips.valued(some))
    return frozenset(found)
