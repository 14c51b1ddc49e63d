"""Is the head alive: head_distance from real speakers, gaze_spread and brow_motion. Less is never better."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rushes.core import Definition, Measurement, signature_params
from rushes.instruments.clip.metrics.face.head import HEAD_MOTION, head_motion, head_pose_spread
from rushes.instruments.clip.metrics.face.real_speakers import HEAD, HISTORY, NAME, distance, furthest
from rushes.instruments.clip.metrics.making import FACE_COST, of_face
from rushes.vision.landmarks.face_pipeline import MAX_FACES

if TYPE_CHECKING:
    from rushes.instruments.clip.faces.observation import FaceObservation

MIN_FRAMES = 25

HEAD_DISTANCE = Definition(
    name="head_distance",
    unit="sd",
    lowest=0.0,
    highest=None,
    better="lower",
    summary="How far the head's motion is from that of real speakers, whether the head is too still or too restless.",
    formula="√(mean of ((ln s − μ) / σ)²) over s = head_motion and head_pose_spread; μ, σ of 12 real speakers: "
    + ", ".join(f"{name} {spread.mean:g}, {spread.deviation:g}" for name, spread in HEAD.items()),
    edge_cases="head_motion or head_pose_spread has no value: none. The 12 real speakers read 0.4 to 2.0, five "
    "others in four languages 0.3 to 0.7. People's head votes of ADTH-QA, whose speakers are not among the 12: 24 of "
    "30 pairs right (80 %, 53 to 100 % over five speakers; one of four systems has a still head, and it loses nearly "
    f"every vote); fitted on no vote. {FACE_COST}",
    reference="ours; votes: Zhang et al. 2024 (ADTH-QA)",
    params=(*HEAD_MOTION.params, *signature_params(mean="chordal", real=NAME)),
    open_params=("model",),
    depends_on=("fps", "transfer"),
    raised_by=("a still head", "a moving camera"),
    lowered_by=("tremble of the landmarks of a still head", "a camera that moves as a head would"),
    history=HISTORY,
)
_moves = partial(
    Definition,
    lowest=0.0,
    highest=None,
    better="neither",
    reference="ours",
    open_params=("model",),
    depends_on=("frame_size", "transfer"),
    raised_by=("tremble of the landmarks", "a turned head"),
)
_WAY = signature_params(face="most-persistent", max_faces=MAX_FACES, min_frames=MIN_FRAMES)
GAZE_SPREAD = _moves(
    name="gaze_spread",
    unit="ratio",
    summary="How much the eyes look about: the spread of the irises between the corners of the eyes.",
    formula="population std over frames of g, the mean of both eyes of (p_iris − p_left) · (p_right − p_left) / "
    "|p_right − p_left|²; irises 468 and 473, corners 33, 133 and 362, 263",
    edge_cases=f"Fewer than {MIN_FRAMES} frames with the face: none. Needs the 478-point model (--face-model "
    "face_landmarker.task): the default one has no irises. Real speakers read 0.007 to 0.105. Of ADTH-QA's head votes "
    "the clip nearer to real speakers is preferred in 28 of 30 pairs (83 to 100 % by speaker): eyes that move go with "
    f"a head that does. {FACE_COST}",
    params=(*_WAY, *signature_params(points="iris-468-473")),
)
BROW_MOTION = _moves(
    name="brow_motion",
    unit="ratio",
    summary="How much the brows move: the range of the upper face's expression.",
    formula="population std over frames of (|p105 − p159| + |p334 − p386|) / 2 / |p33 − p263|",
    edge_cases=f"Fewer than {MIN_FRAMES} frames with the face: none. Real speakers read 0.003 to 0.035. Of ADTH-QA's "
    "head votes the clip with more is preferred in 24 of 30 pairs; a blink moves the lid, and so this value. "
    f"{FACE_COST}",
    params=(*_WAY, *signature_params(points="105-159,334-386", norm="inter-ocular")),
)


def head_distance(face: FaceObservation) -> Measurement:
    """Distance of the head's motion from real speakers; see `HEAD_DISTANCE`."""
    bound = HEAD_DISTANCE.with_params(model=face.model)
    speed, spread = head_motion(face), head_pose_spread(face)
    if speed.value is None or spread.value is None:
        return Measurement.missing(bound, speed.note or spread.note)
    values = {"speed": float(speed.value), "spread": float(spread.value)}
    note = "; ".join(filter(None, (furthest(values, HEAD), face.choice)))
    return Measurement(definition=bound, value=distance(values, HEAD), count=speed.count, note=note)


def gaze_spread(face: FaceObservation) -> Measurement:
    """Spread of the irises between the corners; see `GAZE_SPREAD`."""
    lacking = "the model has no irises; give --face-model face_landmarker.task (rushes models pull face-landmarker)"
    return _spread(GAZE_SPREAD, face, face.track.gaze, lacking if face.points < 478 else "")


def brow_motion(face: FaceObservation) -> Measurement:
    """Spread of the brows' height; see `BROW_MOTION`."""
    return _spread(BROW_MOTION, face, face.track.brow_height, "")


def _spread(definition: Definition, face: FaceObservation, values: NDArray[np.float64], lacking: str) -> Measurement:
    bound, known = definition.with_params(model=face.model), values[np.isfinite(values)]
    if lacking or len(known) < MIN_FRAMES:
        few = f"{len(known)} frames with the face; {MIN_FRAMES} are needed"
        return Measurement.missing(bound, face.absence(lacking or few))
    return Measurement(definition=bound, value=float(np.std(known)), count=len(known), note=face.choice)


HEAD_DISTANCE_METRIC = of_face(
    HEAD_DISTANCE, head_distance, label="head vs people", room="any", too_high="head moves unlike a real speaker's"
)
GAZE_SPREAD_METRIC = of_face(
    GAZE_SPREAD, gaze_spread, label="gaze", room="page", too_low="eyes do not move", too_high="eyes restless"
)
BROW_MOTION_METRIC = of_face(BROW_MOTION, brow_motion, label="brows", room="page", too_low="upper face does not move")
