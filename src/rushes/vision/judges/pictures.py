"""The frames that a model sees of a clip: from the middles of equal stretches, made small, as JPEG."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rushes.media import ClipReader

LONGEST_SIDE = 512
JPEG_QUALITY = 90
Picture = NDArray[np.uint8]


def sampled_jpegs(clip: Path, count: int) -> list[bytes]:
    """`count` frames as JPEG, from the middles of equal stretches of the clip; fewer where the clip has fewer."""
    return [jpeg(picture) for picture in sampled_frames(clip, count)]


def sampled_frames(clip: Path | str, count: int, *, side: int = LONGEST_SIDE) -> list[Picture]:
    """The same as BGR pictures, the longer side at most `side` pixels. Frame ⌊(2i + 1) n / 2k⌋ for i = 0 … k − 1."""
    with ClipReader(clip) as reader:
        total = sum(1 for _ in reader)
    wanted = sorted({(2 * i + 1) * total // (2 * count) for i in range(count)})
    with ClipReader(clip) as reader:
        return [_small(frame.bgr(), side) for frame in reader if frame.index in wanted]


def _small(picture: Picture, side: int) -> Picture:
    import cv2

    scale = side / max(picture.shape[:2])
    if scale >= 1:
        return picture
    return np.asarray(cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), np.uint8)


def jpeg(picture: Picture, *, quality: int = JPEG_QUALITY) -> bytes:
    """The picture as a JPEG file."""
    import cv2

    _, data = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, quality])
    return bytes(data)
