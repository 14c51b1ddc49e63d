"""A set of clips as one number: pooled over everything measured, and the mean of the clips; sure as clips allow.

Joints of one clip resemble each other, so the clip is what varies: the pooled value is computed anew with each clip
left out (Tukey's jackknife), on the scale where it is freest (logit of a ratio, logarithm of a distance), with
Student's t of clips − 1. The mean of the clips has Student's t interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from rushes.core import Interval, Measurement, mean
from rushes.core.definition import Definition, require_same_signature
from rushes.core.measurement import At
from rushes.paired.statistics import LEVEL, mean_interval

JACKKNIFE_CLIPS = "jackknife-clip"
NOT_POOLED = ("keypoint_ap", "keypoint_ar", "identity_switches", "pose_lag")
"""Numbers that are no mean over what they count."""

_Scale: TypeAlias = tuple[Callable[[float], float], Callable[[float], float]]


def set_measurements(clips: Sequence[Sequence[Measurement]]) -> Iterator[Measurement]:
    """Every number about the whole body, over the clips: pooled where that means something, then the clips' mean."""
    groups: dict[tuple[str, At], list[Measurement]] = {}
    for numbers in clips:
        for m in numbers:
            if "joint" not in m.place:
                groups.setdefault((m.signature, m.at), []).append(m)
    for group in groups.values():
        if group[0].name not in NOT_POOLED:
            yield pooled(group)
        yield mean_of_clips(group)


def mean_of_clips(group: Sequence[Measurement]) -> Measurement:
    """The mean of the clips' values, each clip counting once, with its interval."""
    found = mean(group)
    values = [float(m.value) for m in group if m.value is not None]
    interval, why = mean_interval(values, noun="values")
    note = "; ".join(filter(None, (found.note, f"no interval: {why}" if why and values else "")))
    return replace(found, interval=interval, note=note)


def pooled(group: Sequence[Measurement]) -> Measurement:
    """Σ value · count / Σ count over the clips: every joint counts once, so long clips count for more."""
    shared = require_same_signature(m.definition for m in group)
    definition = shared.add_params(aggregate="pooled")
    parts = [(float(m.value), m.count) for m in group if m.value is not None and m.count]
    left_out = len(group) - len(parts)
    if not parts:
        return Measurement.missing(definition, f"none of the {left_out} clips has a value", at=group[0].at)
    value = _ratio(parts)
    interval, why = _jackknife(parts, value, shared)
    notes = (f"{left_out} of {len(group)} clips have no value" if left_out else "", why and f"no interval: {why}")
    return Measurement(
        definition=definition,
        value=value,
        count=sum(count for _, count in parts),
        note="; ".join(filter(None, notes)),
        at=group[0].at,
        interval=interval,
    )


def _ratio(parts: Iterable[tuple[float, int]]) -> float:
    rows = list(parts)
    return math.fsum(value * count for value, count in rows) / sum(count for _, count in rows)


def _jackknife(parts: Sequence[tuple[float, int]], value: float, definition: Definition) -> tuple[Interval | None, str]:
    n = len(parts)
    if n < 2:
        return None, "needs two clips or more"
    left_out = [_ratio([*parts[:row], *parts[row + 1 :]]) for row in range(n)]
    into, back = _scale(definition, [value, *left_out])
    moved = [into(each) for each in left_out]
    centre = math.fsum(moved) / n
    variance = (n - 1) / n * math.fsum((each - centre) ** 2 for each in moved)
    if variance <= 1e-24:
        return None, "all clips are alike: their spread cannot be told"
    from scipy.stats import t

    half = float(t.ppf((1 + LEVEL) / 2, n - 1)) * math.sqrt(variance)
    low, high = (back(into(value) + side) for side in (-half, half))
    if definition.lowest is not None:
        low = max(low, definition.lowest)
    if definition.highest is not None:
        high = min(high, definition.highest)
    return Interval(low=low, high=high, level=LEVEL, method=JACKKNIFE_CLIPS), ""


def _scale(definition: Definition, values: Sequence[float]) -> _Scale:
    """Logit for a ratio strictly between 0 and 1, logarithm for a distance above 0, else the value itself."""
    if (definition.lowest, definition.highest) == (0.0, 1.0) and 0 < min(values) and max(values) < 1:
        return lambda p: math.log(p / (1 - p)), lambda x: 1 / (1 + math.exp(-x)) if x > -700 else 0.0
    if definition.lowest == 0.0 and definition.highest is None and min(values) > 0:
        return math.log, lambda x: math.exp(min(x, 700.0))
    return lambda x: x, lambda x: x
