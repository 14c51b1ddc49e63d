"""Whether a picture looks upside-down, negative or with red and blue swapped: a linear probe on MobileNetV2.

Nothing inside such a clip is right to compare with, so the picture is compared with its own change: f(Tx) − f(x), T one
of the three changes. A clip that is right and the same clip changed have scores of opposite signs. The weights were
fitted by `benchmarks/whole_clip_probe.py`, which names the pictures.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING

import cv2
import numpy as np
from numpy.typing import NDArray

from rushes.instruments.clip.frames.one_thread import on_one_thread
from rushes.vision.mobilenet import SIDE, maps

if TYPE_CHECKING:
    from rushes.media import Frame, MediaFacts

PROBE = "whole_clip_probe.npz"
RATE = 2.0
"""Looks a second, at most."""
MOST = 6
"""Looks that a clip of a stated length gets at most, spread over it: on 56 tuning clips more of them find no more."""
PLAIN = 8.0
"""Levels of luma's standard deviation below which a picture shows nothing."""
TINTED = 1.5
"""Levels of a second hue below which a picture is grey or has one tint, which may be of any colour."""
_EDGE = 2 / 7
"""Share of the rows that belongs to the top, and to the bottom."""
_SLACK_MS = 1.0

Pixels = NDArray[np.uint8]
Vector = NDArray[np.float64]

CHANGES: Mapping[str, Callable[[Pixels], Pixels]] = {
    "upside_down": lambda picture: picture[::-1, ::-1],
    "negative": lambda picture: 255 - picture,
    "red_blue_swapped": lambda picture: picture[..., ::-1],
}


@dataclass(frozen=True, slots=True, eq=False)
class WholeClipObservation:
    """What was seen, look by look."""

    frames: NDArray[np.int64]
    scores: NDArray[np.float64]
    """Looks × three changes; NaN for the colours of a grey or tinted picture."""


class WholeClipLook:
    """Follows one clip."""

    def __init__(self, facts: MediaFacts) -> None:
        self.facts = facts
        self.latest = -1
        stated = None if facts.video is None else facts.video.duration_ms
        self._step_ms = step_ms(facts.duration_ms if stated is None else stated)
        self._next_ms: float | None = None
        self._frames: list[int] = []
        self._scores: list[Vector] = []

    def add(self, frame: Frame) -> None:
        if frame.index <= self.latest:
            return
        self.latest = frame.index
        if self._next_ms is not None and frame.time_ms < self._next_ms - _SLACK_MS:
            return
        self._next_ms = (frame.time_ms if self._next_ms is None else self._next_ms) + self._step_ms
        scores = on_one_thread(lambda: picture_scores(frame.rgb()))
        if scores is not None:
            self._frames.append(frame.index)
            self._scores.append(scores)

    def finish(self) -> WholeClipObservation:
        scores = np.stack(self._scores) if self._scores else np.empty((0, len(CHANGES)))
        return WholeClipObservation(np.array(self._frames, np.int64), scores)


def step_ms(length_ms: float | None) -> float:
    """Milliseconds from look to look of a clip that is so long; None for a length that its file does not state.

    >>> step_ms(2000.0), step_ms(12_000.0), step_ms(None)
    (500.0, 2000.0, 500.0)
    """
    return max(1000.0 / RATE, (length_ms or 0.0) / MOST)


def picture_scores(rgb: Pixels) -> Vector | None:
    """The three scores of a picture; None for a plain one, NaN for the colours of a grey or tinted one."""
    small = reduced(rgb)
    if cv2.cvtColor(small, cv2.COLOR_RGB2GRAY).std() < PLAIN:
        return None
    before, probe = features(small), probe_weights()
    found = [float(probe[name] @ (features(change(small)) - before)) for name, change in CHANGES.items()]
    return np.array([*found[:2], found[2] if second_hue(small) >= TINTED else np.nan])


def reduced(rgb: Pixels) -> Pixels:
    """The whole picture on 224 × 224: by area, or bilinear where a side is shorter."""
    by_area = min(rgb.shape[:2]) >= SIDE
    how = cv2.INTER_AREA if by_area else cv2.INTER_LINEAR
    return np.asarray(cv2.resize(np.ascontiguousarray(rgb), (SIDE, SIDE), interpolation=how), np.uint8)


def second_hue(picture: Pixels) -> float:
    """How far colours are from a single hue, in levels: 0 for a grey or a tinted picture, such as one in sepia.

    The root mean square of R, G and B less their mean, across the direction in which it is largest.

    >>> second_hue(np.array([[[30, 0, 0], [9, 9, 9], [60, 30, 30]]], np.uint8))
    0.0
    """
    values = picture.reshape(-1, 3).astype(np.float64)
    values -= values.mean(axis=1, keepdims=True)
    spread = np.linalg.eigvalsh(values.T @ values / len(values))
    return round(float(np.sqrt(max(spread[1], 0.0))), 6)


def features(picture: Pixels) -> Vector:
    """What the layers see in the top two sevenths of a picture, in the middle and in the bottom two."""
    return np.concatenate([bands(found).ravel() for found in maps(np.ascontiguousarray(picture))])


def bands(values: NDArray[np.float32]) -> Vector:
    """Means of a map (channels × rows × columns) over three bands of rows: 3 × channels.

    >>> bands(np.arange(7, dtype=np.float32).reshape(1, 7, 1)).ravel().tolist()
    [0.5, 3.0, 5.5]
    """
    rows = round(values.shape[1] * _EDGE)
    parts = (values[:, :rows], values[:, rows:-rows], values[:, -rows:])
    return np.stack([part.mean(axis=(1, 2), dtype=np.float64) for part in parts])


@lru_cache(maxsize=1)
def probe_weights() -> dict[str, Vector]:
    """The fitted weights, one vector a change."""
    content = (resources.files("rushes.instruments.clip.seen") / PROBE).read_bytes()
    with np.load(io.BytesIO(content), allow_pickle=False) as stored:
        return {name: stored[name].astype(np.float64) for name in CHANGES}
