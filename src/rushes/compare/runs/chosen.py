"""The metrics that a comparison is asked for by name: of runs in shards, no other column is read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from rushes.core import Measurement
from rushes.core.errors import InputError
from rushes.core.reading import Same
from rushes.core.selection import called
from rushes.core.words.suggest import did_you_mean
from rushes.storage.columns import ReadingColumn
from rushes.storage.runs import Run

Only: TypeAlias = str | Iterable[str]
"""Names of metrics, with commas between them or one by one; () for all."""
Readings: TypeAlias = Mapping[Same, ReadingColumn]


def chosen_readings(runs: Sequence[Run], sides: Sequence[Readings], only: Only) -> list[dict[Same, ReadingColumn]]:
    """Of each run's readings those of these names; all of them if none is named.

    Raises `InputError`, with the nearest names, for one that no run has.
    """
    names = [name for name in ([only] if isinstance(only, str) else only) if name.strip()]
    if not names:
        return [dict(side) for side in sides]
    samples = list({same: column.sample for side in sides for same, column in side.items()}.values())
    kept = {(m.signature, m.at) for name in names for m in _named(samples, name, runs)}
    return [{same: column for same, column in side.items() if same in kept} for side in sides]


def _named(samples: Sequence[Measurement], name: str, runs: Sequence[Run]) -> Iterable[Measurement]:
    """What a name means, or else each of the names that commas part: signatures have commas of their own."""
    if found := called(samples, name.strip()):
        return found
    if "," in name:
        return [m for part in name.split(",") if part.strip() for m in _named(samples, part, runs)]
    near = did_you_mean(name.strip(), (m.name for m in samples))
    raise InputError(f"no metric {name.strip()!r} in {' or '.join(run.place for run in runs)}{near}")
