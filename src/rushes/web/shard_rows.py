"""`RunRows` over a run in shards: columns of numbers as they are asked for, clips a page at a time.

Held per clip: 5 bytes for the review signals and their order, 8 for each of the latest `_COLUMNS` columns, 4 or 5 for
each of the latest `_QUERIES` questions. For a million clips that is less than 100 MB, however many match.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from rushes.clip.badges import BADGES
from rushes.report.subjects import reason_metric
from rushes.runs.shards import scanning
from rushes.runs.shards.lines import entry_of
from rushes.runs.shards.reading import Shards
from rushes.runs.shards.table import ReadingKey
from rushes.web.reasons import general_words
from rushes.web.run_cache import OpenRun, Reading, Row
from rushes.web.run_query import RunQuery
from rushes.web.run_rows import BINS, Beside, ClipPath, Histogram, RowsPage, bin_edges
from rushes.web.shard_text import matches
from rushes.web.triage import read_marks

_COLUMNS = 6
_QUERIES = 6
_FEW = 200
"""Clips up to which each is looked up by itself."""
T = TypeVar("T")


class ShardRows:
    """Answers as `MemoryRows` does, without reading the run whole. Safe to share between threads."""

    def __init__(self, opened: OpenRun, shards: Shards) -> None:
        self._shards, self._folder = shards, opened.run.path
        self._readings, self._row_of = opened.readings, opened.row_of
        marks = {key: (id(shards.definitions[key.signature]), key.at) for key in shards.readings}
        self._columns: dict[str, ReadingKey] = {opened.keys[mark]: key for key, mark in marks.items()}
        self._histograms: dict[tuple[str, int], Histogram | None] = {}
        self._kept: OrderedDict[Hashable, Any] = OrderedDict()
        self._lock = threading.RLock()

    @property
    def total(self) -> int:
        return len(self._shards)

    @property
    def readings(self) -> Mapping[str, Reading]:
        return self._readings

    @property
    def badge_counts(self) -> Mapping[str, int]:
        found = np.bincount(self._signals[0], minlength=len(BADGES))
        return {badge: int(found[place]) for place, badge in enumerate(BADGES)}

    @property
    def reasons(self) -> Sequence[tuple[str, int]]:
        return tuple(sorted(self._reasons[0].items(), key=lambda pair: (-pair[1], pair[0])))

    @property
    def reason_words(self) -> Mapping[str, str]:
        return {metric: general_words(reason) or metric for metric, reason in self._reasons[1].items()}

    def has_values(self, key: str) -> bool:
        if key not in self._columns:
            return False
        names = {one: column.column("value") for one, column in self._columns.items()}
        filled = self._once(("filled",), lambda: scanning.with_values(self._shards, list(names.values())))
        return names[key] in filled

    def histogram(self, key: str, bins: int = BINS) -> Histogram | None:
        with self._lock:
            if (key, bins) not in self._histograms:
                self._draw(key, bins)
            return self._histograms[key, bins]

    def page(self, query: RunQuery, first: int, size: int) -> RowsPage:
        found = self._positions(query)
        wanted = found[first : first + size].tolist()
        return RowsPage(rows=self._rows_at(wanted), matching=len(found))

    def ids(self, query: RunQuery) -> list[str]:
        found = self._positions(query)
        return list(self._texts("id", found))

    def beside(self, query: RunQuery, subject: str) -> Beside:
        found, own = self._positions(query), scanning.position_of(self._shards, subject)
        places = [] if own is None else np.flatnonzero(found == own).tolist()
        if not places:
            return Beside(place=-1, matching=len(found))
        place = places[0]
        around = [found[other : other + 1] if other >= 0 else found[:0] for other in (place - 1, place + 1)]
        before, after = (next(iter(self._texts("id", one)), "") for one in around)
        return Beside(place=place, matching=len(found), before=before, after=after)

    def row(self, subject: str) -> Row | None:
        if self._shards.find(subject) is None:
            return None
        return self._row_of(entry_of(self._shards.line_of(subject), self._shards.definitions))

    def rows(self, ids: Sequence[str]) -> Sequence[Row]:
        found = [scanning.position_of(self._shards, one) for one in ids]
        return self._rows_at([place for place in found if place is not None])

    def places(self, ids: Sequence[str]) -> Sequence[ClipPath]:
        if len(ids) <= _FEW:
            return [ClipPath(row.entry.subject.id, row.entry.subject.path) for row in self.rows(ids)]
        found = dict.fromkeys(ids, "")
        for _, batch in scanning.batches(self._shards, ("id", "path")):
            pairs = zip(batch.column(0).to_pylist(), batch.column(1).to_pylist(), strict=True)
            found.update((name, path) for name, path in pairs if name in found)
        return [ClipPath(one, found[one]) for one in ids]

    def _rows_at(self, positions: Sequence[int]) -> list[Row]:
        lines = scanning.lines_at(self._shards, positions)
        return [self._row_of(entry_of(line, self._shards.definitions)) for line in lines]

    @cached_property
    def _signals(self) -> tuple[np.ndarray, np.ndarray]:
        """Review signals by position, and positions worst first."""
        with self._lock:
            codes, reasons = scanning.signals(self._shards, BADGES)
            return codes, scanning.worst_first(codes, reasons)

    @cached_property
    def _reasons(self) -> tuple[Mapping[str, int], Mapping[str, str]]:
        with self._lock:
            return scanning.tally_reasons(self._shards, reason_metric)

    def _values(self, key: str) -> np.ndarray:
        """A reading's column, NaN where a clip has none."""
        column = self._columns[key].column("value")
        return self._once(("values", key), lambda: scanning.values(self._shards, [column])[0], most=_COLUMNS)

    def _positions(self, query: RunQuery) -> np.ndarray:
        """The clips a query keeps, in its order."""
        if query.starred or query.tags:
            return self._found(query)  # marks change while a page is open
        asked = replace(query, page=1, columns=(), table=False, problem="")
        return self._once(("query", asked), lambda: self._found(query), most=_QUERIES)

    def _found(self, query: RunQuery) -> np.ndarray:
        codes, order = self._signals
        kept = np.ones(len(codes), dtype=bool)
        if query.badges:
            kept &= np.isin(codes, [BADGES.index(badge) for badge in query.badges])
        for one in query.ranges:
            cells = self._values(one.key)
            kept &= (cells >= (-np.inf if one.low is None else one.low)) & (
                cells <= (np.inf if one.high is None else one.high)
            )
        if query.starred or query.tags:
            kept &= self._marked(query)
        if query.text:
            kept &= self._once(("text", query.text), lambda: self._matching(query.text), most=_QUERIES)
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

    def _marked(self, query: RunQuery) -> np.ndarray:
        kept = np.zeros(self.total, dtype=bool)
        for name, mark in read_marks(self._folder).marks.items():
            place = scanning.position_of(self._shards, name) if mark.fits(query.starred, query.tags) else None
            if place is not None:
                kept[place] = True
        return kept

    def _matching(self, text: str) -> np.ndarray:
        wanted, kept = text.casefold(), np.zeros(self.total, dtype=bool)
        for first, batch in scanning.batches(self._shards, ("id", "path", "reasons")):
            kept[first : first + batch.num_rows] = matches(batch, wanted)
        return kept

    def _id_order(self) -> np.ndarray:
        """The place of each position among all ids in order."""
        import pyarrow as pa
        import pyarrow.compute as pc

        found = [batch.column(0) for _, batch in scanning.batches(self._shards, ("id",))]
        order = pc.sort_indices(pa.chunked_array(found, pa.string())).to_numpy()
        places = np.empty(len(order), dtype=np.int32)
        places[order] = np.arange(len(order), dtype=np.int32)
        return places

    def _texts(self, column: str, positions: np.ndarray) -> list[str]:
        """A column of texts at some positions, in their order."""
        if len(positions) <= 2:
            lines = scanning.lines_at(self._shards, positions.tolist())
            return [str(getattr(entry_of(line, self._shards.definitions).subject, column)) for line in lines]
        texts = np.empty(len(positions), dtype=object)
        order = np.argsort(positions)
        ordered = positions[order]
        for first, batch in scanning.batches(self._shards, (column,)):
            low, high = np.searchsorted(ordered, (first, first + batch.num_rows))
            if low < high:
                texts[order[low:high]] = batch.column(0).take((ordered[low:high] - first).tolist()).to_pylist()
        return texts.tolist()

    def _draw(self, key: str, bins: int) -> None:
        """This reading's distribution and, from the same look at the files, some that will be asked for next."""
        others = [other for other in self._columns if other != key and (other, bins) not in self._histograms]
        keys = [key, *others[: _COLUMNS - 1]]
        found = scanning.values(self._shards, [self._columns[one].column("value") for one in keys])
        for one, cells in zip(keys, found, strict=True):
            self._histograms[one, bins] = self._histogram(one, cells, bins)

    def _histogram(self, key: str, cells: np.ndarray, bins: int) -> Histogram | None:
        values = cells[~np.isnan(cells)]
        low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 0.0)
        if not low < high or not np.isfinite(high - low) or self._is_yes_or_no(key, cells):
            return None
        edges, step = bin_edges(low, high, bins=bins, whole=bool((values == np.floor(values)).all()))
        places = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(edges) - 2)
        counts = np.bincount(places, minlength=len(edges) - 1)
        missing = len(cells) - len(values)
        return Histogram(edges=tuple(edges), counts=tuple(counts.tolist()), missing=missing, step=step)

    def _is_yes_or_no(self, key: str, cells: np.ndarray) -> bool:
        """Whether the values are true and false, which a column holds as 1 and 0: the clip's line knows."""
        first = int(np.flatnonzero(~np.isnan(cells))[0])
        line = scanning.lines_at(self._shards, [first])[0]
        found = self._row_of(entry_of(line, self._shards.definitions)).values.get(key)
        return found is not None and isinstance(found.value, bool)

    def _once(self, key: tuple[Hashable, ...], make: Callable[[], T], *, most: int = 0) -> T:
        """What was made before under this key, or now; of each kind the latest `most` are kept, 0 for all."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                found: T = self._kept[key]
                return found
            made = self._kept[key] = make()
            alike = [other for other in self._kept if isinstance(other, tuple) and other[0] == key[0]]
            for other in alike[: -most or len(alike)] if most else ():
                del self._kept[other]
            return made


def _sorted(found: np.ndarray, keys: np.ndarray, *, descending: bool) -> np.ndarray:
    """Positions by their keys; equal ones stay in order either way."""
    order: np.ndarray = np.argsort(-keys if descending else keys, kind="stable")
    return np.asarray(found[order])
