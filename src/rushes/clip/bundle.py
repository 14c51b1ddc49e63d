"""MetricBundleV1: from one observation of a clip to its measurements, and to the 22 keys of its JSON form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rushes.clip.badges import Badge
from rushes.clip.metrics import image, motion, timing
from rushes.clip.observe import Observation
from rushes.core import Measurement

NAME = "MetricBundleV1"
VERSION = "1"

KEYS = (
    "decode_ok",
    "video_duration_ms",
    "audio_duration_ms",
    "av_duration_delta_ms",
    "fps",
    "frame_count",
    "scene_cut_count",
    "freeze_frame_ratio",
    "flicker_score",
    "blur_score",
    "frame_diff_spike_count",
    "face_present_ratio",
    "face_bbox_jitter",
    "landmark_jitter",
    "mouth_open_energy",
    "mouth_audio_corr",
    "blink_count",
    "blink_rate_hz",
    "lse_d",
    "lse_c",
    "status_badge",
    "reasons",
)
"""The bundle's keys, in the order its JSON form has them."""


def tier0_measurements(
    seen: Observation, *, audio_duration: float | None, audio_missing: str = ""
) -> tuple[Measurement, ...]:
    """Tier 0 in bundle order, each definition beside its second reading.

    `audio_duration` is of the clip's own track or of the file given in its place; `audio_missing` says why it is None.
    """
    frames, error = seen.frames, seen.error
    luma, diffs, mafd, sharp = (
        series.tolist() for series in (seen.luma_mean, seen.luma_diff, seen.mafd, seen.laplacian_variance)
    )
    video = timing.video_duration_ms(seen.video_duration_ms, frames=frames, error=error)
    audio = timing.audio_duration_ms(audio_duration, why_missing=audio_missing)
    return (
        timing.decode_ok(frames, error=error),
        video,
        audio,
        timing.av_duration_delta_ms(video, audio),
        timing.fps(seen.fps, frames=frames, error=error),
        timing.frame_count(frames, error=error),
        timing.decode_failures(seen.decode_failures, frames=frames, error=error),
        motion.scene_cut_count(mafd),
        motion.freeze_frame_ratio(diffs),
        image.flicker_score(luma),
        image.flicker_delta(luma),
        image.blur_score(sharp),
        image.blur_p10(sharp),
        motion.frame_diff_spike_count(diffs),
    )


def by_bundle_key(measurements: Sequence[Measurement]) -> dict[str, Measurement]:
    """The measurement behind each key: the first of its name, which is the reading the bundle settles on."""
    chosen: dict[str, Measurement] = {}
    for measurement in measurements:
        chosen.setdefault(measurement.definition.name, measurement)
    return chosen


def bundle(measurements: Sequence[Measurement], badge: Badge) -> dict[str, object]:
    """The 22 flat keys, in order; null for what was not computed."""
    values: Mapping[str, Measurement] = by_bundle_key(measurements)
    row: dict[str, object] = {key: values[key].stored_value if key in values else None for key in KEYS[:-2]}
    return row | {"status_badge": badge.status, "reasons": list(badge.reasons)}
