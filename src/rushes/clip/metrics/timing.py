"""Does it decode, how long is it, how fast: decode_ok, durations, av_duration_delta_ms, fps, frame_count."""

from __future__ import annotations

from fractions import Fraction

from rushes.core import Definition, Measurement, signature_params
from rushes.core.metric import ClipMetric

_SEED = "MetricBundleV1, tier 0"

DECODE_OK = Definition(
    name="decode_ok",
    unit="true/false",
    lowest=0,
    highest=1,
    better="higher",
    summary="The video can be decoded and has at least one frame.",
    formula="frame_count ≥ 1",
    edge_cases=(
        "A damaged file that still gives one frame is true; decode_failures counts what was lost. A clip whose size, "
        "depth or range changes midway is true, with a note, and its badge is flagged under every profile."
    ),
    reference=_SEED,
    params=signature_params(decoder="libav"),
)
VIDEO_DURATION_MS = Definition(
    name="video_duration_ms",
    unit="ms",
    lowest=0,
    highest=None,
    better="neither",
    summary="Length of the video stream.",
    formula="the stream's duration; else the container's; else last presentation time + frame duration − first",
    edge_cases="No video stream or no frame: no value.",
    reference=f"{_SEED}; equals ffprobe's stream duration where the file declares one",
    params=signature_params(source="stream-container-frames"),
)
AUDIO_DURATION_MS = Definition(
    name="audio_duration_ms",
    unit="ms",
    lowest=0,
    highest=None,
    better="neither",
    summary="Length of the sound that belongs to the clip: its own track, or the file given with --audio.",
    formula="the audio stream's duration; else the container's; else samples / sample rate",
    edge_cases="No sound: no value.",
    reference=_SEED,
    params=signature_params(source="stream-container-samples"),
)
AV_DURATION_DELTA_MS = Definition(
    name="av_duration_delta_ms",
    unit="ms",
    lowest=0,
    highest=None,
    better="lower",
    summary="How far the lengths of picture and sound differ.",
    formula="|video_duration_ms − audio_duration_ms|",
    edge_cases="Either length missing: no value.",
    reference=_SEED,
    raised_by=("cutting either stream", "dropped frames closed up, where the picture is the shorter"),
    lowered_by=("cutting either stream", "dropped frames closed up, where the sound is the shorter"),
)
FPS = Definition(
    name="fps",
    unit="frames/s",
    lowest=0,
    highest=None,
    better="neither",
    summary="Average frame rate of the video stream.",
    formula="avg_frame_rate as the container declares it; else (frames − 1) / (last − first presentation time)",
    edge_cases="One frame and no declared rate: no value. A variable rate gives its average.",
    reference=f"{_SEED}; equals ffprobe's avg_frame_rate",
    params=signature_params(rate="average"),
)
FRAME_COUNT = Definition(
    name="frame_count",
    unit="frames",
    lowest=0,
    highest=None,
    better="neither",
    summary="Frames that came out of the decoder.",
    formula="count of decoded frames; the header's own count is not used",
    edge_cases="Nothing decodes: 0. Frames after a change of size are not counted, and the note says so.",
    reference=_SEED,
    params=signature_params(decoder="libav"),
)
DECODE_FAILURES = Definition(
    name="decode_failures",
    unit="packets",
    lowest=0,
    highest=None,
    better="lower",
    summary="Packets and frames the decoder had to drop as corrupt.",
    formula="count of decoder errors while reading the video stream",
    edge_cases="Damage the codec conceals without an error is not counted.",
    reference="beside MetricBundleV1: a skipped frame is counted, never swallowed",
    params=signature_params(decoder="libav"),
    lowered_by=("re-encoding a damaged clip: the damage stays in the picture, the errors go",),
)


def decode_ok(frames: int, *, error: str = "") -> Measurement:
    """Whether at least one frame decodes; `error` says why not, or why not all of the clip was measured.

    >>> decode_ok(75).value, decode_ok(0, error="not a video").note
    (True, 'not a video')
    """
    note = error if frames else (error or "no frame could be decoded")
    return Measurement(definition=DECODE_OK, value=frames >= 1, count=frames, note=note)


def video_duration_ms(duration: float | None, *, frames: int, error: str = "") -> Measurement:
    """Length of the video stream in milliseconds; None where nothing tells it."""
    if duration is None or frames == 0:
        return Measurement.missing(VIDEO_DURATION_MS, error or "no frame could be decoded")
    return Measurement(definition=VIDEO_DURATION_MS, value=duration, count=frames)


def audio_duration_ms(duration: float | None, *, why_missing: str = "") -> Measurement:
    """Length of the clip's sound in milliseconds."""
    if duration is None:
        return Measurement.missing(AUDIO_DURATION_MS, why_missing or "the clip has no sound")
    return Measurement(definition=AUDIO_DURATION_MS, value=duration, count=1)


def av_duration_delta_ms(video: Measurement, audio: Measurement) -> Measurement:
    """How far picture and sound differ in length.

    >>> video, audio = video_duration_ms(3000.0, frames=75), audio_duration_ms(2960.0)
    >>> av_duration_delta_ms(video, audio).value
    40.0
    """
    if video.value is None or audio.value is None:
        return Measurement.missing(AV_DURATION_DELTA_MS, video.note or audio.note)
    return Measurement(definition=AV_DURATION_DELTA_MS, value=abs(float(video.value) - float(audio.value)), count=1)


def fps(rate: Fraction | float | None, *, frames: int, error: str = "") -> Measurement:
    """Average frame rate."""
    if not rate or frames == 0:
        return Measurement.missing(FPS, error or "the file declares no frame rate and has fewer than two frames")
    return Measurement(definition=FPS, value=float(rate), count=frames)


def frame_count(frames: int, *, error: str = "") -> Measurement:
    """Frames that came out of the decoder."""
    note = error if frames else (error or "no frame could be decoded")
    return Measurement(definition=FRAME_COUNT, value=frames, count=frames, note=note)


def decode_failures(failures: int, *, frames: int, error: str = "") -> Measurement:
    """Packets the decoder had to drop."""
    note = "" if frames else (error or "no frame could be decoded")
    return Measurement(definition=DECODE_FAILURES, value=failures, count=frames, note=note)


DECODE_OK_METRIC = ClipMetric(definition=DECODE_OK, measure=lambda seen: decode_ok(seen.frames, error=seen.error))
VIDEO_DURATION_MS_METRIC = ClipMetric(
    definition=VIDEO_DURATION_MS,
    measure=lambda seen: video_duration_ms(seen.video_duration_ms, frames=seen.frames, error=seen.error),
)
AUDIO_DURATION_MS_METRIC = ClipMetric(
    definition=AUDIO_DURATION_MS,
    measure=lambda seen: audio_duration_ms(seen.audio_duration_ms, why_missing=seen.audio_duration_missing),
)
AV_DURATION_DELTA_MS_METRIC = ClipMetric(
    definition=AV_DURATION_DELTA_MS,
    label="avΔ ms",
    measure=lambda seen: av_duration_delta_ms(
        video_duration_ms(seen.video_duration_ms, frames=seen.frames, error=seen.error),
        audio_duration_ms(seen.audio_duration_ms, why_missing=seen.audio_duration_missing),
    ),
)
FPS_METRIC = ClipMetric(definition=FPS, measure=lambda seen: fps(seen.fps, frames=seen.frames, error=seen.error))
FRAME_COUNT_METRIC = ClipMetric(definition=FRAME_COUNT, measure=lambda seen: frame_count(seen.frames, error=seen.error))
DECODE_FAILURES_METRIC = ClipMetric(
    definition=DECODE_FAILURES,
    measure=lambda seen: decode_failures(seen.decode_failures, frames=seen.frames, error=seen.error),
)
