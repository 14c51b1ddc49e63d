"""Blinks by a fixed threshold: the seed's reading, kept beside `blink`, which holds the eye against itself.

One number for every face counts a narrow eye as shut and misses the blink of a wide one: see `docs/face.md`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rushes.core import Definition, Measurement, signature_params
from rushes.instruments.clip.faces.observation import FaceObservation
from rushes.instruments.clip.metrics.face.blink import EAR, count_of, rate_of, value_of
from rushes.instruments.clip.metrics.making import of_face
from rushes.vision.landmarks.face_pipeline import MAX_FACES

DEBOUNCE = 2
"""An eye is shut, or open again, after this many successive frames."""

THRESHOLDS = {468: 0.23, 478: 0.2}
"""Eye aspect ratio under which an eye counts as shut, by model: the 468-point mesh closes its lids less far (a blink
bottoms out at 0.15 to 0.28 where the 478-point one reaches 0.01 to 0.1; most open eyes are at 0.23 to 0.4)."""

_FACE = signature_params(face="most-persistent", max_faces=MAX_FACES, debounce=DEBOUNCE, eyes="mean")

BLINK_COUNT = count_of(
    summary="How often the eye aspect ratio falls under one threshold for every face.",
    formula=f"{EAR}; a blink starts when EAR < threshold in `debounce` successive frames and ends when it is not in as "
    "many",
    edge_cases="no frame with the face: none. A gap ends a blink; eyes shut throughout are one blink.",
    params=_FACE,
    open_params=("model", "ear"),
)
BLINK_RATE_HZ = rate_of(
    summary="Blinks by the fixed threshold per second in which the face was seen.",
    edge_cases="no frame with the face, or no frame rate: none.",
    params=_FACE,
    open_params=("model", "ear"),
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
    return _measured(face, BLINK_COUNT)


def blink_rate_hz(face: FaceObservation) -> Measurement:
    """Blinks per second in which the face was seen; see `BLINK_RATE_HZ`."""
    return _measured(face, BLINK_RATE_HZ)


def _measured(face: FaceObservation, definition: Definition) -> Measurement:
    threshold, ratios = THRESHOLDS[face.points], face.track.eye_aspect_ratio
    bound = definition.with_params(model=face.model, ear=threshold)
    frames = int(np.count_nonzero(np.isfinite(ratios)))
    if not frames:
        return Measurement.missing(bound, face.absence("the eyes are never seen"))
    if bound.unit == "Hz" and not face.fps:
        return Measurement.missing(bound, "the clip states no frame rate", count=frames)
    blinks = count_blinks(ratios, threshold=threshold)
    return Measurement(definition=bound, value=value_of(bound, blinks, frames, face.fps), count=frames)


BLINK_COUNT_FIXED_METRIC = of_face(BLINK_COUNT, blink_count)
BLINK_RATE_HZ_FIXED_METRIC = of_face(BLINK_RATE_HZ, blink_rate_hz)
