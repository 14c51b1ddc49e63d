"""Columns of a whole run in shards, by position: what a page or a report about a million clips is made of.

A position is a clip's place in `Shards.lines`. A column of numbers takes 8 bytes a clip; texts are gone through some
thousand at a time and never held. Nothing here needs DuckDB.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import numpy as np

from rushes.storage.runs.old_reasons import read_reason
from rushes.storage.shards.index import Index
from rushes.storage.shards.reading import Shards, open_table, table_errors
from rushes.storage.shards.spool import Span
from rushes.storage.shards.table import schema

if TYPE_CHECKING:
    import pyarrow as pa

_BATCH = 16_384
_NOT_JUDGED = r'"not_judged":(?P<names>\[[^\]]*\])'


def values(shards: Shards, columns: Sequence[str]) -> list[np.ndarray]:
    """Columns of numbers by position; NaN where a clip has none."""
    found: list[list[np.ndarray]] = [[np.empty(0)] for _ in columns]
    for table in _tables(shards, columns):
        for name, arrays in zip(columns, found, strict=True):
            there = name in table.column_names
            cells = table.column(name).to_numpy() if there else np.full(table.num_rows, np.nan)
            arrays.append(np.asarray(cells, dtype=np.float64))
    return [np.concatenate(arrays) for arrays in found]


def with_values(shards: Shards, columns: Sequence[str]) -> frozenset[str]:
    """The columns in which some clip has a value, by what each file says about itself: no value is read."""
    left = set(columns)
    for shard in shards.index.shards:
        if left:
            shards.require_intact(shard)
            with open_table(shards.place, shard.name) as table:
                left -= _filled(table.metadata, left)
    if left and shards.loose:
        loose = Shards(shards.place, Index((), shards.index.definitions), shards.loose)
        names = sorted(left)
        found = zip(names, values(loose, names), strict=True)
        left -= {name for name, cells in found if not np.isnan(cells).all()}
    return frozenset(columns) - left


def _filled(foot: Any, columns: Collection[str]) -> set[str]:
    names = foot.schema.names
    groups = [foot.row_group(number) for number in range(foot.num_row_groups)]

    def is_filled(place: int) -> bool:
        told = (group.column(place).statistics for group in groups)
        return any(one is None or one.num_values for one in told)

    return {name for name in columns if name in names and is_filled(names.index(name))}


def batches(shards: Shards, columns: Sequence[str]) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Some thousand rows at a time in order, each with the position of its first; of columns that every run has."""
    import pyarrow as pa

    first, kinds = 0, schema((), ())
    for table in _tables(shards, columns):
        for name in set(columns) - set(table.column_names):  # a shard of before this column
            table = table.append_column(kinds.field(name), pa.nulls(table.num_rows, kinds.field(name).type))
        for batch in table.select(list(columns)).combine_chunks().to_batches(max_chunksize=_BATCH):
            yield first, batch
            first += batch.num_rows


def _tables(shards: Shards, columns: Sequence[str]) -> Iterator[pa.Table]:
    """Those of the columns that are there, of one shard at a time; then of the clips that are in none.

    File by file: a data set of Arrow's over the same files takes ten times as long, and a megabyte for each.
    """
    for shard in shards.index.shards:
        shards.require_intact(shard)
        with open_table(shards.place, shard.name) as table:
            names = set(table.schema_arrow.names)
            there = [name for name in dict.fromkeys(columns) if name in names]
            # A column of no row says how many rows there are.
            found = table.read(columns=there or ["number"])
        yield found if there else found.select([])
    if shards.loose:
        loose = Shards(shards.place, Index((), shards.index.definitions), shards.loose).dataset()
        with table_errors(shards.place):
            yield loose.to_table(columns=[name for name in dict.fromkeys(columns) if name in loose.schema.names])


def signals(shards: Shards, badges: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Per position: the place of the review signal in `badges` (their number for none), and the severity.

    Shards of before 0.3 have no severity; the number of reasons takes its place there.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    known = pa.array(badges, pa.string())
    codes, sizes = [np.empty(0, np.int8)], [np.empty(0)]
    for _, batch in batches(shards, ("badge", "severity")):
        place = pc.fill_null(pc.index_in(batch.column(0), value_set=known), len(badges))
        codes.append(place.to_numpy(zero_copy_only=False).astype(np.int8))
        sizes.append(batch.column(1).to_numpy(zero_copy_only=False))
    severity = np.concatenate(sizes)
    if (lack := np.isnan(severity)).any():
        counts = (pc.list_value_length(batch.column(0)) for _, batch in batches(shards, ("reasons",)))
        many = np.concatenate([pc.fill_null(one, 0).to_numpy(zero_copy_only=False) for one in counts])
        severity = np.where(lack, many, severity)
    return np.concatenate(codes), severity


def worst_first(codes: np.ndarray, severity: np.ndarray) -> np.ndarray:
    """Positions by review signal, worst first, then by severity; input order among equals."""
    found = [np.flatnonzero(codes == code) for code in np.unique(codes)]
    # Most clips have passed, each with severity 0: those are in order as they are.
    ranked = [one[np.argsort(-severity[one], kind="stable")] if severity[one].any() else one for one in found]
    return np.concatenate([np.empty(0, np.int32), *ranked]).astype(np.int32)


@dataclass(frozen=True, slots=True)
class ReasonCounts:
    """What the reasons of a run are about."""

    about: Counter[str] = field(default_factory=Counter)
    """Reasons by `Reason.about`."""
    kinds: Counter[str] = field(default_factory=Counter)
    """Clips by `Reason.kind`."""
    words: dict[str, str] = field(default_factory=dict)
    """The kind of the first reason of each `about`."""


def count_reasons(shards: Shards) -> ReasonCounts:
    """Reasons counted over all clips."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found = ReasonCounts()
    for _, batch in batches(shards, ("reasons", "reason_about", "reason_kind")):
        many = pc.fill_null(pc.list_value_length(batch.column(0)), 0).to_numpy(zero_copy_only=False)
        about, kinds = _names(batch)
        clips = pa.array(np.repeat(np.arange(batch.num_rows), many))
        table = pa.table({"clip": clips, "about": about, "kind": kinds})
        for row in (
            pa.TableGroupBy(table, ["about", "kind"], use_threads=False).aggregate([([], "count_all")]).to_pylist()
        ):
            found.about[row["about"]] += row["count_all"]
            found.words.setdefault(row["about"], row["kind"])
        once = pa.TableGroupBy(table, ["clip", "kind"], use_threads=False).aggregate([])
        found.kinds.update({row["values"]: row["counts"] for row in once.column("kind").value_counts().to_pylist()})
    return found


def _names(batch: pa.RecordBatch) -> tuple[Any, Any]:
    """`about` and `kind` of every reason of a batch; a shard of format 3 has the sentences alone."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts, about, kinds = map(pc.list_flatten, batch.columns)
    if len(about) == len(texts):
        return about, kinds
    read = [read_reason(text) for text in texts.to_pylist()]
    return pa.array([one.about for one in read]), pa.array([one.kind for one in read])


def tally_not_judged(shards: Shards) -> Counter[str]:
    """Metrics with a rule but without a value, as the clips' facts list them, with how many clips."""
    import pyarrow.compute as pc

    found: Counter[str] = Counter()
    for _, batch in batches(shards, ("facts",)):
        lists = pc.struct_field(pc.extract_regex(batch.column(0), _NOT_JUDGED), "names").drop_null()
        for row in lists.value_counts().to_pylist():
            for name in json.loads(row["values"]):
                found[str(name)] += row["counts"]
    return found


def position_of(shards: Shards, subject_id: str) -> int | None:
    """Where a clip stands; None where the run has none of this id."""
    found = shards.find(subject_id)
    if found is None:
        return None
    if isinstance(found, Span):
        return shards.index.rows + list(shards.loose).index(subject_id)
    shard, row = found
    return sum(other.rows for other in takewhile(lambda other: other is not shard, shards.index.shards)) + row


def lines_at(shards: Shards, positions: Sequence[int]) -> list[bytes]:
    """The lines of some clips in the order asked for; a row group is read once."""
    found = {position: shards.line(position) for position in sorted(set(positions))}
    return [found[position] for position in positions]
