"""Two runs of distances between sets: what changed, value by value.

Such a run has no clips to pair: each number is about a whole set. So there is no test over subjects. Two values are
subtracted only where every constant behind them and the ground truth are the same, and whether the difference is more
than chance can be asked of the sets alone: `rushes fvd B REAL --versus A`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from rushes.core import Measurement, difference
from rushes.core.definition import describe_difference
from rushes.core.numbers import signed_text
from rushes.core.selection import keys_of
from rushes.core.table import Cell, Table, interval_cell, number
from rushes.distribution.evaluate import GEN_ID, GT_ID
from rushes.distribution.instrument import INSTRUMENT
from rushes.runs import Run, Subject

Intervals: TypeAlias = Literal["apart", "overlap", "none"]
HOLDS = "Whether a difference is more than chance: rushes fvd B REAL --versus A, on the sets themselves."
"""What a table of two runs cannot say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DistanceChange:
    """One distance under one protocol in both runs."""

    first: Measurement
    second: Measurement
    why: str = ""
    """Why the two do not compare; "" where they do."""

    @property
    def name(self) -> str:
        """The metric and its protocol: "fvd under genhoi"."""
        protocol = keys_of(self.first).get("protocol")
        return f"{self.first.name} under {protocol}" if protocol else self.first.name

    @property
    def difference(self) -> Measurement | None:
        """Second − first; None where the two do not compare."""
        return None if self.why else difference(self.second, self.first)

    @property
    def percent(self) -> float | None:
        """The difference in per cent of the first value; None where that is not above 0."""
        moved = self.difference
        if moved is None or moved.value is None or not self.first.value or float(self.first.value) < 0:
            return None
        return 100.0 * float(moved.value) / float(self.first.value)

    @property
    def intervals(self) -> Intervals:
        """Whether the two intervals share a value; values whose intervals do may still differ."""
        one, other = self.first.interval, self.second.interval
        if self.why or one is None or other is None:
            return "none"
        return "overlap" if one.low <= other.high and other.low <= one.high else "apart"


def are_distances(a: Run, b: Run) -> bool:
    """Whether both runs are of this kind."""
    return a.instrument == b.instrument == INSTRUMENT.name


def distance_changes(a: Run, b: Run) -> tuple[DistanceChange, ...]:
    """Every number of both runs, paired by signature, else by metric, protocol and network; in A's order."""
    ours, theirs = _numbers(a), _numbers(b)
    partners: dict[int, int] = {}
    for alike in (_same_signature, _same_metric):
        for place, one in enumerate(ours):
            free = (n for n, other in enumerate(theirs) if n not in partners.values() and alike(one, other))
            if place not in partners and (partner := next(free, None)) is not None:
                partners[place] = partner
    pairs = [(ours[place], theirs[partner]) for place, partner in sorted(partners.items())]
    elsewhere = other_truth(a, b)
    return tuple(DistanceChange(first=x, second=y, why=_why_not(x, y) or elsewhere) for x, y in pairs)


def _why_not(one: Measurement, other: Measurement) -> str:
    return "" if one.signature == other.signature else describe_difference(one.signature, other.signature)


def _numbers(run: Run) -> Sequence[Measurement]:
    return run.measurements.get(GEN_ID, ())


def _same_signature(one: Measurement, other: Measurement) -> bool:
    return (one.signature, one.at) == (other.signature, other.at)


def _same_metric(one: Measurement, other: Measurement) -> bool:
    return _kind(one) == _kind(other)


def _kind(m: Measurement) -> tuple[object, ...]:
    constants = keys_of(m)
    return m.name, constants.get("protocol"), constants.get("backbone"), m.at


def other_truth(a: Run, b: Run) -> str:
    """Why two runs' distances were not measured to the same clips; "" where they were, or a run does not tell."""
    one, other = (_subject(run, GT_ID) for run in (a, b))
    if one is None or other is None or one.sha256 == other.sha256:
        return ""
    return f"the ground truth is {_set(one)} in one and {_set(other)} in the other; these numbers do not compare"


def set_lines(a: Run, b: Run) -> Iterator[str]:
    """What was compared with what, in either run; and whether the generated clips are the same."""
    for letter, run in (("A", a), ("B", b)):
        gen, gt = _subject(run, GEN_ID), _subject(run, GT_ID)
        if gen is not None and gt is not None:
            yield f"{letter}: {_set(gen)} against {_set(gt)}"
    one, other = _subject(a, GEN_ID), _subject(b, GEN_ID)
    if one is not None and other is not None and one.sha256 == other.sha256:
        yield "The generated clips are the same in both."


def _subject(run: Run, name: str) -> Subject | None:
    return next((subject for subject in run.subjects if subject.id == name), None)


def _set(subject: Subject) -> str:
    digest = (subject.sha256 or "")[:12]
    return f"{subject.path} ({subject.facts.get('clips')} clips, {digest})"


def distance_table(changes: Iterable[DistanceChange]) -> Table:
    """Both values, the difference in the metric's unit and in per cent, the sizes and the intervals."""
    rows = list(changes)
    drawn = any(change.first.interval or change.second.interval for change in rows)
    header = ["metric", "protocol", "A", "B", "B − A", "%", "N gen", "N real"]
    header += ["A 95 %", "B 95 %", "intervals"] * drawn
    return Table(title="Distances: lower is closer", header=header, rows=[_row(change, drawn) for change in rows])


def _row(change: DistanceChange, drawn: bool) -> list[Cell]:
    constants, others = keys_of(change.first), keys_of(change.second)
    moved, percent = change.difference, change.percent
    cells = [
        Cell(change.first.name),
        Cell(constants.get("protocol", "–")),
        number(change.first),
        number(change.second),
        Cell("–") if moved is None or moved.value is None else Cell(signed_text(float(moved.value)), moved),
        Cell("–" if percent is None else signed_text(percent)),
        *(Cell(_both(constants.get(key, "–"), others.get(key, "–"))) for key in ("n_gen", "n_gt")),
    ]
    if drawn:
        cells += [interval_cell(change.first), interval_cell(change.second), Cell(change.intervals)]
    return cells


def _both(one: str, other: str) -> str:
    return one if one == other else f"{one} → {other}"
