"""The runs being served: read once, read again when their files change, never written to."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from rushes.core import Measurement, Reading
from rushes.core.errors import RunError
from rushes.core.measurement import At
from rushes.core.registry import load
from rushes.core.selection import label, reading_names
from rushes.core.table import Table
from rushes.instruments.catalogue import instrument_of
from rushes.present.charts.figure import Figure
from rushes.present.pages.section import ReportOptions, figures_of
from rushes.storage.runs import Entry, Run, read_run
from rushes.storage.runs.packing import entry_of
from rushes.web.runs.summary import run_stamp

ON_A_SHEET = ("clip", "pair")
"""Kinds of subjects that have a picture."""
_MOST_SECTIONS = 200
"""Subjects up to which a whole section is made for its tables, where an instrument does not give them alone."""


@dataclass(frozen=True)
class Row:
    """One subject with its readings by key."""

    entry: Entry
    values: Mapping[str, Measurement]


@dataclass(frozen=True)
class OpenRun:
    """A run as it was when its files had this stamp."""

    run: Run
    stamp: str

    @cached_property
    def readings(self) -> dict[str, Reading]:
        """The run's readings by key: the metric's name for its first, signature and place for every other."""
        names = reading_names(list(self._examples.values()))
        return {
            self.keys[mark]: Reading(definition=m.definition, at=m.at, label=name, instrument=self.run.instrument)
            for name, (mark, m) in zip(names, self._examples.items(), strict=True)
        }

    @cached_property
    def _examples(self) -> dict[tuple[int, At], Measurement]:
        # A run read from disk shares its Definition objects, so identity stands for the signature: much quicker.
        found: dict[tuple[int, At], Measurement] = {}
        if (shards := self.run.shards) is not None:  # the index names them; no clip is read
            for key in shards.readings:
                definition = shards.definitions[key.signature]
                found[id(definition), key.at] = Measurement.missing(definition, "in the index", at=key.at)
            return found
        for entry in self.run.entries:
            for m in entry.measurements:
                found.setdefault((id(m.definition), m.at), m)
        return found

    @cached_property
    def keys(self) -> dict[tuple[int, At], str]:
        """Keys by definition and place."""
        named: dict[str, str] = {}
        keys = {}
        for mark, m in self._examples.items():
            whole = " ".join(filter(None, (m.signature, label(m, m.place))))
            keys[mark] = m.name if named.setdefault(m.name, whole) == whole else whole
        return keys

    def key_of(self, measurement: Measurement) -> str:
        """The key of this number's reading."""
        return self.keys[id(measurement.definition), measurement.at]

    def row_of(self, entry: Entry) -> Row:
        return Row(entry, {self.key_of(m): m for m in entry.measurements})

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """The rows a page lists: of a run in shards, `rushes.web.runs.rows` has a page of them at a time.

        A run of clips or pairs may have numbers of the whole set as well, which is no clip: it has a page and no row.
        """
        clips = [entry for entry in self.run.entries if entry.subject.kind in ON_A_SHEET]
        return tuple(map(self.row_of, clips or self.run.entries))

    @cached_property
    def figures(self) -> tuple[Sequence[Figure], str]:
        """The charts of the report, drawn once per state of the run; or why there are none."""
        return figures_of(self.run, instrument_of(self.run))

    @cached_property
    def tables(self) -> tuple[str, Sequence[Table]]:
        """What a report says of the run in words, and its tables, for a run whose subjects are not clips."""
        return report_tables(self.run)

    @cached_property
    def kept(self) -> dict[str, Any]:
        """What `rushes.web.runs.rows` keeps as long as this state is."""
        return {}

    @cached_property
    def _by_id(self) -> dict[str, Row]:
        return {entry.subject.id: self.row_of(entry) for entry in self.run.entries}

    def row(self, subject: str) -> Row | None:
        """A subject's row, None where the run has none of this id; of a run in shards it is read from its shard."""
        if (shards := self.run.shards) is None:
            return self._by_id.get(subject)
        if shards.find(subject) is None:
            return None
        return self.row_of(entry_of(shards.line_of(subject), shards.definitions))


def report_tables(run: Run) -> tuple[str, Sequence[Table]]:
    """What the run's section of a report says in words, and its tables; nothing for an instrument not installed."""
    instrument = instrument_of(run)
    if instrument is None or not run.subjects:
        return "", ()
    if instrument.tables:
        summary, tables = load(instrument.tables)(run)
        return summary, tables
    if not instrument.section or len(run.subjects) > _MOST_SECTIONS:
        return "", ()
    section = load(instrument.section)(run, "run", ReportOptions(strips=0))
    return section.summary, section.grids


@dataclass
class RunCache:
    """Runs by folder, kept while their files stay as they are; and the opaque tokens of their clips."""

    _tokens: dict[tuple[Path, str], str] = field(default_factory=dict)
    _behind: dict[str, tuple[Path, str]] = field(default_factory=dict)
    _open: dict[Path, OpenRun] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def read(self, folder: Path) -> OpenRun:
        """The run as it is on disk now; `RunError` for a folder that is not a run this version reads."""
        stamp = run_stamp(folder)
        with self._lock:
            known = self._open.get(folder)
        if known is not None and known.stamp == stamp:
            return known
        opened = OpenRun(read_run(folder), stamp)
        with self._lock:
            if known is not None:
                known.kept.clear()  # the columns of a state that is gone; a page under way has its own hold of them
            self._open[folder] = opened
        return opened

    def token(self, run: Path, subject: str) -> str:
        """What stands for a run's clip in addresses, as long as the server runs; says nothing about either."""
        with self._lock:
            token = self._tokens.setdefault((run, subject), secrets.token_urlsafe(24))
            self._behind[token] = (run, subject)
        return token

    def behind(self, token: str) -> tuple[OpenRun, Row] | None:
        """The run and its clip behind a token that some page has shown, where both are still there."""
        run, subject = self._behind.get(token, (None, ""))
        try:
            opened = None if run is None else self.read(run)
        except RunError:
            return None
        row = None if opened is None else opened.row(subject)
        return None if opened is None or row is None else (opened, row)
