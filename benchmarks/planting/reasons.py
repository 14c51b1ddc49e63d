"""Which metrics name a fault rightly. Edit this table when a profile gains or loses a reading."""

from __future__ import annotations

_DAMAGE = (
    "decode_ok",
    "before the file says",
    "missing",
    "damaged",
    "could not be decoded",
    "never shown",
    "not measured as a whole",
)
_SYNC = ("mouth_audio_margin",)

RIGHT_REASONS: dict[str, tuple[str, ...]] = {
    "freeze tail": ("longest_freeze_ms",),
    "strobe": ("luma_alternation",),
    "soft": ("sharpness",),
    "glitch": ("odd_frame_score",),
    "black gap": ("longest_flat_ms",),
    "doubled frames": ("repeated_frame_ratio",),
    "truncated": _DAMAGE,
    "corrupt packets": _DAMAGE,
    "long sound": ("av_duration_delta_ms",),
    "late sound": _SYNC,
    "swapped sound": _SYNC,
    "dead mouth": ("mouth_speech_motion", *_SYNC),
    "lost face": ("face_present_ratio", "longest_face_gap_ms"),
}
"""Names of metrics, and words of a reason that names no metric. A reason counts where one of these stands in it."""
