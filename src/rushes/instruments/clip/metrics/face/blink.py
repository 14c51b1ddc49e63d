"""Blinks against the clip's own open eye; and by a fixed threshold, which is the seed's reading, kept beside it.

How far an open eye opens differs between people by a factor of two, so no fixed ratio tells open from shut. Here each
frame is compared with how open the same eyes are within a second of it: a blink is a quick fall of that share, and the
same fall looks alike in narrow and wide eyes. Where the ratio trembles as much as a blink would move it (a face far
away, or in the dark) no blink can be seen and the value is missing. One number for every face counts a narrow eye
as shut and misses the blink of a wide one: see `docs/face.md`.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushes.core import Definition, Measurement, signature_params
from rushes.instruments.clip.faces.observation import FaceObservation
from rushes.instruments.clip.faces.wide_search import SEARCH
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
"""Eyes seen for less have no open state of their own to compare with."""
MAX_NOISE = 0.06
"""Typical step of the ratio from frame to frame, as a share of it, up to which blinks can be told from noise."""

DEBOUNCE = 2
"""By the fixed threshold, an eye is shut, or open again, after this many successive frames."""
THRESHOLDS = {468: 0.23, 478: 0.2}
"""Eye aspect ratio under which an eye counts as shut, by model: the 468-point mesh closes its lids less far (a blink
bottoms out at 0.15 to 0.28 where the 478-point one reaches 0.01 to 0.1; most open eyes are at 0.23 to 0.4)."""

_EYES = signature_params(face="most-persistent", max_faces=MAX_FACES, search=SEARCH, eyes="mean")
_OPEN_EYE = signature_params(
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

_EAR = "EAR = (|p2 − p6| + |p3 − p5|) / (2 |p1 − p4|), mean of both eyes"
_count = partial(
    Definition,
    name="blink_count",
    unit="blinks",
    lowest=0.0,
    highest=None,
    better="neither",
    reference="MetricBundleV1, tier 1; Soukupová and Čech 2016",
    depends_on=("frame_size", "fps", "duration", "transfer"),
)
_rate = partial(
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
"""What both readings of a blink have in common."""
_OWN_EYE: dict[str, Any] = {
    "edge_cases": _EDGE,
    "params": (*_EYES, *_OPEN_EYE),
    "open_params": ("model", "shut", "open"),
}
_FIXED: dict[str, Any] = {"params": (*_EYES, *signature_params(debounce=DEBOUNCE)), "open_params": ("model", "ear")}

BLINK_COUNT = _count(
    summary="How often the eyes shut, compared with how open the same eyes are within a second.",
    formula=f"{_EAR}; q_t = EAR_t / 80th percentile of EAR "
    "within ±1 s; a blink is a dip with q < `shut` in 50 ms worth of frames or more, until q ≥ `open`, that has q ≥ "
    "`open` within 200 ms before it or after it",
    **_OWN_EYE,
)
BLINK_RATE_HZ = _rate(
    summary="Blinks per second in which the face was seen, compared with the clip's own open eye.", **_OWN_EYE
)
BLINK_COUNT_FIXED = _count(
    summary="How often the eye aspect ratio falls under one threshold for every face.",
    formula=f"{_EAR}; a blink starts when EAR < threshold in `debounce` successive frames and ends when it is not in "
    "as many",
    edge_cases="no frame with the face: none. A gap ends a blink; eyes shut throughout are one blink.",
    **_FIXED,
)
BLINK_RATE_HZ_FIXED = _rate(
    summary="Blinks by the fixed threshold per second in which the face was seen.",
    edge_cases="no frame with the face, or no frame rate: none.",
    **_FIXED,
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


def count_blinks(ratios: NDArray[np.float64], *, threshold: float, debounce: int = DEBOUNCE) -> int:
    """Blinks in a series of eye aspect ratios.

    A change of state takes `debounce` successive frames. A gap (NaN) opens the eyes: what comes after it is new.

    >>> count_blinks(np.array([0.3, 0.1, 0.1, 0.3, 0.1, 0.1, 0.3, 0.3]), threshold=0.2)
    1
    """
    blinks, shut, run = 0, False, 0
    for ratio in ratios:
        if np.isnan(ratio):
            shut, run = False, 0
            continue
        run = run + 1 if bool(ratio < threshold) != shut else 0
        if run == debounce:
            shut, run = not shut, 0
            blinks += shut
    return blinks


def _value(definition: Definition, blinks: int, frames: int, fps: float | None) -> float:
    """So many blinks in so many frames, as a count or a rate."""
    return blinks * (fps or 0.0) / frames if definition.unit == "Hz" else blinks


def blinks(definition: Definition, face: FaceObservation) -> Measurement:
    """Blinks compared with the clip's own open eye, as a count or a rate; see `BLINK_COUNT` and `BLINK_RATE_HZ`."""
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
        why = f"the eyes are too noisy to measure: their opening changes by {noise:.0%} from frame to frame"
        return Measurement.missing(bound, why, count=frames)
    found = find_blinks(open_share(ratios, fps=face.fps), fps=face.fps, shut=shut, opened=opened)
    value, note = _value(definition, len(found), frames, face.fps), _where(face, found)
    span = face.span(found[0].first, found[0].first) if found else None
    return Measurement(definition=bound, value=value, count=frames, note=note, span=span)


def fixed_blinks(definition: Definition, face: FaceObservation) -> Measurement:
    """Blinks by the fixed threshold; see `BLINK_COUNT_FIXED` and `BLINK_RATE_HZ_FIXED`."""
    threshold, ratios = THRESHOLDS[face.points], face.track.eye_aspect_ratio
    bound = definition.with_params(model=face.model, ear=threshold)
    frames = int(np.count_nonzero(np.isfinite(ratios)))
    if not frames:
        return Measurement.missing(bound, face.absence("the eyes are never seen"))
    if bound.unit == "Hz" and not face.fps:
        return Measurement.missing(bound, "the clip states no frame rate", count=frames)
    value = _value(bound, count_blinks(ratios, threshold=threshold), frames, face.fps)
    return Measurement(definition=bound, value=value, count=frames)


def _where(face: FaceObservation, blinks: list[Blink]) -> str:
    """When the first few eyes shut: "at 1.7, 2.0 s"."""
    if not blinks:
        return ""
    shown = ", ".join(f"{face.seconds(blink.first):.1f}" for blink in blinks[:6])
    return f"at {shown} s" + (f" and {len(blinks) - 6} more" if len(blinks) > 6 else "")


_OFTEN = {"too_high": "blinks often", "too_low": "hardly blinks"}
BLINK_COUNT_METRIC = of_face(BLINK_COUNT, partial(blinks, BLINK_COUNT), **_OFTEN)
BLINK_RATE_HZ_METRIC = of_face(BLINK_RATE_HZ, partial(blinks, BLINK_RATE_HZ), label="blinks/s", room="page", **_OFTEN)
BLINK_COUNT_FIXED_METRIC = of_face(BLINK_COUNT_FIXED, partial(fixed_blinks, BLINK_COUNT_FIXED))
BLINK_RATE_HZ_FIXED_METRIC = of_face(BLINK_RATE_HZ_FIXED, partial(fixed_blinks, BLINK_RATE_HZ_FIXED))
