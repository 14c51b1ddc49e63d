"""Where the rows of an open run lie: in memory, or in the files of a run in shards, read in parts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rushes.core.reason import RANKS, severity_of
from rushes.storage.runs import Subject
from rushes.storage.runs.packing import entry_of
from rushes.storage.shards import scanning
from rushes.storage.shards.reading import Shards
from rushes.web.runs.cache import OpenRun, Row
from rushes.web.runs.run_rows import MOST_COLUMNS, ClipPath, RunRows

if TYPE_CHECKING:
    import pyarrow as pa

_FEW = 200
"""Clips up to which each is looked up by itself."""
_ODD = r"[^\x00-\x7f–—…×−≥≤]"
"""Outside of these, folding a text's case is more than writing it small: "ß" is "ss"."""


def rows_of(opened: OpenRun) -> RunRows:
    """What every page asks. It is kept, with what it has read, as long as this state of the run."""
    if "rows" not in opened.kept:
        shards = opened.run.shards
        made = MemoryRows(opened) if shards is None else ShardRows(opened, shards)
        opened.kept.setdefault("rows", made)  # of two at once, one stays
    found: RunRows = opened.kept["rows"]
    return found


class MemoryRows(RunRows):
    """Of a run that is read whole."""

    @property
    def total(self) -> int:
        return len(self._opened.rows)

    @cached_property
    def _subjects(self) -> list[Subject]:
        return [row.entry.subject for row in self._opened.rows]

    def _rows_at(self, positions: Sequence[int]) -> list[Row]:
        return [self._opened.rows[place] for place in positions]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {row.entry.subject.id: place for place, row in enumerate(self._opened.rows)}

    def _position(self, subject: str) -> int | None:
        return self._places.get(subject)

    def _columns(self, keys: Sequence[str]) -> list[np.ndarray]:
        found = [[row.values.get(key) for row in self._opened.rows] for key in keys]
        return [np.array([np.nan if m is None or m.value is None else m.value for m in one], float) for one in found]

    def look(self, keys: Sequence[str]) -> None:
        """All of it is here."""

    def _filled(self) -> frozenset[str]:
        return frozenset(key for row in self._opened.rows for key, m in row.values.items() if m.value is not None)

    def _read_signals(self) -> tuple[np.ndarray, np.ndarray]:
        codes = [RANKS.get(subject.badge or "", len(RANKS)) for subject in self._subjects]
        return np.array(codes, np.int8), np.array([severity_of(subject.why) for subject in self._subjects], np.float64)

    def _read_reasons(self) -> scanning.ReasonCounts:
        found = scanning.ReasonCounts()
        for reason in (reason for subject in self._subjects for reason in subject.why):
            found.about[reason.about] += 1
            found.words.setdefault(reason.about, reason.kind)
        return found

    def _matching(self, wanted: str) -> np.ndarray:
        texts = ((one.id, one.path, *one.reasons) for one in self._subjects)
        return np.array([any(wanted in text.casefold() for text in found) for found in texts], bool)

    def _id_order(self) -> np.ndarray:
        ids = [row.entry.subject.id for row in self._opened.rows]
        return np.argsort(np.array(sorted(range(len(ids)), key=ids.__getitem__), np.int32))


class ShardRows(RunRows):
    """Of a run in shards: columns of numbers as they are asked for, clips a page at a time."""

    def __init__(self, opened: OpenRun, shards: Shards) -> None:
        super().__init__(opened)
        self._shards = shards
        marks = {key: (id(shards.definitions[key.signature]), key.at) for key in shards.readings}
        self._names = {opened.keys[mark]: key.column("value") for key, mark in marks.items()}

    def _rows_at(self, positions: Sequence[int]) -> list[Row]:
        lines = scanning.lines_at(self._shards, positions)
        return [self._opened.row_of(entry_of(line, self._shards.definitions)) for line in lines]

    def _position(self, subject: str) -> int | None:
        return scanning.position_of(self._shards, subject)

    def _columns(self, keys: Sequence[str]) -> list[np.ndarray]:
        return scanning.values(self._shards, [self._names[key] for key in keys])

    def look(self, keys: Sequence[str]) -> None:
        with self._lock:
            if "_signals" in vars(self) or len(keys) > MOST_COLUMNS:
                return
            signals, reasons = scanning.Signals(tuple(RANKS)), scanning.Reasons()
            numbers = scanning.Values([self._names[key] for key in keys], len(self._shards))
            scanning.collect(self._shards, signals, reasons, numbers)
            self.keep(signals.found(), reasons.found, dict(zip(keys, numbers.found, strict=True)))

    def _filled(self) -> frozenset[str]:
        filled = scanning.with_values(self._shards, list(self._names.values()))
        return frozenset(key for key, name in self._names.items() if name in filled)

    def _read_signals(self) -> tuple[np.ndarray, np.ndarray]:
        return scanning.signals(self._shards, tuple(RANKS))

    def _read_reasons(self) -> scanning.ReasonCounts:
        return scanning.count_reasons(self._shards)

    def _matching(self, wanted: str) -> np.ndarray:
        kept = np.zeros(self.total, dtype=bool)
        for first, batch in scanning.batches(self._shards, ("id", "path", "reasons")):
            kept[first : first + batch.num_rows] = _matches(batch, wanted)
        return kept

    def _id_order(self) -> np.ndarray:
        import pyarrow as pa
        import pyarrow.compute as pc

        found = [batch.column(0) for _, batch in scanning.batches(self._shards, ("id",))]
        return np.argsort(pc.sort_indices(pa.chunked_array(found, pa.string())).to_numpy()).astype(np.int32)

    def places(self, ids: Sequence[str]) -> Sequence[ClipPath]:
        if len(ids) <= _FEW:
            return super().places(ids)
        found = dict.fromkeys(ids, "")
        for _, batch in scanning.batches(self._shards, ("id", "path")):
            pairs = zip(batch.column(0).to_pylist(), batch.column(1).to_pylist(), strict=True)
            found.update((name, path) for name, path in pairs if name in found)
        return [ClipPath(one, found[one]) for one in ids]

    def _ids(self, positions: np.ndarray) -> list[str]:
        if len(positions) <= 2:
            return super()._ids(positions)
        texts = np.empty(len(positions), dtype=object)
        order = np.argsort(positions)
        ordered = positions[order]
        for first, batch in scanning.batches(self._shards, ("id",)):
            low, high = np.searchsorted(ordered, (first, first + batch.num_rows))
            if low < high:
                texts[order[low:high]] = batch.column(0).take((ordered[low:high] - first).tolist()).to_pylist()
        return texts.tolist()


def _matches(batch: pa.RecordBatch, wanted: str) -> np.ndarray:
    """Per clip of a batch of id, path and reasons."""
    import pyarrow.compute as pc

    kept: np.ndarray = _holds(batch.column(0), wanted) | _holds(batch.column(1), wanted)
    many = pc.fill_null(pc.list_value_length(batch.column(2)), 0).to_numpy(zero_copy_only=False)
    reasons = _holds(pc.list_flatten(batch.column(2)), wanted)
    kept[np.repeat(np.arange(batch.num_rows), many)[reasons]] = True
    return kept


def _holds(texts: Any, wanted: str) -> np.ndarray:
    import pyarrow.compute as pc

    found = np.array(pc.match_substring(pc.utf8_lower(texts), wanted).to_numpy(zero_copy_only=False), dtype=bool)
    odd = np.asarray(pc.match_substring_regex(texts, _ODD).to_numpy(zero_copy_only=False), dtype=bool)
    for place in np.flatnonzero(odd).tolist():
        found[place] = wanted in texts[place].as_py().casefold()
    return found
