"""One number with its definition and what it rests on: `Measurement`, and the two ways to combine them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from rushes.core.canonical import stored_float
from rushes.core.definition import Definition, require_same_signature
from rushes.errors import DefinitionError

Value: TypeAlias = float | int | bool | None

# Sums and square roots may end a hair past a bound (a correlation of 1.0000000000000002).
_SLACK = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One number, the definition it was computed under, and how much it rests on.

    Raises `DefinitionError` for a value that is NaN, infinite or outside the definition's range, for an open
    parameter, a negative count, and for a value of None or a count of 0 without a note.
    """

    definition: Definition
    value: Value
    count: int
    """Observations behind the value: frames, frame pairs, votes. 0 means that nothing could be scored."""
    note: str = ""
    """Why there is no value, or what a reader must know about it. Required when value is None or count is 0."""

    def __post_init__(self) -> None:
        name = self.definition.name if isinstance(self.definition, Definition) else None
        if name is None:
            raise DefinitionError(f"a measurement needs a Definition; got {type(self.definition).__name__}")
        if self.definition.open_params:
            raise DefinitionError(f"{name}: set {', '.join(self.definition.open_params)} before giving it a value")
        if not isinstance(self.value, (int, float, type(None))):
            raise DefinitionError(f"{name}: a value is a number, true/false or None; got {self.value!r}")
        if isinstance(self.count, bool) or not isinstance(self.count, int) or self.count < 0:
            raise DefinitionError(f"{name}: a count is a whole number from 0; got {self.count!r}")
        if (self.value is None or self.count == 0) and not self.note:
            raise DefinitionError(f"{name}: a missing value or a count of 0 needs a note saying why")
        if self.value is not None:
            self._check_range(name, float(self.value))

    def _check_range(self, name: str, value: float) -> None:
        if not math.isfinite(value):
            raise DefinitionError(f"{name}: NaN and infinity are not values; give None with a note")
        low, high = self.definition.lowest, self.definition.highest
        if (low is not None and value < low - _SLACK) or (high is not None and value > high + _SLACK):
            raise DefinitionError(f"{name}: {value} is outside its range {low}..{high}")

    @classmethod
    def missing(cls, definition: Definition, note: str, *, count: int = 0) -> Measurement:
        """A measurement that could not be made, and why."""
        return cls(definition=definition, value=None, count=count, note=note)

    @property
    def signature(self) -> str:
        return self.definition.signature

    @property
    def stored_value(self) -> Value:
        """The value as it is written to disk: floats with 8 decimals."""
        return stored_float(self.value) if isinstance(self.value, float) else self.value


def mean(measurements: Sequence[Measurement]) -> Measurement:
    """Average of the values that exist, under a definition of its own (`aggregate:mean`).

    Summed in the given order. Missing values are left out and counted in the note; all missing gives None.
    Raises `DefinitionMismatch` when the signatures differ.
    """
    definition = require_same_signature(m.definition for m in measurements).with_params(aggregate="mean")
    values = [float(m.value) for m in measurements if m.value is not None]
    left_out = len(measurements) - len(values)
    if not values:
        return Measurement.missing(definition, f"none of the {left_out} values could be computed")
    note = f"{left_out} of {len(measurements)} values missing" if left_out else ""
    return Measurement(definition=definition, value=math.fsum(values) / len(values), count=len(values), note=note)


def difference(one: Measurement, other: Measurement) -> Measurement:
    """`one − other` under a definition of its own (`aggregate:difference`); `DefinitionMismatch` if they differ."""
    shared = require_same_signature((one.definition, other.definition))
    width = None if shared.lowest is None or shared.highest is None else shared.highest - shared.lowest
    definition = Definition(
        name=shared.name,
        unit=shared.unit,
        lowest=None if width is None else -width,
        highest=width,
        better=shared.better,
        summary=f"Difference of two values: {shared.summary}",
        formula=f"first − second, each {shared.formula}",
        edge_cases="either value missing: None",
        reference=shared.reference,
        params=(*shared.params, ("aggregate", "difference")),
        history=shared.history,
    )
    if one.value is None or other.value is None:
        return Measurement.missing(definition, one.note or other.note)
    return Measurement(
        definition=definition,
        value=float(one.value) - float(other.value),
        count=min(one.count, other.count),
        note="" if min(one.count, other.count) else (one.note or other.note),
    )
