"""Pictures of a subject in a report: a few key frames as small JPEGs inside the page."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rushes.core.errors import MediaError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

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
    return "data:image/jpeg;base64," + base64.b64encode(jpeg(picture, longest=longest, quality=quality)).decode()


def jpeg(picture: NDArray[np.uint8], *, longest: int, quality: int) -> bytes:
    """The same as a JPEG."""
    import cv2  # a strip may be shown where none is taken

    height, width = picture.shape[:2]
    scale = min(longest / max(height, width), 1.0)
    size = (max(round(width * scale), 1), max(round(height * scale), 1))
    small = cv2.resize(picture, size, interpolation=cv2.INTER_AREA) if scale < 1 else picture
    done, data = cv2.imencode(".jpg", small, [cv2.IMWRITE_JPEG_QUALITY, quality])
    if not done:
        raise MediaError("a frame could not be encoded as JPEG")
    return data.tobytes()


def telling_frame(strip: Strip) -> KeyFrame | None:
    """The frame that shows most of a clip in one picture: at its first fault, else in the middle.

    A strip has frames at fixed quarters and at faults; what lies at no quarter is a fault.
    """
    if not strip.frames:
        return None
    last = strip.frames[-1].frame
    quarters = {round(part * last / 4) for part in range(5)}
    faults = [frame for frame in strip.frames if frame.frame not in quarters]
    return faults[0] if faults else strip.frames[len(strip.frames) // 2]
