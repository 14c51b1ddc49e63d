"""A run as tables: for the terminal and CSV, and the 22-key bundles."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from rushes.core import Measurement
from rushes.core.errors import InputError
from rushes.core.machine.files import replacing
from rushes.core.reason import severity_of, severity_text, worst_key
from rushes.core.table import NUMBER, TEXT, Cell, Table, number
from rushes.instruments.clip.bundle import MetricBundle, by_name, metric_bundle
from rushes.instruments.clip.metrics import known
from rushes.instruments.clip.signals.profile import Profile
from rushes.present.pages.subjects import not_judged
from rushes.storage.query.one_file import csv_table, export_file
from rushes.storage.remote.address import is_remote, joined
from rushes.storage.remote.store import put_files
from rushes.storage.runs import Entry, Run


def worst_first(run: Run) -> list[Entry]:
    """Rejects, then flagged, then passes, each by severity (`Reason.severity`); input order among equals."""
    return sorted(run.entries, key=lambda entry: worst_key(entry.subject.badge, entry.subject.why))


class Column(NamedTuple):
    """A metric that has a column."""

    label: str
    name: str
    minor: bool
    """Left out first where a page is narrow."""


def columns(measurements: Iterable[Measurement], *, wide: bool = False, chosen: Sequence[str] = ()) -> list[Column]:
    """The columns of a table of these numbers, in order; `wide` where there is room for all of them.

    `chosen` are metrics that a profile names: those of them that were measured are then the columns, each under its own
    name. Otherwise a metric's object says whether it has a column, and under which head. One that is not installed any
    more has a column under its name; so has every number of a run from before any of these.
    """
    found, named = [], by_name(measurements)
    if own := [Column(name, name, minor=False) for name in chosen if name in named]:
        return own
    for name in named:
        metric = known(name)
        if metric is None:
            asked_for = _asked_for(named[name])
            found.append(Column(name.replace("_", " ") if asked_for else name, name, minor=not asked_for))
        elif metric.label and (wide or metric.room != "page"):
            found.append(Column(metric.label, name, minor=metric.room != "any"))
    return found or [Column(name, name, minor=True) for name in named]


def _asked_for(measurement: Measurement) -> bool:
    """Whether a number is why a network of the user's own was run; the parts of its consistency are not."""
    return measurement.definition.param("network") is not None and not measurement.name.endswith("_similarity")


def clip_table(run: Run, *, most: int | None = None, profile: Profile | None = None) -> Table:
    """One row per clip, worst first: id, review signal, severity, the metrics that have a column, reasons, remarks."""
    chosen = () if profile is None else profile.columns
    shown = columns((m for entry in run.entries[:1] for m in entry.measurements), chosen=chosen)
    rows = []
    for entry in worst_first(run)[:most]:
        values, subject = by_name(entry.measurements), entry.subject
        cells = [number(values.get(column.name)) for column in shown]
        severity = Cell(severity_text(severity_of(subject.why)))
        words = Cell("\n".join([*subject.reasons, *(f"remark: {one.text}" for one in subject.remarks)]))
        rows.append((Cell(subject.id), Cell(subject.badge or ""), severity, *cells, words))
    labels = [column.label for column in shown]
    heads = (*TEXT("clip", "review signal"), *NUMBER("severity", *labels), *TEXT("reasons", keep=True))
    return Table(title="Review signals", columns=heads, rows=rows)


def csv_of(run: Run) -> str:
    """One row per clip: id, path, review_signal, severity, reasons, then a column per metric, as stored."""
    return csv_table(run)


def write_csv(run: Run, path: Path | str) -> list[str]:
    """Write `csv_of`, and how each column was measured beside it; the files that were written."""
    return export_file(run, path)


def write_bundles(run: Run, folder: Path | str) -> list[str]:
    """`ID.metrics.json` per clip: MetricBundleV1's 22 keys in their order, and `about`, which says what they mean."""
    if not is_remote(folder):
        return [str(path) for path in _bundles(run, Path(folder))]
    with tempfile.TemporaryDirectory(prefix="rushes-") as made:
        files = [(path, joined(str(folder), path.name)) for path in _bundles(run, Path(made))]
        put_files(files)
    return [address for _, address in files]


def _bundles(run: Run, target: Path) -> Sequence[Path]:
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{target}: cannot write the bundles ({error.strerror})") from None
    written = []
    for entry in run.entries:
        path = target / f"{entry.subject.id}.metrics.json"
        with replacing(path) as out:
            out.write(json.dumps(_bundle(run, entry).as_dict(), indent=2, ensure_ascii=False) + "\n")
        written.append(path)
    return written


def _bundle(run: Run, entry: Entry) -> MetricBundle:
    subject, settings = entry.subject, run.info.get("settings")
    return metric_bundle(
        entry.measurements,
        subject.badge,
        subject.reasons,
        clip={"path": subject.path, "sha256": subject.sha256},
        settings=settings if isinstance(settings, Mapping) else {},
        not_judged=not_judged(entry),
    )
