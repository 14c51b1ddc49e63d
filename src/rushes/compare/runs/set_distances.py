"""Two runs of distances between sets: what changed, value by value.

Such a run has no clips to pair: each number is about a whole set. So there is no test over subjects. Two values are
subtracted only where every constant behind them and the ground truth are the same, and whether the difference is more
than chance can be asked of the sets alone: `rushes fvd B REAL --versus A`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from rushes.compare.comparison import Outcome
from rushes.core import Measurement, difference
from rushes.core.definition import describe_settings
from rushes.core.selection import keys_of
from rushes.core.table import COUNT, INTERVAL, NUMBER, TEXT, Cell, Table, interval_cell, number
from rushes.core.words.number_text import signed_text
from rushes.instruments.distribution.few_videos import GEN_ID, GT_ID
from rushes.instruments.distribution.instrument import INSTRUMENT
from rushes.storage.runs import Run, Subject

_SIZES = ("n_gen", "n_gt")
Intervals: TypeAlias = Literal["apart", "overlap", "none"]


def more_than_chance(letter: str = "B") -> str:
    """What a table of two runs cannot say, and how to ask it; `letter` is the second run's."""
    return f"To test a difference: rushes fvd {letter} REAL --versus A, on the sets themselves."


@dataclass(frozen=True, slots=True, kw_only=True)
class DistanceChange:
    """One distance under one protocol in both runs."""

    first: Measurement
    second: Measurement
    detail: str = ""
    """Why the two do not compare, without the metric's name; "" where they do."""

    @property
    def why(self) -> str:
        """Why the two do not compare; "" where they do."""
        return f"{self.first.name}: {self.detail}" if self.first.signature != self.second.signature else self.detail

    @property
    def outcome(self) -> Outcome:
        """Two numbers alone never tell better from worse: that is asked of the sets."""
        if self.detail:
            return Outcome.NOT_COMPARABLE
        return Outcome.SAME if self.first.stored_value == self.second.stored_value else Outcome.CANNOT_TELL

    @property
    def name(self) -> str:
        """The metric and its protocol: "fvd under genhoi"."""
        protocol = keys_of(self.first).get("protocol")
        return f"{self.first.name} under {protocol}" if protocol else self.first.name

    @property
    def difference(self) -> Measurement | None:
        """Second − first; None where the two do not compare."""
        if self.outcome is Outcome.NOT_COMPARABLE:
            return None
        return difference(self.second, self.first)

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
        if self.detail or one is None or other is None:
            return "none"
        return "overlap" if one.low <= other.high and other.low <= one.high else "apart"


def are_distances(a: Run, b: Run) -> bool:
    """Whether both runs are of this kind."""
    return a.instrument == b.instrument == INSTRUMENT.name


def distance_changes(a: Run, b: Run) -> tuple[DistanceChange, ...]:
    """Every number of both runs, paired by signature, else by metric, protocol and network; in A's order."""
    ours, theirs = (run.measurements.get(GEN_ID, ()) for run in (a, b))
    partners: dict[int, int] = {}
    for key in (lambda m: (m.signature, m.at), _kind):
        for place, one in enumerate(ours):
            free = (n for n, other in enumerate(theirs) if n not in partners.values() and key(one) == key(other))
            if place not in partners and (partner := next(free, None)) is not None:
                partners[place] = partner
    pairs = [(ours[place], theirs[partner]) for place, partner in sorted(partners.items())]
    elsewhere = other_truth(a, b)
    return tuple(
        DistanceChange(
            first=x,
            second=y,
            detail=elsewhere if x.signature == y.signature else describe_settings(x.signature, y.signature),
        )
        for x, y in pairs
    )


def _kind(m: Measurement) -> tuple[object, ...]:
    constants = keys_of(m)
    return m.name, constants.get("protocol"), constants.get("backbone"), m.at


def other_truth(a: Run, b: Run) -> str:
    """Why two runs' distances were not measured to the same clips; "" where they were, or a run does not tell."""
    one, other = (_subject(run, GT_ID) for run in (a, b))
    if one is None or other is None or one.sha256 == other.sha256:
        return ""
    return f"the ground truth is {_set(one)} in one and {_set(other)} in the other; these values are not comparable"


def set_lines(a: Run, b: Run, *, letter: str = "B") -> Iterator[str]:
    """What was compared with what, in either run; and whether the generated clips are the same."""
    for mark, run in (("A", a), (letter, b)):
        gen, gt = _subject(run, GEN_ID), _subject(run, GT_ID)
        if gen is not None and gt is not None:
            yield f"{mark}: {_set(gen)} against {_set(gt)}"
    one, other = _subject(a, GEN_ID), _subject(b, GEN_ID)
    if one is not None and other is not None and one.sha256 == other.sha256:
        yield "The generated clips are the same in both."


def _subject(run: Run, name: str) -> Subject | None:
    return next((subject for subject in run.subjects if subject.id == name), None)


def _set(subject: Subject) -> str:
    digest = (subject.sha256 or "")[:12]
    return f"{subject.path} ({subject.facts.get('clips')} clips, {digest})"


def refused_lines(changes: Iterable[DistanceChange]) -> list[str]:
    """The distances that do not compare, and in what they differ."""
    return [f"Not compared: {one.name}: {one.detail}" for one in changes if one.outcome is Outcome.NOT_COMPARABLE]


def distance_table(changes: Iterable[DistanceChange], *, letter: str = "B") -> Table:
    """Both values, the difference in the metric's unit and in per cent, the sizes and the intervals.

    `letter` is the letter of the run that is not A.
    """
    rows = list(changes)
    drawn = any(change.first.interval or change.second.interval for change in rows)
    columns = [*TEXT("metric", "protocol"), *NUMBER("A", keep=True), *NUMBER(letter, f"{letter} − A", "%")]
    columns += COUNT("N gen", "N real")
    columns += [*INTERVAL("A 95 %", f"{letter} 95 %"), *TEXT("intervals")] * drawn
    return Table(title="Distances: lower is closer", columns=columns, rows=[_row(change, drawn) for change in rows])


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
        *(Cell(" → ".join(dict.fromkeys(found.get(key, "–") for found in (constants, others)))) for key in _SIZES),
    ]
    if drawn:
        cells += [interval_cell(change.first), interval_cell(change.second), Cell(change.intervals)]
    return cells
