"""Blinks against the clip's own open eye.

How far an open eye opens differs between people by a factor of two, so no fixed ratio tells open from shut. Here each
frame is held against how open the same eyes are within a second of it: a blink is a quick fall of that share, and the
same fall looks alike in narrow and wide eyes. Where the ratio trembles as much as a blink would move it (a face far
away, or in the dark) the eyes cannot be told and the value is missing.
"""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushes.core import Definition, Measurement, signature_params
from rushes.instruments.clip.faces.observation import FaceObservation
from rushes.instruments.clip.metrics.making import of_face
from rushes.vision.landmarks.face_pipeline import MAX_FACES

WINDOW_MS = 1000
"""How far before and after a frame its open eye is looked for: longer than a blink, shorter than a turn of the head."""
OPEN_PERCENTILE = 80
SHUT = {468: 0.8, 478: 0.6}
"""Share of the open eye under which it counts as shut, by model: the 468-point mesh closes its lids less far. In ten
clips counted by eye blinks bottom out at 0.47 to 0.81 (468) and at 0.03 to 0.5 (478)."""
OPEN = {468: 0.86, 478: 0.7}
"""Share from which it is open again."""
MIN_SHUT_MS = 50
"""A dip shorter than this is one frame's tremble."""
FAST_MS = 200
"""Lids fall or rise within this; a smile or a bowed head takes longer."""
MIN_SECONDS = 1.0
"""Eyes seen for less have no open state of their own to be held against."""
MAX_NOISE = 0.06
"""Typical step of the ratio from frame to frame, as a share of it, up to which blinks can be told from noise."""

_FACE = signature_params(
    face="most-persistent",
    max_faces=MAX_FACES,
    eyes="mean",
    reference="own-open-eye",
    window_ms=WINDOW_MS,
    percentile=OPEN_PERCENTILE,
    min_ms=MIN_SHUT_MS,
    fast_ms=FAST_MS,
    min_s=MIN_SECONDS,
    max_noise=MAX_NOISE,
)
_EDGE = (
    "eyes seen for less than 1 s, no frame rate, or a ratio that trembles by more than 6 % from frame to frame (1.4826 "
    "× median |ΔEAR| / median EAR): none. A gap ends a blink. Eyes shut throughout, or narrowed slowly, are no blink."
)

EAR = "EAR = (|p2 − p6| + |p3 − p5|) / (2 |p1 − p4|), mean of both eyes"
count_of = partial(
    Definition,
    name="blink_count",
    unit="blinks",
    lowest=0.0,
    highest=None,
    better="neither",
    reference="MetricBundleV1, tier 1; Soukupová and Čech 2016",
    depends_on=("frame_size", "fps", "duration", "transfer"),
)
rate_of = partial(
    Definition,
    name="blink_rate_hz",
    unit="Hz",
    lowest=0.0,
    highest=None,
    better="neither",
    formula="blink_count / (frames with the face / fps)",
    reference="MetricBundleV1, tier 1",
    depends_on=("frame_size", "fps", "transfer"),
)
"""What both readings of a blink have in common; the other is in `blink_fixed`."""

BLINK_COUNT = count_of(
    summary="How often the eyes shut, held against how open the same eyes are within a second.",
    formula=f"{EAR}; q_t = EAR_t / 80th percentile of EAR "
    "within ±1 s; a blink is a dip with q < `shut` in 50 ms worth of frames or more, until q ≥ `open`, that has q ≥ "
    "`open` within 200 ms before it or after it",
    edge_cases=_EDGE,
    params=_FACE,
    open_params=("model", "shut", "open"),
)
BLINK_RATE_HZ = rate_of(
    summary="Blinks per second in which the face was seen, held against the clip's own open eye.",
    edge_cases=_EDGE,
    params=_FACE,
    open_params=("model", "shut", "open"),
)


class Blink(NamedTuple):
    """First and last frame in which the eyes are shut."""

    first: int
    last: int


def open_share(ratios: NDArray[np.float64], *, fps: float) -> NDArray[np.float64]:
    """Each eye aspect ratio over the 80th percentile of those within a second of it; NaN in gaps."""
    reach = round(WINDOW_MS / 1000 * fps)
    shares = np.full(len(ratios), np.nan)
    for frame in np.flatnonzero(np.isfinite(ratios)):
        near = ratios[max(0, frame - reach) : frame + reach + 1]
        opened = float(np.percentile(near[np.isfinite(near)], OPEN_PERCENTILE))
        if opened > 0:
            shares[frame] = ratios[frame] / opened
    return shares


def find_blinks(shares: NDArray[np.float64], *, fps: float, shut: float, opened: float) -> list[Blink]:
    """The dips of a series of open shares that are blinks.

    >>> find_blinks(np.array([1, 1, 0.5, 0.5, 1, 1, 0.7, 1]), fps=25.0, shut=0.6, opened=0.7)
    [Blink(first=2, last=3)]
    """
    least, reach = max(1, math.ceil(MIN_SHUT_MS / 1000 * fps)), max(1, round(FAST_MS / 1000 * fps))
    found, frame = [], 0
    while frame < len(shares):
        if not shares[frame] < shut:
            frame += 1
            continue
        end = frame
        while end < len(shares) and shares[end] < opened:  # a gap is not less than anything: it ends the dip
            end += 1
        below = frame + np.flatnonzero(shares[frame:end] < shut)
        before, after = shares[max(0, frame - reach) : frame], shares[below[-1] + 1 : below[-1] + 1 + reach]
        quick = bool((before >= opened).any() or (after >= opened).any())
        if len(below) >= least and quick:
            found.append(Blink(frame, int(below[-1])))
        frame = end
    return found


def tremble(ratios: NDArray[np.float64]) -> float:
    """Typical step from frame to frame as a share of the typical value; 0 where there is no step."""
    known = ratios[np.isfinite(ratios)]
    steps = np.abs(np.diff(ratios))
    steps = steps[np.isfinite(steps)]
    middle = float(np.median(known)) if len(known) else 0.0
    if not len(steps):
        return 0.0
    return 1.4826 * float(np.median(steps)) / middle if middle > 0 else math.inf


def blink_count(face: FaceObservation) -> Measurement:
    """How often the eyes shut; see `BLINK_COUNT`."""
    return _measured(face, BLINK_COUNT)


def blink_rate_hz(face: FaceObservation) -> Measurement:
    """Blinks per second in which the face was seen; see `BLINK_RATE_HZ`."""
    return _measured(face, BLINK_RATE_HZ)


def value_of(definition: Definition, blinks: int, frames: int, fps: float | None) -> float:
    """So many blinks in so many frames, as a count or a rate."""
    return blinks * (fps or 0.0) / frames if definition.unit == "Hz" else blinks


def _measured(face: FaceObservation, definition: Definition) -> Measurement:
    shut, opened = SHUT[face.points], OPEN[face.points]
    bound = definition.with_params(model=face.model, shut=shut, open=opened)
    ratios = face.track.eye_aspect_ratio
    frames = int(np.count_nonzero(np.isfinite(ratios)))
    if not frames:
        return Measurement.missing(bound, face.absence("the eyes are never seen"))
    if not face.fps or face.fps <= 0:
        return Measurement.missing(bound, "the clip states no frame rate", count=frames)
    if frames < MIN_SECONDS * face.fps:
        why = f"the eyes are seen for {frames / face.fps:.1f} s; {MIN_SECONDS:g} is needed"
        return Measurement.missing(bound, why, count=frames)
    noise = tremble(ratios)
    if noise > MAX_NOISE:
        why = f"the eyes cannot be told: their opening trembles by {noise:.0%} from frame to frame"
        return Measurement.missing(bound, why, count=frames)
    blinks = find_blinks(open_share(ratios, fps=face.fps), fps=face.fps, shut=shut, opened=opened)
    found, note = value_of(definition, len(blinks), frames, face.fps), _where(face, blinks)
    span = face.span(blinks[0].first, blinks[0].first) if blinks else None
    return Measurement(definition=bound, value=found, count=frames, note=note, span=span)


def _where(face: FaceObservation, blinks: list[Blink]) -> str:
    """When the first few eyes shut: "at 1.7, 2.0 s"."""
    if not blinks:
        return ""
    shown = ", ".join(f"{face.seconds(blink.first):.1f}" for blink in blinks[:6])
    return f"at {shown} s" + (f" and {len(blinks) - 6} more" if len(blinks) > 6 else "")


BLINK_COUNT_METRIC = of_face(BLINK_COUNT, blink_count, too_high="blinks often", too_low="hardly blinks")
BLINK_RATE_HZ_METRIC = of_face(BLINK_RATE_HZ, blink_rate_hz, too_high="blinks often", too_low="hardly blinks")
