"""Numbers of many clips as one number of the set: the mean over the clips that have a value, with its interval."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from rushes.core import Measurement
from rushes.core.measurement import mean
from rushes.paired.statistics import mean_interval

TRUE_OR_FALSE = "a share of clips; Student's t is not for true and false"


def clip_means(numbers: Iterable[Measurement]) -> tuple[Measurement, ...]:
    """The mean over the clips of every metric among these, in the order in which they come first."""
    return tuple(mean_of_clips(group) for group in same_metric(list(numbers)))


def same_metric(numbers: Sequence[Measurement]) -> list[list[Measurement]]:
    """Numbers by signature. One that was never measured has none of the parameters that measuring settles ("none"):
    it goes with those that have."""
    groups: dict[str, list[Measurement]] = {}
    for m in numbers:
        groups.setdefault(m.signature, []).append(m)
    merged: list[list[Measurement]] = []
    for group in groups.values():
        home = next((other for other in merged if _is_unset(group[0], other[0])), None)
        if home is not None:
            home += [replace(m, definition=home[0].definition) for m in group]
            continue
        stray = [other for other in merged if _is_unset(other[0], group[0])]
        merged = [other for other in merged if other not in stray]
        merged.append([replace(m, definition=group[0].definition) for other in stray for m in other] + group)
    return merged


def _is_unset(one: Measurement, other: Measurement) -> bool:
    """Whether `one` is a missing value of the metric of `other`, some of whose parameters were never set."""
    ours, theirs = dict(one.definition.params), dict(other.definition.params)
    if one.value is not None or one.name != other.name or ours.keys() != theirs.keys():
        return False
    return all(value == theirs[key] or value == "none" for key, value in ours.items())


def mean_of_clips(group: Sequence[Measurement]) -> Measurement:
    """The mean of one metric over clips, each counting once, with Student's t interval.

    Values that are missing are counted in the note; so is why there is no interval. Of true and false the mean is the
    share of clips, and has none.
    """
    found = mean(group)
    values = [m.value for m in group if m.value is not None]
    if any(isinstance(value, bool) for value in values):
        interval, why = None, TRUE_OR_FALSE
    else:
        interval, why = mean_interval([float(value) for value in values], noun="values")
    note = "; ".join(filter(None, (found.note, f"no interval: {why}" if why and values else "")))
    return replace(found, interval=interval, note=note)
