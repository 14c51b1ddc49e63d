"""MetricBundleV1: the 22 keys of a clip, a fixed export whatever else is measured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rushes.core import Measurement

NAME = "MetricBundleV1"
VERSION = "1"

KEYS = tuple(
    (
        "decode_ok video_duration_ms audio_duration_ms av_duration_delta_ms fps frame_count scene_cut_count "
        "freeze_frame_ratio flicker_score blur_score frame_diff_spike_count face_present_ratio face_bbox_jitter "
        "landmark_jitter mouth_open_energy mouth_audio_corr blink_count blink_rate_hz lse_d lse_c status_badge "
        "reasons"
    ).split()
)
"""The bundle's keys, in the order its JSON form has them."""


def by_name(measurements: Iterable[Measurement]) -> dict[str, Measurement]:
    """The first measurement of each name, which is the reading the bundle settles on."""
    chosen: dict[str, Measurement] = {}
    for measurement in measurements:
        chosen.setdefault(measurement.name, measurement)
    return chosen


def bundle(measurements: Iterable[Measurement], badge: str | None, reasons: Sequence[str]) -> dict[str, object]:
    """The 22 flat keys, in order; null for what was not computed."""
    values = by_name(measurements)
    row: dict[str, object] = {key: values[key].stored_value if key in values else None for key in KEYS[:-2]}
    return row | {"status_badge": badge, "reasons": list(reasons)}
