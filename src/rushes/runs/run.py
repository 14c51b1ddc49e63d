"""A run directory in memory: what was asked, its subjects, and every number with its definition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rushes.core import Measurement
from rushes.core.definition import setting_text
from rushes.core.selection import Where, differing_keys, keys_of, label, one, select
from rushes.core.table import ARROWS, Cell, Table, number
from rushes.errors import InputError, MissingDependency, RunError
from rushes.media.numpy_files import FAULTS, load_npz, reason
from rushes.remote.address import joined
from rushes.remote.errors import Vanished
from rushes.remote.store import get_files
from rushes.runs.subjects import Entry, Subject

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd


@dataclass(frozen=True, repr=False)
class Run:
    """One run: `select` and `one` pick numbers, `table` and `to_frame` lay them out."""

    path: Path
    info: Mapping[str, Any]
    subjects: tuple[Subject, ...]
    measurements: Mapping[str, tuple[Measurement, ...]]
    """By subject id, in stored order."""
    url: str = ""
    """Where the run lies, when that is a store; `path` is then a folder here that goes when the run does."""

    def __repr__(self) -> str:
        numbers = sum(map(len, self.measurements.values()))
        return f"<Run {self.place}: {self.instrument}, {len(self.subjects)} subjects, {numbers} numbers, {self.status}>"

    @property
    def place(self) -> str:
        """What a user calls the run: its address, or its path."""
        return self.url or str(self.path)

    @property
    def instrument(self) -> str:
        return str(self.info["instrument"])

    @property
    def status(self) -> str:
        """ "complete", "running" or "interrupted"."""
        return str(self.info["status"])

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        """Subjects with their measurements, without series."""
        return tuple(Entry(subject=s, measurements=self.measurements.get(s.id, ())) for s in self.subjects)

    def select(self, name: str | None = None, *, subject: str | None = None, **where: Where) -> tuple[Measurement, ...]:
        """Numbers by metric name or signature, subject, places and parameters; matching is exact.

            run.select("bt_elo", labels="raw", exclusion="none")
            run.select("pck_joint", joint="left_wrist", k=20)

        A number without a key does not match; `key=None` asks for those without it. Raises `InputError` for a subject
        that is not in the run and for a key that no number of this name has.
        """
        return select(self._of(subject), name, **where)

    def one(self, name: str, *, subject: str | None = None, **where: Where) -> Measurement:
        """The only number that `select` finds; `InputError` where there is none, or in what several differ."""
        return one(self._of(subject), name, **where)

    def _of(self, subject: str | None) -> tuple[Measurement, ...]:
        if subject is None:
            return tuple(m for s in self.subjects for m in self.measurements.get(s.id, ()))
        if all(s.id != subject for s in self.subjects):
            raise InputError(f"{self.place}: no subject is called {subject!r}; there are {len(self.subjects)}")
        return self.measurements.get(subject, ())

    def table(self, *names: str, rows: str = "subject", **where: Where) -> Table:
        """Numbers side by side: a row per subject, or per value of a place (`rows="system"`); a column per reading.

            print(run.table("freeze_frame_ratio", "flicker_score"))
            print(run.table("bt_elo", "win_share", rows="system", labels="raw", exclusion="none", family="all"))

        Two readings of one metric are two columns, headed by what they differ in. Left out, `names` is every metric.
        A key of `where` holds for the metrics that have it.
        """
        cells: dict[str, dict[tuple[str, str], Measurement]] = {}
        chosen: dict[str, list[Measurement]] = {name: [] for name in names}
        for subject in self.subjects:
            for m in self._chosen(self.measurements.get(subject.id, ()), names, where):
                place = {"subject": subject.id, **m.place}
                if rows in place:
                    chosen.setdefault(m.name, []).append(m)
                    cells.setdefault(place[rows], {}).setdefault((m.signature, _rest(m, rows)), m)
        columns = _columns(chosen, rows)
        header = (rows, *(head for head, _ in columns))
        lines = [(Cell(place), *(number(row.get(key)) for _, key in columns)) for place, row in cells.items()]
        return Table(title=self.place, header=header, rows=lines)

    @staticmethod
    def _chosen(
        found: tuple[Measurement, ...], names: tuple[str, ...], where: Mapping[str, Where]
    ) -> list[Measurement]:
        named = [m for m in found if not names or m.name in names or m.signature in names]
        wanted = {key: None if value is None else setting_text(value) for key, value in where.items()}
        return [m for m in named if all(keys_of(m).get(key, text) == text for key, text in wanted.items())]

    def to_frame(self) -> pd.DataFrame:
        """Every number as a row of a pandas frame; `MissingDependency` where pandas is not installed.

        Columns: subject, badge, name, value, count, note, low, high, level, method (of the interval), signature, then
        one per place.
        """
        try:
            import pandas
        except ImportError:
            raise MissingDependency("a data frame needs pandas; run: pip install pandas") from None
        fixed = ("subject", "badge", "name", "value", "count", "note", "low", "high", "level", "method", "signature")
        rows = [_frame_row(entry, m) for entry in self.entries for m in entry.measurements]
        places = dict.fromkeys(key for row in rows for key in row if key not in fixed)
        return pandas.DataFrame(rows, columns=[*fixed, *places])

    def series(self, subject_id: str) -> dict[str, np.ndarray]:
        """Per-frame series of one subject; {} where none was stored."""
        target = self.series_file(subject_id)
        if target is None:
            return {}
        try:
            return load_npz(target)[0]
        except FAULTS as error:
            raise RunError(f"{target}: cannot be read as series ({reason(error)}); run the command again") from None

    def series_file(self, subject_id: str) -> Path | None:
        """The file of one subject's series, fetched when first asked for; None where none was stored."""
        target = self.path / "series" / f"{subject_id}.npz"
        if target.name != f"{subject_id}.npz":  # an id is no way out of the run's folder
            return None
        if self.url and not target.exists():
            with suppress(Vanished):
                get_files([(joined(self.url, f"series/{target.name}"), target)])
        return target if target.exists() else None


def _rest(measurement: Measurement, rows: str) -> str:
    """What a number is about besides its row."""
    return label(measurement, [key for key, _ in measurement.at if key != rows])


def _columns(chosen: Mapping[str, list[Measurement]], rows: str) -> list[tuple[str, tuple[str, str]]]:
    """Head and key of each column: metrics in order, the readings of one apart by what they differ in."""
    columns = []
    for name, found in chosen.items():
        keys = [key for key in differing_keys(found) if key != rows]
        readings = {(m.signature, _rest(m, rows)): m for m in found}
        heads = [(f"{name}, {told}" if (told := label(m, keys)) else name, key) for key, m in readings.items()]
        arrow = ARROWS[found[0].definition.better] if found else ""
        columns += [(f"{head} {arrow}".rstrip(), key) for head, key in heads]
    repeated = Counter(head for head, _ in columns)
    assert all(count == 1 for count in repeated.values()), "two readings differ in their signature, or in a place"
    return columns


def _frame_row(entry: Entry, m: Measurement) -> dict[str, object]:
    interval = {} if m.interval is None else m.interval.as_dict()
    row: dict[str, object] = {"subject": entry.subject.id, "badge": entry.subject.badge, "name": m.name}
    row |= {"value": m.stored_value, "count": m.count, "note": m.note, "signature": m.signature}
    return row | interval | {key if key not in row else f"at_{key}": value for key, value in m.at}
