"""The faces of one frame: detector, then landmarks, with nothing remembered between frames.

The frame is letterboxed to 128², and 896 fixed anchors of MediaPipe's short-range BlazeFace each propose a box and six
key points; the landmark network looks at the region around each box, and its points are brought back into the frame.

The same frame always gives the same points, whatever came before it. MediaPipe's video mode follows a face from frame
to frame and moves its points by up to 5 px; that would hide the very jitter that is measured here.
"""

from __future__ import annotations

import math
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rushes.core.errors import InputError, WeightsError
from rushes.core.machine.provenance import bytes_digest, short_digest
from rushes.vision.landmarks.crop import Pixels, Roi, project, wrapped
from rushes.vision.landmarks.detection import AnchorDetector
from rushes.vision.landmarks.network import Network
from rushes.vision.models.cache import model_path

MIN_PRESENCE = 0.5
MARGIN = 1.5
"""The region is this many times the detector's box."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """What differs between MediaPipe's two landmark models and the graphs they run in."""

    points: int
    size: int
    """Side of the network's square input."""
    square: bool
    """Whether the region is made square by its long side (the older graph does, the Tasks graph does not)."""


MESH_468 = Layout(points=468, size=192, square=True)
MESH_478 = Layout(points=478, size=256, square=False)


def region_of_interest(detection: Detection, width: int, height: int, *, square: bool) -> Roi:
    """The detector's box, turned so that the eyes are level, grown by `MARGIN`."""
    f = np.float32
    left, top, box_width, box_height = detection.box
    x, y = left + box_width / f(2.0), top + box_height / f(2.0)
    eyes = detection.points[:2] * np.array([width, height], np.float32)
    rotation = wrapped(-math.atan2(float(-(eyes[1, 1] - eyes[0, 1])), float(eyes[1, 0] - eyes[0, 0])))
    if square:
        side = max(box_width * f(width), box_height * f(height))
        box_width, box_height = side / f(width), side / f(height)
    return Roi(x, y, box_width * f(MARGIN), box_height * f(MARGIN), f(rotation))


SIZE = 128
VALUES = 16
"""Numbers per anchor: box centre and size, then six key points."""

MIN_SCORE = 0.5

# (cells a side, anchors a cell): stride 8, then three layers of stride 16; two anchors a layer.
_GRIDS = ((16, 2), (8, 6))


@dataclass(frozen=True, slots=True)
class Detection:
    """One face, in shares of the frame's width and height, float32."""

    score: float
    box: tuple[np.float32, np.float32, np.float32, np.float32]
    """Left, top, width, height."""
    points: NDArray[np.float32]
    """Six key points: right eye, left eye, nose tip, mouth, right ear, left ear (6 × 2)."""


def _in_frame(values: NDArray[np.float32], score: float, width: int, height: int) -> Detection:
    """From shares of the letterboxed square to shares of the frame."""
    f = np.float32
    side = f(max(width, height))
    inverse = np.array([f(1.0) / f(width), f(1.0) / f(height)], np.float32)
    shift = (f(-0.5) * side + np.array([f(0.5) * f(width), f(0.5) * f(height)], np.float32)) * inverse
    points = values.reshape(8, 2) * (side * inverse) + shift
    box = (points[0, 0], points[0, 1], points[1, 0] - points[0, 0], points[1, 1] - points[0, 1])
    return Detection(score, box, points[2:])


MAX_FACES = 4
"""Faces looked at in one frame, best detector score first."""

# Warp positions are 16-bit: a frame any larger would wrap around.
_MAX_SIDE = 32766


@dataclass(frozen=True, slots=True, kw_only=True)
class Face:
    """One face of one frame, in pixels."""

    bbox: tuple[float, float, float, float]
    """Left, top, right, bottom of the landmarks."""
    score: float
    """The detector's confidence, 0 to 1."""
    presence: float
    """The landmark network's confidence that it sees a face, 0 to 1."""
    landmarks: NDArray[np.float32]
    """N × 3: x, y, and z on the scale of x."""


class FacePipeline:
    """MediaPipe's face models on LiteRT.

    Parameters: `model` is None for the pinned 468-point models (`rushes models pull face`), or a `.task` bundle with
    MediaPipe's 478-point model. `threads` never changes a result. Raises `MissingDependency` when the models or LiteRT
    are not there and `WeightsError` for a file that is not such a model. One pipeline is for one thread.
    """

    def __init__(self, model: Path | str | None = None, *, max_faces: int = MAX_FACES, threads: int = 1) -> None:
        detector, landmarks, layout = _cached_models() if model is None else _bundle_models(Path(model))
        self.layout = layout
        self.digest = short_digest(bytes_digest(detector + landmarks))
        """Of both networks together: part of the signature of every value."""
        self.max_faces = max_faces
        name = "face models" if model is None else str(model)
        self._detector = AnchorDetector(detector, name=name, size=SIZE, values=VALUES, grids=_GRIDS, threads=threads)
        outputs = (layout.points * 3, 1)
        self._landmarks = Network(
            landmarks, name=name, size=layout.size, outputs=outputs, low=0.0, high=1.0, threads=threads
        )

    def observe(self, rgb: Pixels) -> tuple[Face, ...]:
        """The faces of one H × W × 3 uint8 RGB frame, best detector score first; none is an empty tuple."""
        frame = _checked(rgb)
        height, width = frame.shape[:2]
        found = self._detector.find(frame, MIN_SCORE)[: self.max_faces]
        faces = (self._face(frame, _in_frame(values, score, width, height)) for values, score in found)
        return tuple(face for face in faces if face is not None)

    def _face(self, frame: Pixels, detection: Detection) -> Face | None:
        """The points of the face inside a region; None where the landmark network sees no face."""
        height, width = frame.shape[:2]
        roi = region_of_interest(detection, width, height, square=self.layout.square)
        seen = self._landmarks.look(frame, roi)
        presence = 0.0 if seen is None else 1.0 / (1.0 + math.exp(-max(-80.0, float(seen[1][0]))))
        if seen is None or presence <= MIN_PRESENCE:
            return None
        shares = project(seen[0].reshape(-1, 3) / np.float32(self.layout.size), roi)
        points = shares * np.array([width, height, width], np.float32)
        return Face(bbox=_bbox(points), score=detection.score, presence=presence, landmarks=points)


def _checked(rgb: Pixels) -> Pixels:
    if not isinstance(rgb, np.ndarray) or rgb.ndim != 3 or rgb.shape[2] != 3 or rgb.dtype != np.uint8:
        shape = getattr(rgb, "shape", None)
        raise InputError(f"a frame is H × W × 3 uint8 RGB; got {type(rgb).__name__} of shape {shape}")
    if not 0 < min(rgb.shape[:2]) <= max(rgb.shape[:2]) <= _MAX_SIDE:
        raise InputError(f"a frame's sides are 1 to {_MAX_SIDE} px; got {rgb.shape[1]} × {rgb.shape[0]}")
    return np.ascontiguousarray(rgb)


def _bbox(points: NDArray[np.float32]) -> tuple[float, float, float, float]:
    low, high = points.min(axis=0), points.max(axis=0)
    return float(low[0]), float(low[1]), float(high[0]), float(high[1])


def _cached_models() -> tuple[bytes, bytes, Layout]:
    detector = model_path("face_detection_short_range.tflite").read_bytes()
    return detector, model_path("face_landmark.tflite").read_bytes(), MESH_468


def _bundle_models(path: Path) -> tuple[bytes, bytes, Layout]:
    """Both networks out of a MediaPipe `.task` bundle, which is a zip file."""
    if not path.is_file():
        raise InputError(f"{path}: no such face model; give a MediaPipe face_landmarker.task file")
    try:
        with zipfile.ZipFile(path) as bundle:
            detector, landmarks = bundle.read("face_detector.tflite"), bundle.read("face_landmarks_detector.tflite")
    except (zipfile.BadZipFile, KeyError, EOFError, NotImplementedError, RuntimeError, zlib.error) as error:
        digest = short_digest(bytes_digest(path.read_bytes()))
        raise WeightsError(
            f"{path}: expected MediaPipe's face_landmarker.task (sha256 64184e229b26…), got a file with sha256 "
            f"{digest}… that does not open as one ({str(error) or type(error).__name__})"
        ) from None
    return detector, landmarks, MESH_478
