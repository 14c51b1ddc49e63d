"""Blinks: the eye aspect ratio under a threshold, debounced."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rushes.clip.face_track import LEFT_EYE, RIGHT_EYE, FaceTrack
from rushes.core import Definition, Measurement, signature_params
from rushes.landmarks.face_pipeline import MAX_FACES

DEBOUNCE = 2
"""An eye is shut, or open again, after this many successive frames."""

THRESHOLDS = {468: 0.23, 478: 0.2}
"""Eye aspect ratio under which an eye counts as shut, by model: the 468-point mesh closes its lids less far (a blink
bottoms out at 0.15 to 0.22 where the 478-point one reaches 0.01 to 0.1; open eyes are at 0.28 to 0.4 in both)."""

_FACE = signature_params(face="most-persistent", max_faces=MAX_FACES, debounce=DEBOUNCE, eyes="mean")

BLINK_COUNT = Definition(
    name="blink_count",
    unit="blinks",
    lowest=0.0,
    highest=None,
    better="neither",
    summary="How often the eyes shut.",
    formula="EAR = (|p2 − p6| + |p3 − p5|) / (2 |p1 − p4|), mean of both eyes; a blink starts when EAR < threshold in "
    "`debounce` successive frames and ends when it is not in as many",
    edge_cases="no frame with the face: none. A gap ends a blink; eyes shut throughout are one blink.",
    reference="MetricBundleV1, tier 1; Soukupová and Čech 2016",
    params=_FACE,
    open_params=("model", "ear"),
)

BLINK_RATE_HZ = Definition(
    name="blink_rate_hz",
    unit="Hz",
    lowest=0.0,
    highest=None,
    better="neither",
    summary="Blinks per second in which the face was seen.",
    formula="blink_count / (frames with the face / fps)",
    edge_cases="no frame with the face, or no frame rate: none.",
    reference="MetricBundleV1, tier 1",
    params=_FACE,
    open_params=("model", "ear"),
)


def eye_aspect_ratio(track: FaceTrack) -> NDArray[np.float64]:
    """Mean eye aspect ratio of both eyes per frame: about 0.3 open, towards 0 shut; NaN where the face is not seen."""
    return (_one_eye(track, RIGHT_EYE) + _one_eye(track, LEFT_EYE)) / 2


def _one_eye(track: FaceTrack, eye: tuple[int, ...]) -> NDArray[np.float64]:
    heights = track.distance(eye[1], eye[5]) + track.distance(eye[2], eye[4])
    width = 2 * track.distance(eye[0], eye[3])
    ratio: NDArray[np.float64] = np.divide(heights, width, out=np.full_like(heights, np.nan), where=width > 0)
    return ratio


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


def blink_measurements(
    track: FaceTrack, *, fps: float | None, model_digest: str, points: int, blame: str
) -> tuple[Measurement, Measurement]:
    """`blink_count` and `blink_rate_hz`. `blame` is why there is no face, where there is none."""
    threshold = THRESHOLDS[points]
    counted = BLINK_COUNT.with_params(model=model_digest, ear=threshold)
    rated = BLINK_RATE_HZ.with_params(model=model_digest, ear=threshold)
    ratios = eye_aspect_ratio(track)
    frames = int(np.count_nonzero(np.isfinite(ratios)))
    if not frames:
        note = blame or "the eyes are never seen"
        return Measurement.missing(counted, note), Measurement.missing(rated, note)
    blinks = count_blinks(ratios, threshold=threshold)
    count = Measurement(definition=counted, value=blinks, count=frames)
    if not fps:
        return count, Measurement.missing(rated, "the clip states no frame rate", count=frames)
    return count, Measurement(definition=rated, value=blinks * fps / frames, count=frames)
