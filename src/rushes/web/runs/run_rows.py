"""The rows of a run as its pages need them: counts, distributions, one page at a time of what a query keeps.

Pages ask through `RunRows` and never go over a run themselves. A query is answered in one way, over columns by the
position of a clip in its run; where the columns lie is the only difference between a run that is read whole and one in
shards (`rows.py`).

Held per clip: 5 bytes for the review signals and their order, 8 for each of the latest `MOST_COLUMNS` columns, 4 or 5
for each of the latest `_QUERIES` questions. For a million clips that is less than 100 MB, however many match.
"""

from __future__ import annotations

import math
import threading
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np

from rushes.core import Reading
from rushes.core.reason import SIGNALS, ranked
from rushes.storage.shards.scanning import ReasonCounts, worst_first
from rushes.web.clips.triage import read_marks
from rushes.web.runs.cache import OpenRun, Row
from rushes.web.runs.query import RunQuery

BINS = 24
MOST_COLUMNS = 6
_QUERIES = 6
T = TypeVar("T")


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


def histogram(values: Sequence[float] | np.ndarray, *, bins: int = BINS, missing: int = 0) -> Histogram | None:
    """Counts in at most `bins` + 1 bins of a round width (1, 2 or 5 times a power of ten), between round numbers.

    >>> found = histogram([0.0, 0.1, 0.25, 1.0], bins=5)
    >>> found.edges, found.counts, found.step
    ((0.0, 0.2, 0.4, 0.6, 0.8, 1.0), (2, 1, 0, 0, 1), 0.02)
    >>> histogram([3.0, 3.0]) is None
    True
    """
    cells = np.asarray(values, dtype=np.float64)
    low, high = (float(cells.min()), float(cells.max())) if len(cells) else (0.0, 0.0)
    if not low < high or not math.isfinite(high - low):
        return None
    edges, step = bin_edges(low, high, bins=bins, whole=bool((cells == np.floor(cells)).all()))
    # How many lie at or above each inner edge: for twenty edges in a third of the time of looking up every value.
    above = [len(cells), *(int(np.count_nonzero(cells >= edge)) for edge in edges[1:-1]), 0]
    counts = tuple(one - other for one, other in pairwise(above))
    return Histogram(edges=tuple(edges), counts=counts, missing=missing, step=step)


def bin_edges(low: float, high: float, *, bins: int, whole: bool) -> tuple[list[float], float]:
    """The round edges of bins that hold two different numbers, and what a handle moves by."""
    width, digits = round_width((high - low) / bins, whole=whole)
    start, end = math.floor(low / width), math.ceil(high / width)
    while round(end * width, digits) < high:  # a quotient that was rounded down
        end += 1
    edges = [round(number * width, digits) for number in range(start, end + 1)]
    return edges, 1.0 if whole else round(width / 10, digits + 1)


def round_width(least: float, *, whole: bool = False) -> tuple[float, int]:
    """The smallest of 1, 2, 5, 10 … times a power of ten that is no smaller, and its decimals.

    >>> [round_width(x) for x in (0.3, 1.0, 6.0)]
    [(0.5, 1), (1.0, 0), (10.0, 0)]
    """
    power = math.floor(math.log10(least))
    factor = next((factor for factor in (1, 2, 5, 10) if factor * 10.0**power >= least * (1 - 1e-12)), 10)
    width = factor * 10.0**power
    if whole and width < 1:
        return 1.0, 0
    return width, max(0, -math.floor(math.log10(width) + 1e-9))


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


class RunRows(ABC):
    """What a run's page may ask. Keys are those of `readings`; the order of rows is the query's, worst first.

    Safe to share between threads.
    """

    def __init__(self, opened: OpenRun) -> None:
        self._opened = opened
        self._histograms: dict[tuple[str, int], Histogram | None] = {}
        self._kept: OrderedDict[tuple[Hashable, ...], Any] = OrderedDict()
        self._lock = threading.RLock()

    @abstractmethod
    def _rows_at(self, positions: Sequence[int]) -> list[Row]: ...

    @abstractmethod
    def _position(self, subject: str) -> int | None:
        """Where a clip stands; None where the run has none of this id."""

    @abstractmethod
    def _columns(self, keys: Sequence[str]) -> list[np.ndarray]:
        """Readings as numbers by position, NaN where a clip has none."""

    @abstractmethod
    def _filled(self) -> frozenset[str]:
        """Readings of which some clip has a value."""

    @abstractmethod
    def _read_signals(self) -> tuple[np.ndarray, np.ndarray]:
        """By position, the place of the review signal among `SIGNALS`, their number for none; the severity."""

    @abstractmethod
    def _read_reasons(self) -> ReasonCounts: ...

    @abstractmethod
    def _matching(self, wanted: str) -> np.ndarray:
        """By position, whether id, path or a reason has this text, whatever its case; `wanted` is case-folded."""

    @abstractmethod
    def _id_order(self) -> np.ndarray:
        """The place of each position among all ids in order."""

    @abstractmethod
    def look(self, keys: Sequence[str]) -> None:
        """Read what a page with the histograms of these readings asks for, where one look at the run is enough."""

    @property
    def total(self) -> int:
        return len(self._opened.run.subjects)

    @property
    def readings(self) -> Mapping[str, Reading]:
        return self._opened.readings

    @property
    def badge_counts(self) -> Mapping[str, int]:
        """Review signals with their counts, worst first; 0 where none has one."""
        found = np.bincount(self._signals[0], minlength=len(SIGNALS))
        return {badge: int(found[place]) for place, badge in enumerate(SIGNALS)}

    @property
    def reasons(self) -> Sequence[tuple[str, int]]:
        """The metrics behind the review signals, most frequent first."""
        return tuple(ranked(self._reasons.about))

    @property
    def reason_words(self) -> Mapping[str, str]:
        """What review signals call each metric behind them: "frozen"; its name where they have no word for it."""
        return self._reasons.words

    def has_values(self, key: str) -> bool:
        """Whether any row has a value of this reading."""
        return key in self._once(("filled",), self._filled)

    def histogram(self, key: str, bins: int = BINS) -> Histogram | None:
        """None where there are no two different numbers: a range of them could leave nothing out."""
        return self.histograms([key], bins)[key]

    def histograms(self, keys: Sequence[str], bins: int = BINS) -> Mapping[str, Histogram | None]:
        """Of several readings by key, with one look at the run for each few of them."""
        with self._lock:
            new = [key for key in dict.fromkeys(keys) if (key, bins) not in self._histograms]
            for first in range(0, len(new), MOST_COLUMNS):
                some = new[first : first + MOST_COLUMNS]
                for key, cells in zip(some, self._columns(some), strict=True):
                    self._histograms[key, bins] = self._histogram(key, cells, bins)
            return {key: self._histograms[key, bins] for key in keys}

    def page(self, query: RunQuery, first: int, size: int) -> RowsPage:
        found = self._positions(query)
        return RowsPage(rows=self._rows_at(found[first : first + size].tolist()), matching=len(found))

    def ids(self, query: RunQuery) -> list[str]:
        return self._ids(self._positions(query))

    def beside(self, query: RunQuery, subject: str) -> Beside:
        found, own = self._positions(query), self._position(subject)
        places = [] if own is None else np.flatnonzero(found == own).tolist()
        if not places:
            return Beside(place=-1, matching=len(found))
        place = places[0]
        around = [found[other : other + 1] if other >= 0 else found[:0] for other in (place - 1, place + 1)]
        before, after = (next(iter(self._ids(one)), "") for one in around)
        return Beside(place=place, matching=len(found), before=before, after=after)

    def rows(self, ids: Sequence[str]) -> Sequence[Row]:
        """The rows of some ids of this run, in their order."""
        return self._rows_at([place for one in ids if (place := self._position(one)) is not None])

    def places(self, ids: Sequence[str]) -> Sequence[ClipPath]:
        """Ids of this run with the paths it has for them."""
        return [ClipPath(row.entry.subject.id, row.entry.subject.path) for row in self.rows(ids)]

    def has(self, subject: str) -> bool:
        return self._position(subject) is not None

    def _ids(self, positions: np.ndarray) -> list[str]:
        return [row.entry.subject.id for row in self._rows_at(positions.tolist())]

    def keep(
        self, signals: tuple[np.ndarray, np.ndarray], reasons: ReasonCounts, columns: Mapping[str, np.ndarray]
    ) -> None:
        """What was read at one look, for those who ask later."""
        vars(self)["_signals"] = (signals[0], worst_first(*signals))
        vars(self)["_reasons"] = reasons
        for key, cells in columns.items():
            self._histograms[key, BINS] = self._histogram(key, cells, BINS)

    @cached_property
    def _signals(self) -> tuple[np.ndarray, np.ndarray]:
        """Review signals by position, and positions worst first."""
        with self._lock:
            codes, severity = self._read_signals()
            return codes, worst_first(codes, severity)

    @cached_property
    def _reasons(self) -> ReasonCounts:
        with self._lock:
            return self._read_reasons()

    def _positions(self, query: RunQuery) -> np.ndarray:
        """The clips a query keeps, in its order. A missing value is in no range, and last in either order."""
        if query.starred or query.tags:
            return self._found(query)  # marks change while a page is open
        asked = replace(query, page=1, columns=(), table=False, problem="")
        return self._once(("query", asked), lambda: self._found(query), most=_QUERIES)

    def _found(self, query: RunQuery) -> np.ndarray:
        codes, order = self._signals
        kept = np.ones(len(codes), dtype=bool)
        if query.badges:
            kept &= np.isin(codes, [SIGNALS.index(badge) for badge in query.badges])
        for one in query.ranges:
            cells = self._values(one.key)
            kept &= (cells >= (-np.inf if one.low is None else one.low)) & (
                cells <= (np.inf if one.high is None else one.high)
            )
        if query.starred or query.tags:
            kept &= self._marked(query)
        if query.text:
            kept &= self._once(("text", query.text), lambda: self._matching(query.text.casefold()), most=_QUERIES)
        found: np.ndarray = order[kept[order]]
        if query.sort == "id":
            places = self._once(("id",), self._id_order)
            return _sorted(found, places[found], descending=query.descending)
        if query.sort:
            cells = self._values(query.sort)[found]
            lack = np.isnan(cells)
            have = _sorted(found[~lack], cells[~lack], descending=query.descending)
            return np.concatenate([have, found[lack]])
        return found

    def _values(self, key: str) -> np.ndarray:
        return self._once(("values", key), lambda: self._columns([key])[0], most=MOST_COLUMNS)

    def _marked(self, query: RunQuery) -> np.ndarray:
        kept = np.zeros(self.total, dtype=bool)
        for name, mark in read_marks(self._opened.run.path).marks.items():
            place = self._position(name) if mark.fits(query.starred, query.tags) else None
            if place is not None:
                kept[place] = True
        return kept

    def _histogram(self, key: str, cells: np.ndarray, bins: int) -> Histogram | None:
        there = ~np.isnan(cells)
        filled = cells if there.all() else cells[there]
        found = histogram(filled, bins=bins, missing=len(cells) - len(filled))
        if found is None:
            return None
        # A column holds true and false as 1 and 0: the clip itself knows.
        first = self._rows_at([int(there.argmax())])[0].values.get(key)
        return None if first is not None and isinstance(first.value, bool) else found

    def _once(self, key: tuple[Hashable, ...], make: Callable[[], T], *, most: int = 0) -> T:
        """What was made before under this key, or now; of each kind the latest `most` are kept, 0 for all."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                found: T = self._kept[key]
                return found
            made = self._kept[key] = make()
            alike = [other for other in self._kept if other[0] == key[0]]
            for other in alike[:-most] if most else ():
                del self._kept[other]
            return made


def _sorted(found: np.ndarray, keys: np.ndarray, *, descending: bool) -> np.ndarray:
    """Positions by their keys; equal ones stay in order either way."""
    order: np.ndarray = np.argsort(-keys if descending else keys, kind="stable")
    return np.asarray(found[order])
