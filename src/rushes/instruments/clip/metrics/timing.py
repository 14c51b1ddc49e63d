"""Does it decode, how long is it, how fast, and is it whole: decode_ok, durations, rates, counts, what is missing."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from rushes.core import Definition, Measurement, signature_params
from rushes.instruments.clip.frames.quantiles import median
from rushes.instruments.clip.metrics.making import from_zero, metric

if TYPE_CHECKING:
    from rushes.instruments.clip.frames.observe import Observation

_SEED = "MetricBundleV1, tier 0"
_OF_THE_STREAM = (
    "a length is the stream's: the container's no longer stands in for one of several streams (FLV, ASF, untagged "
    "WebM), and a Matroska tag that is an end time has the stream's start taken off"
)
_SANITY = "beside MetricBundleV1: decode sanity, which every profile judges"
_LIBAV = signature_params(decoder="libav")
_fact = partial(from_zero, better="neither", reference=_SEED)
_damage = partial(
    from_zero,
    unit="frames",
    better="lower",
    reference=_SANITY,
    params=_LIBAV,
    lowered_by=("re-encoding a damaged clip: the damage stays in the picture, the errors go",),
)
_NO_FRAME = "no frame could be decoded"

DECODE_OK = Definition(
    name="decode_ok",
    unit="true/false",
    lowest=0,
    highest=1,
    better="higher",
    summary="The video can be decoded and has at least one frame.",
    formula="frame_count ≥ 1",
    edge_cases="A damaged file that still gives one frame is true; decode_failures counts what was lost. A clip whose "
    "size, depth or range changes midway is true, with a note, and it is flagged under every profile.",
    reference=_SEED,
    params=_LIBAV,
)
VIDEO_DURATION_MS = _fact(
    name="video_duration_ms",
    unit="ms",
    summary="Length of the video stream.",
    formula="the stream's own duration; else its Matroska DURATION tag; else the container's, where the file has no "
    "other picture or sound; else last presentation time + frame duration − first",
    edge_cases="No video stream or no frame: no value. A DURATION tag by libavformat is the time of the end, so the "
    "stream's start is taken off it (a picture of 3 s that starts at 0.464 s is tagged 3464 ms: 3000 ms); other "
    "muxers tag the length. Containers with one length for all streams (FLV, ASF, untagged WebM) and those that only "
    "estimate one (MPEG program and transport streams, bare streams): measured, not stated. A file that breaks "
    "off keeps the length it states; duration_shortfall_ms says how much is not there.",
    reference=f"{_SEED}; equals ffprobe's stream duration where the file declares one",
    params=signature_params(source="stream-container-frames"),
    history=("first release", _OF_THE_STREAM),
)
AUDIO_DURATION_MS = _fact(
    name="audio_duration_ms",
    unit="ms",
    summary="Length of the sound that belongs to the clip: its own track, or the file given with --audio.",
    formula="the audio stream's own duration; else its Matroska DURATION tag; else the container's, where the file "
    "has no other picture or sound; else end of its last packet − start of its first",
    edge_cases="No sound: no value. DURATION tags and containers with one length for all streams are read as for "
    "video_duration_ms. In MPEG program and transport streams it is libav's figure, as ffprobe prints it, which "
    "may leave out the last packet; measured where libav has none.",
    params=signature_params(source="stream-container-samples"),
    history=("first release", _OF_THE_STREAM),
)
AV_DURATION_DELTA_MS = _fact(
    name="av_duration_delta_ms",
    unit="ms",
    better="lower",
    summary="How far the lengths of picture and sound differ.",
    formula="|video_duration_ms − audio_duration_ms|",
    edge_cases="Either length missing: no value. It compares lengths; where the two start is not part of it.",
    raised_by=("cutting either stream", "dropped frames closed up, where the picture is the shorter"),
    lowered_by=("cutting either stream", "dropped frames closed up, where the sound is the shorter"),
    history=("first release", _OF_THE_STREAM),
)
FPS = _fact(
    name="fps",
    unit="frames/s",
    summary="Average frame rate of the video stream.",
    formula="avg_frame_rate as the container declares it; else (frames − 1) / (last − first presentation time)",
    edge_cases="One frame and no declared rate: no value. A variable rate gives its average.",
    reference=f"{_SEED}; equals ffprobe's avg_frame_rate",
    params=signature_params(rate="average"),
)
FRAME_COUNT = _fact(
    name="frame_count",
    unit="frames",
    summary="Frames that the decoder gave.",
    formula="count of decoded frames; the header's own count is not used",
    edge_cases="Nothing decodes: 0. Frames after a change of size are not counted, and the note says so.",
    params=_LIBAV,
)
DECODE_FAILURES = _damage(
    name="decode_failures",
    unit="packets",
    summary="Packets and frames the decoder had to drop as corrupt.",
    formula="count of decoder errors while reading the video stream",
    edge_cases="Damage the codec conceals without an error is not counted; corrupt_frames has what it marks. A packet "
    "without data, Theora's way to repeat a frame, is no failure.",
    reference="beside MetricBundleV1: a skipped frame is counted, never swallowed",
    history=("first release", "Theora's packets without data are no failures"),
)

CORRUPT_FRAMES = _damage(
    name="corrupt_frames",
    summary="Frames the decoder marked as damaged, patched up and delivered.",
    formula="count of decoded frames with libav's corrupt flag or a decode error flag",
    edge_cases="Nothing decodes: 0. Codecs without checks of their own (VP8) patch up noise without a mark. No "
    "tolerance: one is damage.",
)
MISSING_FRAMES = _damage(
    name="missing_frames",
    summary="Frames that the file promises, or its timestamps imply, and that did not come.",
    formula="MP4, MOV: frames the index lists and the edit list shows − leading pictures of an open GOP − frame_count; "
    "else Σ over holes of (round(step / usual step) − 1) + round(shortfall / usual step); usual step = median",
    edge_cases="Frames are called missing only where something else bears it out, for whole files too have fields in "
    "packets of their own, frames that are not coded and a variable rate: a decoder failure, a damaged frame or "
    "packet, or a picture that ends early (by 1.5 usual steps with an index, else by more than duration_shortfall_ms "
    "tolerates). Holes are steps of 1.5 usual ones and more, and count where 80 % of all steps are within 10 % of "
    "the usual one. Without any other sign they count in Matroska, WebM, Ogg, FLV and ASF alone, and only where "
    "the rate is otherwise constant (all other steps, at least 24, within 2 % or 1.5 ms) and there are at most "
    "three, of 5 frames and 200 ms at least, none at the first frame. A packet without data (Theora) fills one "
    "place of a hole. AVI may leave slots empty: its header's count is used for the length alone. Nothing "
    "decodes, or reading stopped: no value.",
    params=signature_params(decoder="libav", promise="index-holes-length"),
)
DURATION_SHORTFALL_MS = _damage(
    name="duration_shortfall_ms",
    unit="ms",
    summary="How far the picture ends before the file says it does.",
    formula="max(0, promised length of the picture − (end of the last decoded frame − start of the first))",
    edge_cases="The promise is the length the file states for the picture; of AVI its header's frame count / rate, "
    "where that is longer; of a container with one length for picture and sound (FLV, ASF, untagged WebM) what neither "
    "of them reaches of it, from 500 ms on. MPEG and bare streams promise nothing: no value. GIF and Ogg are read "
    "to their end for their length, so a cut one is not seen here. Headers are off by a frame or two: up to the "
    "largest of 100 ms, 3 frames and 0.5 % of the promise is no damage.",
)

_LEAST_MS = 100.0
_FRAMES_OFF = 3.0
_SHARE_OFF = 0.005
_INDEX_FRAMES_OFF = 1.5

_UNSHOWN_SHARE = 0.1

_HOLE = 1.5
_STEADY_SHARE, _STEADY_BAND = 0.8, 0.1
_CLEAN_KINDS = frozenset({"matroska,webm", "ogg", "flv", "asf"})
_CLEAN_BAND, _CLEAN_MS, _CLEAN_STEPS = 0.02, 1.5, 24
_CLEAN_HOLES, _CLEAN_FRAMES, _CLEAN_HOLE_MS = 3, 5, 200.0
"""What `MISSING_FRAMES` and `DURATION_SHORTFALL_MS` say in words."""


def _unread(seen: Observation) -> str:
    """Why there is no frame; "" where there is one."""
    return "" if seen.frames else seen.error or _NO_FRAME


def decode_ok(seen: Observation) -> Measurement:
    """Whether at least one frame decodes; the note says why not, or why not all of the clip was measured."""
    note = seen.error or _unread(seen)
    return Measurement(definition=DECODE_OK, value=seen.frames >= 1, count=seen.frames, note=note)


def video_duration_ms(seen: Observation) -> Measurement:
    """Length of the video stream in milliseconds; None where nothing tells it."""
    if seen.video_duration_ms is None or not seen.frames:
        return Measurement.missing(VIDEO_DURATION_MS, seen.error or _NO_FRAME)
    return Measurement(definition=VIDEO_DURATION_MS, value=seen.video_duration_ms, count=seen.frames)


def audio_duration_ms(seen: Observation) -> Measurement:
    """Length of the clip's sound in milliseconds."""
    if seen.audio_duration_ms is None:
        return Measurement.missing(AUDIO_DURATION_MS, seen.audio_duration_missing or "the clip has no sound")
    return Measurement(definition=AUDIO_DURATION_MS, value=seen.audio_duration_ms, count=1)


def av_duration_delta_ms(seen: Observation) -> Measurement:
    """How far picture and sound differ in length."""
    video, audio = video_duration_ms(seen), audio_duration_ms(seen)
    if video.value is None or audio.value is None:
        return Measurement.missing(AV_DURATION_DELTA_MS, video.note or audio.note)
    return Measurement(definition=AV_DURATION_DELTA_MS, value=abs(float(video.value) - float(audio.value)), count=1)


def fps(seen: Observation) -> Measurement:
    """Average frame rate."""
    if not seen.fps or not seen.frames:
        return Measurement.missing(FPS, seen.error or "the file declares no frame rate and has fewer than two frames")
    return Measurement(definition=FPS, value=float(seen.fps), count=seen.frames)


def frame_count(seen: Observation) -> Measurement:
    """Frames that the decoder gave."""
    note = seen.error or _unread(seen)
    return Measurement(definition=FRAME_COUNT, value=seen.frames, count=seen.frames, note=note)


def damage_count(definition: Definition, seen: Observation) -> Measurement:
    """Packets the decoder had to drop, or frames it patched up: what the pass counted under the definition's name."""
    count = getattr(seen, definition.name)
    return Measurement(definition=definition, value=count, count=seen.frames, note=_unread(seen))


def duration_shortfall_ms(seen: Observation) -> Measurement:
    """How far the picture ends before it is promised to."""
    promised, measured = seen.promised_duration_ms, seen.measured_duration_ms
    if measured is None:
        return Measurement.missing(DURATION_SHORTFALL_MS, "the picture was not read to its end")
    if promised is None:
        return Measurement.missing(DURATION_SHORTFALL_MS, "the file promises no length of the picture")
    return Measurement(definition=DURATION_SHORTFALL_MS, value=max(0.0, promised - measured), count=seen.frames)


def shortfall_tolerance_ms(promised: float, *, step_ms: float) -> float:
    """How far a length in a header may be off: max(100 ms, 3 frames, 0.5 %).

    >>> shortfall_tolerance_ms(8000.0, step_ms=40.0), shortfall_tolerance_ms(60000.0, step_ms=40.0)
    (120.0, 300.0)
    """
    return max(_LEAST_MS, _FRAMES_OFF * step_ms, _SHARE_OFF * promised)


def usual_step_ms(time_ms: np.ndarray, *, measured: float | None = None) -> float:
    """The median step between frames; of one frame, its length; 0 where there is neither.

    >>> usual_step_ms(np.array([0.0, 40.0, 80.0, 400.0])), usual_step_ms(np.array([0.0]), measured=100.0)
    (40.0, 100.0)
    """
    return median(np.diff(time_ms)) if len(time_ms) > 1 else measured or 0.0


def ends_early(promised: float | None, measured: float | None, *, step_ms: float) -> bool:
    """Whether the picture ends before its promised end by more than headers are off."""
    if promised is None or measured is None:
        return False
    return promised - measured > shortfall_tolerance_ms(promised, step_ms=step_ms)


def frames_in_holes(time_ms: np.ndarray, *, damaged: bool, container: str = "") -> int:
    """Frames that steps between frames leave room for, by the rules of `missing_frames`.

    >>> steady = np.delete(np.arange(60) * 40.0, slice(30, 40))
    >>> frames_in_holes(steady, damaged=True), frames_in_holes(steady, damaged=False, container="matroska,webm")
    (10, 10)
    >>> frames_in_holes(steady, damaged=False, container="gif")
    0
    """
    steps = np.diff(np.sort(time_ms) if damaged else time_ms)  # damage may put a frame before the one it follows
    if len(steps) < 2 or (usual := median(steps)) <= 0 or steps.min() <= 0:
        return 0
    holes = steps >= _HOLE * usual
    counts = np.rint(steps[holes] / usual) - 1
    off = np.abs(steps - usual)
    if damaged:
        steady = np.count_nonzero(off <= _STEADY_BAND * usual) >= _STEADY_SHARE * len(steps)
        return int(counts.sum()) if steady else 0
    steady = np.count_nonzero(~holes) >= _CLEAN_STEPS and np.all(off[~holes] <= max(_CLEAN_MS, _CLEAN_BAND * usual))
    long = np.all(counts >= max(_CLEAN_FRAMES, _CLEAN_HOLE_MS / usual)) and len(counts) <= _CLEAN_HOLES
    return int(counts.sum()) if container in _CLEAN_KINDS and steady and long and not holes[0] else 0


def frames_never_shown(time_ms: np.ndarray) -> int:
    """Frames that share their time with another one, so that a player has no time to show them; 0 where they are few.

    Up to one in ten is let pass: files that are whole have the two fields of a frame at one time, and times that are
    rounded together. Times that are only out of order are let pass too: AVI states none for B-frames, so that whole
    files have them swapped, and players go by the order of decoding.

    >>> frames_never_shown(np.zeros(50)), frames_never_shown(np.r_[0.0, np.arange(29) * 40.0])
    (49, 0)
    >>> frames_never_shown(np.array([0.0, 80.0, 40.0, 120.0]))
    0
    """
    unshown = int(np.count_nonzero(np.diff(np.sort(time_ms)) <= 0))
    return unshown if unshown > _UNSHOWN_SHARE * len(time_ms) else 0


def missing_frames(seen: Observation) -> Measurement:
    """Frames the file promises or its timestamps imply, less those that came."""
    if not seen.frames or seen.measured_duration_ms is None:
        return Measurement.missing(MISSING_FRAMES, seen.error or _NO_FRAME)
    step = usual_step_ms(seen.time_ms, measured=seen.measured_duration_ms)
    promised, measured = seen.promised_duration_ms, seen.measured_duration_ms
    damaged = bool(seen.decode_failures or seen.corrupt_frames or seen.corrupt_packets)
    if seen.promised_frames is not None:
        lost = max(0, seen.promised_frames - seen.frames)
        short = promised is not None and promised - measured >= _INDEX_FRAMES_OFF * step
        note = "" if damaged or short or not lost else f"{lost} entries of the index gave no frame, without any damage"
        return Measurement(definition=MISSING_FRAMES, value=0 if note else lost, count=seen.frames, note=note)
    container = seen.facts.container if seen.facts is not None else ""
    lost = max(0, frames_in_holes(seen.time_ms, damaged=damaged, container=container) - seen.repeated_frames)
    if promised is not None and step > 0 and ends_early(promised, measured, step_ms=step):
        lost += round((promised - measured) / step)
    return Measurement(definition=MISSING_FRAMES, value=lost, count=seen.frames)


DECODE_OK_METRIC = metric(DECODE_OK, decode_ok, too_low="cannot be decoded")
VIDEO_DURATION_MS_METRIC = metric(VIDEO_DURATION_MS, video_duration_ms)
AUDIO_DURATION_MS_METRIC = metric(AUDIO_DURATION_MS, audio_duration_ms)
AV_DURATION_DELTA_MS_METRIC = metric(
    AV_DURATION_DELTA_MS,
    av_duration_delta_ms,
    label="A/V\N{NO-BREAK SPACE}gap ms",  # else a narrow table breaks it twice
    too_high="sound and picture differ in length",
)
FPS_METRIC = metric(FPS, fps)
FRAME_COUNT_METRIC = metric(FRAME_COUNT, frame_count)
DECODE_FAILURES_METRIC = metric(DECODE_FAILURES, partial(damage_count, DECODE_FAILURES))
CORRUPT_FRAMES_METRIC = metric(CORRUPT_FRAMES, partial(damage_count, CORRUPT_FRAMES), too_high="damaged frames")
MISSING_FRAMES_METRIC = metric(MISSING_FRAMES, missing_frames, too_high="frames missing")
DURATION_SHORTFALL_MS_METRIC = metric(DURATION_SHORTFALL_MS, duration_shortfall_ms, too_high="ends early")
