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

if TYPE_CHECKING:
    import pyarrow as pa

_BATCH = 16_384
_AT_ONCE = 8
"""Shards whose files are open at once."""
_NOT_JUDGED = r'"not_judged":(?P<names>\[[^\]]*\])'


def values(shards: Shards, columns: Sequence[str]) -> list[np.ndarray]:
    """Columns of numbers by position; NaN where a clip has none."""
    import pyarrow.compute as pc

    found: list[list[np.ndarray]] = [[np.empty(0)] for _ in columns]
    for part in _parts(shards):
        dataset = part.dataset()
        there = {name: pc.field(name) for name in columns if name in dataset.schema.names}
        with table_errors(shards.place):
            table = dataset.to_table(columns=there) if there else None
        for name, arrays in zip(columns, found, strict=True):
            if table is None or name not in there:
                arrays.append(np.full(len(part), np.nan))
            else:
                arrays.append(np.asarray(table.column(name).to_numpy(), dtype=np.float64))
    return [np.concatenate(arrays) for arrays in found]


def stored_columns(shards: Shards, columns: Sequence[str]) -> list[Any]:
    """Columns of any kind by position, as Arrow has them; None for one that no shard has."""

    dataset = shards.dataset()
    there = [name for name in columns if name in dataset.schema.names]
    with table_errors(shards.place):
        table: pa.Table = dataset.to_table(columns=there)
    return [table.column(name) if name in there else None for name in columns]


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


def without_gaps(shards: Shards, columns: Sequence[str]) -> frozenset[str]:
    """The columns in which every clip has a value, by what each file says about itself: no value is read."""
    if shards.loose:
        return frozenset()
    left = set(columns)
    for shard in shards.index.shards:
        shards.require_intact(shard)
        with open_table(shards.place, shard.name) as table:
            left &= _whole(table.metadata, left)
    return frozenset(left)


def _whole(foot: Any, columns: Collection[str]) -> set[str]:
    names = foot.schema.names
    groups = [foot.row_group(number) for number in range(foot.num_row_groups)]

    def is_whole(place: int) -> bool:
        told = (group.column(place).statistics for group in groups)
        return all(one is not None and one.null_count == 0 for one in told)

    return {name for name in columns if name in names and is_whole(names.index(name))}


def _filled(foot: Any, columns: Collection[str]) -> set[str]:
    names = foot.schema.names
    groups = [foot.row_group(number) for number in range(foot.num_row_groups)]

    def is_filled(place: int) -> bool:
        told = (group.column(place).statistics for group in groups)
        return any(one is None or one.num_values for one in told)

    return {name for name in columns if name in names and is_filled(names.index(name))}


def batches(shards: Shards, columns: Sequence[str]) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Some thousand rows at a time in order, each with the position of its first; of columns that every run has."""
    first = 0
    for part in _parts(shards):
        with table_errors(shards.place):
            for batch in part.dataset().to_batches(columns=list(columns), batch_size=_BATCH):
                yield first, batch
                first += batch.num_rows


def _parts(shards: Shards) -> Iterator[Shards]:
    """Some shards at a time, then the clips that are in none: what Arrow knows of a file takes more than a megabyte."""
    index = shards.index
    for first in range(0, len(index.shards), _AT_ONCE):
        part = Index(index.shards[first : first + _AT_ONCE], index.definitions)
        yield Shards(shards.place, part, checked=shards.checked)
    if shards.loose:
        yield Shards(shards.place, Index((), index.definitions), shards.loose)


def signals(shards: Shards, badges: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Per position: the place of the review signal in `badges` (their number for none), and the severity.

    Shards of before 0.3 have no severity; the number of reasons takes its place there.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    known = pa.array(badges, pa.string())
    codes, severity = [np.empty(0, np.int8)], [np.empty(0)]
    for _, batch in batches(shards, ("badge", "severity", "reasons")):
        place = pc.fill_null(pc.index_in(batch.column(0), value_set=known), len(badges))
        codes.append(place.to_numpy(zero_copy_only=False).astype(np.int8))
        many = pc.fill_null(pc.list_value_length(batch.column(2)), 0).cast(pa.float64())
        severity.append(pc.coalesce(batch.column(1), many).to_numpy(zero_copy_only=False))
    return np.concatenate(codes), np.concatenate(severity)


def worst_first(codes: np.ndarray, severity: np.ndarray) -> np.ndarray:
    """Positions by review signal, worst first, then by severity; input order among equals."""
    return np.lexsort((-severity, codes)).astype(np.int32)


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
