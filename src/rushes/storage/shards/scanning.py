"""Columns of a whole run in shards, by position: what a page or a report about a million clips is made of.

A position is a clip's place in `Shards.lines`. A column of numbers takes 8 bytes a clip; texts are gone through some
thousand at a time and never held. Nothing here needs DuckDB.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import accumulate, takewhile
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from rushes.storage.runs.old_reasons import read_reason
from rushes.storage.shards.build import GROUP
from rushes.storage.shards.index import Index, Shard
from rushes.storage.shards.reading import Shards, open_table, table_errors
from rushes.storage.shards.spool import Span
from rushes.storage.shards.table import column_type

if TYPE_CHECKING:
    import pyarrow as pa

_BATCH = 16_384
_NOT_JUDGED = r'"not_judged":(?P<names>\[[^\]]*\])'
_SILENT = '"media":{"audio":null'
"""In the facts of a clip without sound: canonical JSON sorts its keys."""


class Collector(Protocol):
    """Takes columns in, one shard's table at a time and in order, and gives what it made of them."""

    columns: Sequence[str]

    def add(self, table: pa.Table) -> None: ...


def collect(shards: Shards, *collectors: Collector) -> None:
    """Feed all of them in one look at the run: most of the time goes into opening the files."""
    for table in _tables(shards, [name for one in collectors for name in one.columns]):
        for one in collectors:
            one.add(table)


class Values:
    """Columns of numbers by position, of a run with so many rows; NaN where a clip has none."""

    def __init__(self, columns: Sequence[str], rows: int) -> None:
        self.columns = columns
        self.found = [np.empty(rows) for _ in columns]
        self._filled = 0

    def add(self, table: pa.Table) -> None:
        end = self._filled + table.num_rows
        for name, array in zip(self.columns, self.found, strict=True):
            array[self._filled : end] = _floats(table.column(name).combine_chunks())
        self._filled = end


def _floats(cells: pa.Array) -> np.ndarray:
    """Numbers, NaN where there is none. No scalar, and no `to_numpy`: either would load pandas."""
    import pyarrow as pa

    cells = cells.cast(pa.float64())
    bare = pa.Array.from_buffers(cells.type, len(cells), [None, cells.buffers()[1]], offset=cells.offset)
    found = np.from_dlpack(bare)
    return np.where(_valid(cells), found, np.nan) if cells.null_count else found


def _valid(cells: pa.Array) -> np.ndarray:
    import pyarrow as pa

    return np.from_dlpack(cells.is_valid().cast(pa.uint8())).view(bool)


class Present:
    """Which clips have a value in each of these columns."""

    def __init__(self, columns: Sequence[str]) -> None:
        self.columns = columns
        self._found: list[list[np.ndarray]] = [[np.empty(0, dtype=bool)] for _ in columns]

    def add(self, table: pa.Table) -> None:
        for name, arrays in zip(self.columns, self._found, strict=True):
            arrays += [_valid(part) for part in table.column(name).chunks]

    def found(self) -> dict[str, np.ndarray]:
        return {name: np.concatenate(arrays) for name, arrays in zip(self.columns, self._found, strict=True)}


def values(shards: Shards, columns: Sequence[str]) -> list[np.ndarray]:
    """These columns, as `Values` has them."""
    made = Values(columns, len(shards))
    collect(shards, made)
    return made.found


def with_values(shards: Shards, columns: Sequence[str]) -> frozenset[str]:
    """The columns in which some clip has a value, by what each file says about itself: no value is read."""
    left = set(columns)
    for shard in shards.index.shards:
        if left:
            for name, chunks in _chunks(shards, shard, left):
                if any(map(_filled, chunks)):
                    left.discard(name)
    if left and shards.loose:
        left -= {name for name, there in _loose_cells(shards, sorted(left)).items() if there.any()}
    return frozenset(columns) - left


def filled(shards: Shards, columns: Sequence[str]) -> dict[str, int]:
    """How many clips have a value in each of these columns, by what each file says about itself: no value is read."""
    found = dict.fromkeys(columns, 0)
    for shard in shards.index.shards:
        for name, chunks in _chunks(shards, shard, columns):
            found[name] += sum(map(_filled, chunks))
    if shards.loose:
        for name, there in _loose_cells(shards, columns).items():
            found[name] += int(np.count_nonzero(there))
    return found


def _chunks(shards: Shards, shard: Shard, columns: Collection[str]) -> Iterator[tuple[str, Iterator[Any]]]:
    """Of each of these columns that a shard has, what its file says about the part in each row group."""
    shards.require_intact(shard)
    wanted = frozenset(columns)
    with open_table(shards.place, shard.name) as table:
        # Not by `metadata.schema`: that and the metadata refer to each other, and two megabytes stay.
        places = [(place, name) for place, name in enumerate(table.schema_arrow.names) if name in wanted]
        groups = [table.metadata.row_group(number) for number in range(table.num_row_groups)]
        for place, name in places:
            yield name, (group.column(place) for group in groups)


def _filled(chunk: Any) -> int:
    told = chunk.statistics
    return int(chunk.num_values - (1 if told is None else told.null_count))


def _loose_cells(shards: Shards, columns: Sequence[str]) -> dict[str, np.ndarray]:
    """Which of the clips that are in no shard have a value in each of these columns."""
    loose = Present(columns)
    collect(Shards(shards.place, Index((), shards.index.definitions), shards.loose), loose)
    return loose.found()


def batches(
    shards: Shards, columns: Sequence[str], *, coded: Sequence[str] = ()
) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Some thousand rows at a time in order, each with the position of its first; of columns that every run has.

    Those that are `coded` may come as Arrow's dictionaries, as they are stored: texts that most clips share.
    """
    first = 0
    for table in _tables(shards, columns, coded):
        for batch in table.combine_chunks().to_batches(max_chunksize=_BATCH):
            yield first, batch
            first += batch.num_rows


def _tables(shards: Shards, columns: Sequence[str], coded: Sequence[str] = ()) -> Iterator[pa.Table]:
    """These columns of one shard at a time, null where it has none; then of the clips that are in no shard.

    File by file: a data set of Arrow's over the same files takes ten times as long, and a megabyte for each.
    """
    wanted = list(dict.fromkeys(columns))

    def read(shard: Shard) -> pa.Table:
        shards.require_intact(shard)
        with open_table(shards.place, shard.name, coded=coded) as table:
            names = set(table.schema_arrow.names)
            # A column of numbers says how many rows there are, where none that is wanted is there.
            found = table.read(columns=[name for name in wanted if name in names] or ["number"])
        return _with_all(found, wanted)

    yield from _one_ahead(read, shards.index.shards)
    if shards.loose:
        loose = Shards(shards.place, Index((), shards.index.definitions), shards.loose).dataset()
        with table_errors(shards.place):
            found = loose.to_table(columns=[name for name in wanted if name in loose.schema.names])
        yield _with_all(found, wanted)


def _one_ahead(read: Callable[[Shard], pa.Table], shards: Sequence[Shard]) -> Iterator[pa.Table]:
    """What is read of each, in order; the next one is read while the caller works on this one."""
    if len(shards) < 2:
        yield from map(read, shards)
        return
    with ThreadPoolExecutor(1) as reader:
        coming = reader.submit(read, shards[0])
        for shard in shards[1:]:
            found, coming = coming.result(), reader.submit(read, shard)
            yield found
        yield coming.result()


def _with_all(table: pa.Table, wanted: Sequence[str]) -> pa.Table:
    """The table with these columns; one that is not there is null: of numbers, or of before there was such a column."""
    import pyarrow as pa

    for name in (name for name in wanted if name not in table.column_names):
        table = table.append_column(name, pa.nulls(table.num_rows, column_type(name)))
    return table.select(wanted)


class Signals:
    """Per position: the place of the review signal in `badges` (their number for none), and the severity.

    Shards of before 0.3 have no severity; the number of reasons takes its place there.
    """

    columns: Sequence[str] = ("badge", "severity", "reasons")

    def __init__(self, badges: Sequence[str]) -> None:
        self._badges = badges
        self._codes, self._severity = [np.empty(0, np.int8)], [np.empty(0)]

    def add(self, table: pa.Table) -> None:
        import pyarrow.compute as pc

        coded, other = table.column("badge").combine_chunks().dictionary_encode(), len(self._badges)
        names = coded.dictionary.to_pylist()
        codes = np.array([*(self._badges.index(n) if n in self._badges else other for n in names), other], np.int8)
        places = np.nan_to_num(_floats(coded.indices), nan=len(names)).astype(np.int64)
        self._codes.append(codes[places])
        severity = _floats(table.column("severity").combine_chunks())
        if np.isnan(severity).any():
            many = _floats(pc.list_value_length(table.column("reasons").combine_chunks()))
            severity = np.where(np.isnan(severity), np.nan_to_num(many), severity)
        self._severity.append(severity)

    def found(self) -> tuple[np.ndarray, np.ndarray]:
        return np.concatenate(self._codes), np.concatenate(self._severity)


def signals(shards: Shards, badges: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Review signals and severities, as `Signals` has them."""
    made = Signals(badges)
    collect(shards, made)
    return made.found()


def worst_first(codes: np.ndarray, severity: np.ndarray) -> np.ndarray:
    """Positions by review signal, worst first, then by severity; input order among equals."""
    found = [np.flatnonzero(codes == code) for code in np.flatnonzero(np.bincount(codes))]
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


class Reasons:
    """Reasons counted over all clips."""

    columns: Sequence[str] = ("reasons", "reason_about", "reason_kind")

    def __init__(self) -> None:
        self.found = ReasonCounts()

    def add(self, table: pa.Table) -> None:
        import pyarrow.compute as pc

        clips = np.from_dlpack(pc.list_parent_indices(table.column("reasons").combine_chunks()))
        coded = [one.dictionary_encode() for one in _names(table.select(self.columns))]
        (about, kind), (a, k) = ([one.dictionary.to_pylist() for one in coded], [_places(one) for one in coded])
        wide = max(len(kind), 1)
        pairs, first, many = np.unique(a * wide + k, return_index=True, return_counts=True)
        for place in np.argsort(first).tolist():
            name, word = divmod(int(pairs[place]), wide)
            self.found.about[about[name]] += int(many[place])
            self.found.words.setdefault(about[name], kind[word])
        once = np.unique(clips * wide + k) % wide  # a clip counts once for each kind
        self.found.kinds.update(dict(zip(kind, np.bincount(once, minlength=len(kind)).tolist(), strict=True)))


def _places(coded: Any) -> np.ndarray:
    return np.asarray(_floats(coded.indices).astype(np.int64))


def count_reasons(shards: Shards) -> ReasonCounts:
    """Reasons, as `Reasons` counts them."""
    made = Reasons()
    collect(shards, made)
    return made.found


def _names(table: pa.Table) -> tuple[Any, Any]:
    """`about` and `kind` of every reason; a shard of format 3 has the sentences alone."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts, about, kinds = (pc.list_flatten(column.combine_chunks()) for column in table.columns)
    if len(about) == len(texts):
        return about, kinds
    read = [read_reason(text) for text in texts.to_pylist()]
    return pa.array([one.about for one in read]), pa.array([one.kind for one in read])


def tally_not_judged(
    shards: Shards, *, of_sound: Callable[[str], bool] = lambda name: False, only: str = ""
) -> Counter[str]:
    """Metrics with a rule but without a value, as the clips' facts list them, with how many clips.

    Those that are `of_sound` are not counted for clips without sound. Clips whose flag of this name is false are left
    out: `only="decode_ok"` counts those that can be decoded.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    flags = [key.column("value") for key in shards.readings if only and key.name == only]
    found: Counter[str] = Counter()
    for _, batch in batches(shards, ("facts", *flags)):
        for name in flags:
            batch = batch.filter(pc.fill_null(pc.not_equal(batch.column(name), pa.scalar(0.0)), True))
        lists = pc.struct_field(pc.extract_regex(batch.column(0), _NOT_JUDGED), "names")
        silent = pc.match_substring(batch.column(0), _SILENT)
        for without, part in ((True, lists.filter(silent)), (False, lists.filter(pc.invert(silent)))):
            for row in part.drop_null().value_counts().to_pylist():
                names = [str(name) for name in json.loads(row["values"])]
                found.update({name: row["counts"] for name in names if not (without and of_sound(name))})
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


def group_at(shards: Shards, position: int, columns: Sequence[str]) -> tuple[range, list[Any]]:
    """The row group of a clip that is in a shard: the positions of its clips, and these columns."""
    ends = list(accumulate(shard.rows for shard in shards.index.shards))
    place = bisect_right(ends, position)
    shard = shards.index.shards[place]
    first = ends[place] - shard.rows
    group = (position - first) // GROUP
    shards.require_intact(shard)
    with open_table(shards.place, shard.name) as table:
        names = set(table.schema_arrow.names)
        found = table.read_row_group(group, columns=[name for name in columns if name in names] or ["number"])
    start = first + group * GROUP
    return range(start, start + found.num_rows), _with_all(found, columns).columns


def lines_at(shards: Shards, positions: Sequence[int]) -> list[bytes]:
    """The lines of some clips in the order asked for; a row group is read once."""
    found = {position: shards.line(position) for position in sorted(set(positions))}
    return [found[position] for position in positions]
