"""A run directory in memory: what was asked, its subjects, and every number with its definition."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rushes.core import Definition, Measurement
from rushes.core.answer import Answer, told, told_html, words_of
from rushes.core.definition import setting_text
from rushes.core.errors import InputError, RunError
from rushes.core.machine.files import Paths
from rushes.core.reason import worst_key
from rushes.core.registry import optional_package
from rushes.core.selection import Where, keys_of, label, meant_by, one, reading_names, select, spelt, told_apart
from rushes.core.table import ARROWS, NUMBER, TEXT, Cell, Table, number
from rushes.core.words.notebook_repr import COLUMNS, ROWS, line_html, table_html
from rushes.core.words.suggest import did_you_mean
from rushes.storage.integrity.seal import DAMAGED
from rushes.storage.numpy_files import FAULTS, load_npz, reason
from rushes.storage.remote.address import joined
from rushes.storage.remote.errors import Vanished
from rushes.storage.remote.store import get_files
from rushes.storage.runs.packing import line_digest, pack, run_digest
from rushes.storage.runs.relocation import relocate
from rushes.storage.runs.subjects import Entry, Subject

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import pyarrow as pa

    from rushes.storage.shards.reading import Shards

_SUMMARY, _NOTES = "rushes.instruments.catalogue:summary_of", "rushes.instruments.catalogue:notes_of"
"""Named and not imported: what a run says is its instrument's to know."""


class Keeper:
    """Something that a folder's end can be tied to."""


@dataclass(frozen=True, repr=False)
class Run(Answer):
    """What was measured, clip by clip.

        run.summary, run.notes              what the terminal says of it
        len(run), run["p005"]               its clips; one by its id
        for clip in run: clip.id, clip.review_signal, clip["sharpness"].value
        run.flagged, run.rejected           clips to look at, worst first
        run.to_pandas()                     a row per clip, a column per metric
        run.select("psnr"), run.one("psnr", subject="p005"), run.table("psnr")

    A run of pairs has their set as its last subject; `len` and iteration leave that out.
    """

    path: Path
    info: Mapping[str, Any]
    subjects: Sequence[Subject]
    """In input order. A run in shards gives them, and their measurements, as they are asked for."""
    measurements: Mapping[str, tuple[Measurement, ...]]
    """By subject id, in stored order."""
    url: str = ""
    """Where the run lies, when that is a store; `path` is then a folder here that goes when the run does."""
    shards: Shards | None = field(default=None, compare=False)
    """The files of a run in shards; None where all of a run is in memory."""
    damage: tuple[str, ...] = ()
    """What is not as it was written, a line each; only where a damaged run was asked for."""

    keeper: Keeper | None = field(default=None, compare=False)
    """What the folder of a run from a store lives by: shared by copies of the run, and gone with the last of them."""

    remarks: tuple[str, ...] = field(default=(), compare=False)
    """What the call that made it had to say: files that were skipped, clips that are gone."""

    __repr__ = told

    @property
    def summary(self) -> str:
        """The answer in a sentence or a few, as the terminal and the run's page have it."""
        if self.shards is not None:
            return self._counted
        words: str = words_of(self, _SUMMARY)
        return f"{self.place}: {words}" + ("" if self.status == "complete" else f" The run is {self.status}.")

    @property
    def _counted(self) -> str:
        numbers = self.shards.numbers if self.shards else sum(map(len, self.measurements.values()))
        return f"{self.place}: {self.instrument}, {len(self.subjects):,} clips, {numbers:,} values, {self.status}"

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know beside the summary."""
        more: tuple[str, ...] = () if self.shards is not None else words_of(self, _NOTES)
        return (*self.remarks, *more)

    def _items(self) -> Sequence[Entry]:
        if self.shards is not None:
            return self.entries
        return [entry for entry in self.entries if entry.subject.kind != "set"] or self.entries

    def __getitem__(self, name: str) -> Entry:
        """One clip by its id."""
        if self.shards is not None and name in self.measurements:
            return next(entry for entry in self.entries if entry.subject.id == name)
        for entry in self.entries:
            if entry.subject.id == name:
                return entry
        raise InputError(f"{self.place}: no clip is called {name!r}{did_you_mean(name, (s.id for s in self.subjects))}")

    @property
    def flagged(self) -> list[Entry]:
        """Clips with the review signal flagged, worst first."""
        return self._with_signal("flagged")

    @property
    def rejected(self) -> list[Entry]:
        """Clips with the review signal reject, worst first."""
        return self._with_signal("reject")

    def _with_signal(self, signal: str) -> list[Entry]:
        found = [entry for entry in self.entries if entry.subject.badge == signal]
        return sorted(found, key=lambda entry: worst_key(entry.subject.badge, entry.subject.why))

    def _rows(self) -> Sequence[Mapping[str, object]]:
        return list(words_of(self, "rushes.storage.query.one_file:table_rows"))

    def _repr_html_(self) -> str:
        """The first subjects with their review signals and numbers, for a notebook."""
        head = self.subjects[:ROWS]
        found = {s.id: {(m.signature, _rest(m, "")): m for m in self.measurements.get(s.id, ())} for s in head}
        readings: dict[tuple[str, str], list[Measurement]] = {}
        for key, m in (pair for row in found.values() for pair in row.items()):
            readings.setdefault(key, []).append(m)
        # What is the same everywhere says least, so it gives way first.
        distinct = {key: len({m.value for m in numbers} - {None}) for key, numbers in readings.items()}
        kept = sorted(readings, key=lambda key: distinct[key] < min(2, len(head)))[:COLUMNS]
        columns = [key for key in readings if key in kept]
        rows = [(Cell(s.id), Cell(s.badge or ""), *(number(found[s.id].get(key)) for key in columns)) for s in head]
        heads = reading_names([readings[key][0] for key in columns])
        table = Table(title="", columns=(*TEXT("subject", "review signal"), *NUMBER(*heads)), rows=rows)
        shown = table_html(table, columns=COLUMNS + 2)
        left = len(self.subjects) - len(head)
        more = line_html(f"… and {left} more; .table() and .to_frame() have everything") if left else ""
        return told_html(self, shown, more)

    @property
    def place(self) -> str:
        """What a user calls the run: its address, or its path."""
        return self.url or str(self.path)

    @property
    def instrument(self) -> str:
        return str(self.info["instrument"])

    @property
    def status(self) -> str:
        """ "complete", "running", "interrupted", or "damaged" where it was opened although files of it changed."""
        return DAMAGED if self.damage else str(self.info["status"])

    @property
    def paths(self) -> list[str]:
        """Where its subjects lie now: as stored, or beside the run where they moved with it."""
        return [str(relocate(subject.path, beside=self.path) or subject.path) for subject in self.subjects]

    @cached_property
    def digest(self) -> str:
        """sha256 over the logical rows, the same however the run is stored; see `rushes.storage.runs.packing`."""
        if self.shards is not None:
            return str(self.info.get("digest") or run_digest(self.shards.digests()))
        return run_digest(line_digest(pack(entry).line) for entry in self.entries)

    @cached_property
    def entries(self) -> Sequence[Entry]:
        """Subjects with their measurements, without series."""
        if self.shards is not None:
            return self.shards.entries
        return tuple(Entry(subject=s, measurements=self.measurements.get(s.id, ())) for s in self.subjects)

    def select(self, name: str | None = None, *, subject: str | None = None, **where: Where) -> tuple[Measurement, ...]:
        """Numbers by a metric's name or signature, subject, places and parameters; `rushes metrics` knows the names.

            run.select("bt_elo", labels="raw", exclusion="none")
            run.select("pck_joint", joint="left_wrist", k=20)

        Keys match exactly: a number without a key does not match, and `key=None` asks for those without it. Raises
        `InputError` for a subject that is not in the run and for a key that no number of this name has.
        """
        if self.shards is not None and subject is None:  # of a million clips, only what may be meant is held
            asked = _asked([] if name is None else [name], self.shards.definitions.values())
            every = (m for entry in self.entries for m in entry.measurements)
            return select([m for m in every if name is None or m.signature in asked], name, **where)
        return select(self._of(subject), name, **where)

    def one(self, name: str, *, subject: str | None = None, **where: Where) -> Measurement:
        """The only number that `select` finds; `InputError` where there is none, or in what several differ."""
        return one(self._of(subject), name, **where)

    def _of(self, subject: str | None) -> tuple[Measurement, ...]:
        if subject is None:
            return tuple(m for s in self.subjects for m in self.measurements.get(s.id, ()))
        if subject not in self.measurements and all(s.id != subject for s in self.subjects):
            near = did_you_mean(subject, (s.id for s in self.subjects), otherwise=f"; it has {len(self.subjects)}")
            raise InputError(f"{self.place}: no clip is called {subject!r}{near}")
        return self.measurements.get(subject, ())

    def table(self, *names: str, rows: str = "subject", **where: Where) -> Table:
        """Numbers side by side: a row per subject, or per value of a place (`rows="system"`); a column per reading.

            print(run.table("freeze_frame_ratio", "flicker_score"))
            print(run.table("bt_elo", "win_share", rows="system", labels="raw", exclusion="none", family="all"))

        Two readings of one metric are two columns, headed by what they differ in. Left out, `names` is every metric.
        A key of `where` holds for the metrics that have it. Raises `InputError` for a metric or a key that the run does
        not have, and where two numbers would share a cell.
        """
        asked = _asked(names, [m.definition for m in self._of(None)] if names else ())
        cells: dict[str, dict[tuple[str, str], Measurement]] = {}
        chosen: dict[str, list[Measurement]] = {}
        for subject in self.subjects:
            for m in _where(self.measurements.get(subject.id, ()), where):
                place = {"subject": subject.id, **m.place}
                name = asked.get(m.signature, m.name)
                if rows in place and (m.signature in asked or not names):
                    chosen.setdefault(name, []).append(m)
                    row, key = cells.setdefault(place[rows], {}), (m.signature, _rest(m, rows))
                    if key in row:
                        raise InputError(
                            f"{self.place}: {rows} {place[rows]} has two values of {m.signature}; say which"
                        )
                    row[key] = m
        self._require(names or list(chosen), chosen, where)
        columns = _columns({name: chosen[name] for name in names or chosen}, rows)
        lines = [(Cell(place), *(number(row.get(key)) for _, key in columns)) for place, row in cells.items()]
        heads = (head for head, _ in columns)
        return Table(title=self.place, columns=(*TEXT(rows), *NUMBER(*heads)), rows=lines)

    def _require(self, names: Iterable[str], chosen: Mapping[str, object], where: Mapping[str, Where]) -> None:
        """Every name and every key is of use: one that is misspelt must not give an empty table, or a full one."""
        every = self._of(None)
        for name in names:
            if name not in chosen:
                near = did_you_mean(name, (m.name for m in every))
                known = name in _asked([name], [m.definition for m in every]).values()
                raise InputError(f"{self.place}: no {name} fits here" if known else f"no metric {name!r}{near}")
        for key in where:
            if not any(key in keys_of(m) for m in every):
                raise InputError(f"{self.place}: no number has {key!r}")

    def scan(self, *, columns: Sequence[str] | None = None, where: str | None = None) -> Iterator[pa.RecordBatch]:
        """The clips as Arrow record batches in input order: a row per clip, a column per metric, read in parts.

            for batch in run.scan(columns=["path", "blur_score"], where="review_signal = 'pass'"): ...

        Columns and conditions are those of `rushes.query` over its view `clips`.
        """
        from rushes.storage.query.sql import scan

        return scan(self, columns=columns, where=where)

    def to_frame(self, *, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """Every number as a row of a pandas frame; `MissingDependency` where pandas is not installed.

        With `columns`, a row per clip with these columns of `rushes.query`'s view `clips`; nothing else is read. Else:
        subject, review_signal, name, value, count, note, low, high, level, method (of the interval), signature, then
        one per place (`at_value` for a place that is called like one of these).
        """
        pandas = optional_package("pandas", "a data frame needs pandas", package="pandas")
        if columns is not None:
            from rushes.storage.query.sql import clips_sql, query

            return query(self, clips_sql(self, columns, None)).to_pandas()
        rows = [_frame_row(entry, m) for entry in self.entries for m in entry.measurements]
        heads = dict.fromkeys((*_FRAME, *(key for row in rows for key in row)))
        frame: pd.DataFrame = pandas.DataFrame(rows, columns=list(heads))
        return frame

    def series(self, subject_id: str) -> dict[str, np.ndarray]:
        """Per-frame series of one subject; {} where none was stored."""
        target = self.series_file(subject_id)
        try:
            return {} if target is None else load_npz(target)[0]
        except FAULTS as error:
            if self.shards is not None:
                raise RunError(f"{self.place}: series of {subject_id} cannot be read ({reason(error)})") from None
            raise RunError(f"{target}: cannot be read as series ({reason(error)}); run the command again") from None

    def series_file(self, subject_id: str) -> Path | None:
        """The file of one subject's series, fetched when first asked for; None where none was stored."""
        target = self.path / "series" / f"{subject_id}.npz"
        if target.name != f"{subject_id}.npz":  # an id is no way out of the run's folder
            return None
        if self.shards is not None:
            return self.shards.unpacked(subject_id)
        if self.url and not target.exists():
            with suppress(Vanished):
                get_files([(joined(self.url, f"series/{target.name}"), target)])
        return target if target.exists() else None


def _where(measurements: Iterable[Measurement], where: Mapping[str, Where]) -> list[Measurement]:
    """Those for which every key holds that they have."""
    wanted = {key: None if value is None else setting_text(value) for key, value in where.items()}
    return [m for m in measurements if all(keys_of(m).get(key, text) == text for key, text in wanted.items())]


def _asked(names: Iterable[str], definitions: Iterable[Definition]) -> dict[str, str]:
    """The signatures that these names mean, each with the name that asks for it; a whole signature before a name."""
    found: dict[str, str] = {}
    every = {definition.signature: definition for definition in definitions}
    for name in names:
        fits = {signature for signature, one in every.items() if name in (signature, one.name)}
        if not fits:
            means = meant_by(name)
            fits = {signature for signature, one in every.items() if means(one)}
        found |= {signature: name for signature in fits if found.get(signature) != signature}
    return found


def _rest(measurement: Measurement, rows: str) -> str:
    """What a number is about besides its row."""
    return label(measurement, [key for key, _ in measurement.at if key != rows])


def _columns(chosen: Mapping[str, list[Measurement]], rows: str) -> list[tuple[str, tuple[str, str]]]:
    """Head and key of each column: metrics in order, the readings of one apart by what they differ in."""
    columns = []
    for name, found in chosen.items():
        readings = {(m.signature, _rest(m, rows)): m for m in found}
        told = told_apart(list(readings.values()), without=(rows,))
        is_label = name == found[0].signature and len(readings) == 1
        heads = [name if is_label else spelt(name, words) for words in told]
        arrow = ARROWS[found[0].definition.better]
        columns += [(f"{head} {arrow}".rstrip(), key) for head, key in zip(heads, readings, strict=True)]
    return columns


_FRAME = ("subject", "review_signal", "name", "value", "count", "note", "low", "high", "level", "method", "signature")


def _frame_row(entry: Entry, m: Measurement) -> dict[str, object]:
    row: dict[str, object] = {"subject": entry.subject.id, "review_signal": entry.subject.badge, "name": m.name}
    row |= {"value": m.stored_value, "count": m.count, "note": m.note, "signature": m.signature}
    interval = {} if m.interval is None else m.interval.as_dict()
    return row | interval | {key if key not in _FRAME else f"at_{key}": value for key, value in m.at}


def clip_paths(given: Run | Paths) -> Paths:
    """The clips of a run, or the paths that were given."""
    return given.paths if isinstance(given, Run) else given
