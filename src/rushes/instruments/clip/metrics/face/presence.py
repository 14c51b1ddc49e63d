"""Tier 1: presence, gaps, jitter of box and landmarks and mouth energy of the face that `face_track` follows.

Every value names the models by digest, because two models do not agree: the same mouth opens 1.5 to 2 times as far in
one as in the other.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from rushes.core import Definition, Measurement, signature_params
from rushes.core.metric import Lane, Trace
from rushes.instruments.clip.faces.observation import FaceObservation
from rushes.instruments.clip.faces.track import RIGID, ratio
from rushes.instruments.clip.faces.wide_search import SEARCH
from rushes.instruments.clip.frames.spans import stretches
from rushes.instruments.clip.metrics.making import of_face
from rushes.vision.landmarks.face_pipeline import MAX_FACES

_POLICY = signature_params(face="most-persistent", max_faces=MAX_FACES, search=SEARCH)
_SEED = "MetricBundleV1, tier 1"
_face = partial(
    Definition,
    unit="ratio",
    lowest=0.0,
    highest=None,
    better="lower",
    reference=_SEED,
    open_params=("model",),
    depends_on=("frame_size", "fps", "transfer"),
)
"""A number of the face models, counted from 0 up."""

FACE_PRESENT_RATIO = _face(
    name="face_present_ratio",
    highest=1.0,
    better="higher",
    summary="Share of frames in which a face is found.",
    formula="frames with at least one face / frames; a frame that shows none is looked at again in square tiles of its "
    "shorter side, then of 0.55 of that",
    edge_cases="no frames: none. Faces down to about 3 % of a wide frame's width are found. Detector and landmark "
    "network both have to be confident (0.5).",
    params=signature_params(max_faces=MAX_FACES, search=SEARCH),
    depends_on=("frame_size", "transfer"),
    raised_by=("a false face", "a larger face", "dropped frames that had none"),
    lowered_by=("a face that rightly turns away or leaves", "dropped frames that had one"),
)

LONGEST_FACE_GAP_MS = _face(
    name="longest_face_gap_ms",
    unit="ms",
    summary="The longest stretch without any face, at the start and the end too.",
    formula="longest run of successive frames without a face, from the start of the first to the start of the frame "
    "after the last; the clip's last frame lasts 1 / fps",
    edge_cases="no frames, or neither frame rate nor times: none. No face at all: the whole length. 0 where every "
    "frame has one. Of equally long gaps the note names the first.",
    reference="beside face_present_ratio of MetricBundleV1",
    params=signature_params(max_faces=MAX_FACES, search=SEARCH),
    depends_on=("frame_size", "fps", "duration", "transfer"),
    raised_by=("a face that rightly turns away or leaves", "a smaller face"),
    lowered_by=("a false face", "a shorter clip"),
)

FACE_BBOX_JITTER = _face(
    name="face_bbox_jitter",
    summary="How much the face's box moves and changes size from frame to frame.",
    formula="mean of (|Δcentre| + |Δsize|) / frame diagonal over successive frames that both show the face; "
    "centre (x, y) and size (w, h) of the box around all landmarks, |·| Euclidean",
    edge_cases="no two successive frames with the face: none. A gap is skipped, never bridged.",
    params=(*_POLICY, *signature_params(box="landmarks", norm="frame-diagonal")),
    raised_by=("head motion", "a larger face", "noise", "dropped frames closed up"),
    lowered_by=("a still head", "a smaller face", "smoothing by blur or compression"),
)

LANDMARK_JITTER = _face(
    name="landmark_jitter",
    better="neither",
    summary="How far the rigid points of the face move from frame to frame, in inter-ocular distances.",
    formula="mean over successive frames that both show the face of mean over points |p_t − p_(t−1)| / d; d is the "
    "mean distance of the outer eye corners (33, 263) in the two frames; points 1, 6, 10, 33, 133, 168, 234, 263, 362, "
    "454",
    edge_cases="no two successive frames with the face: none. A gap is skipped. Head movement counts as well, so less "
    "is not better: people preferred the head with more in 87 % of ADTH-QA's pairs.",
    params=(*_POLICY, *signature_params(norm="inter-ocular", points="rigid-10")),
    raised_by=("head motion", "a smaller face, whose points are less sure", "noise", "dropped frames closed up"),
    lowered_by=("a still head", "smoothing by blur or compression"),
)

MOUTH_OPEN_ENERGY = _face(
    name="mouth_open_energy",
    unit="1",
    better="neither",
    summary="How much the mouth opens and closes; near zero is a dead mouth.",
    formula="population variance over frames of |p13 − p14| / |p33 − p263| (inner lips over outer eye corners)",
    edge_cases="fewer than two frames with the face: none.",
    params=(*_POLICY, *signature_params(norm="inter-ocular", points="13-14", stat="variance")),
    depends_on=("frame_size", "transfer"),
)


def face_present_ratio(face: FaceObservation) -> Measurement:
    """Share of frames with at least one face, whichever it is; see `FACE_PRESENT_RATIO`."""
    definition, frames = FACE_PRESENT_RATIO.with_params(model=face.model), len(face.track)
    if not frames:
        return Measurement.missing(definition, "the clip has no frames")
    value = int(np.count_nonzero(face.track.face_count)) / frames
    return Measurement(definition=definition, value=value, count=frames, note=face.choice)


def longest_face_gap_ms(face: FaceObservation) -> Measurement:
    """The longest stretch without any face, and where it is; see `LONGEST_FACE_GAP_MS`."""
    definition, frames = LONGEST_FACE_GAP_MS.with_params(model=face.model), len(face.track)
    if not frames:
        return Measurement.missing(definition, "the clip has no frames")
    if not face.fps and face.track.times_ms is None:
        return Measurement.missing(definition, "the clip states no frame rate", count=frames)
    gaps = list(stretches((face.track.face_count == 0).tolist()))
    if not gaps:
        return Measurement(definition=definition, value=0.0, count=frames, note=face.choice)
    lengths = [1000 * (face.seconds(last + 1) - face.seconds(first)) for first, last in gaps]
    longest = max(range(len(gaps)), key=lambda number: round(lengths[number], 3))
    note, span = face.stretch(*gaps[longest]), face.span(*gaps[longest])
    if len(gaps) > 1:
        note += f", the longest of {len(gaps)} gaps"
    return Measurement(definition=definition, value=lengths[longest], count=frames, note=note, span=span)


def face_bbox_jitter(face: FaceObservation) -> Measurement:
    """Mean movement of the face's box between successive frames; see `FACE_BBOX_JITTER`."""
    track = face.track
    low, high = track.bbox[:, :2], track.bbox[:, 2:]
    centre, size = np.diff((low + high) / 2, axis=0), np.diff(high - low, axis=0)
    diagonal = np.hypot(track.width, track.height)
    moves = (np.hypot(centre[:, 0], centre[:, 1]) + np.hypot(size[:, 0], size[:, 1])) / diagonal
    return _mean_of(FACE_BBOX_JITTER, moves, face)


def landmark_jitter(face: FaceObservation) -> Measurement:
    """Mean movement of the rigid points between successive frames; see `LANDMARK_JITTER`.

    The same for a face twice as large.
    """
    step = np.diff(face.track.landmarks(*RIGID), axis=0)
    eyes = face.track.inter_ocular
    moves = ratio(np.hypot(step[..., 0], step[..., 1]).mean(axis=1), (eyes[1:] + eyes[:-1]) / 2)
    return _mean_of(LANDMARK_JITTER, moves, face)


def mouth_open_energy(face: FaceObservation) -> Measurement:
    """Variance over time of how far the mouth is open; see `MOUTH_OPEN_ENERGY`."""
    definition, openness = MOUTH_OPEN_ENERGY.with_params(model=face.model), face.track.mouth_openness
    known = openness[np.isfinite(openness)]
    if len(known) < 2:
        return Measurement.missing(definition, face.absence("fewer than two frames show the face"), count=len(known))
    return Measurement(definition=definition, value=float(np.var(known)), count=len(known), note=face.choice)


def _mean_of(definition: Definition, moves: NDArray[np.float64], face: FaceObservation) -> Measurement:
    bound, known = definition.with_params(model=face.model), moves[np.isfinite(moves)]
    if not len(known):
        return Measurement.missing(bound, face.absence("no two successive frames show the face"))
    return Measurement(definition=bound, value=float(np.mean(known)), count=len(known), note=face.choice)


FACE_PRESENT_RATIO_METRIC = of_face(
    FACE_PRESENT_RATIO,
    face_present_ratio,
    label="face",
    room="any",
    too_low="face missing",
    lane=Lane(
        label="Face",
        traces=(Trace(series="face_count", word="face", scale=lambda low, high: (0.0, 1.0)),),
        band=True,
    ),
)
_page = partial(of_face, room="page")
LONGEST_FACE_GAP_MS_METRIC = _page(LONGEST_FACE_GAP_MS, longest_face_gap_ms, label="gap ms", too_high="face lost")
FACE_BBOX_JITTER_METRIC = _page(FACE_BBOX_JITTER, face_bbox_jitter, too_high="face box jumps")
LANDMARK_JITTER_METRIC = _page(LANDMARK_JITTER, landmark_jitter, label="jitter", too_high="face jitters")
MOUTH_OPEN_ENERGY_METRIC = _page(
    MOUTH_OPEN_ENERGY, mouth_open_energy, label="mouth", too_high="mouth restless", too_low="mouth hardly opens"
)
