"""The runs being served: read once, read again when their files change, never written to."""

from __future__ import annotations

import secrets
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from rushes.clip.badges import BADGES
from rushes.clip.tables import worst_first
from rushes.core import Definition, Measurement
from rushes.core.measurement import At
from rushes.core.selection import differing_keys, label
from rushes.core.table import Table
from rushes.instruments import INSTRUMENTS
from rushes.report.figure import Figure
from rushes.report.numbers import figures_of
from rushes.report.subjects import reason_metric
from rushes.runs import Entry, Run, read_run
from rushes.web.reasons import general_words
from rushes.web.report_tables import report_tables
from rushes.web.run_summary import run_stamp as run_stamp
from rushes.web.run_summary import run_status as run_status


@dataclass(frozen=True)
class Row:
    """One subject with its readings by key."""

    entry: Entry
    values: Mapping[str, Measurement]


@dataclass(frozen=True)
class Reading:
    """One metric as a run measured it."""

    definition: Definition
    label: str
    """The metric's name, and what tells this reading from its namesakes: "blur_score, statistic p10"."""


@dataclass(frozen=True)
class OpenRun:
    """A run as it was when its files had this stamp."""

    run: Run
    stamp: str

    @cached_property
    def readings(self) -> dict[str, Reading]:
        """The run's readings by key: the metric's name for its first, signature and place for every other."""
        by_name: dict[str, list[Measurement]] = {}
        for m in self._examples.values():
            by_name.setdefault(m.name, []).append(m)
        keys = {name: differing_keys(found) for name, found in by_name.items()}
        return {
            self.keys[mark]: Reading(m.definition, ", ".join(filter(None, (m.name, label(m, keys[m.name])))))
            for mark, m in self._examples.items()
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
        """Every row: of a run in shards, `rushes.web.rows` has a page of them at a time."""
        return tuple(map(self.row_of, self.run.entries))

    @cached_property
    def figures(self) -> tuple[Sequence[Figure], str]:
        """The charts of the report, drawn once per state of the run; or why there are none."""
        known = self.run.instrument in INSTRUMENTS
        return figures_of(self.run, INSTRUMENTS[self.run.instrument] if known else None)

    @cached_property
    def tables(self) -> tuple[str, Sequence[Table]]:
        """What a report says of the run in words, and its tables, for a run whose subjects are not clips."""
        return report_tables(self.run)

    @cached_property
    def worst_first(self) -> tuple[Row, ...]:
        """Rejects, then flagged by number of reasons, then passes; input order among equals."""
        return tuple(self.by_id[entry.subject.id] for entry in worst_first(self.run))

    @cached_property
    def badge_counts(self) -> dict[str, int]:
        """Review signals with their counts, worst first."""
        found = Counter(subject.badge for subject in self.run.subjects)
        return {badge: found[badge] for badge in BADGES}

    @cached_property
    def reason_counts(self) -> tuple[tuple[str, int], ...]:
        """The metrics behind the review signals, most frequent first."""
        found = Counter(reason_metric(reason) for s in self.run.subjects for reason in s.reasons)
        return tuple(sorted(found.items(), key=lambda pair: (-pair[1], pair[0])))

    @cached_property
    def reason_words(self) -> dict[str, str]:
        """What review signals call each metric behind them: "frozen"; its name where they have no word for it."""
        found: dict[str, str] = {}
        for subject in self.run.subjects:
            for reason in subject.reasons:
                metric = reason_metric(reason)
                if metric not in found:
                    found[metric] = general_words(reason) or metric
        return found

    @cached_property
    def keys_with_values(self) -> frozenset[str]:
        """Readings of which some row has a value."""
        return frozenset(key for row in self.rows for key, m in row.values.items() if m.value is not None)

    @cached_property
    def kept(self) -> dict[str, Any]:
        """What `rushes.web.rows` keeps as long as this state is."""
        return {}

    @cached_property
    def histograms(self) -> dict[tuple[str, int], Any]:
        """How readings lie, by key and number of bins: kept by `rushes.web.run_rows`, as long as this state is."""
        return {}

    @cached_property
    def by_id(self) -> Mapping[str, Row]:
        """Rows by id; of a run in shards, each is read from its shard when it is asked for."""
        if self.run.shards is not None:
            return _ShardedById(self)
        return {row.entry.subject.id: row for row in self.rows}


class _ShardedById(Mapping[str, Row]):
    def __init__(self, opened: OpenRun) -> None:
        self._shards, self._row_of = opened.run.shards, opened.row_of

    def __getitem__(self, key: str) -> Row:
        from rushes.runs.shards.lines import entry_of

        assert self._shards is not None
        return self._row_of(entry_of(self._shards.line_of(key), self._shards.definitions))

    def __contains__(self, key: object) -> bool:
        return self._shards is not None and isinstance(key, str) and self._shards.find(key) is not None

    def __len__(self) -> int:
        return len(self._shards or ())

    def __iter__(self) -> Iterator[str]:
        assert self._shards is not None
        return (str(name) for shard in self._shards.index.shards for name in self._shards.ids(shard))


@dataclass
class RunCache:
    """Runs by folder, kept while their files stay as they are; and the opaque tokens of their clips."""

    _tokens: dict[tuple[Path, str], str] = field(default_factory=dict)
    _takes: dict[str, tuple[Path, str]] = field(default_factory=dict)
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
            self._takes[token] = (run, subject)
        return token

    def take(self, token: str) -> tuple[Path, str] | None:
        """The run's folder and the subject behind a token that some page has shown."""
        return self._takes.get(token)
