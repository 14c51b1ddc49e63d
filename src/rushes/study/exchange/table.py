"""The full table of votes, CSV or Parquet: nothing left out, and it reads back to the same votes.

Shown side, gold, repeats and adjudications are columns; so are the play ledger (`watch_ledger`: JSON, stretches of
`[clip, pass, from_ms, to_ms]`) and, for reading by eye, the passes and milliseconds it adds up to.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

from rushes.core.canonical import canonical_json
from rushes.core.errors import InputError
from rushes.core.machine.installing import not_installed
from rushes.instruments.preference.rubric import RUBRIC
from rushes.instruments.preference.votes import Side, Vote, WatchedSpan
from rushes.study.exchange.files import csv_text, read_rows, write_file
from rushes.study.exchange.formats import ExportFormat, keeps_all

DIMENSIONS = tuple(dimension.key for dimension in RUBRIC.dimensions)
_TEXT = ("sample", "family", "prompt", "system_a", "system_b", "winner", "rater", "primary_tag", "note")
_CLIPS = ("clip_a", "clip_b")
_FLAGS = ("adjudicated", "is_gold", "is_repeat")
_NUMBERS = (
    *(f"{key}_{side}" for key in DIMENSIONS for side in ("a", "b", "pair")),
    *("passes_a", "passes_b", "watched_ms_a", "watched_ms_b"),
)
_NEEDED = (*_TEXT, "secondary_tags", "shown_left", *_CLIPS, *_FLAGS, *_NUMBERS, "watch_ledger")
VIEWING = "viewing"
"""How the vote was looked at, as JSON."""
OWN = "own_ratings"
"""Ratings on dimensions of an own rubric, as JSON: {"key": [for a, for b]}; empty under the built-in rubric."""
COLUMNS = (*_NEEDED, "turn", VIEWING, OWN)
"""Tables of earlier versions lack the last three: read without them, a vote's turn is not known."""


def write_csv(path: Path | str, votes: Iterable[Vote]) -> Path:
    """Every vote as a CSV row, formulas made harmless."""
    return write_file(path, csv_text(COLUMNS, map(_row, votes)))


def write_parquet(path: Path | str, votes: Iterable[Vote]) -> Path:
    """Every vote as a Parquet row, typed; needs pyarrow."""
    arrow, parquet = _pyarrow()
    rows = [_row(vote) for vote in votes]
    types = {name: arrow.bool_() for name in _FLAGS} | {name: arrow.int64() for name in (*_NUMBERS, "turn")}
    schema = arrow.schema([(name, types.get(name, arrow.string())) for name in COLUMNS])
    out = io.BytesIO()
    parquet.write_table(arrow.Table.from_pylist(rows, schema=schema), out)
    return write_file(path, out.getvalue())


def read_table(path: Path | str) -> tuple[Vote, ...]:
    """Read back what `write_csv` or `write_parquet` wrote (told apart by the name's ending)."""
    if Path(path).suffix.lower() != ".parquet":
        return tuple(_placed(path, line, row) for line, row in read_rows(path, needed=_NEEDED))
    arrow, parquet = _pyarrow()
    try:
        table = parquet.read_table(path)
    except (OSError, arrow.ArrowException) as error:
        raise InputError(f"{path}: cannot be read as Parquet ({str(error).splitlines()[0]})") from None
    missing = [name for name in _NEEDED if name not in table.column_names]
    if missing:
        raise InputError(f"{path}: expected a table of votes; missing: {', '.join(missing)}")
    return tuple(_placed(path, number, _as_text(row)) for number, row in enumerate(table.to_pylist(), 1))


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise not_installed("Parquet needs pyarrow", extra="web") from None
    return pyarrow, pyarrow.parquet


def _row(vote: Vote) -> dict[str, object]:
    row: dict[str, object] = {name: getattr(vote, name) for name in (*_TEXT, *_CLIPS, *_FLAGS, "turn")}
    for key in DIMENSIONS:
        row[f"{key}_a"], row[f"{key}_b"] = vote.ratings.get(key, (None, None))
        row[f"{key}_pair"] = vote.pair_ratings.get(key)
    for side in ("a", "b"):
        spans = [span for span in vote.watched if span.clip == side]
        row[f"passes_{side}"] = max((span.watch_pass for span in spans), default=0)
        row[f"watched_ms_{side}"] = sum(span.end_ms - span.start_ms for span in spans)
    ledger = json.dumps([list(span) for span in vote.watched], separators=(",", ":"))
    tags = json.dumps(list(vote.secondary_tags), ensure_ascii=False)
    own = {key: list(both) for key, both in vote.ratings.items() if key not in DIMENSIONS}
    more = {
        VIEWING: canonical_json(dict(vote.viewing)) if vote.viewing else "",
        OWN: canonical_json(own) if own else "",
    }
    return row | {"secondary_tags": tags, "shown_left": vote.shown_left or "", "watch_ledger": ledger, **more}


def _as_text(row: Mapping[str, object]) -> dict[str, str]:
    spelt = {True: "true", False: "false"}
    return {
        key: "" if value is None else spelt[value] if isinstance(value, bool) else str(value)
        for key, value in row.items()
    }


def _placed(path: Path | str, line: int, row: Mapping[str, str]) -> Vote:
    try:
        return _vote(row)
    except (InputError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise InputError(f"{path}, row at line {line}: not a vote ({error})") from None


def _vote(row: Mapping[str, str]) -> Vote:
    numbers = {name: int(row[name]) if row[name] else None for name in _NUMBERS}
    own = json.loads(row.get(OWN) or "{}")
    both = {key: (numbers[f"{key}_a"], numbers[f"{key}_b"]) for key in DIMENSIONS}
    both |= {key: (for_a, for_b) for key, (for_a, for_b) in own.items()}
    pair = {key: numbers[f"{key}_pair"] for key in DIMENSIONS}
    return Vote(
        **{name: row[name] for name in (*_TEXT, *_CLIPS)},  # type: ignore[arg-type]
        **{name: {"true": True, "false": False}[row[name].lower()] for name in _FLAGS},  # type: ignore[arg-type]
        secondary_tags=_tags(json.loads(row["secondary_tags"])),
        shown_left=cast(Side, row["shown_left"]) if row["shown_left"] else None,
        ratings={key: value for key, value in both.items() if value != (None, None)},
        pair_ratings={key: value for key, value in pair.items() if value is not None},
        watched=tuple(_span(*span) for span in json.loads(row["watch_ledger"])),
        turn=int(row.get("turn") or 0),
        viewing=json.loads(row.get(VIEWING) or "{}"),
    )


def _tags(data: object) -> tuple[str, ...]:
    if not isinstance(data, list) or not all(isinstance(tag, str) for tag in data):
        raise InputError(f"secondary_tags is a list of tags; got {data!r}")
    return tuple(data)


def _span(clip: object, watch_pass: object, start_ms: object, end_ms: object) -> WatchedSpan:
    numbers = [n for n in (watch_pass, start_ms, end_ms) if isinstance(n, int) and not isinstance(n, bool)]
    if clip not in ("a", "b") or len(numbers) != 3:
        raise InputError(f"watch_ledger holds [clip, pass, from_ms, to_ms]; got {[clip, watch_pass, start_ms, end_ms]}")
    return WatchedSpan(clip, *numbers)


CSV_FORMAT = ExportFormat(
    title="Everything, CSV",
    text="Every vote with the side it was shown on and its watch ledger; gold, repeats and decisions are marked.",
    ending="csv",
    write=keeps_all(write_csv),
)
PARQUET_FORMAT = ExportFormat(
    title="Everything, Parquet",
    text="The same table with its types, for pandas, DuckDB and Spark.",
    ending="parquet",
    media_type="application/vnd.apache.parquet",
    write=keeps_all(write_parquet),
)
