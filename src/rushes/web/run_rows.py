"""The rows of a run as its page needs them: counts, distributions, one page at a time.

Pages ask through `RunRows` and never go over a run themselves, so that a run too large for memory can answer from its
files. `MemoryRows` answers from a run that is read whole.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from rushes.web.run_cache import OpenRun, Reading, Row
from rushes.web.run_query import RunQuery, chosen

BINS = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram:
    """How a reading's values lie: counts in bins of one width between two round numbers.

    Bin k holds edges[k] ≤ value < edges[k + 1]; the last one its upper edge as well.
    """

    edges: tuple[float, ...]
    counts: tuple[int, ...]
    missing: int
    """Rows without a value."""
    step: float
    """What a handle moves by: a tenth of a bin, or 1 where all values are whole."""

    @property
    def low(self) -> float:
        return self.edges[0]

    @property
    def high(self) -> float:
        return self.edges[-1]

    @property
    def tallest(self) -> int:
        return max(self.counts)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsPage:
    """Some of the rows a query keeps, and how many it keeps in all."""

    rows: Sequence[Row]
    matching: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """Where a clip stands among those that a query keeps."""

    place: int
    """From 0; -1 where the query does not keep it."""
    matching: int
    before: str = ""
    after: str = ""


class ClipPath(NamedTuple):
    """A clip and the path that its run has for it."""

    id: str
    path: str


class RunRows(Protocol):
    """What a run's page may ask. Keys are those of `readings`; the order of rows is the query's, worst first."""

    @property
    def total(self) -> int: ...

    @property
    def readings(self) -> Mapping[str, Reading]: ...

    @property
    def badge_counts(self) -> Mapping[str, int]:
        """Review signals with their counts, worst first; 0 where none has one."""

    @property
    def reasons(self) -> Sequence[tuple[str, int]]:
        """The metrics behind the review signals, most frequent first."""

    def has_values(self, key: str) -> bool:
        """Whether any row has a value of this reading."""

    def histogram(self, key: str, bins: int = BINS) -> Histogram | None:
        """None where there are no two different numbers: a range of them could leave nothing out."""

    @property
    def reason_words(self) -> Mapping[str, str]:
        """What review signals call each metric behind them: "frozen"; its name where they have no word for it."""

    def page(self, query: RunQuery, first: int, size: int) -> RowsPage: ...

    def ids(self, query: RunQuery) -> list[str]: ...

    def beside(self, query: RunQuery, subject: str) -> Beside: ...

    def row(self, subject: str) -> Row | None: ...

    def rows(self, ids: Sequence[str]) -> Sequence[Row]:
        """The rows of some ids of this run, in their order."""

    def places(self, ids: Sequence[str]) -> Sequence[ClipPath]:
        """Ids of this run with the paths it has for them."""


@dataclass(frozen=True)
class MemoryRows:
    """`RunRows` over a run that is in memory."""

    opened: OpenRun

    @property
    def total(self) -> int:
        return len(self.opened.run.subjects)

    @property
    def readings(self) -> Mapping[str, Reading]:
        return self.opened.readings

    @property
    def badge_counts(self) -> Mapping[str, int]:
        return self.opened.badge_counts

    @property
    def reasons(self) -> Sequence[tuple[str, int]]:
        return self.opened.reason_counts

    def has_values(self, key: str) -> bool:
        return key in self.opened.keys_with_values

    def histogram(self, key: str, bins: int = BINS) -> Histogram | None:
        kept: dict[tuple[str, int], Histogram | None] = self.opened.histograms
        if (key, bins) not in kept:
            kept[key, bins] = _histogram(self.opened, key, bins)
        return kept[key, bins]

    def page(self, query: RunQuery, first: int, size: int) -> RowsPage:
        rows = chosen(self.opened, query)
        return RowsPage(rows=rows[first : first + size], matching=len(rows))

    def ids(self, query: RunQuery) -> list[str]:
        return [row.entry.subject.id for row in chosen(self.opened, query)]

    @property
    def reason_words(self) -> Mapping[str, str]:
        return self.opened.reason_words

    def beside(self, query: RunQuery, subject: str) -> Beside:
        listed = self.ids(query)
        if subject not in listed:
            return Beside(place=-1, matching=len(listed))
        place = listed.index(subject)
        after = listed[place + 1] if place < len(listed) - 1 else ""
        return Beside(place=place, matching=len(listed), before=listed[place - 1] if place else "", after=after)

    def row(self, subject: str) -> Row | None:
        return self.opened.by_id.get(subject)

    def rows(self, ids: Sequence[str]) -> Sequence[Row]:
        return [self.opened.by_id[one] for one in ids]

    def places(self, ids: Sequence[str]) -> Sequence[ClipPath]:
        return [ClipPath(one, self.opened.by_id[one].entry.subject.path) for one in ids]


def _histogram(opened: OpenRun, key: str, bins: int) -> Histogram | None:
    found = [row.values.get(key) for row in opened.rows]
    values = [m.value for m in found if m is not None and m.value is not None]
    if any(isinstance(value, bool) for value in values):
        return None
    return histogram([float(value) for value in values], bins=bins, missing=len(found) - len(values))


def histogram(values: Sequence[float], *, bins: int = BINS, missing: int = 0) -> Histogram | None:
    """Counts in at most `bins` + 1 bins of a round width (1, 2 or 5 times a power of ten), between round numbers.

    >>> found = histogram([0.0, 0.1, 0.25, 1.0], bins=5)
    >>> found.edges, found.counts, found.step
    ((0.0, 0.2, 0.4, 0.6, 0.8, 1.0), (2, 1, 0, 0, 1), 0.02)
    >>> histogram([3.0, 3.0]) is None
    True
    """
    low, high = min(values, default=0.0), max(values, default=0.0)
    if not low < high or not math.isfinite(high - low):
        return None
    edges, step = bin_edges(low, high, bins=bins, whole=all(value.is_integer() for value in values))
    counts = [0] * (len(edges) - 1)
    for value in values:
        counts[min(max(bisect_right(edges, value) - 1, 0), len(counts) - 1)] += 1
    return Histogram(edges=tuple(edges), counts=tuple(counts), missing=missing, step=step)


def bin_edges(low: float, high: float, *, bins: int, whole: bool) -> tuple[list[float], float]:
    """The round edges of bins that hold two different numbers, and what a handle moves by."""
    width, digits = _round_width((high - low) / bins, whole=whole)
    start, end = math.floor(low / width), math.ceil(high / width)
    while round(end * width, digits) < high:  # a quotient that was rounded down
        end += 1
    edges = [round(number * width, digits) for number in range(start, end + 1)]
    return edges, 1.0 if whole else round(width / 10, digits + 1)


def _round_width(least: float, *, whole: bool) -> tuple[float, int]:
    """The smallest of 1, 2, 5, 10 … times a power of ten that is no smaller, and its decimals."""
    power = math.floor(math.log10(least))
    factor = next((factor for factor in (1, 2, 5, 10) if factor * 10.0**power >= least * (1 - 1e-12)), 10)
    width = factor * 10.0**power
    if whole and width < 1:
        return 1.0, 0
    return width, max(0, -power)
