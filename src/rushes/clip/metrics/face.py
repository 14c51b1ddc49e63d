"""Tier 1: presence, jitter of box and landmarks, mouth energy and blinks of the face that `face_track` follows.

Every value names the models by digest, because two models do not agree: the same mouth opens 1.5 to 2 times as far in
one as in the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rushes.clip.face_track import LIPS, RIGID, FaceTrack, FaceTrackBuilder
from rushes.clip.metrics.blink import BLINK_COUNT, BLINK_RATE_HZ, blink_measurements, eye_aspect_ratio
from rushes.clip.metrics.sync import SYNC_DEFINITIONS, envelope, mouth_audio_measurements
from rushes.core import Definition, Measurement, signature_params
from rushes.landmarks.face_pipeline import MAX_FACES

if TYPE_CHECKING:
    from rushes.media import AudioTrack

__all__ = [
    "DEFINITIONS",
    "FaceTrack",
    "FaceTrackBuilder",
    "face_bbox_jitter",
    "face_present_ratio",
    "landmark_jitter",
    "missing_tier1",
    "mouth_open_energy",
    "mouth_openness",
    "tier1_measurements",
    "tier1_series",
]

_POLICY = signature_params(face="most-persistent", max_faces=MAX_FACES)
_SEED = "MetricBundleV1, tier 1"

FACE_PRESENT_RATIO = Definition(
    name="face_present_ratio",
    unit="ratio",
    lowest=0.0,
    highest=1.0,
    better="higher",
    summary="Share of frames in which a face is found.",
    formula="frames with at least one face / frames",
    edge_cases="no frames: none. Detector and landmark network both have to be confident (0.5).",
    reference=_SEED,
    params=signature_params(max_faces=MAX_FACES),
    open_params=("model",),
)

FACE_BBOX_JITTER = Definition(
    name="face_bbox_jitter",
    unit="ratio",
    lowest=0.0,
    highest=None,
    better="lower",
    summary="How much the face's box moves and changes size from frame to frame.",
    formula="mean of (|Δcentre| + |Δsize|) / frame diagonal over successive frames that both show the face; "
    "centre (x, y) and size (w, h) of the box around all landmarks, |·| Euclidean",
    edge_cases="no two successive frames with the face: none. A gap is skipped, never bridged.",
    reference=_SEED,
    params=(*_POLICY, *signature_params(box="landmarks", norm="frame-diagonal")),
    open_params=("model",),
)

LANDMARK_JITTER = Definition(
    name="landmark_jitter",
    unit="ratio",
    lowest=0.0,
    highest=None,
    better="lower",
    summary="How far the rigid points of the face move from frame to frame, in inter-ocular distances.",
    formula="mean over successive frames that both show the face of mean over points |p_t − p_(t−1)| / d; d is the "
    "mean distance of the outer eye corners (33, 263) in the two frames; points 1, 6, 10, 33, 133, 168, 234, 263, 362, "
    "454",
    edge_cases="no two successive frames with the face: none. A gap is skipped. Head movement counts as well.",
    reference=_SEED,
    params=(*_POLICY, *signature_params(norm="inter-ocular", points="rigid-10")),
    open_params=("model",),
)

MOUTH_OPEN_ENERGY = Definition(
    name="mouth_open_energy",
    unit="1",
    lowest=0.0,
    highest=None,
    better="neither",
    summary="How much the mouth opens and closes; near zero is a dead mouth.",
    formula="population variance over frames of |p13 − p14| / |p33 − p263| (inner lips over outer eye corners)",
    edge_cases="fewer than two frames with the face: none.",
    reference=_SEED,
    params=(*_POLICY, *signature_params(norm="inter-ocular", points="13-14", stat="variance")),
    open_params=("model",),
)

DEFINITIONS: tuple[Definition, ...] = (
    FACE_PRESENT_RATIO,
    FACE_BBOX_JITTER,
    LANDMARK_JITTER,
    MOUTH_OPEN_ENERGY,
    SYNC_DEFINITIONS[0],
    BLINK_COUNT,
    BLINK_RATE_HZ,
    *SYNC_DEFINITIONS[1:],
)
"""In the bundle's order; then the measurements that go beside `mouth_audio_corr`."""


def face_present_ratio(track: FaceTrack, *, model_digest: str) -> Measurement:
    """Share of frames with at least one face, whichever it is.

    Formula     frames with a face / frames
    Unit        ratio, 0 to 1
    Edge cases  no frames: None with a note
    Reference   MetricBundleV1, tier 1
    """
    definition = FACE_PRESENT_RATIO.with_params(model=model_digest)
    if not len(track):
        return Measurement.missing(definition, "the clip has no frames")
    value = int(np.count_nonzero(track.face_count)) / len(track)
    return Measurement(definition=definition, value=value, count=len(track), note=_who(track))


def face_bbox_jitter(track: FaceTrack, *, model_digest: str) -> Measurement:
    """Mean movement of the face's box between successive frames, over the frame's diagonal.

    Formula     mean of (√(Δcx² + Δcy²) + √(Δw² + Δh²)) / √(W² + H²)
    Unit        ratio; 0 is still
    Edge cases  no two successive frames with the face: None. Gaps are skipped.
    Reference   MetricBundleV1, tier 1
    """
    definition = FACE_BBOX_JITTER.with_params(model=model_digest)
    low, high = track.bbox[:, :2], track.bbox[:, 2:]
    centre = np.diff((low + high) / 2, axis=0)
    size = np.diff(high - low, axis=0)
    moves = (np.hypot(centre[:, 0], centre[:, 1]) + np.hypot(size[:, 0], size[:, 1])) / np.hypot(
        track.width, track.height
    )
    return _mean_of(definition, moves, track)


def landmark_jitter(track: FaceTrack, *, model_digest: str) -> Measurement:
    """Mean movement of the rigid points between successive frames, over the inter-ocular distance.

    Formula     mean over steps of mean over points |p_t − p_(t−1)| / ((d_t + d_(t−1)) / 2)
    Unit        inter-ocular distances per frame; the same for a face twice as large
    Edge cases  no two successive frames with the face: None. Gaps are skipped.
    Reference   MetricBundleV1, tier 1
    """
    definition = LANDMARK_JITTER.with_params(model=model_digest)
    step = np.diff(track.landmarks(*RIGID), axis=0)
    eyes = track.inter_ocular
    moves = _over(np.hypot(step[..., 0], step[..., 1]).mean(axis=1), (eyes[1:] + eyes[:-1]) / 2)
    return _mean_of(definition, moves, track)


def mouth_openness(track: FaceTrack) -> NDArray[np.float64]:
    """Distance of the inner lips over the inter-ocular distance, per frame; NaN where the face was not seen."""
    return _over(track.distance(*LIPS), track.inter_ocular)


def mouth_open_energy(track: FaceTrack, *, model_digest: str) -> Measurement:
    """Variance over time of how far the mouth is open.

    Formula     population variance of |p13 − p14| / |p33 − p263|
    Unit        1
    Edge cases  fewer than two frames with the face: None
    Reference   MetricBundleV1, tier 1
    """
    definition = MOUTH_OPEN_ENERGY.with_params(model=model_digest)
    openness = mouth_openness(track)
    known = openness[np.isfinite(openness)]
    if len(known) < 2:
        return Measurement.missing(definition, _absence(track, "fewer than two frames show the face"), count=len(known))
    return Measurement(definition=definition, value=float(np.var(known)), count=len(known), note=_who(track))


def tier1_measurements(
    track: FaceTrack,
    *,
    fps: float | None,
    audio: AudioTrack | None,
    model_digest: str,
    points: int = 468,
    audio_missing: str = "",
) -> tuple[Measurement, ...]:
    """Every tier-1 measurement, in the order of `DEFINITIONS`.

    `points` says which model the eye threshold is for; `audio_missing` why there is no sound, where that is known.
    """
    openness = mouth_openness(track)
    loudness: NDArray[np.float64] | str = audio_missing
    if audio is not None or not audio_missing:
        loudness = envelope(audio, times_ms=track.times_ms, frames=len(track), fps=fps)
    blame = _absence(track, "")
    sync = mouth_audio_measurements(openness, loudness, model_digest=model_digest, blame=blame, note=_who(track))
    blinks = blink_measurements(track, fps=fps, model_digest=model_digest, points=points, blame=blame)
    return (
        face_present_ratio(track, model_digest=model_digest),
        face_bbox_jitter(track, model_digest=model_digest),
        landmark_jitter(track, model_digest=model_digest),
        mouth_open_energy(track, model_digest=model_digest),
        sync[0],
        *blinks,
        *sync[1:],
    )


def missing_tier1(note: str) -> tuple[Measurement, ...]:
    """Every tier-1 measurement as null, with the reason."""
    return tuple(
        Measurement.missing(definition.with_params(**dict.fromkeys(definition.open_params, "none")), note)
        for definition in DEFINITIONS
    )


def tier1_series(track: FaceTrack, audio: AudioTrack | None, fps: float | None) -> dict[str, NDArray[np.float64]]:
    """Per-frame series for the timeline; NaN in gaps."""
    loudness = envelope(audio, times_ms=track.times_ms, frames=len(track), fps=fps)
    series = {
        "face_count": track.face_count.astype(np.float64),
        "face_bbox": track.bbox,
        "face_landmarks": track.landmarks(*RIGID),
        "mouth_openness": mouth_openness(track),
        "eye_aspect_ratio": eye_aspect_ratio(track),
    }
    return series if isinstance(loudness, str) else series | {"audio_envelope": loudness}


def _over(values: NDArray[np.float64], by: NDArray[np.float64]) -> NDArray[np.float64]:
    """values / by; NaN where `by` is zero, as in a gap: a face without width is not measured."""
    ratio: NDArray[np.float64] = np.divide(values, by, out=np.full_like(values, np.nan), where=by > 0)
    return ratio


def _mean_of(definition: Definition, moves: NDArray[np.float64], track: FaceTrack) -> Measurement:
    known = moves[np.isfinite(moves)]
    if not len(known):
        return Measurement.missing(definition, _absence(track, "no two successive frames show the face"))
    return Measurement(definition=definition, value=float(np.mean(known)), count=len(known), note=_who(track))


def _absence(track: FaceTrack, otherwise: str) -> str:
    """Why nothing can be measured."""
    if not len(track):
        return "the clip has no frames"
    return otherwise if track.seen.any() else f"no face in any of {len(track)} frames"


def _who(track: FaceTrack) -> str:
    """Which face was measured, where there was a choice."""
    if track.people < 2:
        return ""
    seen = int(np.count_nonzero(track.seen))
    return f"{track.people} faces followed; measured is the one seen most, in {seen} of {len(track)} frames"
