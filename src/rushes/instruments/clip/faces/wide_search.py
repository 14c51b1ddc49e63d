"""A second, closer look before a face is missing: the frame in square tiles, if the whole frame shows none.

The short-range detector sees the frame at 128 pixels a side, in which a face of less than a tenth of the width is lost.
Tiles of the shorter side find it down to 5 % of the width, tiles of 0.55 of that down to 3 %: of 26 faces set into
1280 × 720 at 9, 7, 5 and 3.5 % of the width, the whole frame showed 14, 0, 0 and 0, the tiles all others. A frame with
a face costs nothing more; one without costs up to some twenty detections.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rushes.instruments.clip.faces.track import Observer
from rushes.vision.landmarks.face_pipeline import Face

SIDES = (1.0, 0.55)
"""Sides of the tiles, in shorter sides of the frame; the larger ones are tried first."""
SMALLEST = 64
"""Pixels below which a tile is not looked at."""
SEARCH = "frame-then-tiles"

Pixels = NDArray[np.uint8]


def tiles(width: int, height: int, share: float) -> Iterator[tuple[int, int, int]]:
    """Left, top and side of square tiles that overlap by half or more, nearest to the middle first.

    >>> list(tiles(1280, 720, 1.0))
    [(280, 0, 720), (0, 0, 720), (560, 0, 720)]
    >>> list(tiles(512, 512, 1.0))
    [(0, 0, 512)]
    """
    side = round(min(width, height) * share)
    places = [_places(length, side) for length in (width, height)]
    found = [(left, top) for top in places[1] for left in places[0]]
    order = sorted(found, key=lambda at: abs(2 * at[0] + side - width) + abs(2 * at[1] + side - height))
    return ((left, top, side) for left, top in order)


def _places(length: int, side: int) -> list[int]:
    spare = length - side
    count = -(-2 * spare // side) + 1 if spare else 1
    return [round(n * spare / max(count - 1, 1)) for n in range(count)]


class WideSearch:
    """Observes the whole frame, and its tiles where that shows no face."""

    def __init__(self, pipeline: Observer) -> None:
        self._pipeline = pipeline

    def observe(self, rgb: Pixels) -> tuple[Face, ...]:
        """The faces of one frame, as `FacePipeline.observe` gives them; of tiles those of the first that shows any."""
        faces = self._pipeline.observe(rgb)
        height, width = rgb.shape[:2]
        for share in SIDES if not faces else ():
            for left, top, side in tiles(width, height, share):
                if side >= SMALLEST and (side < height or side < width):
                    found = self._pipeline.observe(np.ascontiguousarray(rgb[top : top + side, left : left + side]))
                    if found:
                        return tuple(_moved(face, left, top) for face in found)
        return faces


def _moved(face: Face, left: int, top: int) -> Face:
    """The same face in pixels of the whole frame."""
    x, y, right, bottom = face.bbox
    landmarks = face.landmarks + np.array([left, top, 0], face.landmarks.dtype)
    return replace(face, bbox=(x + left, y + top, right + left, bottom + top), landmarks=landmarks)
