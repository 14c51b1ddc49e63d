"""Body key points of a clip: every frame by itself, no smoothing, no memory of the frame before.

Stateless on purpose: the joints of a frame depend on that frame alone, so the same clip gives the same poses whatever
was read before, and jitter in a generated clip is measured, not smoothed away.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rushes.core.provenance import bytes_digest, file_digest, short_digest
from rushes.errors import InputError, MediaError
from rushes.landmarks.body_detector import PoseDetector
from rushes.landmarks.body_landmarker import JOINTS, Body, PoseLandmarker
from rushes.pose.poses import PoseSet, frame_rate
from rushes.pose.skeletons import MEDIAPIPE_33

DETECTOR_FILE = "pose_detection.tflite"
LANDMARKER_FILE = "pose_landmark_full.tflite"


class BodyFinder:
    """The two networks together: one frame in, one body (or None) out. Not for use from two threads at once."""

    def __init__(self, *, threads: int = 1) -> None:
        from rushes.media.model_files import model_path

        paths = [model_path(name) for name in (DETECTOR_FILE, LANDMARKER_FILE)]
        self.weights = short_digest(bytes_digest("".join(file_digest(path) for path in paths).encode()))
        """One digest for both model files, as it stands in signatures."""
        self._detector = PoseDetector(paths[0].read_bytes(), name=str(paths[0]), threads=threads)
        self._landmarker = PoseLandmarker(paths[1].read_bytes(), name=str(paths[1]), threads=threads)

    def find(self, rgb: NDArray[np.uint8]) -> Body | None:
        """The most certain person's joints, in pixels of this picture."""
        roi = self._detector.find(rgb)
        return None if roi is None else self._landmarker.locate(rgb, roi)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClipPoses:
    """The bodies of one clip, frame by frame; NaN and visibility 0 where nobody was found."""

    path: str
    points: NDArray[np.float32]
    """frames × 33 × 3: x, y in pixels of the upright picture, z on the scale of x."""
    visibility: NDArray[np.float32]
    presence: NDArray[np.float32]
    time_ms: NDArray[np.float64]
    size: tuple[int, int]
    weights: str
    decode_failures: int

    @property
    def found(self) -> int:
        return int(np.count_nonzero(np.isfinite(self.points[:, 0, 0])))

    def pose_set(self) -> PoseSet:
        """The x and y of the clip's joints, ready for scoring; z is a guess of the model and stays out."""
        missing = len(self.points) - self.found
        remarks = [f"no body found in {missing} of {len(self.points)} frames"] if missing else []
        if self.decode_failures:
            remarks.append(f"{self.decode_failures} frames could not be decoded")
        return PoseSet(
            path=self.path,
            points=self.points[..., :2],
            visibility=self.visibility,
            skeleton=MEDIAPIPE_33.name,
            joint_names=MEDIAPIPE_33.joints,
            size=self.size,
            unit="px",
            fps=frame_rate(self.time_ms),
            estimator=self.weights,
            remarks=tuple(remarks),
        )


def extract_poses(
    path: Path | str, *, finder: BodyFinder | None = None, progress: Callable[[int], None] | None = None
) -> ClipPoses:
    """Find the body in every frame of a clip.

    Errors      `MediaError` for a clip without pictures, `MissingDependency` where the models are not there yet.
    """
    from rushes.media import ClipReader

    finder = finder or BodyFinder()
    bodies: list[Body | None] = []
    times: list[float] = []
    size = (0, 0)
    with ClipReader(path) as reader:
        for frame in reader:
            rgb = frame.rgb()
            size = (rgb.shape[1], rgb.shape[0])
            bodies.append(finder.find(rgb))
            times.append(frame.time_ms)
            if progress:
                progress(1)
        failures = reader.decode_failures
    if not bodies:
        raise MediaError(f"{path}: expected a clip with pictures; not one frame could be decoded")
    return _clip_poses(str(path), bodies, times, size=size, weights=finder.weights, failures=failures)


def _clip_poses(
    path: str, bodies: list[Body | None], times: list[float], *, size: tuple[int, int], weights: str, failures: int
) -> ClipPoses:
    points = np.full((len(bodies), JOINTS, 3), np.nan, dtype=np.float32)
    visibility, presence = np.zeros((len(bodies), JOINTS), np.float32), np.zeros(len(bodies), np.float32)
    for number, body in enumerate(bodies):
        if body is not None:
            points[number], visibility[number], presence[number] = body.points, body.visibility, body.presence
    return ClipPoses(
        path=path,
        points=points,
        visibility=visibility,
        presence=presence,
        time_ms=np.array(times),
        size=size,
        weights=weights,
        decode_failures=failures,
    )


def save_poses(target: Path | str, poses: ClipPoses) -> Path:
    """Write a clip's poses as `.npz`: `keypoints` (x y), `visibility`, and z, presence, times beside them."""
    place = Path(target)
    if place.suffix.lower() != ".npz":
        raise InputError(f"{target}: poses are written as .npz; give a name that ends so")
    place.parent.mkdir(parents=True, exist_ok=True)
    with open(place, "wb") as out:
        np.savez_compressed(
            out,
            keypoints=poses.points[..., :2],
            z=poses.points[..., 2],
            visibility=poses.visibility,
            presence=poses.presence,
            time_ms=poses.time_ms,
            skeleton=np.array(MEDIAPIPE_33.name),
            size=np.array(poses.size),
            unit=np.array("px"),
            weights=np.array(poses.weights),
        )
    return place
