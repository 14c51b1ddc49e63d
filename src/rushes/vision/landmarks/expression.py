"""What a face expresses: MediaPipe's 52 blendshapes, 0 to 1 each, from 146 of the 478 points of its face model.

"jawOpen", "browInnerUp", "eyeBlinkLeft" and so on, in the order of face_blendshapes_graph.cc; the first is "_neutral".
The network lies in `face_landmarker.task` beside the face model (`rushes models pull face-landmarker`).
"""

from __future__ import annotations

import zipfile
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rushes.core.errors import WeightsError
from rushes.core.machine.provenance import bytes_digest, file_digest, short_digest
from rushes.vision.landmarks.choice import Box, chosen
from rushes.vision.landmarks.crop import Pixels
from rushes.vision.landmarks.face_pipeline import FacePipeline
from rushes.vision.landmarks.network import loaded
from rushes.vision.models.cache import model_path

FILE = "face_landmarker.task"
GROUP = "face-landmarker"
SHAPES = 52
_MEMBER = "face_blendshapes.tflite"
# fmt: off
_POINTS = np.array([
    0, 1, 4, 5, 6, 7, 8, 10, 13, 14, 17, 21, 33, 37, 39, 40, 46, 52, 53, 54, 55, 58, 61, 63, 65, 66, 67, 70, 78,
    80, 81, 82, 84, 87, 88, 91, 93, 95, 103, 105, 107, 109, 127, 132, 133, 136, 144, 145, 146, 148, 149, 150,
    152, 153, 154, 155, 157, 158, 159, 160, 161, 162, 163, 168, 172, 173, 176, 178, 181, 185, 191, 195, 197,
    234, 246, 249, 251, 263, 267, 269, 270, 276, 282, 283, 284, 285, 288, 291, 293, 295, 296, 297, 300, 308,
    310, 311, 312, 314, 317, 318, 321, 323, 324, 332, 334, 336, 338, 356, 361, 362, 365, 373, 374, 375, 377,
    378, 379, 380, 381, 382, 384, 385, 386, 387, 388, 389, 390, 397, 398, 400, 402, 405, 409, 415, 454, 466,
    468, 469, 470, 471, 472, 473, 474, 475, 476, 477,
])
# fmt: on
"""The points that the network reads, in its order."""

Expression = NDArray[np.float32]


class FaceExpression:
    """Face, points and blendshapes of a frame. One object is for one thread.

    Parameters: `given` is a face_landmarker.task in place of the pinned one. Raises `MissingDependency` where it or
    LiteRT is not there, `WeightsError` for a file without the three networks.
    """

    def __init__(self, given: Path | str | None = None) -> None:
        path = model_path(FILE) if given is None else Path(given)
        self._faces = FacePipeline(path)
        content = _member(path)
        self.digest = short_digest(bytes_digest((self._faces.digest + bytes_digest(content)).encode()))
        """Of all three networks together: part of the signature of every value."""
        self._network = loaded(content, f"{path}:{_MEMBER}", 1)
        self._input = self._network.get_input_details()[0]
        shape = tuple(int(side) for side in self._input["shape"])
        if shape != (1, len(_POINTS), 2):
            raise WeightsError(f"{path}: expected {_MEMBER} to read 146 points; it reads {shape}")

    def look(self, rgb: Pixels, near: Box | None = None) -> tuple[Expression | None, Box | None]:
        """The blendshapes of the face that is meant (see `chosen`), and where it is; neither where there is none."""
        faces = self._faces.observe(rgb)
        index = chosen([face.bbox for face in faces], near)
        return (None, None) if index is None else (self.of_points(faces[index].landmarks), faces[index].bbox)

    def of_points(self, points: NDArray[np.float32]) -> Expression:
        """The blendshapes of 478 points in pixels."""
        self._network.set_tensor(self._input["index"], points[_POINTS, :2][np.newaxis].astype(np.float32))
        self._network.invoke()
        index = self._network.get_output_details()[0]["index"]
        return np.asarray(self._network.get_tensor(index), np.float32).reshape(SHAPES).copy()


def expression_networks(given: str | None = None) -> FaceExpression:
    """The networks, loaded once per process."""
    return _networks(given, "" if given is None else file_digest(given))


@lru_cache(maxsize=2)
def _networks(given: str | None, stamp: str) -> FaceExpression:
    return FaceExpression(given)


def _member(path: Path) -> bytes:
    try:
        with zipfile.ZipFile(path) as bundle:
            return bundle.read(_MEMBER)
    except (zipfile.BadZipFile, KeyError) as error:
        raise WeightsError(f"{path}: expected a face_landmarker.task with {_MEMBER}; {error}") from None
