"""The tables of this instrument, made once: terminal, report, CSV and charts all show these cells.

Distances and protocols first; then what surrounds them: differences of two models, values at smaller N, classes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rushes.core import Measurement
from rushes.core.selection import keys_of
from rushes.core.table import ARROWS, COUNT, INTERVAL, NUMBER, TEXT, Cell, Table, interval_cell, number
from rushes.instruments.distribution.distances.sensitivity import is_departure, ranked
from rushes.instruments.distribution.protocols import GIVEN_METRICS, METRICS, OWN_BACKBONE, SHORTHANDS
from rushes.instruments.distribution.show.remarks import sentences_of

if TYPE_CHECKING:
    from rushes.instruments.distribution.self_test import Check


_SETTINGS = ("backbone", "feature", "frames", "size", "resize", "normalise", "precision", "weights")


@dataclass(frozen=True, slots=True)
class DistanceRow:
    """One metric under one protocol: the distance, and its value at infinitely many clips where there is one."""

    value: Measurement
    extrapolated: Measurement | None

    def setting(self, key: str) -> str:
        """A constant behind the distance, as the signature has it; "–" where it has none."""
        return keys_of(self.value).get(key, "–")

    @property
    def metric(self) -> str:
        """The metric's name, and its backbone where that is not its own: "fvd on r3d50"."""
        return metric_label(self.value)

    @property
    def series(self) -> tuple[str, str]:
        """What numbers of several parts have in common: metric and protocol."""
        return self.metric, self.setting("protocol")

    @property
    def arrow(self) -> str:
        """Which way is better: "↓" for a distance, "↑" for a share."""
        return ARROWS[self.value.definition.better]

    @property
    def is_share(self) -> bool:
        """Whether it is one of precision, recall, density and coverage."""
        return self.value.name in SHORTHANDS["prdc"]

    @property
    def is_random(self) -> bool:
        """Whether the weights are random, so that the number compares only with itself."""
        return self.setting("weights").startswith("random")


def _words(*texts: str) -> list[Cell]:
    return [Cell(text) for text in texts]


def metric_label(measurement: Measurement) -> str:
    """A metric's name, and its backbone where that is not its own; of given features theirs."""
    name = measurement.name
    keys = keys_of(measurement)
    backbone = keys.get("extractor") or keys.get("backbone")
    own = OWN_BACKBONE.get(name.removesuffix("_difference").removesuffix("_extrapolated"))
    return name if backbone in (None, own) else f"{name} on {backbone}"


def distance_rows(measurements: Iterable[Measurement], *, key: str = "") -> list[DistanceRow]:
    """Every number of the whole sets, in stored order, each with its extrapolated value.

    With a `key` those about a part, which have it in their `at`: "set", "n" or "class".
    """
    given = list(measurements)
    known = (*METRICS, *GIVEN_METRICS)
    wanted = [m for m in given if m.name in known and not is_departure(m) and (key in m.place if key else not m.at)]
    return [DistanceRow(m, _extrapolated(m, given)) for m in wanted]


def _extrapolated(distance: Measurement, measurements: Sequence[Measurement]) -> Measurement | None:
    """The measurement that has every constant of the distance, and those of the extrapolation."""
    constants = keys_of(distance).items()
    name = f"{distance.name}_extrapolated"
    beyond = (m for m in measurements if m.name == name and m.at == distance.at)
    return next((m for m in beyond if constants <= keys_of(m).items()), None)


def distances_table(rows: Sequence[DistanceRow], *, first: str = "generated") -> Table:
    """Each number with its interval, its extrapolated value and what it rests on.

    `first` is what the generated set is called, where there is a second one.
    """
    with_interval = any(row.value.interval for row in rows)
    beyond = any(row.extrapolated and row.extrapolated.value is not None for row in rows)
    several = any("set" in row.value.place for row in rows)
    arrows = {row.arrow for row in rows}
    mixed = len(arrows) > 1  # a column of two directions has its arrows in the rows
    columns = [*TEXT("metric", "protocol", *["set"] * several)]
    columns += NUMBER("value" if mixed else f"value {next(iter(arrows), '')}")
    columns += INTERVAL("95 % interval") * with_interval + NUMBER("at infinite N") * beyond
    columns += COUNT("N gen", "N real", "D")
    lines = [
        [
            *_words(f"{row.metric} {row.arrow}" if mixed else row.metric, row.setting("protocol")),
            *_words(*[row.value.place.get("set", first)] * several),
            number(row.value),
            *([interval_cell(row.value)] * with_interval),
            *([number(row.extrapolated)] * beyond),
            *_words(*map(row.setting, ("n_gen", "n_gt", "d"))),
        ]
        for row in rows
    ]
    return Table(
        title="Distances",
        columns=columns,
        rows=lines,
        caption=_direction(arrows)
        + " A value depends on N and on the protocol: compare only values with the same settings.",
    )


def _direction(arrows: set[str]) -> str:
    words = {"↓": "Lower is closer.", "↑": "Higher is better."}
    if len(arrows) > 1:
        return "↓ lower is closer, ↑ higher is better."
    return words.get(next(iter(arrows), ""), "")


def sensitivity_table(measurements: Iterable[Measurement]) -> Table:
    """What each distance would have been with one constant of another protocol, the largest change first."""
    lines = [
        [
            *_words(departure.base.name, departure.constant, departure.value, departure.source),
            number(departure.other),
            Cell("–" if departure.change is None else f"{departure.change:+.2f} %"),
        ]
        for departure in ranked(list(measurements))
    ]
    return Table(
        title="How much each constant changes the value",
        columns=(*TEXT("metric", "constant", "instead", "as in"), *NUMBER("value ↓", "change")),
        rows=lines,
        caption="One constant at a time is replaced by another protocol's.",
    )


def checks_table(checks: Sequence[Check]) -> Table:
    """Published numbers and what came of them here."""
    lines = []
    for check in checks:
        numbers = ("–" if value is None else f"{value:.8g}" for value in (check.published, check.got, check.digits))
        outcome = {True: "holds", False: "DOES NOT HOLD", None: check.why_not}[check.holds]
        lines.append(_words(check.covers, check.what, *numbers, outcome))
    held = sum(check.holds is True for check in checks)
    failed = sum(check.holds is False for check in checks)
    rest = len(checks) - held - failed
    return Table(
        title="Published numbers, reproduced",
        columns=(*TEXT("protocol", "what"), *NUMBER("published", "got"), *COUNT("digits"), *TEXT("")),
        rows=lines,
        caption=f"{held} reproduced, {failed} not, {rest} could not be checked.",
    )


def protocols_table(rows: Sequence[DistanceRow]) -> Table:
    """The constants behind each distance that differ most between papers."""
    lines = [_words(row.metric, *map(row.setting, ("protocol", *_SETTINGS))) for row in rows]
    return Table(title="Protocols", columns=TEXT("metric", "protocol", *_SETTINGS), rows=lines)


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
            *_words(metric_label(m).replace(DIFFERENCE, ""), keys_of(m)["protocol"]),
            *(number(m), interval_cell(m), Cell(verdict_of(m))),
        ]
        for m in differences
    ]
    return Table(
        title="Difference: {first} less {versus}".format(**differences[0].place),
        columns=(*TEXT("metric", "protocol"), *NUMBER("difference"), *INTERVAL("95 % interval"), *TEXT("verdict")),
        rows=lines,
        caption="Both against the same ground truth. There is a verdict only if the interval excludes 0. The bias "
        "of a Fréchet distance is taken off, so it need not be the first value less the second.",
    )


def curve_table(points: Sequence[DistanceRow]) -> Table:
    """One line per metric and N, one column per random subset."""
    lines: dict[tuple[tuple[str, str], int], list[DistanceRow]] = {}
    for row in points:
        lines.setdefault((row.series, int(row.value.place["n"])), []).append(row)
    most = max(len(rows) for rows in lines.values())
    body = [
        [*_words(*series, str(n)), *(number(row.value) for row in rows), *_words(*[""] * (most - len(rows)))]
        for (series, n), rows in lines.items()
    ]
    return Table(
        title="Value against N",
        columns=(
            *(*TEXT("metric", "protocol"), *COUNT("N")),
            *NUMBER(*(f"subset {number}" for number in range(1, most + 1))),
        ),
        rows=body,
        caption="The same clips, fewer of them: random subsets of both sets. A value that falls with N shows bias.",
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
        counts = map(any_row.setting, ("n_gen", "n_gt"))
        body.append([*_words(name, protocol), *values, *intervals, *_words(*counts, "; ".join(why))])
    return Table(
        title="Classes",
        columns=(
            *(*TEXT("class", "protocol"), *NUMBER(*metrics), *INTERVAL("95 % interval") * with_interval),
            *(*COUNT("N gen", "N real"), *TEXT("remark")),
        ),
        rows=body,
        caption="Each class by itself. Classes of different sizes do not compare where the value depends on N.",
    )
