"""The part that `Clip`, `Fidelity` and `Pose` share: a row of finished numbers for each clip that came.

A clip is measured when it comes; what is kept is its numbers (some kilobytes), not its frames. Rows are put in order by
name, or by content where there is none, before anything is added up: neither the order of the calls, nor the size of
the batches, nor the rank that saw a clip moves a bit.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rushes.core import Definition, Measurement, canonical_json
from rushes.core.errors import DefinitionMismatch, InputError
from rushes.core.selection import Numbers
from rushes.integrations.loop.metric import State
from rushes.media.find.clips import natural_key

FORMAT = 1
"""Of a state."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One clip, measured."""

    name: str | None
    digest: str
    """sha256 of what was measured."""
    measurements: tuple[Measurement, ...]
    signal: str = ""
    """The review signal, where there is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetNumbers(Numbers):
    """What `compute` gives: `found["psnr"].value` is a plain float, or None, and then `.note` says why."""

    measurements: tuple[Measurement, ...]
    """Of the set, with intervals over clips where there are enough."""
    clips: Mapping[str, tuple[Measurement, ...]] = field(default_factory=dict)
    """Of each clip, by name; a clip without one is called by its content."""
    signals: Mapping[str, str] = field(default_factory=dict)
    """Review signals by clip, where the object gives any: reject, flagged or pass."""
    readings: Mapping[str, Measurement] = field(default_factory=dict)
    """Of `Clip`: the set's numbers by the names that profiles use, which tell two readings of a metric apart."""

    def __getitem__(self, name: str) -> Measurement:
        """The number of this name: "psnr", or of `Clip` a reading such as "flicker_delta"."""
        return self.readings[name] if name in self.readings else self.one(name)

    def __contains__(self, name: object) -> bool:
        return (isinstance(name, str) and name in self.readings) or Numbers.__contains__(self, name)


class RowMetric(ABC):
    """Keeps rows. A subclass measures (`update`), says what its settings are, and what rows come to."""

    kind: str
    """What it is called in a state."""

    def __init__(self) -> None:
        self._rows: tuple[Row, ...] = ()

    @abstractmethod
    def _settings(self) -> Mapping[str, object]:
        """All that can move a value, as plain data: what two states must share."""

    @abstractmethod
    def _numbers(self, rows: Sequence[Row]) -> tuple[Measurement, ...]:
        """The set's numbers; of no rows, the same ones missing with a note."""

    def _readings(self, numbers: Sequence[Measurement]) -> Mapping[str, Measurement]:
        return {}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self._rows)} clips)"

    def __len__(self) -> int:
        return len(self._rows)

    def compute(self) -> SetNumbers:
        """The numbers of all clips that came, with signatures; missing with a note where none came.

        May be called at any time, and `update` after it.
        """
        rows = dict(_ordered(self._rows))
        numbers = self._numbers(list(rows.values()))
        return SetNumbers(
            measurements=numbers,
            readings=self._readings(numbers),
            clips={name: row.measurements for name, row in rows.items()},
            signals={name: row.signal for name, row in rows.items() if row.signal},
        )

    def reset(self) -> None:
        """Forget every clip."""
        self._rows = ()

    def clone(self) -> Self:
        """The same settings, and no clips."""
        twin = copy(self)
        twin._rows = ()
        return twin

    def merge(self, *others: Self | Mapping[str, NDArray[Any]]) -> None:
        """Count the clips of others too: objects of the same settings, or their `state_dict`.

        A named clip that is there counts once. Raises `DefinitionMismatch` where the settings differ; then nothing is
        counted.
        """
        rows: list[Row] = []
        for other in others:
            rows += self._read(other.state_dict() if isinstance(other, RowMetric) else other)
        self._take(rows)

    def state_dict(self) -> State:
        """The rows as plain numpy arrays (bytes of JSON), for `np.savez`, `torch.save` or another rank."""
        rows = [
            [row.name, row.digest, row.signal, [_plain(measurement) for measurement in row.measurements]]
            for row in self._rows
        ]
        definitions = {m.signature: m.definition.as_dict() for row in self._rows for m in row.measurements}
        return {"about": np.array(self._about()), "definitions": _bytes(definitions), "rows": _bytes(rows)}

    def load_state_dict(self, state: Mapping[str, NDArray[Any]], /) -> None:
        """Hold what a `state_dict` holds, and no other clips."""
        rows = tuple(self._read(state))
        self.reset()
        self._take(rows)

    def _about(self) -> str:
        return canonical_json({"format": FORMAT, "kind": self.kind, "settings": self._settings()})

    def _take(self, rows: Iterable[Row]) -> None:
        """All of them, or none: `InputError` where one name means two clips."""
        kept = list(self._rows)
        known = {row.name: row.digest for row in kept if row.name is not None}
        for row in rows:
            if row.name is not None:
                if known.get(row.name, row.digest) != row.digest:
                    raise InputError(f"{row.name}: two clips have this name; rename one")
                if row.name in known:
                    continue
                known[row.name] = row.digest
            kept.append(row)
        self._rows = tuple(kept)

    def _read(self, state: Mapping[str, NDArray[Any]]) -> Iterator[Row]:
        try:
            about = str(state["about"])
            if about != self._about():
                raise DefinitionMismatch(f"the state is of another {self.kind}: {_difference(about, self._about())}")
            definitions = _definitions(np.asarray(state["definitions"], np.uint8).tobytes())
            rows = [
                Row(
                    name=name,
                    digest=digest,
                    signal=signal,
                    measurements=tuple(Measurement.from_dict(m, definitions[m["signature"]]) for m in measurements),
                )
                for name, digest, signal, measurements in json.loads(np.asarray(state["rows"], np.uint8).tobytes())
            ]
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            what = f"expected what state_dict() of a {type(self).__name__} gives"
            raise InputError(f"{what}; got something else ({error!r})") from None
        return iter(rows)


def _ordered(rows: Iterable[Row]) -> Iterator[tuple[str, Row]]:
    """Rows in natural order of their names; one without a name is called by its content, copies counted."""
    seen: dict[str, int] = {}
    named: dict[str, Row] = {}
    for row in rows:
        name = row.name
        if name is None:
            seen[row.digest] = seen.get(row.digest, 0) + 1
            name = f"{row.digest[:16]}#{seen[row.digest]}"
        named[name] = row
    for name in sorted(named, key=natural_key):
        yield name, named[name]


def as_stored(measurement: Measurement) -> Measurement:
    """The number as a run keeps it, with 8 decimals: what comes out here is what files give."""
    return Measurement.from_dict(measurement.as_dict(), measurement.definition)


def _plain(m: Measurement) -> dict[str, object]:
    """As `Measurement.as_dict`, with every digit."""
    data = m.as_dict() | {"value": m.value}
    if m.interval is not None:
        data["interval"] = m.interval.as_dict() | {"low": m.interval.low, "high": m.interval.high}
    return data


def _bytes(data: object) -> NDArray[np.uint8]:
    return np.frombuffer(json.dumps(data, sort_keys=True, separators=(",", ":")).encode(), np.uint8)


@lru_cache(maxsize=16)
def _definitions(stored: bytes) -> Mapping[str, Definition]:
    """By signature. Every batch of a loop has the same ones."""
    return {signature: Definition.from_dict(data) for signature, data in json.loads(stored).items()}


def _difference(there: str, here: str) -> str:
    """The first setting that differs, in words."""
    try:
        stored, own = json.loads(there), json.loads(here)
        for key in ("kind", "format"):
            if stored[key] != own[key]:
                return f"{key} is {stored[key]} there and {own[key]} here"
        for key in sorted(stored["settings"].keys() | own["settings"].keys()):
            one, other = stored["settings"].get(key), own["settings"].get(key)
            if one != other:
                return f"{key} is {one} there and {other} here"
    except (ValueError, LookupError, TypeError, AttributeError):
        pass
    return "its settings cannot be read"
