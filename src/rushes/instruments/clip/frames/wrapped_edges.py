"""Whether a picture goes on round its edges and is broken inside: its halves have changed places, or it rolls.

Of a picture that was shifted round, the two outermost columns were neighbours, and what were its edges meet in a seam.
Real pictures have the one or the other: panoramas go on round the edges without a seam, split screens have a seam and
do not go on, nor do two copies side by side, whose outer edges are as unlike as those that meet.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rushes.media.luma import LumaPlane

LONG, CLEAR = 0.4, 1.5
"""The part of a seam's length in which it stands out, at least, and the levels by which it does there."""
COARSE, FINE = 20, 3.0
"""What varies over less than a part of the edge is compared, if there is so much of it on both sides: levels, rms."""
DEEPER = 8
"""Two columns that lie this part of the width inside the edges are neighbours of no shift."""
FLOOR = 3.0
"""Levels that are added to what the seam is measured against."""

Line = NDArray[np.float64]


def wrapped(plane: LumaPlane) -> float:
    """The larger of both axes, of every third row and of every third column of a picture; see `wrapped_along`."""
    return max(wrapped_along(_levels(plane, part)) for part in (plane.values[::3], plane.values[:, ::3].T))


def _levels(plane: LumaPlane, part: Any) -> NDArray[np.float32]:
    """Part of a plane on 0–255."""
    return np.asarray((np.ascontiguousarray(part, np.float32) - np.float32(plane.offset)) * np.float32(plane.scale))


def wrapped_along(lines: Any) -> float:
    """(r² − q²) · S / (S + E + 3), at least 0: how well both ends of the picture fit beside the step across a seam.

    r is the correlation of the first and the last column, each without its moving mean over a tenth of the height, at
    least 0, and 0 where either has less than three levels (rms) of that. q is the same an eighth of the width further
    in from both sides, where a mirrored picture fits as well. E is the mean |difference| of both columns.
    S is the largest mean |step| from one column to the next, less the largest of the two before and the two after,
    less the third largest of the same (tiles, windows and shelves have many such steps); 0 if it stands out by 1.5
    levels in less than 0.4 of the rows.
    """
    steps = np.abs(np.diff(lines, axis=1)).mean(axis=0)
    if len(steps) < 5:
        return 0.0
    around = np.maximum(np.maximum(steps[:-4], steps[1:-3]), np.maximum(steps[3:-1], steps[4:]))
    excess = steps[2:-2] - around
    place = int(np.argmax(excess))
    seam = float(excess[place] - max(0.0, _third(excess)))
    if seam <= 0 or _length(lines[:, place : place + 6]) < LONG:
        return 0.0
    fit, apart = _fit(lines, 0)
    alike = max(0.0, fit**2 - _fit(lines, lines.shape[1] // DEEPER)[0] ** 2)
    return alike * seam / (seam + apart + FLOOR)


def _third(values: Any) -> float:
    """The third largest value; 0 of fewer."""
    return float(np.partition(values, -3)[-3]) if len(values) > 2 else 0.0


def _length(columns: Any) -> float:
    """The share of rows in which the third of five steps stands out."""
    steps = np.abs(np.diff(columns, axis=1))
    beside = np.maximum(np.maximum(steps[:, 0], steps[:, 1]), np.maximum(steps[:, 3], steps[:, 4]))
    return float((steps[:, 2] > beside + CLEAR).mean())


def _details(line: Line) -> Line:
    """What is left without the moving mean; the ends are repeated."""
    reach = max(3, len(line) // COARSE)
    sums = np.cumsum(np.r_[0.0, np.pad(line, reach, mode="edge")])
    length = 2 * reach + 1
    return np.asarray(line - (sums[length:] - sums[:-length]) / length)


def _fit(lines: Any, place: int) -> tuple[float, float]:
    """Of the columns so far from either edge the correlation of their details, at least 0, and their distance.

    The correlation is about 0, for the moving mean is off; it is 0 where one is plain.
    """
    one, other = (np.asarray(lines[:, at], dtype=np.float64) for at in (place, -1 - place))
    first, second = _details(one), _details(other)
    squares = float((first * first).sum()), float((second * second).sum())
    apart = float(np.abs(one - other).mean())
    if min(squares) < FINE**2 * len(one):
        return 0.0, apart
    return max(0.0, float((first * second).sum()) / float(np.sqrt(squares[0] * squares[1]))), apart
