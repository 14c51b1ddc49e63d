"""Face crops for SyncNet: 25 a second, 224², cut around a smoothed box as joonson/syncnet_python cuts them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from rushes.instruments.clip.faces.track import FaceTrack
from rushes.instruments.clip.metrics.face.syncnet.network import FRAME_SIDE

FPS = 25
LONGEST_GAP = 25
"""Instants without the face that are bridged in a straight line; a longer gap ends the stretch."""
_SMOOTHING = 13
_MARGIN = 0.4
_PADDING = 110
"""Grey outside the frame."""


@dataclass(frozen=True, slots=True, eq=False)
class Stretch:
    """The longest run of instants, 25 a second, over which the face can be followed."""

    start: int
    """First instant."""
    frames: NDArray[np.int64]
    """Which frame of the clip each instant shows."""
    boxes: NDArray[np.float64]
    """Half side, centre x, centre y of the face at each instant, smoothed."""

    def __len__(self) -> int:
        return len(self.frames)


def longest_stretch(track: FaceTrack, fps: float) -> Stretch:
    """Resample the track to 25 instants a second, bridge short gaps, keep the longest run, smooth it."""
    shown = instants(track.times_ms, frames=len(track), fps=fps)
    boxes = _boxes(track)[shown]
    seen = np.flatnonzero(np.isfinite(boxes[:, 0]))
    if not len(seen):
        return Stretch(0, np.zeros(0, np.int64), np.zeros((0, 3)))
    runs = np.split(seen, np.flatnonzero(np.diff(seen) > LONGEST_GAP + 1) + 1)
    run = max(runs, key=lambda run: int(run[-1] - run[0]))
    places = np.arange(run[0], run[-1] + 1)
    filled = np.stack([np.interp(places, run, boxes[run, column]) for column in range(3)], axis=1)
    return Stretch(int(run[0]), shown[places], _median(filled))


def instants(times_ms: NDArray[np.float64] | None, *, frames: int, fps: float) -> NDArray[np.int64]:
    """The frame on show in the middle of each 1/25 s; clips of any frame rate become 25 a second.

    >>> instants(None, frames=4, fps=50.0).tolist(), instants(None, frames=2, fps=12.5).tolist()
    ([1, 3], [0, 0, 1, 1])
    """
    starts = np.arange(frames) / fps if times_ms is None else times_ms / 1000
    if not frames:
        return np.zeros(0, np.int64)
    count = int(np.floor((starts[-1] + 1 / fps) * FPS + 1e-6))
    middles = (np.arange(count) + 0.5) / FPS
    return np.clip(np.searchsorted(starts, middles + 1e-9, side="right") - 1, 0, frames - 1).astype(np.int64)


def crops(stretch: Stretch, frames: Iterable[NDArray[np.uint8]]) -> Iterator[NDArray[np.uint8]]:
    """The 224² BGR crop at each instant of the stretch; `frames` are all the clip's RGB frames in order."""
    place = 0
    for number, rgb in enumerate(frames):
        while place < len(stretch) and stretch.frames[place] == number:
            yield crop(rgb, stretch.boxes[place])
            place += 1
        if place == len(stretch):
            return


def crop(rgb: NDArray[np.uint8], box: NDArray[np.float64]) -> NDArray[np.uint8]:
    """From 1 half side above the centre to 1.8 below, 1.4 to either side; grey outside the frame."""
    half, x, y = (float(value) for value in box)
    top, bottom = int(np.floor(y - half)), int(np.floor(y + half * (1 + 2 * _MARGIN)))
    left, right = int(np.floor(x - half * (1 + _MARGIN))), int(np.floor(x + half * (1 + _MARGIN)))
    canvas = np.full((max(bottom - top, 1), max(right - left, 1), 3), _PADDING, np.uint8)
    inside = rgb[max(0, top) : max(0, bottom), max(0, left) : max(0, right), ::-1]
    y0, x0 = max(0, -top), max(0, -left)
    canvas[y0 : y0 + inside.shape[0], x0 : x0 + inside.shape[1]] = inside
    return np.asarray(cv2.resize(canvas, (FRAME_SIDE, FRAME_SIDE), interpolation=cv2.INTER_LINEAR), np.uint8)


def _boxes(track: FaceTrack) -> NDArray[np.float64]:
    low, high = track.bbox[:, :2], track.bbox[:, 2:]
    return np.column_stack([(high - low).max(axis=1) / 2, (low + high) / 2])


def _median(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Running median over 13 instants; the ends are repeated outwards."""
    reach = _SMOOTHING // 2
    padded = np.pad(values, ((reach, reach), (0, 0)), mode="edge")
    return np.median(np.lib.stride_tricks.sliding_window_view(padded, _SMOOTHING, axis=0), axis=-1)
