"""The parts a section is made of. Everything with a number in it holds the `Measurement` itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rushes.core import Definition, Measurement
from rushes.core.progress import Progress, no_progress
from rushes.core.table import ARROWS, Cell, Table, exact_text
from rushes.core.text import direction_text, range_text, value_text
from rushes.report.figure import Figure
from rushes.runs import Run

DIRECTIONS = {"higher": "higher is better", "lower": "lower is better", "neither": "neither"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportOptions:
    """What a report was asked for."""

    strips: int = 100
    """Clips per run that get a film strip, worst first: each has to be decoded again."""
    jobs: int = 1
    progress: Progress = no_progress


@dataclass(frozen=True, slots=True)
class NumberRow:
    """One line of the table of every number."""

    subject: str
    measurement: Measurement
    settings: str
    """The parameters in which this number differs from others of its name."""

    @property
    def value(self) -> str:
        return exact_text(self.measurement)

    @property
    def definition(self) -> Definition:
        return self.measurement.definition

    @property
    def direction(self) -> str:
        return DIRECTIONS[self.definition.better]


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One run on the page."""

    anchor: str
    title: str
    question: str
    run: Run
    notice: str
    """Why this is not the whole run; "" when it is."""
    found: str
    """What the numbers say, in one or two sentences."""
    facts: Sequence[tuple[str, str]] = ()
    grids: Sequence[Table] = ()
    figures: Sequence[Figure] = ()
    figures_missing: str = ""
    numbers: Sequence[NumberRow] = ()
    numbers_left: int = 0
    clips: ClipTable | None = None
    definitions: Sequence[Definition] = ()

    @property
    def name(self) -> str:
        """The run's folder; the one it lies in where the run itself is just called "run"."""
        path = self.run.path
        return path.parent.name if path.name == "run" and path.parent.name else path.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A metric that has a column of its own in the clip table."""

    index: int
    label: str
    definition: Definition
    minor: bool
    """Left out first where the window is narrow."""

    @property
    def arrow(self) -> str:
        return ARROWS[self.definition.better]

    @property
    def hint(self) -> str:
        return f"{self.definition.name}, {unit_text(self.definition)}; {direction_text(self.definition)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClipTable:
    """The rows of a clip run: as data for the page's script, and the first of them as cells for the first paint."""

    counts: Sequence[tuple[str, int]]
    reasons: Sequence[tuple[str, int]]
    not_judged: Sequence[tuple[str, int]]
    columns: Sequence[Column]
    first: Sequence[FirstRow]
    total: int
    data: str
    """JSON, safe inside a script element."""
    extras: Sequence[str] = field(default_factory=tuple)
    """Per clip in the order of the data: timeline and film strip, as JSON."""


@dataclass(frozen=True, slots=True)
class FirstRow:
    """One row as it stands in the page before any script runs."""

    id: str
    badge: str
    reasons: str
    cells: Sequence[Cell]


def compact_text(measurement: Measurement) -> str:
    """The value with the digits a column has room for; opening the row shows it whole.

    >>> from rushes.core import Definition
    >>> d = Definition(name="x", unit="1", lowest=None, highest=None, better="neither", summary="s", formula="f")
    >>> [compact_text(Measurement(definition=d, value=v, count=1)) for v in (0.14886101, 54.5, 748.81, 3, 3.0)]
    ['0.1489', '54.50', '748.8', '3', '3']
    """
    value = measurement.value
    if not isinstance(value, float):
        return value_text(measurement)
    if value.is_integer():
        return str(int(value))
    return f"{value:.{1 if abs(value) >= 100 else 2 if abs(value) >= 10 else 4}f}"


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


def notice(run: Run) -> str:
    """What a reader must know about a run that is not complete."""
    if run.status == "complete":
        return ""
    asked, done = len(run.info.get("inputs") or ()), len(run.subjects)
    many = f"{done} of {asked}" if run.instrument == "clip" and asked else str(done)
    what = {"running": "was still going, or was stopped without a word, when this report was made"}
    words = what.get(run.status, "was interrupted")
    return f"This run {words}. It holds {many} finished so far. The same command continues it."


def number_rows(run: Run, limit: int) -> tuple[tuple[NumberRow, ...], int]:
    """Every number of a run, each with the settings that tell it from its namesakes; and how many are left out."""
    everything = [(entry.subject.id, m) for entry in run.entries for m in entry.measurements]
    varying = varying_params([m.definition for _, m in everything])
    rows = tuple(NumberRow(subject, m, settings_text(m.definition, varying)) for subject, m in everything[:limit])
    return rows, len(everything) - len(rows)


def varying_params(definitions: Sequence[Definition]) -> dict[str, set[str]]:
    """Per metric name, the parameters that are not the same in all its definitions."""
    by_name: dict[str, list[dict[str, str]]] = {}
    for definition in {d.signature: d for d in definitions}.values():
        by_name.setdefault(definition.name, []).append(dict(definition.params))
    return {
        name: {key for key in {k for params in many for k in params} if len({params.get(key) for params in many}) > 1}
        for name, many in by_name.items()
    }


def settings_text(definition: Definition, varying: dict[str, set[str]]) -> str:
    keys = varying.get(definition.name, set())
    return ", ".join(f"{key} {value}" for key, value in definition.params if key in keys)
