"""Which metrics name a fault rightly. Edit this table when a profile gains or loses a reading."""

from __future__ import annotations

_DECODE = ("decode_ok", "decode_failures", "corrupt_frames", "lost_frames", "missing_frames", "frame_count")
_DECODE_WORDS = ("decode", "corrupt", "damaged", "lost", "missing", "declared", "breaks off", "ends early", "truncated")
_SYNC = ("mouth_audio_corr", "mouth_audio_null_share", "mouth_audio_lag", "mouth_audio_offset_ms", "sync_offset_ms")

RIGHT_REASONS: dict[str, tuple[str, ...]] = {
    "freeze tail": ("longest_freeze_ms", "freeze_frame_ratio", "still_ratio"),
    "strobe": ("luma_alternation", "flicker_score"),
    "soft": ("sharpness", "blur_score"),
    "glitch": ("frame_diff_spike_count", "glitch_count", "flow_residual", "scene_cut_count"),
    "black gap": ("black_ms", "longest_black_ms", "longest_flat_ms", "black_frame_ratio"),
    "doubled frames": ("repeated_frame_ratio", "repeat_cadence", "repeated_frame_cadence", "freeze_frame_ratio"),
    "truncated": (*_DECODE, *_DECODE_WORDS, "video_duration_ms", "duration_shortfall_ms"),
    "corrupt packets": (*_DECODE, *_DECODE_WORDS),
    "long sound": ("av_duration_delta_ms",),
    "late sound": _SYNC,
    "swapped sound": _SYNC,
    "dead mouth": ("mouth_open_energy", "mouth_energy", "longest_freeze_ms", *_SYNC),
    "lost face": ("face_present_ratio", "longest_face_gap_ms"),
}
"""Names of metrics, and words of a reason that names no metric. A reason counts where one of these stands in it."""
