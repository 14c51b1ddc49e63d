"""Pictures of a subject in a report: a few key frames as small JPEGs inside the page."""

from __future__ import annotations

import base64
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from rushes.errors import MediaError

_QUALITY = 70


@dataclass(frozen=True, slots=True)
class KeyFrame:
    frame: int
    time_ms: float
    jpeg: str
    """A data URI."""


@dataclass(frozen=True, slots=True)
class Strip:
    """Key frames of one subject, or why there are none."""

    frames: tuple[KeyFrame, ...] = ()
    missing: str = ""


def jpeg_uri(picture: NDArray[np.uint8], *, longest: int, quality: int = _QUALITY) -> str:
    """A BGR picture as a JPEG data URI, its longer side at most `longest` pixels."""
    height, width = picture.shape[:2]
    scale = min(longest / max(height, width), 1.0)
    size = (max(round(width * scale), 1), max(round(height * scale), 1))
    small = cv2.resize(picture, size, interpolation=cv2.INTER_AREA) if scale < 1 else picture
    done, data = cv2.imencode(".jpg", small, [cv2.IMWRITE_JPEG_QUALITY, quality])
    if not done:
        raise MediaError("a key frame could not be encoded as JPEG")
    return "data:image/jpeg;base64," + base64.b64encode(data.tobytes()).decode()
