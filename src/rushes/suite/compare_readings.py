"""Which numbers of two runs go together, and which do not: paired by signature and by what they are about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from rushes.core import Measurement
from rushes.core.definition import describe_difference
from rushes.core.measurement import At
from rushes.core.selection import differing_keys, label
from rushes.runs import Run
from rushes.suite.compare_results import Refused

Key: TypeAlias = tuple[str, At]
"""Numbers of two runs pair when they were measured alike (signature) and are about the same thing (`at`)."""
Readings: TypeAlias = Mapping[Key, Mapping[str, Measurement]]
"""By key and subject."""


def readings_of(run: Run, subjects: Iterable[str]) -> Readings:
    """Keys in order of first appearance."""
    found: dict[Key, dict[str, Measurement]] = {}
    for name in subjects:
        for m in run.measurements.get(name, ()):
            found.setdefault((m.signature, m.at), {})[name] = m
    return found


def unmatched(a: Readings, b: Readings, shared: set[Key]) -> tuple[tuple[Refused, ...], tuple[str, ...]]:
    """Readings without a partner: refused where the other run has the same metric read differently."""
    left = [next(iter(values.values())) for side in (a, b) for key, values in side.items() if key not in shared]
    alone_a, alone_b = _alone(a, b), _alone(b, a)
    pairs = dict.fromkeys((m.signature, rival.signature) for m in alone_a if (rival := _nearest(m, alone_b)))
    taken = {second for _, second in pairs}
    others = [m for m in alone_b if m.signature not in taken]
    pairs |= dict.fromkeys((rival.signature, m.signature) for m in others if (rival := _nearest(m, alone_a)))
    names = {m.signature: m.name for m in left}
    refused = tuple(
        Refused(name=names[one], first=one, second=other, why=describe_difference(one, other)) for one, other in pairs
    )
    named = {signature for pair in pairs for signature in pair}
    return refused, tuple(dict.fromkeys(about(m) for m in left if m.signature not in named))


def _alone(ours: Readings, theirs: Readings) -> list[Measurement]:
    """One number of each signature that the other run does not have."""
    known = {signature for signature, _ in theirs}
    found = {key[0]: next(iter(values.values())) for key, values in ours.items() if key[0] not in known}
    return list(found.values())


def _nearest(measurement: Measurement, others: Iterable[Measurement]) -> Measurement | None:
    """The other reading of the same metric that differs in the fewest settings."""
    rivals = [m for m in others if m.name == measurement.name]
    return min(rivals, key=lambda m: len(differing_keys((m, measurement))), default=None)


def about(measurement: Measurement) -> str:
    """How a number was measured and what it is about: "pck|k:20|v:1 (joint left_wrist)"."""
    place = label(measurement, measurement.place)
    return measurement.signature + (f" ({place})" if place else "")
