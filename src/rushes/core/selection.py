"""Picking numbers by name, by what they are about and by how they were measured; never by taking a signature apart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rushes.core.definition import Setting, setting_text
from rushes.core.measurement import Measurement
from rushes.core.showing import line_html, numbers_html, page_html
from rushes.errors import InputError

Where = Setting | None


def select(measurements: Iterable[Measurement], name: str | None = None, **where: Where) -> tuple[Measurement, ...]:
    """The measurements of this name (or signature) for which every key of `where` holds, in order.

    A key is a place (`system="amber"`) or a parameter (`k=20`, `labels="raw"`). Matching is exact: a number without the
    key does not match, and `None` asks for those without it. Raises `InputError` for a key that no number of this name
    has: a misspelt key must not select nothing, or everything.
    """
    named = [m for m in measurements if name is None or name in (m.name, m.signature)]
    for key in where:
        if named and not any(key in keys_of(m) for m in named):
            known = sorted({known for m in named for known in keys_of(m)})
            raise InputError(
                f"no number of {name or 'these'} has {key!r}; they have {', '.join(known) or 'no settings'}"
            )
    wanted = {key: None if value is None else setting_text(value) for key, value in where.items()}
    return tuple(m for m in named if all(keys_of(m).get(key) == value for key, value in wanted.items()))


def one(measurements: Iterable[Measurement], name: str, **where: Where) -> Measurement:
    """The only measurement that `select` finds; `InputError` says how several differ, or that there is none.

    Where some are about a part (PCK of one joint) and one about the whole, it is the whole that is meant.
    """
    given = tuple(measurements)
    found = select(given, name, **where)
    found = tuple(m for m in found if not set(m.place) - set(m.definition.places) - set(where)) or found
    if len(found) == 1:
        return found[0]
    asked = ", ".join(f"{key}={value!r}" for key, value in where.items())
    what = f"{name} with {asked}" if asked else name
    if not found:
        have = ", ".join(dict.fromkeys(m.name for m in given)) or "none"
        raise InputError(f"there is no {what}" + ("" if any(m.name == name for m in given) else f"; there are {have}"))
    differ = differing_keys(found)
    raise InputError(f"{len(found)} numbers are {what}; they differ in {', '.join(differ) or 'nothing'}: say which")


def differing_keys(measurements: Sequence[Measurement]) -> tuple[str, ...]:
    """The places and parameters in which these are not all alike, sorted."""
    rows = [keys_of(m) for m in measurements]
    keys = sorted({key for row in rows for key in row})
    return tuple(key for key in keys if len({row.get(key) for row in rows}) > 1)


def label(measurement: Measurement, keys: Iterable[str]) -> str:
    """What tells this number from its namesakes, in words: "joint left_wrist, k 20"."""
    row = keys_of(measurement)
    return ", ".join(f"{key} {row[key]}" for key in keys if key in row)


def keys_of(measurement: Measurement) -> dict[str, str]:
    """Its parameters and places, by name, as text."""
    return {**dict(measurement.definition.params), **dict(measurement.at)}


class Numbers:
    """What every result that holds measurements offers: picking them by name, place and parameter."""

    __slots__ = ()
    measurements: tuple[Measurement, ...]

    def select(self, name: str | None = None, **where: Where) -> tuple[Measurement, ...]:
        """Numbers by metric name or signature, place (`joint="nose"`) and parameter (`k=20`); matching is exact."""
        return select(self.measurements, name, **where)

    def one(self, name: str, **where: Where) -> Measurement:
        """The only number that `select` finds; `InputError` where there is none, or in what several differ."""
        return one(self.measurements, name, **where)

    def __getitem__(self, name: str) -> Measurement:
        return self.one(name)

    def _repr_html_(self) -> str:
        return page_html(line_html(repr(self)), numbers_html(self.measurements))
