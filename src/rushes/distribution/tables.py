"""The tables of this instrument, made once: terminal, report, CSV and charts all show these cells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rushes.core import Measurement
from rushes.core.selection import keys_of
from rushes.core.table import Cell, Table, interval_cell, number
from rushes.distribution.protocols import METRICS, OWN_BACKBONE
from rushes.distribution.sensitivity import is_departure, ranked

if TYPE_CHECKING:
    from rushes.distribution.self_test import Check

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
        backbone = keys_of(self.value).get("backbone")
        own = OWN_BACKBONE.get(self.value.name)
        return self.value.name if backbone in (None, own) else f"{self.value.name} on {backbone}"

    @property
    def is_random(self) -> bool:
        """Whether the weights are random, so that the number compares only with itself."""
        return self.setting("weights").startswith("random")


def distance_rows(measurements: Iterable[Measurement]) -> list[DistanceRow]:
    """Every distance, in stored order, each with its extrapolated value."""
    given = list(measurements)
    return [DistanceRow(m, _extrapolated(m, given)) for m in given if m.name in METRICS and not is_departure(m)]


def _extrapolated(distance: Measurement, measurements: Sequence[Measurement]) -> Measurement | None:
    """The measurement that has every constant of the distance, and those of the extrapolation."""
    constants = keys_of(distance).items()
    name = f"{distance.name}_extrapolated"
    return next((m for m in measurements if m.name == name and constants <= keys_of(m).items()), None)


def distances_table(rows: Sequence[DistanceRow]) -> Table:
    """Each distance with its interval, its extrapolated value and what it rests on."""
    with_interval = any(row.value.interval for row in rows)
    beyond = any(row.extrapolated for row in rows)
    header = ["metric", "protocol", "value ↓"]
    header += ["95 % interval"] * with_interval + ["at infinite N"] * beyond + ["N gen", "N real", "D"]
    lines = [
        [
            Cell(row.metric),
            Cell(row.setting("protocol")),
            number(row.value),
            *([interval_cell(row.value)] * with_interval),
            *([number(row.extrapolated)] * beyond),
            *(Cell(row.setting(key)) for key in ("n_gen", "n_gt", "d")),
        ]
        for row in rows
    ]
    return Table(
        title="Distances",
        header=header,
        rows=lines,
        caption="Lower is closer. A distance depends on N and on the protocol: compare only within one row's settings.",
    )


def sensitivity_table(measurements: Iterable[Measurement]) -> Table:
    """What each distance would have been with one constant of another protocol, the largest change first."""
    lines = [
        [
            Cell(departure.base.name),
            Cell(departure.constant),
            Cell(departure.value),
            Cell(departure.source),
            number(departure.other),
            Cell("–" if departure.change is None else f"{departure.change:+.2f} %"),
        ]
        for departure in ranked(list(measurements))
    ]
    return Table(
        title="Which constant would have changed it by how much",
        header=("metric", "constant", "in its place", "as in", "value ↓", "change"),
        rows=lines,
        caption="One constant at a time is that of another protocol; the others stay as they are.",
    )


def checks_table(checks: Sequence[Check]) -> Table:
    """Published numbers and what came of them here."""
    lines = [
        [
            Cell(check.covers),
            Cell(check.what),
            Cell("–" if check.published is None else f"{check.published:.8g}"),
            Cell("–" if check.got is None else f"{check.got:.8g}"),
            Cell("–" if check.digits is None else str(check.digits)),
            Cell({True: "holds", False: "DOES NOT HOLD", None: check.why_not}[check.holds]),
        ]
        for check in checks
    ]
    held = sum(check.holds is True for check in checks)
    failed = sum(check.holds is False for check in checks)
    rest = len(checks) - held - failed
    return Table(
        title="Published numbers, computed again",
        header=("protocol", "what", "published", "got", "digits", ""),
        rows=lines,
        caption=f"{held} hold, {failed} do not, {rest} could not be checked.",
    )


def protocols_table(rows: Sequence[DistanceRow]) -> Table:
    """The constants behind each distance that differ most between papers."""
    lines = [[Cell(row.metric), *(Cell(row.setting(key)) for key in ("protocol", *_SETTINGS))] for row in rows]
    return Table(title="Protocols", header=("metric", "protocol", *_SETTINGS), rows=lines)
