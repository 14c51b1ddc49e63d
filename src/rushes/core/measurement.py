"""One number with its definition, what it is about and what it rests on, and two ways to combine such numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from rushes.core.canonical import stored_float
from rushes.core.definition import Definition, require_same_signature
from rushes.core.errors import DefinitionError
from rushes.core.estimate import SLACK, Estimate, Scalar, Why
from rushes.core.estimate import Interval as Interval
from rushes.core.estimate import Value as Value
from rushes.core.span import Span
from rushes.core.words.notebook_repr import measurement_line, numbers_html

At: TypeAlias = tuple[tuple[str, str], ...]
_PLAIN = frozenset({float, int, bool, type(None)})
"""Types of a value as it is kept; a run of 2,000 clips has 130,000 of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement(Estimate):
    """An estimate with the definition it was computed under and what it is about.

    Raises `DefinitionError` for a value that is NaN, infinite or outside the definition's range, for an open
    parameter, a place that `at` lacks, a negative count, a value of None or a count of 0 without a note, and an
    interval around no value.
    """

    definition: Definition
    note: str = ""
    """Why there is no value, or what a reader must know about it. Required when value is None or count is 0."""
    at: At = ()
    """What the number is about, sorted by key: (("system", "amber"),). A mapping may be given. Any text is a value."""
    why: Why | None = field(default=None, compare=False)
    """The note in a type. Stored only where it forbids a verdict, so it takes no part in equality."""
    span: Span | None = field(default=None, compare=False)
    """Where in a clip the value was found. Not stored here: the reason of a rule that fires on it has it."""

    __repr__ = measurement_line

    def _repr_html_(self) -> str:
        return numbers_html([self])

    if TYPE_CHECKING:  # as written, `at` may also be a mapping and numbers may be numpy's; as read, they are not

        def __init__(
            self,
            *,
            definition: Definition,
            value: Value | Scalar,
            count: int | Scalar,
            note: str = "",
            at: At | Mapping[str, str] = (),
            interval: Interval | None = None,
            why: Why | None = None,
            span: Span | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        name = self.definition.name if isinstance(self.definition, Definition) else None
        if name is None:
            raise DefinitionError(f"a measurement needs a Definition; got {type(self.definition).__name__}")
        if self.definition.open_params:
            raise DefinitionError(f"{name}: set {', '.join(self.definition.open_params)} before giving it a value")
        if type(self.value) not in _PLAIN or type(self.count) is not int:
            self._require_numbers(name)
        if self.count < 0:
            raise DefinitionError(f"{name}: a count is a whole number from 0; got {self.count!r}")
        if (self.value is None or self.count == 0) and not self.note:
            raise DefinitionError(f"{name}: a missing value or a count of 0 needs a note saying why")
        if self.value is not None:
            self._check_range(name, float(self.value))
        elif self.interval is not None:
            raise DefinitionError(f"{name}: an interval needs a value")
        if self.at or self.definition.places or not isinstance(self.at, tuple):
            self._order_at(name)

    def _require_numbers(self, name: str) -> None:
        for word in ("value", "count"):
            given = getattr(self, word)
            if type(given).__module__ == "numpy" and getattr(given, "ndim", 1) == 0:  # what a mean of an array is
                object.__setattr__(self, word, given.item())
        if not isinstance(self.value, (int, float, type(None))):
            raise DefinitionError(f"{name}: a value is a number, true/false or None; got {self.value!r}")
        if isinstance(self.count, bool) or not isinstance(self.count, int):
            raise DefinitionError(f"{name}: a count is a whole number from 0; got {self.count!r}")

    def _check_range(self, name: str, value: float) -> None:
        if not math.isfinite(value):
            raise DefinitionError(f"{name}: NaN and infinity are not values; give None with a note")
        low, high = self.definition.lowest, self.definition.highest
        if (low is not None and value < low - SLACK) or (high is not None and value > high + SLACK):
            raise DefinitionError(f"{name}: {value} is outside its range {low}..{high}")

    def _order_at(self, name: str) -> None:
        pairs = dict(self.at)
        if lacking := [key for key in self.definition.places if key not in pairs]:
            raise DefinitionError(f"{name}: `at` must name what the number is about; it lacks {lacking[0]!r}")
        for key, value in pairs.items():
            if not isinstance(value, str):
                raise DefinitionError(f"{name}: what a number is about must be text; {key} is {value!r}")
        object.__setattr__(self, "at", tuple(sorted(pairs.items())))

    @classmethod
    def missing(
        cls, definition: Definition, note: str, *, count: int = 0, at: At | Mapping[str, str] = ()
    ) -> Measurement:
        """A measurement that could not be made, and why."""
        return cls(definition=definition, value=None, count=count, note=note, at=at)

    @classmethod
    def of(
        cls, definition: Definition, estimate: Estimate, *, at: At | Mapping[str, str] = (), note: str = ""
    ) -> Measurement:
        """An estimate with its definition and its place. By default the note says what it lacks, and why."""
        return cls(
            definition=definition,
            value=estimate.value,
            count=estimate.count,
            note=note or estimate.lacking,
            at=at,
            interval=estimate.interval,
            why=estimate.why,
        )

    def under(self, definition: Definition) -> Measurement:
        """The same number under a definition that differs in its parameters alone: nothing has to be checked again."""
        found = object.__new__(Measurement)
        for name in _FIELDS:
            object.__setattr__(found, name, getattr(self, name))
        object.__setattr__(found, "definition", definition)
        return found

    @property
    def name(self) -> str:
        """The metric's name."""
        return self.definition.name

    @property
    def signature(self) -> str:
        return self.definition.signature

    @property
    def place(self) -> dict[str, str]:
        """`at` as a dict."""
        return dict(self.at)

    @property
    def stored_value(self) -> Value:
        """The value as it is written to disk: floats with 8 decimals."""
        return stored_float(self.value) if isinstance(self.value, float) else self.value

    def as_dict(self) -> dict[str, object]:
        """The number as plain data: signature, value, count, note; `at`, `interval` and `why` where there are any."""
        data: dict[str, object] = {
            "signature": self.signature,
            "value": self.stored_value,
            "count": self.count,
            "note": self.note,
        }
        if self.at:
            data["at"] = dict(self.at)
        if self.interval is not None:
            data["interval"] = self.interval.as_dict()
        if self.why is not None and self.why.is_stored:
            data["why"] = self.why.value
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], definition: Definition) -> Measurement:
        """A measurement from its plain form and the definition of its signature."""
        interval, why = data.get("interval"), data.get("why")
        return cls(
            definition=definition,
            value=data["value"],
            count=data["count"],
            note=data["note"],
            at=data.get("at", ()),
            interval=None if interval is None else Interval(**interval),
            why=None if why is None else Why(why),
        )


_FIELDS = tuple(field.name for field in fields(Measurement))


def mean(measurements: Sequence[Measurement]) -> Measurement:
    """Average of the values that exist, under a definition of its own (`aggregate:mean`).

    Summed in the given order. Missing values are left out and counted in the note; all missing gives None. What all of
    them are about (`at`) stays. Raises `DefinitionMismatch` when the signatures differ.
    """
    shared = require_same_signature(m.definition for m in measurements)
    definition = replace(shared.add_params(aggregate="mean"), places=())
    values = [float(m.value) for m in measurements if m.value is not None]
    left_out = len(measurements) - len(values)
    common = frozenset.intersection(*(frozenset(m.at) for m in measurements))
    at = tuple(sorted(common))
    if not values:
        return Measurement.missing(definition, f"none of the {left_out} values could be computed", at=at)
    note = f"{left_out} of {len(measurements)} values missing" if left_out else ""
    value = math.fsum(values) / len(values)
    return Measurement(definition=definition, value=value, count=len(values), note=note, at=at)


def difference(one: Measurement, other: Measurement) -> Measurement:
    """`one − other` under a definition of its own (`aggregate:difference`); `DefinitionMismatch` if they differ.

    Where the two are about different things, `at` says so: {"system": "amber − birch"}.
    """
    shared = require_same_signature((one.definition, other.definition))
    width = None if shared.lowest is None or shared.highest is None else shared.highest - shared.lowest
    definition = replace(
        shared.add_params(aggregate="difference"),
        lowest=None if width is None else -width,
        highest=width,
        summary=f"Difference of two values: {shared.summary}",
        formula=f"first − second, each {shared.formula}",
        edge_cases="either value missing: None",
        places=(),
    )
    at = _both(one.place, other.place)
    if one.value is None or other.value is None:
        return Measurement.missing(definition, one.note or other.note, at=at)
    return Measurement(
        definition=definition,
        value=float(one.value) - float(other.value),
        count=min(one.count, other.count),
        note="" if min(one.count, other.count) else (one.note or other.note),
        at=at,
    )


def _both(one: Mapping[str, str], other: Mapping[str, str]) -> dict[str, str]:
    keys = one.keys() | other.keys()
    pairs = {key: (one.get(key, "–"), other.get(key, "–")) for key in sorted(keys)}
    return {key: a if a == b else f"{a} − {b}" for key, (a, b) in pairs.items()}
