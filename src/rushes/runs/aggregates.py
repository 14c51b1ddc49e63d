"""Counts, histograms, pages and samples of a run of any size, without reading all of it.

Each is answered from the columns it is about, in the run's own files: what a page about a million clips is made of.
Columns are those of `rushes.query`'s view `clips`.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rushes.core import Definition
from rushes.errors import InputError
from rushes.runs.query import CLIP_COLUMNS, Column, columns_of, query
from rushes.runs.run import Run
from rushes.runs.subjects import Entry

_REASON = r"""
coalesce(nullif(regexp_extract(reason, '(?:^|\()([a-z][a-z0-9_]*)=', 1), ''),
regexp_replace(split_part(reason, ' (', 1), '\d[\d.,]*', '…', 'g'))
"""
"""What a reason is about, as reports say it: the metric in "flickers (luma_alternation=26.44 > 1.0)", else the words
without their numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram:
    """How often a reading's values fall into bins of one width; a value on an edge belongs to the bin above it."""

    definition: Definition
    edges: tuple[float, ...]
    """One more than there are bins; the last edge belongs to the last bin."""
    counts: tuple[int, ...]
    missing: int
    """Clips without a value."""
    outside: int
    """Values below the first edge or above the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Some rows of many."""

    rows: tuple[dict[str, Any], ...]
    total: int
    """How many there are that fit."""


def badge_counts(run: Run) -> dict[str | None, int]:
    """Clips by review signal; of a run in shards, the index has them."""
    found: Counter[str | None] = Counter()
    if run.shards is not None and not run.shards.loose:
        for shard in run.shards.index.shards:
            found.update({badge or None: count for badge, count in shard.badges.items()})
    else:
        found.update(subject.badge for subject in run.subjects)
    return dict(found)


def reason_counts(run: Run) -> dict[str, int]:
    """Clips by what their reasons are about, most first; a clip counts once for each."""
    rows = query(
        run,
        f"select {_REASON} as about, count(distinct number) as clips "  # known columns  # nosec B608
        "from (select number, unnest(reasons) as reason from clips) group by about order by clips desc, about",
    )
    return {row["about"]: row["clips"] for row in rows.to_pylist()}


def histogram(run: Run, column: str, *, bins: int = 40, range: tuple[float, float] | None = None) -> Histogram:
    """How a reading's values lie, from the least to the greatest or over `range`, in `bins` bins of one width.

    Where all values are equal, or there is none, the range is 1 wide. `InputError` for a column that holds no numbers.
    """
    import numpy as np

    if bins < 1:
        raise InputError(f"a histogram has at least 1 bin; got {bins}")
    found = _column(run, column)
    asked = f'select "{column}" as value from clips'  # a known column  # nosec B608
    cells = query(run, asked).column(0).to_numpy(zero_copy_only=False)
    values = cells[~np.isnan(cells)] if len(cells) else np.empty(0)
    low, high = range or ((float(values.min()), float(values.max())) if len(values) else (0.0, 1.0))
    high = high if high > low else low + 1.0
    counts, edges = np.histogram(values, bins=bins, range=(low, high))
    return Histogram(
        definition=found.definition,
        edges=tuple(map(float, edges)),
        counts=tuple(map(int, counts)),
        missing=len(cells) - len(values),
        outside=len(values) - int(counts.sum()),
    )


def page(
    run: Run,
    *,
    columns: Sequence[str] = ("id", "path", "badge"),
    where: str = "",
    sort: str = "number",
    descending: bool = False,
    first: int = 0,
    size: int = 100,
) -> Page:
    """`size` clips from the `first` that fits `where` (a condition in SQL) on, sorted by a column.

    Clips that are equal in it follow in input order, and those without a value come last.
    """
    for name in (*columns, sort):
        if name not in CLIP_COLUMNS:
            _column(run, name)
    if first < 0 or size < 0:
        raise InputError(f"a page begins at 0 or later and has 0 clips or more; got {first} and {size}")
    chosen = ", ".join(f'"{name}"' for name in columns)
    condition = f"where ({where})" if where else ""
    counted = f"select count(*) as total from clips {condition}"  # no file is reached by it  # nosec B608
    total = query(run, counted).column(0)[0].as_py()
    rows = query(
        run,
        f'select {chosen} from clips {condition} order by "{sort}" '  # known columns  # nosec B608
        f"{'desc' if descending else 'asc'} nulls last, number limit {int(size)} offset {int(first)}",
    )
    return Page(rows=tuple(rows.to_pylist()), total=total)


def worst(run: Run, column: str, count: int, *, where: str = "") -> Page:
    """The clips that are worst in a reading, worst first; `InputError` for one in which neither side is better."""
    better = _column(run, column).definition.better
    if better == "neither":
        raise InputError(f"{run.place}: {column} has no better side, so no clip is worst in it")
    condition = f'"{column}" is not null' + (f" and ({where})" if where else "")
    chosen = dict.fromkeys(("id", "path", "badge", column))
    return page(run, columns=list(chosen), where=condition, sort=column, descending=better == "lower", size=count)


def sample(run: Run, count: int, *, seed: int = 0) -> tuple[Entry, ...]:
    """So many clips, or all, drawn without replacement and in input order; the same for the same seed."""
    many = len(run.subjects)
    numbers = sorted(random.Random(seed).sample(range(many), min(count, many)))  # no secret  # nosec B311
    return tuple(run.entries[number] for number in numbers)


def _column(run: Run, name: str) -> Column:
    for column in columns_of(run):
        if column.name == name:
            return column
    raise InputError(f"{run.place}: no column {name} with numbers; there are {', '.join(_names(run))}")


def _names(run: Run) -> list[str]:
    return [column.name for column in columns_of(run)]
