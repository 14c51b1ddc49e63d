"""The parts a section is made of. Everything with a number in it holds the `Measurement` itself."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from rushes.core import Definition, Measurement
from rushes.core.errors import MissingDependency
from rushes.core.instrument import Instrument
from rushes.core.machine.progress import Progress, no_progress
from rushes.core.registry import load
from rushes.core.selection import label, told_apart
from rushes.core.table import Table, exact_text
from rushes.core.words.definition_text import direction_text, ends_text, range_text
from rushes.present.charts.figure import Figure
from rushes.storage.remote.address import is_remote
from rushes.storage.runs import Run
from rushes.storage.runs.relocation import candidates

if TYPE_CHECKING:
    from rushes.present.pages.subjects import SubjectTable
    from rushes.present.verdict.verdict import Verdict

MOST_NUMBERS = 1000
"""Rows of the table of every number; a sweep can have many thousands, which its file holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportOptions:
    """What a report was asked for."""

    strips: int = 100
    """Clips per run that get a film strip, worst first: each has to be decoded again."""
    jobs: int = 1
    progress: Progress = no_progress
    out: Path | None = None
    """Where the page will lie; None where that is not a folder of this machine."""

    def href(self, place: str, *, beside: Path) -> str:
        """A file's address seen from the page, where it lies in the page's folder or below; else ""."""
        if self.out is None or is_remote(place):
            return ""
        home = Path(os.path.realpath(self.out)).parent
        for path in candidates(place, beside=beside):
            found = Path(os.path.realpath(path))
            if found.is_relative_to(home) and found.is_file():
                return quote(found.relative_to(home).as_posix())
        return ""


@dataclass(frozen=True, slots=True)
class NumberRow:
    """One line of the table of every number."""

    subject: str
    measurement: Measurement
    settings: str
    """The parameters in which this number differs from others of its name."""

    @property
    def about(self) -> str:
        """What the number is about: "joint left_wrist"."""
        return label(self.measurement, self.measurement.place)

    @property
    def value(self) -> str:
        return exact_text(self.measurement)

    @property
    def interval(self) -> str:
        return interval_text(self.measurement)

    @property
    def definition(self) -> Definition:
        return self.measurement.definition

    @property
    def direction(self) -> str:
        return direction_text(self.definition)


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One run on the page."""

    anchor: str
    title: str
    question: str
    run: Run
    notice: str
    """Why this is not the whole run; "" when it is."""
    summary: str
    """What the numbers say, in one short sentence."""
    facts: Sequence[tuple[str, str]] = ()
    subjects: SubjectTable | None = None
    grids: Sequence[Table] = ()
    figures: Sequence[Figure] = ()
    figures_missing: str = ""
    numbers: Sequence[NumberRow] = ()
    numbers_left: int = 0
    definitions: Sequence[Definition] = ()
    verdict: Verdict | None = None
    """What its review signals say, with the clips to look at first; None where it has none."""
    people: bool = False
    """Whether it is about what people said."""
    pictures: Mapping[str, str] = field(default_factory=dict)
    """One picture of a subject, by id, where film strips were taken."""

    @property
    def name(self) -> str:
        """The run's folder; the one it lies in where the run itself is just called "run"."""
        path = self.run.path
        return path.parent.name if path.name == "run" and path.parent.name else path.name

    @property
    def has_intervals(self) -> bool:
        return any(row.interval for row in self.numbers)


def interval_text(measurement: Measurement) -> str:
    """The interval with its level and method, "980 to 1020 (95 %, clustered by rater)"; "" where there is none."""
    found = measurement.interval
    return "" if found is None else f"{ends_text(measurement)} ({100 * found.level:g} %, {method_text(found.method)})"


_METHODS = {
    "wilson samples": "Wilson, by sample",
    "wilson": "Wilson",
    "rater- and prompt-clustered": "clustered by rater and prompt",
    "rater-clustered": "clustered by rater",
    "prompt-clustered": "clustered by prompt",
    "student-t": "Student's t",
    "clopper-pearson-of-changed": "exact, of the clips that changed",
    " holm": ", Holm",
}


def method_text(method: str) -> str:
    """How an interval was made, as a statistician would write it.

    >>> [method_text(m) for m in ("wilson samples", "rater- and prompt-clustered holm", "jackknife")]
    ['Wilson, by sample', 'clustered by rater and prompt, Holm', 'jackknife']
    """
    for stored, words in _METHODS.items():
        method = method.replace(stored, words)
    return method


def unit_text(definition: Definition) -> str:
    """The unit in words: "1" says nothing to a reader.

    >>> from rushes.core import Definition
    >>> d = dict(name="x", lowest=0, highest=None, better="lower", summary="s", formula="f")
    >>> unit_text(Definition(unit="1", **d)), unit_text(Definition(unit="ms", **d))
    ('no unit', 'ms')
    """
    return "no unit" if definition.unit == "1" else definition.unit


def range_and_direction(definition: Definition) -> str:
    return f"{range_text(definition)}; {direction_text(definition)}"


def notice(run: Run, *, total: int = 0) -> str:
    """What a reader must know about a run that is not complete; `total` is how many subjects it will have."""
    if run.status == "complete":
        return ""
    if run.damage:
        return f"This run is damaged: {run.damage[0]}. Its numbers may be wrong, and some may be missing."
    many = f"{len(run.subjects)} of {total}" if total else str(len(run.subjects))
    what = {"running": "was still running, or had been killed, when this report was made"}
    words = what.get(run.status, "was interrupted")
    return f"This run {words}. It holds {many} finished so far. The same command continues it."


def number_rows(run: Run, limit: int) -> tuple[tuple[NumberRow, ...], int]:
    """Every number of a run, each with the settings that tell it from its namesakes; and how many are left out."""
    everything = [(entry.subject.id, m) for entry in run.entries for m in entry.measurements]
    settings = settings_of(m for _, m in everything)
    rows = tuple(NumberRow(subject, m, settings[m.signature]) for subject, m in everything[:limit])
    return rows, len(everything) - len(rows)


def settings_of(measurements: Iterable[Measurement]) -> dict[str, str]:
    """Per signature, the parameters in which it differs from others of its name, in words: "p10"."""
    found = {m.signature: m for m in measurements}
    places = {key for m in found.values() for key in m.place}
    return dict(zip(found, told_apart(list(found.values()), without=places), strict=True))


def numbers_section(
    run: Run,
    anchor: str,
    *,
    instrument: Instrument | None = None,
    summary: str = "",
    facts: Sequence[tuple[str, str]] = (),
    grids: Sequence[Table] = (),
    people: bool = False,
) -> Section:
    """Tables, charts and numbers of one run; of an instrument that is not installed, its numbers."""
    rows, left = number_rows(run, MOST_NUMBERS)
    figures, missing = figures_of(run, instrument)
    total = len(rows) + left
    return Section(
        anchor=anchor,
        title=instrument.title if instrument else run.instrument.capitalize(),
        question=instrument.question if instrument else "",
        run=run,
        notice=notice(run),
        summary=summary if summary and total else f"{total} numbers on {len(run.subjects)} subjects.",
        facts=facts,
        grids=grids,
        figures=figures,
        figures_missing=missing,
        numbers=rows,
        numbers_left=left,
        people=people,
        definitions=list({row.definition.signature: row.definition for row in rows}.values()),
    )


def figures_of(run: Run, instrument: Instrument | None) -> tuple[Sequence[Figure], str]:
    """The run's charts; where they cannot be drawn, why: a report without charts is better than none."""
    if instrument is None or not instrument.charts:
        return (), ""
    try:
        return tuple(load(instrument.charts)(run)), ""
    except MissingDependency as error:
        return (), str(error)
    except ModuleNotFoundError as error:
        return (), f"The charts need {error.name}, which is not installed."
    except (KeyError, TypeError, ValueError, LookupError) as error:  # a run of another version may lack what is drawn
        return (), f"The charts of this run could not be drawn ({type(error).__name__}: {error})."
