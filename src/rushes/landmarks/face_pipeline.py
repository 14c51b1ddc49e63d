"""The faces of one frame: detector, then landmarks, with nothing remembered between frames.

The same frame always gives the same points, whatever came before it. MediaPipe's video mode follows a face from frame
to frame and moves its points by up to 5 px; that would hide the very jitter that is measured here.
"""

from __future__ import annotations

import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rushes.core.provenance import bytes_digest, short_digest
from rushes.errors import InputError, WeightsError
from rushes.landmarks.crop import Pixels
from rushes.landmarks.face_detector import Detector
from rushes.landmarks.face_landmarks import MESH_468, MESH_478, LandmarkModel, Layout
from rushes.models.cache import model_path

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
        self._detector = Detector(detector, name=name, threads=threads)
        self._landmarks = LandmarkModel(landmarks, name=name, layout=layout, threads=threads)

    def observe(self, rgb: Pixels) -> tuple[Face, ...]:
        """The faces of one H × W × 3 uint8 RGB frame, best detector score first; none is an empty tuple."""
        frame = _checked(rgb)
        faces = []
        for detection in self._detector.detect(frame)[: self.max_faces]:
            found = self._landmarks.locate(frame, detection)
            if found is not None:
                points, presence = found
                faces.append(Face(bbox=_bbox(points), score=detection.score, presence=presence, landmarks=points))
        return tuple(faces)


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
