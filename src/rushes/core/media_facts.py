"""What a media file holds, as plain data: stored in a run, and read back from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from fractions import Fraction
from typing import Any, Literal

from rushes.core.errors import InputError

Range = Literal["limited", "full"]
HIGHEST_RATE = 1000
"""Frames a second."""


Transfer = Literal["sdr", "pq", "hlg"]


@dataclass(frozen=True, slots=True, kw_only=True)
class VideoFacts:
    """The clip's picture."""

    codec: str
    width: int
    height: int
    """Size as coded, before rotation."""
    rotation: int
    """0, 90, 180 or 270: the clockwise turn that makes the picture upright."""
    mirrored: bool = False
    """The display matrix also flips: after the turn, top to bottom (0, 180) or left to right (90, 270)."""
    pix_fmt: str
    bits: int
    color_range: Range
    range_tagged: bool
    """False when the file does not say its range and the rule in `rushes.media.luma` decided."""
    transfer: Transfer | None = "sdr"
    """What a code means in light: "pq" or "hlg" where the file is tagged so, "sdr" for all else; None where an old run
    does not tell."""
    fps: Fraction | None
    """Average frame rate, as ffprobe's avg_frame_rate; None where the file does not tell."""
    duration_ms: float | None
    frames_declared: int | None
    """Frames the header promises; None where it promises nothing."""

    @property
    def upright(self) -> tuple[int, int] | None:
        """Width and height as a player shows them; None where they are not known."""
        if not (_is_size(self.width) and _is_size(self.height)):
            return None
        return (self.height, self.width) if (self.rotation or 0) % 180 else (self.width, self.height)


@dataclass(frozen=True, slots=True, kw_only=True)
class AudioFacts:
    """The clip's sound."""

    codec: str
    rate: int
    channels: int
    duration_ms: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MediaFacts:
    """What a file holds. `video` is None for a file with sound only: cover art is no video."""

    container: str
    duration_ms: float | None
    video: VideoFacts | None
    audio: AudioFacts | None
    video_streams: int
    """Video streams, attached pictures not counted; the default one, else the first, is read."""

    def plain(self) -> dict[str, object]:
        """As plain data for JSON; the frame rate is a text such as "30000/1001", exact."""
        facts = asdict(self)
        if self.video and self.video.fps:
            facts["video"]["fps"] = str(self.video.fps)
        return facts

    @classmethod
    def in_facts(cls, facts: Mapping[str, object], name: str = "media") -> MediaFacts | None:
        """Read back from a subject's facts, where a run has them under this name; else None.

        What a run does not tell is None, whatever type it has in a file that was probed: pairs of arrays have a size
        and nothing else, old runs no transfer curve.
        """
        media = facts.get(name)
        if not isinstance(media, Mapping):
            return None
        video, audio = (part if isinstance(part := media.get(key), Mapping) else None for key in ("video", "audio"))
        found: dict[str, Any] = {field.name: media.get(field.name) for field in fields(cls)}
        found["video"] = None if video is None else VideoFacts(**_told(VideoFacts, video) | {"fps": _rate(video)})
        found["audio"] = None if audio is None else AudioFacts(**_told(AudioFacts, audio))
        return cls(**found)

    def with_measured(self, *, video_ms: float | None, audio_ms: float | None) -> MediaFacts:
        """The same facts, with the durations the file does not state filled in from what was measured."""
        video, audio = self.video, self.audio
        if video and video.duration_ms is None:
            video = replace(video, duration_ms=video_ms)
        if audio and audio.duration_ms is None:
            audio = replace(audio, duration_ms=audio_ms)
        known = [part.duration_ms for part in (video, audio) if part and part.duration_ms is not None]
        whole = self.duration_ms if self.duration_ms is not None else max(known, default=None)
        return replace(self, video=video, audio=audio, duration_ms=whole)


def _told(kind: type[VideoFacts | AudioFacts], data: Mapping[str, Any]) -> dict[str, Any]:
    return {field.name: data.get(field.name) for field in fields(kind)}


def _rate(video: Mapping[str, Any]) -> Fraction | None:
    try:
        return Fraction(str(video.get("fps")))
    except (ValueError, ZeroDivisionError):  # None, and "0/0" of a damaged header
        return None


def _is_size(value: object) -> bool:
    return isinstance(value, int) and value > 0


def exact_rate(fps: Fraction | float | str) -> Fraction:
    """A frame rate as it was asked for, exactly; `InputError` where it is none: "25", "30000/1001", 29.97.

    >>> exact_rate("30000/1001"), exact_rate(29.97)
    (Fraction(30000, 1001), Fraction(2997, 100))
    """
    try:
        rate = Fraction(fps).limit_denominator(1_000_000)
    except (ValueError, OverflowError, ZeroDivisionError):
        rate = Fraction(0)
    if not 0 < rate <= HIGHEST_RATE:
        raise InputError(f"expected a frame rate above 0 and up to {HIGHEST_RATE}, such as 25 or 30000/1001; got {fps}")
    return rate
