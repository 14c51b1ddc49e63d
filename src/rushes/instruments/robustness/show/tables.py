"""The numbers of a sweep as tables: terminal, report, demo and charts all show these cells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from rushes.core import Definition, Measurement
from rushes.core.table import ARROWS, COUNT, NUMBER, TEXT, Cell, Table, number

LABELS = {
    "esi": "ESI",
    "justification_drift": "drift",
    "esi_one_axis": "ESI alone",
    "justification_drift_one_axis": "drift alone",
    "confidence_stability": "CSI",
    "entropy_drift": "EDM",
    "judge_failure_rate": "failed",
}
"""What the columns are called."""


def names() -> Iterator[tuple[str, Definition]]:
    """The heads of columns, and the field names of the specification that are not the metrics' own."""
    from rushes.instruments.robustness.definitions.pools import DEFINITIONS

    yield from ((LABELS[one.name], one) for one in DEFINITIONS if one.name in LABELS)


ALL_VALUES = "all values"

Readings = Mapping[str, Measurement]
"""The metrics of one place, by name."""


def along_axes(measurements: Iterable[Measurement]) -> dict[tuple[str, str | None], Readings]:
    """What was measured at each (axis, value), in stored order; the value None is the whole axis."""
    found: dict[tuple[str, str | None], dict[str, Measurement]] = {}
    for m in measurements:
        at = m.place
        if m.name in LABELS and "axis" in at:
            found.setdefault((at["axis"], at.get("value")), {})[m.name] = m
    return dict(found)


def over_two_axes(measurements: Iterable[Measurement]) -> dict[tuple[str, str], dict[tuple[str, str], Readings]]:
    """What was measured at each pair of values, by the two axes, in stored order."""
    found: dict[tuple[str, str], dict[tuple[str, str], dict[str, Measurement]]] = {}
    for m in measurements:
        at = m.place
        if "axis_1" in at:
            cells = found.setdefault((at["axis_1"], at["axis_2"]), {})
            cells.setdefault((at["value_1"], at["value_2"]), {})[m.name] = m
    return {axes: dict(cells) for axes, cells in found.items()}


def stability_table(measurements: Iterable[Measurement], *, title: str = "Stability per axis value") -> Table:
    """A row per axis and per value of it; metrics that the sweep does not have get no column."""
    places = along_axes(measurements)
    several = len({axis for axis, _ in places}) > 1
    used = [name for name in LABELS if any(_worth_showing(name, readings, several) for readings in places.values())]
    heads = [_head(next(readings[name] for readings in places.values() if name in readings)) for name in used]
    rows = [
        (
            Cell(axis),
            Cell(ALL_VALUES if value is None else value),
            *(number(readings.get(name)) for name in used),
            Cell(str(next(iter(readings.values())).count)),
        )
        for (axis, value), readings in places.items()
    ]
    return Table(
        title=title,
        columns=(*TEXT("axis", "value"), *NUMBER(*heads), *COUNT("runs")),
        rows=rows,
        caption="ESI is the share of runs that answer as the baseline does; drift is how far their reasons drifted. "
        "Alone: with the other axes at baseline. Runs are those that answered.",
    )


EFFECTS = {
    "esi_one_axis": "ESI",
    "esi_range": "ESI range",
    "justification_drift_one_axis": "drift",
    "justification_drift_range": "drift range",
}
"""What the columns of the table of axes are called."""


def effects_table(
    measurements: Iterable[Measurement], *, title: str = "Each axis by itself, the others at baseline"
) -> Table:
    """A row per axis; no rows where a sweep has one axis alone, which the other table shows already."""
    found: dict[str, dict[str, Measurement]] = {}
    for m in measurements:
        if m.name in EFFECTS and m.place.keys() == {"axis"}:
            found.setdefault(m.place["axis"], {})[m.name] = m
    used = [name for name in EFFECTS if any(name in readings for readings in found.values())]
    arrows = {name: next(r[name] for r in found.values() if name in r).definition.better for name in used}
    rows = [
        (Cell(axis), *(number(readings.get(name)) for name in used), Cell(_worst(readings)))
        for axis, readings in found.items()
    ]
    return Table(
        title=title,
        columns=(
            *(*TEXT("axis"), *NUMBER(*(f"{EFFECTS[name]} {ARROWS[arrows[name]]}" for name in used))),
            *TEXT("ESI is"),
        ),
        rows=rows if len(rows) > 1 else [],
        caption="The range is how far an axis by itself can change the number. In a full grid the other table gives "
        "every axis the same mean; this one shows each by itself.",
    )


def _worst(readings: Readings) -> str:
    return readings["esi_range"].note or "steady" if "esi_range" in readings else "–"


def _worth_showing(name: str, readings: Readings, several: bool) -> bool:
    """A judge that never fails needs no column that says so, and one axis is always alone."""
    if name not in readings or (name in EFFECTS and not several):
        return False
    return name != "judge_failure_rate" or bool(readings[name].value)


def _head(measurement: Measurement) -> str:
    return f"{LABELS[measurement.name]} {ARROWS[measurement.definition.better]}"
