"""Where lines of text are in a picture: PP-OCRv6's detector (differentiable binarisation, Liao et al. 2020).

The network gives each pixel a probability of lying inside a line. Pixels above 0.3 are joined to areas; the rectangle
around an area whose mean is 0.5 or more is grown by 1.6 · area / perimeter, for the network learned shrunken lines.
Settings are those of `rapidocr` 3.10.0.
"""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

DETECTOR_FILE = "PP-OCRv6_det_small.onnx"
SHORT_SIDE = 736
"""Pixels that a smaller picture's short side is enlarged to."""
LONG_SIDE = 2000
"""Pixels that a larger picture's long side is reduced to, before anything else."""
SMALLEST = 30
"""Pixels that a tiny picture's short side is enlarged to, before anything else."""
PIXEL, LINE, GROWTH = 0.3, 0.5, 1.6
"""Least probability of a pixel, least mean of a line, and how far a line is grown."""
MOST = 1000
_WIDE, _LOW = 8, 30
"""A picture wider than this many heights, or lower than this many pixels, gets black above and below."""
_LEAST_SIDE = 3
_SAME_ROW = 10
"""Pixels between the tops of two lines, sorted from the top, from which on they are two rows."""
_ARC = np.stack([np.cos(np.linspace(0, 2 * np.pi, 48, endpoint=False)), np.sin(np.linspace(0, 2 * np.pi, 48, False))])

Bgr = NDArray[np.uint8]
Corners = NDArray[np.float32]
"""Four corners of a line, (x, y), clockwise from the top left."""


def bounded(picture: Bgr) -> Bgr:
    """A picture whose sides lie within what the detector is made for; most are left as they are."""
    height, width = picture.shape[:2]
    ratio = min(1.0, LONG_SIDE / max(height, width))
    if min(height, width) * ratio < SMALLEST:
        ratio = SMALLEST / min(height, width)
    return picture if ratio == 1.0 else _resized(picture, ratio)


def padded(picture: Bgr) -> Bgr:
    """A low or very wide picture with black above and below it."""
    height, width = picture.shape[:2]
    if height > _LOW and width / height <= _WIDE:
        return picture
    border = abs(2 * max(width // _WIDE, _LOW) - height) // 2
    return np.asarray(cv2.copyMakeBorder(picture, border, border, 0, 0, cv2.BORDER_CONSTANT, value=(0, 0, 0)))


def _resized(picture: Bgr, ratio: float) -> Bgr:
    """Both sides times the ratio, then rounded to multiples of 32."""
    height, width = (max(32, round(int(side * ratio) / 32) * 32) for side in picture.shape[:2])
    return np.asarray(cv2.resize(picture, (width, height)))


def find_lines(network: Any, picture: Bgr) -> list[Corners]:
    """The lines of a picture that is `bounded` and `padded`, row by row, each row from the left."""
    height, width = picture.shape[:2]
    small = _resized(picture, max(1.0, SHORT_SIDE / min(height, width)))
    values = (small.astype(np.float32) * np.float32(1 / 255) - 0.5) / 0.5
    network.setInput(np.ascontiguousarray(values.transpose(2, 0, 1)[None], dtype=np.float32))
    return in_order(lines_of(network.forward()[0, 0], (height, width)))


def lines_of(likely: NDArray[np.float32], size: tuple[int, int]) -> list[Corners]:
    """Lines from the probabilities of pixels, in pixels of a picture of this height and width."""
    mask = cv2.dilate((likely > PIXEL).astype(np.uint8), np.ones((2, 2), np.uint8))
    contours, _ = cv2.findContours(mask * 255, cv2.RETR_LIST, cv2.CHAIN_APPROX_SIMPLE)
    found = (_line(likely, contour, size) for contour in contours[:MOST])
    return [line for line in found if line is not None]


def _line(likely: NDArray[np.float32], contour: Any, size: tuple[int, int]) -> Corners | None:
    corners, side = _rectangle(contour)
    if side < _LEAST_SIDE or _mean_inside(likely, corners) < LINE:
        return None
    corners, side = _rectangle(_grown(corners))
    if side < _LEAST_SIDE + 2:
        return None
    ends = np.array([likely.shape[1] / size[1], likely.shape[0] / size[0]])
    # To whole pixels of the picture, as the published code has it, before a last pixel is taken off at the far edges.
    placed = np.clip(np.round(corners / ends), 0, [size[1], size[0]])
    line = clockwise(np.minimum(placed, [size[1] - 1, size[0] - 1]).astype(np.float32))
    across, down = np.linalg.norm(line[0] - line[1]), np.linalg.norm(line[0] - line[3])
    return line if int(across) > _LEAST_SIDE and int(down) > _LEAST_SIDE else None


def _rectangle(points: Any) -> tuple[Corners, float]:
    """The smallest turned rectangle around points, and its short side."""
    found = cv2.minAreaRect(points)
    return np.asarray(cv2.boxPoints(found), dtype=np.float32), float(min(found[1]))


def _grown(corners: Corners) -> NDArray[np.float32]:
    """Points on the outline of a rectangle grown with round corners by 1.6 · area / perimeter, on whole pixels."""
    sides = np.linalg.norm(corners - np.roll(corners, -1, axis=0), axis=1)
    distance = sides[0] * sides[1] * GROWTH / sides.sum()
    outline = np.trunc(corners)[:, :, None] + distance * _ARC[None]
    return np.asarray(np.round(outline).transpose(0, 2, 1).reshape(-1, 1, 2), dtype=np.float32)


def _mean_inside(likely: NDArray[np.float32], corners: Corners) -> float:
    height, width = likely.shape
    left, right = np.clip([np.floor(corners[:, 0].min()), np.ceil(corners[:, 0].max())], 0, width - 1).astype(int)
    top, bottom = np.clip([np.floor(corners[:, 1].min()), np.ceil(corners[:, 1].max())], 0, height - 1).astype(int)
    mask = np.zeros((bottom - top + 1, right - left + 1), np.uint8)
    cv2.fillPoly(mask, [(_convex(corners) - [left, top]).astype(np.int32).reshape(-1, 1, 2)], (1,))
    return float(cv2.mean(likely[top : bottom + 1, left : right + 1], mask)[0])


def _convex(corners: Corners) -> Corners:
    """From the left pair of corners and the right one: top left, top right, bottom right, bottom left."""
    left, right = np.split(corners[np.argsort(corners[:, 0], kind="stable")], 2)
    left, right = (pair[np.argsort(pair[:, 1], kind="stable")] for pair in (left, right))
    return np.array([left[0], right[0], right[1], left[1]], dtype=np.float32)


def clockwise(corners: Corners) -> Corners:
    """Corners from the top left on.

    >>> clockwise(np.array([[9, 9], [0, 8], [9, 1], [0, 0]], np.float32)).tolist()
    [[0.0, 0.0], [9.0, 1.0], [9.0, 9.0], [0.0, 8.0]]
    """
    return _convex(corners)


def in_order(lines: list[Corners]) -> list[Corners]:
    """Row by row from the top, and each row from the left; a new row begins 10 pixels below the line before it.

    >>> rows = [np.float32([[x, y]] * 4) for x, y in ((50, 4), (3, 30), (2, 0))]
    >>> [line[0].tolist() for line in in_order(rows)]
    [[2.0, 0.0], [50.0, 4.0], [3.0, 30.0]]
    """
    down = sorted(lines, key=lambda line: float(line[0, 1]))
    row, rows = 0, []
    for above, line in zip([None, *down], down, strict=False):
        row += above is not None and line[0, 1] - above[0, 1] >= _SAME_ROW
        rows.append((row, float(line[0, 0])))
    return [down[place] for place in sorted(range(len(down)), key=lambda place: rows[place])]
