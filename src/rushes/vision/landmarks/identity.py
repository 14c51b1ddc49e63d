"""Who a face is: YuNet finds the faces of a frame, SFace turns each into numbers that tell people apart.

Both networks run in OpenCV (`cv2.FaceDetectorYN`, `cv2.FaceRecognizerSF`); nothing is remembered between frames. The
cosine of two features says how alike two faces are: about 0.8 between frames of one person, about 0.1 between two
people. OpenCV calls two faces one person from 0.363 on.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import cv2
import numpy as np
from numpy.typing import NDArray

from rushes.core.errors import InputError, MissingDependency, WeightsError
from rushes.core.machine.provenance import bytes_digest, file_digest, short_digest
from rushes.vision.landmarks.choice import Box, chosen
from rushes.vision.landmarks.crop import Pixels
from rushes.vision.models.cache import is_pulled, model_path, pull_command
from rushes.vision.models.catalogue import group_named

GROUP = "face-id"
DETECTOR_FILE = "face_detection_yunet_2023mar.onnx"
RECOGNISER_FILE = "face_recognition_sface_2021dec.onnx"
DETECTOR_SIDE = 640
"""A frame's longer side as the detector sees it, at most: YuNet's time grows with the area (118 ms at 1080p)."""
MIN_SCORE = 0.6
MIN_OVERLAP = 0.3
"""Boxes that overlap more than this are one face: YuNet's suppression."""
SAME_PERSON = 0.363
"""Least cosine of two faces of one person, as OpenCV's documentation has it for SFace."""

HOW: dict[str, str | int | float] = {
    "network": "sface",
    "detector": "yunet",
    "detector_side": DETECTOR_SIDE,
    "min_score": MIN_SCORE,
    "align": "five-points-112",
}
"""What belongs to the signature of every number about who a face is."""

Feature: TypeAlias = NDArray[np.float64]
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LocatedFace:
    """One face of one frame, in pixels."""

    box: Box
    """Left, top, right, bottom."""
    score: float
    """The detector's confidence, 0 to 1."""
    row: NDArray[np.float32]
    """The detector's own row, in pixels of the frame, with the five points that `alignCrop` reads: eyes, tip of the
    nose, corners of the mouth."""


class FaceIdentity:
    """YuNet and SFace.

    Parameters: `given` is None for the pinned files (`rushes models pull face-id`), an ONNX file in place of SFace
    (112 × 112 aligned faces in, one feature out), or a folder that holds both files under their pinned names. Raises
    `MissingDependency` where the files are not there and `WeightsError` for one that is not such a network. One object
    is for one thread; how many threads OpenCV has does not change a value.
    """

    def __init__(self, given: Path | str | None = None) -> None:
        detector, recogniser = _files(given)
        self.detector_digest, self.digest = (_short(content) for content in (detector[1], recogniser[1]))
        """Parts of the signature of every value."""
        with _quiet():
            self._detector: Any = _loaded(
                detector,
                lambda content: cv2.FaceDetectorYN.create(
                    "onnx", content, np.zeros(0, np.uint8), (320, 320), MIN_SCORE, MIN_OVERLAP, 5000
                ),
            )
            self._recogniser: Any = _loaded(
                recogniser, lambda content: cv2.FaceRecognizerSF.create("onnx", content, np.zeros(0, np.uint8))
            )
        self._name = str(recogniser[0])

    def faces(self, bgr: Pixels) -> tuple[LocatedFace, ...]:
        """The faces of one H × W × 3 uint8 BGR frame, best score first; none is an empty tuple."""
        height, width = bgr.shape[:2]
        seen = _shrunk(bgr)
        self._detector.setInputSize((seen.shape[1], seen.shape[0]))
        found = self._detector.detect(seen)[1]
        if found is None:
            return ()
        scale = np.array([width / seen.shape[1], height / seen.shape[0]], np.float32)
        return tuple(_located(row, scale) for row in np.asarray(found, np.float32))

    def aligned(self, bgr: Pixels, face: LocatedFace) -> Pixels:
        """The face on 112 × 112 pixels, turned upright, with its eyes, nose and mouth where SFace has them."""
        return np.asarray(self._recogniser.alignCrop(bgr, face.row), np.uint8)

    def of_aligned(self, aligned: Pixels) -> Feature:
        """The feature of a face that `aligned` gave, at length 1: the dot product of two is their cosine."""
        try:
            raw = self._recogniser.feature(aligned)
        except cv2.error as error:
            raise WeightsError(f"{self._name}: expected a face network like SFace; {_reason(error)}") from None
        values = np.asarray(raw, np.float64).reshape(-1)
        length = float(np.sqrt(values @ values))
        if not (np.isfinite(length) and length > 0):
            raise WeightsError(f"{self._name}: expected a face network like SFace; it gives no finite feature")
        return values / length


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SeenFace:
    """The face that is meant in a frame."""

    feature: Feature
    box: Box
    aligned: Pixels
    """As `FaceIdentity.aligned` gives it, in OpenCV's order of colours."""


def look(networks: FaceIdentity, rgb: Pixels, near: Box | None) -> tuple[Feature | None, Box | None]:
    """The feature of the face that is meant, and where it is; neither where there is no face."""
    seen = seen_face(networks, rgb, near)
    return (None, None) if seen is None else (seen.feature, seen.box)


def seen_face(networks: FaceIdentity, rgb: Pixels, near: Box | None) -> SeenFace | None:
    """The face that is meant (see `chosen`); None where there is no face."""
    bgr = as_bgr(rgb)
    faces = networks.faces(bgr)
    index = chosen([face.box for face in faces], near)
    if index is None:
        return None
    aligned = networks.aligned(bgr, faces[index])
    return SeenFace(feature=networks.of_aligned(aligned), box=faces[index].box, aligned=aligned)


def as_bgr(rgb: Pixels) -> Pixels:
    """The same picture in OpenCV's order of colours; a hundred times quicker than turning the axis in numpy."""
    return np.asarray(cv2.cvtColor(rgb, cv2.COLOR_RGB2BGR), np.uint8)


def cosine(one: Feature, other: Feature) -> float:
    """How alike two features of length 1 are, −1 to 1.

    >>> cosine(np.array([1.0, 0.0]), np.array([0.6, 0.8]))
    0.6
    """
    return float(np.clip(one @ other, -1.0, 1.0))


def require_identity(models: Mapping[str, str] | None = None) -> None:
    """Raise `MissingDependency`, with the command that gets them, where the networks are not here."""
    given = (models or {}).get(GROUP)
    if given is not None:
        _files(given)
    elif not is_pulled(group_named(GROUP)):
        raise MissingDependency(
            f"recognising a face needs SFace and YuNet, which are not installed; run: {pull_command(GROUP)}"
        )


def identity_networks(given: str | None = None) -> FaceIdentity:
    """The networks, loaded once per process: loading takes as long as several frames."""
    return _networks(given, _stamp(given))


@lru_cache(maxsize=2)
def _networks(given: str | None, stamp: str) -> FaceIdentity:
    return FaceIdentity(given)


def _stamp(given: str | None) -> str:
    """Tells changed files from those loaded before."""
    if given is None:
        return ""
    path = Path(given)
    files = [path / DETECTOR_FILE, path / RECOGNISER_FILE] if path.is_dir() else [path]
    return " ".join(file_digest(file) for file in files if file.is_file())


def _files(given: Path | str | None) -> tuple[tuple[Path, bytes], tuple[Path, bytes]]:
    """Detector and recogniser: where each lies, and what is in it."""
    if given is None:
        paths = model_path(DETECTOR_FILE), model_path(RECOGNISER_FILE)
    elif Path(given).is_dir():
        paths = Path(given) / DETECTOR_FILE, Path(given) / RECOGNISER_FILE
    else:
        paths = model_path(DETECTOR_FILE), Path(given)
    if lacking := [path for path in paths if not path.is_file()]:
        raise InputError(f"{lacking[0]}: no such face network; give an ONNX file like {RECOGNISER_FILE}")
    detector, recogniser = ((path, path.read_bytes()) for path in paths)
    return detector, recogniser


def _short(content: bytes) -> str:
    return short_digest(bytes_digest(content))


def _loaded(file: tuple[Path, bytes], create: Callable[[NDArray[np.uint8]], Result]) -> Result:
    path, content = file
    try:
        return create(np.frombuffer(content, np.uint8))
    except cv2.error as error:
        raise WeightsError(f"{path}: expected an ONNX face network; {_reason(error)}") from None


def _reason(error: cv2.error) -> str:
    said = str(getattr(error, "err", "") or error).strip().splitlines()
    return f"OpenCV says: {said[0] if said else 'it cannot be read'}"


def _shrunk(bgr: Pixels) -> Pixels:
    """The frame as the detector sees it: longer side at most `DETECTOR_SIDE`, pixels averaged over their area."""
    height, width = bgr.shape[:2]
    scale = DETECTOR_SIDE / max(height, width)
    if scale >= 1:
        return bgr
    size = max(round(width * scale), 1), max(round(height * scale), 1)
    return np.asarray(cv2.resize(bgr, size, interpolation=cv2.INTER_AREA), np.uint8)


def _located(row: NDArray[np.float32], scale: NDArray[np.float32]) -> LocatedFace:
    """A detector's row in pixels of the frame: left, top, width, height, five points, score."""
    full = row.copy()
    full[:14] = (row[:14].reshape(7, 2) * scale).reshape(-1)
    left, top, width, height = (float(value) for value in full[:4])
    box = left, top, left + width, top + height
    return LocatedFace(box=box, score=float(full[14]), row=full)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep OpenCV's warning about targets, which it prints for every network, off stderr."""
    level = cv2.utils.logging.getLogLevel()
    cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_ERROR)
    try:
        yield
    finally:
        cv2.utils.logging.setLogLevel(level)
