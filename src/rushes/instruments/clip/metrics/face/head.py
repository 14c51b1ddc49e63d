"""How much the head turns: its angular speed, and how far it turns from its mean pose.

Ten points of the face that neither speech nor blinking moves, with their depth, are one rigid body, the head's own: no
model of an average head is fitted. A still head's points tremble from frame to frame, which would read as fast turns.
So points are averaged over 200 ms, and a turn is taken over 200 ms; a nod or a shake of the head takes longer.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rushes.core import Definition, Measurement, signature_params
from rushes.instruments.clip.faces.track import RIGID, FaceTrack
from rushes.instruments.clip.metrics.making import lane, of_face
from rushes.vision.landmarks.face_pipeline import MAX_FACES

if TYPE_CHECKING:
    from rushes.instruments.clip.faces.observation import FaceObservation

SMOOTH_MS = 200
"""Points are averaged over this long: the tremble of a still head is within a frame or two."""
STEP_MS = 200
"""A turn is taken over this long."""

_POSE = (
    "R_t: the rotation that brings ten rigid points of the face (1, 6, 10, 33, 133, 168, 234, 263, 362, 454) from the "
    "first frame closest to those of frame t, in least squares (Kabsch); points are x, y and the model's depth, less "
    "their centre, over their size, averaged over the frames within ±100 ms"
)
_EDGE = (
    "no frame rate, no depth of the points, or no face for {least} ms without a gap: none. A gap is skipped, never "
    "bridged. A head that only shifts or comes closer counts 0; a camera that tilts counts as the head does."
)
_head = partial(
    Definition,
    lowest=0.0,
    better="neither",
    reference="ours; Kabsch 1976, A solution for the best rotation to relate two sets of vectors",
    open_params=("model",),
    depends_on=("fps", "transfer"),
    raised_by=("noise", "a small face, whose points are less sure"),
    lowered_by=("smoothing by blur or compression",),
)
"""Frame size is not among what it depends on: at half of it nine real faces read 4 % less to 11 % more (median 0)."""
_WAY = signature_params(face="most-persistent", max_faces=MAX_FACES, points="rigid-10", smooth_ms=SMOOTH_MS)

HEAD_MOTION = _head(
    name="head_motion",
    unit="degrees/s",
    highest=None,
    summary="How fast the head turns, on average: nodding, shaking and tilting together.",
    formula=f"{_POSE}; mean over frames of the angle of R_(t−100 ms)ᵀ R_(t+100 ms) over the time between the two",
    edge_cases=_EDGE.format(least=400)
    + " Noise floor: a still picture of nine real faces reads 0.3 to 0.8 compressed (crf 28), 0.8 to 2.0 under "
    "noise of 4 grey levels; the same people talking read 3.6 to 22.",
    params=(*_WAY, *signature_params(step_ms=STEP_MS)),
)
HEAD_POSE_SPREAD = _head(
    name="head_pose_spread",
    unit="degrees",
    highest=180.0,
    summary="How far the head turns from its mean pose.",
    formula=f"{_POSE}; root mean square over frames of the angle between R_t and the mean rotation (the rotation "
    "closest to the sum of all R_t)",
    edge_cases=_EDGE.format(least=200),
    params=(*_WAY, *signature_params(mean="chordal")),
)


def rotations(shapes: NDArray[np.float64]) -> NDArray[np.float64]:
    """R_t that bring the first shape closest to each (T × 3 × 3); `shapes` are T × n × 3, centred, without gaps."""
    return _nearest_rotations(np.swapaxes(shapes, 1, 2) @ shapes[0])


def _nearest_rotations(matrices: NDArray[np.float64]) -> NDArray[np.float64]:
    """The proper rotation closest to each 3 × 3 matrix, by singular values."""
    left, _, right = np.linalg.svd(matrices)
    signs = np.ones(matrices.shape[:-1])
    signs[..., 2] = np.sign(np.linalg.det(left @ right))
    found: NDArray[np.float64] = (left * signs[..., None, :]) @ right
    return found


def angles(turns: NDArray[np.float64]) -> NDArray[np.float64]:
    """The angle of each rotation, in degrees, 0 to 180.

    By its sine and its cosine: exact near 0, where the arccosine of the trace alone is not.

    >>> round(float(angles(np.array([[[0.0, -1, 0], [1, 0, 0], [0, 0, 1]]]))[0]), 6)
    90.0
    """
    skew = turns - np.swapaxes(turns, 1, 2)
    sine = np.sqrt((skew**2).sum(axis=(1, 2)) / 8)
    cosine = (np.trace(turns, axis1=1, axis2=2) - 1) / 2
    found: NDArray[np.float64] = np.degrees(np.arctan2(sine, cosine))
    return found


def head_poses(track: FaceTrack, *, fps: float) -> NDArray[np.float64]:
    """R_t of every frame (T × 3 × 3); NaN within half the smoothing time of a gap or an end of the clip."""
    points = track.in_space(*RIGID)
    shapes = points - points.mean(axis=1, keepdims=True)
    size = np.sqrt((shapes**2).sum(axis=(1, 2)))[:, None, None]
    smooth = _running_mean(
        np.divide(shapes, size, out=np.full_like(shapes, np.nan), where=size > 0), reach=_reach(SMOOTH_MS, fps)
    )
    poses = np.full((len(track), 3, 3), np.nan)
    known = np.flatnonzero(np.isfinite(smooth).all(axis=(1, 2)))
    if len(known):
        poses[known] = rotations(smooth[known])
    return poses


def _reach(duration_ms: float, fps: float) -> int:
    """Frames on either side of the middle one."""
    return round(duration_ms / 2000 * fps)


def _running_mean(values: NDArray[np.float64], *, reach: int) -> NDArray[np.float64]:
    """Mean of the frames within ± `reach`; NaN where one of them is missing."""
    found = np.full_like(values, np.nan)
    width = 2 * reach + 1
    if len(values) >= width:
        windows = np.lib.stride_tricks.sliding_window_view(values, width, axis=0)
        found[reach : len(values) - reach] = windows.mean(axis=-1)
    return found


def head_speed(face: FaceObservation) -> NDArray[np.float64]:
    """Angular speed of the head at each frame, in degrees per second (T); NaN where it is not known."""
    speed = np.full(len(face.track), np.nan)
    if not face.fps or face.fps <= 0 or not len(face.track):
        return speed
    poses, reach = head_poses(face.track, fps=face.fps), max(1, _reach(STEP_MS, face.fps))
    middle = np.arange(reach, len(speed) - reach)
    turns = np.swapaxes(poses[middle - reach], 1, 2) @ poses[middle + reach]
    seconds = np.array([face.seconds(t + reach) - face.seconds(t - reach) for t in range(reach, len(speed) - reach)])
    speed[middle] = np.divide(angles(turns), seconds, out=np.full(len(middle), np.nan), where=seconds > 0)
    return speed


def head_motion(face: FaceObservation) -> Measurement:
    """Mean angular speed of the head; see `HEAD_MOTION`."""
    bound, speed = HEAD_MOTION.with_params(model=face.model), face.head_speed
    known = speed[np.isfinite(speed)]
    if not len(known):
        return Measurement.missing(bound, _why(face, SMOOTH_MS + STEP_MS))
    return Measurement(definition=bound, value=float(np.mean(known)), count=len(known), note=face.choice)


def head_pose_spread(face: FaceObservation) -> Measurement:
    """Root mean square angle of the head from its mean pose; see `HEAD_POSE_SPREAD`."""
    bound = HEAD_POSE_SPREAD.with_params(model=face.model)
    poses = head_poses(face.track, fps=face.fps or 0.0)
    known = poses[np.isfinite(poses).all(axis=(1, 2))]
    if not face.fps or not len(known):
        return Measurement.missing(bound, _why(face, SMOOTH_MS))
    mean = _nearest_rotations(known.sum(axis=0))
    value = float(np.sqrt(np.mean(angles(mean.T @ known) ** 2)))
    return Measurement(definition=bound, value=value, count=len(known), note=face.choice)


def _why(face: FaceObservation, least_ms: float) -> str:
    if not face.fps or face.fps <= 0:
        return face.absence("the clip states no frame rate")
    if face.track.depth is None:
        return face.absence("the track has no depth of the landmarks")
    return face.absence(f"the face is never seen for {least_ms:g} ms without a gap")


HEAD_MOTION_METRIC = of_face(
    HEAD_MOTION,
    head_motion,
    label="head °/s",
    room="page",
    too_high="head restless",
    too_low="head hardly turns",
    lane=lane("Head", "head_speed", "degrees/s", (0.0, 60.0), pooled_by="head_motion"),
)
HEAD_POSE_SPREAD_METRIC = of_face(HEAD_POSE_SPREAD, head_pose_spread)
