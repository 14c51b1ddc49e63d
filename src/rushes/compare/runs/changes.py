"""The clips of one comparison: values of both runs as columns, and one clip's change where it is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from rushes.compare.readings.media_facts import FactDifference, facts_text
from rushes.core import Measurement, difference
from rushes.stats.intervals import Floats, Whole
from rushes.stats.rounding import stored_floats
from rushes.storage.columns import ReadingColumn
from rushes.storage.lazy import LazySequence


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One clip's value in both runs; the difference is second − first."""

    subject: str
    first: Measurement
    second: Measurement
    difference: Measurement

    @property
    def moved(self) -> float:
        """Second − first, of the values as files have them; both must have one."""
        return round(float(self.second.stored_value or 0) - float(self.first.stored_value or 0), 8)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unlike:
    """A clip that a metric cannot be compared on, and which facts of the two files differ."""

    subject: str
    facts: tuple[FactDifference, ...]

    @property
    def why(self) -> str:
        """ "frame size 640×360 in A, 320×180 in B"."""
        return facts_text(self.facts, ("A", "B"))


class Changes(LazySequence[Change]):
    """Clips that have one reading in both runs, in the first run's order; a `Change` is made when it is asked for."""

    __slots__ = ("_first", "_second", "places")

    def __init__(self, first: ReadingColumn, second: ReadingColumn, places: Whole) -> None:
        self._first, self._second, self.places = first, second, places

    @property
    def first(self) -> Floats:
        """Values of the first run, as files have them; NaN where one is missing."""
        return _at(self._first.values, self.places)

    @property
    def second(self) -> Floats:
        """The same of the second run."""
        return _at(self._second.values, self.places)

    def __len__(self) -> int:
        return len(self.places)

    def _at(self, position: int) -> Change:
        place = int(self.places[position])
        one, other = self._first.number(place), self._second.number(place)
        return Change(subject=self._first.subjects[place], first=one, second=other, difference=difference(other, one))

    @property
    def subjects(self) -> list[str]:
        """The ids of the clips, in order."""
        return [self._first.subjects[place] for place in self.places.tolist()]

    @property
    def moved(self) -> Floats:
        """Second − first, of the values as files have them; NaN where one is missing."""
        return stored_floats(self.second - self.first)

    @property
    def whole(self) -> Changes:
        """Those with both values."""
        return Changes(self._first, self._second, self.places[~np.isnan(self.second - self.first)])

    @property
    def values(self) -> Floats:
        """All values of both runs that a comparison rests on, as stored."""
        first, second = self.first, self.second
        held = ~np.isnan(second - first)
        return np.concatenate([first[held], second[held]])

    @property
    def is_flag(self) -> bool:
        """Whether every value is true or false."""
        return self._first.is_flag and self._second.is_flag

    def most(self, count: int) -> tuple[int, ...]:
        """Which changed most, most first; of equals, in order. Unchanged clips are not among them."""
        if not count:
            return ()
        changed = np.flatnonzero(np.nan_to_num(self.moved))
        sizes = np.abs(self.second[changed] - self.first[changed])
        order = np.argsort(-sizes, kind="stable")[:count]
        return tuple(changed[order].tolist())


def _at(values: Floats, places: Whole) -> Floats:
    return values if len(places) == len(values) else values[places]


class UnlikeClips(LazySequence[Unlike]):
    """Clips with both values that a metric does not compare on, in the first run's order."""

    __slots__ = ("_codes", "_facts", "_subjects")

    def __init__(
        self, subjects: Sequence[str], codes: Sequence[int], facts: Sequence[tuple[FactDifference, ...]]
    ) -> None:
        self._subjects, self._codes, self._facts = subjects, codes, facts

    def __len__(self) -> int:
        return len(self._subjects)

    def _at(self, position: int) -> Unlike:
        return Unlike(subject=self._subjects[position], facts=self._facts[self._codes[position]])

    @property
    def subjects(self) -> Sequence[str]:
        """The ids of the clips, in order."""
        return self._subjects


def lost_clips(changes: Changes, unlike: UnlikeClips, had: Iterable[str]) -> list[str]:
    """Of clips with a value in the first run, those without one in the second to compare with."""
    valued = ~np.isnan(changes.second)
    held = {name for name, there in zip(changes.subjects, valued.tolist(), strict=True) if there}
    held.update(unlike.subjects)
    return [clip for clip in had if clip not in held]
