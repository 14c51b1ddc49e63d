"""Tables of what surrounds the distances: differences of two models, values at smaller N, values of each class."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rushes.core import Measurement
from rushes.core.selection import keys_of
from rushes.core.table import Cell, Table, interval_cell, number
from rushes.distribution.remarks import sentences_of
from rushes.distribution.tables import DistanceRow, distance_rows, distances_table, metric_label

DIFFERENCE = "_difference"


def all_tables(measurements: Iterable[Measurement]) -> list[Table]:
    """The whole sets first, then what there is of differences, curves and classes."""
    given = list(measurements)
    whole, differences = distance_rows(given), difference_rows(given)
    rows = with_second(whole, distance_rows(given, key="set"))
    tables = [distances_table(rows, first=first_name(given))] if whole else []
    if differences:
        tables.append(differences_table(differences))
    if points := distance_rows(given, key="n"):
        tables.append(curve_table(points))
    if classes := distance_rows(given, key="class"):
        tables.append(classes_table(classes))
    return tables


def with_second(first: Sequence[DistanceRow], second: Sequence[DistanceRow]) -> list[DistanceRow]:
    """Each number of the first model with the second's below it."""
    return [row for one in first for row in (one, *(other for other in second if other.series == one.series))]


def difference_rows(measurements: Iterable[Measurement]) -> list[Measurement]:
    """Every difference of two models, in stored order."""
    return [m for m in measurements if is_difference(m)]


def is_difference(measurement: Measurement) -> bool:
    """Whether it is the difference of two models."""
    return measurement.name.endswith(DIFFERENCE) and "versus" in measurement.place


def first_name(measurements: Iterable[Measurement]) -> str:
    """What the generated set is called beside a second one; "generated" where there is none."""
    return next((m.place["first"] for m in difference_rows(measurements)), "generated")


def verdict_of(difference: Measurement) -> str:
    """What a difference says, in words: the first part of its note, which `measuring` writes."""
    return sentences_of(difference.note)[0]


def differences_table(differences: Sequence[Measurement]) -> Table:
    """Two models against one ground truth: the difference, its interval, and what may be said."""
    lines = [
        [
            Cell(metric_label(m).replace(DIFFERENCE, "")),
            Cell(keys_of(m)["protocol"]),
            number(m),
            interval_cell(m),
            Cell(verdict_of(m)),
        ]
        for m in differences
    ]
    return Table(
        title="Difference: {first} less {versus}".format(**differences[0].place),
        header=("metric", "protocol", "difference", "95 % interval", "verdict"),
        rows=lines,
        caption="Both against the same ground truth. There is a verdict only where the interval leaves out 0. The bias "
        "of a Fréchet distance is taken off, so it need not be the first value less the second.",
    )


def curve_table(points: Sequence[DistanceRow]) -> Table:
    """One line per metric and N, one column per random subset."""
    lines: dict[tuple[tuple[str, str], int], list[DistanceRow]] = {}
    for row in points:
        lines.setdefault((row.series, int(row.value.place["n"])), []).append(row)
    most = max(len(rows) for rows in lines.values())
    body = [
        [
            Cell(rows[0].metric),
            Cell(rows[0].setting("protocol")),
            Cell(str(n)),
            *(number(row.value) for row in rows),
            *([Cell("")] * (most - len(rows))),
        ]
        for (_, n), rows in lines.items()
    ]
    return Table(
        title="Value against N",
        header=("metric", "protocol", "N", *(f"subset {number}" for number in range(1, most + 1))),
        rows=body,
        caption="The same clips, fewer of them: random subsets of both sets. What falls with N is bias.",
    )


def classes_table(rows: Sequence[DistanceRow]) -> Table:
    """A line for each class; of one metric with its interval, of several a column for each."""
    metrics = list(dict.fromkeys(row.metric for row in rows))
    with_interval = len(metrics) == 1 and any(row.value.interval for row in rows)
    lines: dict[tuple[str, str], dict[str, DistanceRow]] = {}
    for row in rows:
        lines.setdefault((row.setting("protocol"), row.value.place["class"]), {})[row.metric] = row
    body = []
    for (protocol, name), found in lines.items():
        any_row = next(iter(found.values()))
        why = dict.fromkeys(row.value.note for row in found.values() if row.value.value is None)
        values = [number(found[metric].value if metric in found else None) for metric in metrics]
        intervals = [interval_cell(any_row.value)] * with_interval
        counts = [Cell(any_row.setting(key)) for key in ("n_gen", "n_gt")]
        body.append([Cell(name), Cell(protocol), *values, *intervals, *counts, Cell("; ".join(why))])
    return Table(
        title="Classes",
        header=("class", "protocol", *metrics, *["95 % interval"] * with_interval, "N gen", "N real", "remark"),
        rows=body,
        caption="Each class by itself. Classes of different sizes do not compare where the value depends on N.",
    )
