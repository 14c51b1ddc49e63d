"""Columns of a whole run in shards, by position: what a page or a report about a million clips is made of.

A position is a clip's place in `Shards.lines`. A column of numbers takes 8 bytes a clip; texts are gone through some
thousand at a time and never held. Nothing here needs DuckDB.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import numpy as np

from rushes.runs.shards.places import table_fault
from rushes.runs.shards.reading import Shards
from rushes.runs.shards.spool import Span

if TYPE_CHECKING:
    import pyarrow as pa

_BATCH = 16_384
_NUMBER = r"(^|[^a-z0-9_])\d[\d.,]*"
"""A number in a reason; digits in the name of a metric are none."""
_NOT_JUDGED = r'"not_judged":(?P<names>\[[^\]]*\])'


def values(shards: Shards, dataset: Any, column: str) -> np.ndarray:
    """A column of numbers by position; NaN where a clip has none."""
    import pyarrow.compute as pc

    try:
        found = dataset.to_table(columns={"value": pc.field(column)}).column(0)
    except (OSError, ValueError) as error:
        raise table_fault(shards.place, "shards", error) from None
    return np.asarray(found.to_numpy(), dtype=np.float64)


def has_values(shards: Shards, dataset: Any, column: str) -> bool:
    """Whether some clip has a value; reads no further than the first."""
    import pyarrow.compute as pc

    field = pc.field(column)
    try:
        return bool(dataset.head(1, columns={"value": field}, filter=field.is_valid()).num_rows)
    except (OSError, ValueError) as error:
        raise table_fault(shards.place, "shards", error) from None


def batches(shards: Shards, dataset: Any, columns: Sequence[str]) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Some thousand rows at a time in order, each with the position of its first."""
    first = 0
    try:
        for batch in dataset.to_batches(columns=list(columns), batch_size=_BATCH):
            yield first, batch
            first += batch.num_rows
    except (OSError, ValueError) as error:
        raise table_fault(shards.place, "shards", error) from None


def signals(shards: Shards, dataset: Any, badges: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Per position: the place of the review signal in `badges` (their number for none), and how many reasons it has."""
    import pyarrow as pa
    import pyarrow.compute as pc

    known = pa.array(badges, pa.string())
    codes, reasons = [np.empty(0, np.int8)], [np.empty(0, np.int32)]
    for _, batch in batches(shards, dataset, ("badge", "reasons")):
        place = pc.fill_null(pc.index_in(batch.column(0), value_set=known), len(badges))
        codes.append(place.to_numpy(zero_copy_only=False).astype(np.int8))
        many = pc.fill_null(pc.list_value_length(batch.column(1)), 0)
        reasons.append(many.to_numpy(zero_copy_only=False).astype(np.int32))
    return np.concatenate(codes), np.concatenate(reasons)


def worst_first(codes: np.ndarray, reasons: np.ndarray) -> np.ndarray:
    """Positions by review signal, worst first, then most reasons first; input order among equals."""
    return np.lexsort((-reasons, codes)).astype(np.int32)


def tally_reasons(
    shards: Shards, dataset: Any, name: Callable[[str], str], *, once: bool = False
) -> tuple[Counter[str], dict[str, str]]:
    """Reasons counted by what `name` calls them, and the first of each, its numbers replaced by 0.

    `name` must not depend on the numbers. With `once`, a clip counts once for each name.
    """
    import pyarrow.compute as pc

    counts: Counter[str] = Counter()
    first: dict[str, str] = {}
    for _, batch in batches(shards, dataset, ("reasons",)):
        texts = pc.replace_substring_regex(pc.list_flatten(batch.column(0)), _NUMBER, r"\10")
        coded = texts.dictionary_encode()
        names = [name(text) for text in coded.dictionary.to_pylist()]
        for text, found in zip(coded.dictionary.to_pylist(), names, strict=True):
            first.setdefault(found, text)
        order = list(dict.fromkeys(names))
        places = {found: place for place, found in enumerate(order)}
        which = np.array([places[found] for found in names], dtype=np.int64)[coded.indices.to_numpy()]
        if once and len(which):
            many = pc.fill_null(pc.list_value_length(batch.column(0)), 0).to_numpy(zero_copy_only=False)
            clips = np.repeat(np.arange(batch.num_rows), many)
            which = np.unique(clips * len(order) + which) % len(order)
        for place, count in enumerate(np.bincount(which, minlength=len(order)).tolist() if order else ()):
            counts[order[place]] += count
    return counts, first


def tally_not_judged(shards: Shards, dataset: Any) -> Counter[str]:
    """Metrics with a rule but without a value, as the clips' facts list them, with how many clips."""
    import pyarrow.compute as pc

    found: Counter[str] = Counter()
    for _, batch in batches(shards, dataset, ("facts",)):
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
