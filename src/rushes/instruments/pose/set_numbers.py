"""A set of clips as one number: pooled over everything measured, and the mean of the clips; sure as clips allow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rushes.core import Measurement
from rushes.core.definition import require_same_signature
from rushes.core.measurement import At
from rushes.stats.jackknife import pooled_over_clips
from rushes.stats.means import mean_of_clips

NOT_POOLED = ("keypoint_ap", "keypoint_ar", "identity_switches", "pose_lag")
"""Numbers that are no mean over what they count."""


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


def pooled(group: Sequence[Measurement]) -> Measurement:
    """Σ value · count / Σ count over the clips: every joint counts once, so long clips count for more."""
    shared = require_same_signature(m.definition for m in group)
    definition = shared.add_params(aggregate="pooled")
    parts = [(float(m.value), m.count) for m in group if m.value is not None and m.count]
    left_out = len(group) - len(parts)
    if not parts:
        return Measurement.missing(definition, f"none of the {left_out} clips has a value", at=group[0].at)
    found = pooled_over_clips(parts, lowest=shared.lowest, highest=shared.highest)
    notes = (f"{left_out} of {len(group)} clips have no value" if left_out else "", found.lacking)
    return Measurement.of(definition, found, at=group[0].at, note="; ".join(filter(None, notes)))
