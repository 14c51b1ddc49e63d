"""Blinks by a fixed threshold: the seed's reading, kept beside `blink`, which holds the eye against itself.

One number for every face counts a narrow eye as shut and misses the blink of a wide one: see `docs/face.md`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from rushes.clip.face_observation import FaceObservation
from rushes.core import Definition, Measurement, signature_params
from rushes.core.metric import ClipMetric
from rushes.landmarks.face_pipeline import MAX_FACES

DEBOUNCE = 2
"""An eye is shut, or open again, after this many successive frames."""

THRESHOLDS = {468: 0.23, 478: 0.2}
"""Eye aspect ratio under which an eye counts as shut, by model: the 468-point mesh closes its lids less far (a blink
bottoms out at 0.15 to 0.28 where the 478-point one reaches 0.01 to 0.1; most open eyes are at 0.23 to 0.4)."""

_FACE = signature_params(face="most-persistent", max_faces=MAX_FACES, debounce=DEBOUNCE, eyes="mean")

BLINK_COUNT = Definition(
    name="blink_count",
    unit="blinks",
    lowest=0.0,
    highest=None,
    better="neither",
    summary="How often the eye aspect ratio falls under one threshold for every face.",
    formula="EAR = (|p2 − p6| + |p3 − p5|) / (2 |p1 − p4|), mean of both eyes; a blink starts when EAR < threshold in "
    "`debounce` successive frames and ends when it is not in as many",
    edge_cases="no frame with the face: none. A gap ends a blink; eyes shut throughout are one blink.",
    reference="MetricBundleV1, tier 1; Soukupová and Čech 2016",
    params=_FACE,
    open_params=("model", "ear"),
    depends_on=("frame_size", "fps", "duration", "transfer"),
)

BLINK_RATE_HZ = Definition(
    name="blink_rate_hz",
    unit="Hz",
    lowest=0.0,
    highest=None,
    better="neither",
    summary="Blinks by the fixed threshold per second in which the face was seen.",
    formula="blink_count / (frames with the face / fps)",
    edge_cases="no frame with the face, or no frame rate: none.",
    reference="MetricBundleV1, tier 1",
    params=_FACE,
    open_params=("model", "ear"),
    depends_on=("frame_size", "fps", "transfer"),
)


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


def blink_count(face: FaceObservation) -> Measurement:
    """How often the eyes shut; see `BLINK_COUNT`."""
    return _measured(face, BLINK_COUNT, lambda blinks, frames: blinks)


def blink_rate_hz(face: FaceObservation) -> Measurement:
    """Blinks per second in which the face was seen; see `BLINK_RATE_HZ`."""
    fps = face.fps
    why = "" if fps else "the clip states no frame rate"
    return _measured(face, BLINK_RATE_HZ, lambda blinks, frames: blinks * (fps or 0.0) / frames, missing=why)


def _measured(
    face: FaceObservation, definition: Definition, value: Callable[[int, int], float], *, missing: str = ""
) -> Measurement:
    threshold = THRESHOLDS[face.points]
    bound = definition.with_params(model=face.model, ear=threshold)
    ratios = face.track.eye_aspect_ratio
    frames = int(np.count_nonzero(np.isfinite(ratios)))
    if not frames:
        return Measurement.missing(bound, face.absence("the eyes are never seen"))
    if missing:
        return Measurement.missing(bound, missing, count=frames)
    blinks = count_blinks(ratios, threshold=threshold)
    return Measurement(definition=bound, value=value(blinks, frames), count=frames)


BLINK_COUNT_FIXED_METRIC = ClipMetric(
    definition=BLINK_COUNT, tier=1, needs=frozenset({"face"}), measure=lambda seen: blink_count(seen.faces)
)
BLINK_RATE_HZ_FIXED_METRIC = ClipMetric(
    definition=BLINK_RATE_HZ, tier=1, needs=frozenset({"face"}), measure=lambda seen: blink_rate_hz(seen.faces)
)
