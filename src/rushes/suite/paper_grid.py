"""What may stand under one head of a paper's table: numbers of one signature, held against one set of references."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rushes.suite.paper_columns import Column
from rushes.suite.paper_systems import Reading, System


@dataclass(frozen=True, slots=True, kw_only=True)
class TableColumn:
    """One column: the numbers of one signature, held against one set of references."""

    column: Column
    readings: tuple[Reading | None, ...]
    """One per system; None where it has no number here."""
    digits: int
    mark: int | None = None
    """Number of its footnote; None where no system has a number."""
    best: int | None = None
    """The system that bold is for."""

    @property
    def title(self) -> str:
        """Its head: the column's, or that of a protocol's own reading of the metric: "PSNR (DisCo)"."""
        found = self.found[0] if self.found else None
        return found.label if found and found.label and found.origin != self.column.asks else self.column.title

    @property
    def signature(self) -> str:
        return self.found[0].measurement.signature if self.found else ""

    @property
    def found(self) -> tuple[Reading, ...]:
        return tuple(reading for reading in self.readings if reading is not None)


def groups_of(
    column: Column, systems: Sequence[System], *, columns: Sequence[Column]
) -> list[tuple[Reading | None, ...]]:
    """The column once for each signature and set of references; once, without numbers, where nothing was measured.

    A number whose metric has a column of its own among `columns` stands there alone.
    """
    others = {other.asks for other in columns} - {column.asks}
    groups: list[list[Reading | None]] = []
    for place, system in enumerate(systems):
        for reading in system.readings:
            if not reading.has_value or not reading.under(column) or reading.origin in others:
                continue
            group = next((group for group in groups if group[place] is None and _belongs(reading, group)), None)
            if group is None:
                group = [None] * len(systems)
                groups.append(group)
            group[place] = reading
    return [tuple(group) for group in groups] or [(None,) * len(systems)]


def _belongs(reading: Reading, group: Sequence[Reading | None]) -> bool:
    members = [other for other in group if other is not None]
    return all(
        reading.measurement.signature == other.measurement.signature and not reading.difference(other)
        for other in members
    )


def best_of(readings: Sequence[Reading | None]) -> int | None:
    """The system whose value is best and whose interval overlaps no other's; None where there is no such one.

    Means over different clips do not compare, so then none is best.
    """
    found = [(place, reading) for place, reading in enumerate(readings) if reading is not None]
    if len(found) < 2 or len({reading.clips for _, reading in found}) > 1:
        return None
    better = found[0][1].measurement.definition.better
    if better == "neither" or any(reading.measurement.interval is None for _, reading in found):
        return None
    sign = 1.0 if better == "higher" else -1.0
    place, best = max(found, key=lambda item: sign * float(item[1].measurement.value or 0.0))
    others = [reading.measurement.interval for other, reading in found if other != place]
    own = best.measurement.interval
    assert own is not None
    apart = all(other is not None and (own.low > other.high or own.high < other.low) for other in others)
    return place if apart else None
