"""Subject and background of a clip: features, sharpness and light inside and outside the mask, ten looks a second.

Masks are found three times a second and held in between: a network's mask trembles more than a subject moves in that
time. Features are Inception's last 8 × 8 map, averaged over the mask, over the rest, and over all of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np
from numpy.typing import NDArray

from rushes.instruments.clip.flow.observer import stride_of
from rushes.instruments.clip.frames.detail import FAINT, reduced
from rushes.instruments.clip.frames.one_thread import on_one_thread, torch_on_one_thread
from rushes.vision.inception import feature_map
from rushes.vision.subject import Mask, subject_mask

if TYPE_CHECKING:
    from rushes.media import Frame, MediaFacts

RATE = 10.0
"""Looks a second, as nearly as an even stride allows."""
MASK_EVERY = 3
"""Looks from one mask to the next."""
_BLUR = (np.array([1, 4, 6, 4, 1], np.float32) / 16,) * 2
_LEAST = 0.01
"""A share of the picture below which nothing is said about the light and sharpness of a part."""

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SubjectObservation:
    """One row per look. Parts are in the order subject, background, whole."""

    frames: NDArray[np.int64]
    time_ms: Array
    features: Array
    """Looks × parts × 2048."""
    area: Array
    """The mask's mean: how much of the picture the subject takes."""
    sharpness: Array
    """Looks × (subject, background): share of gradient energy that a blur of a pixel takes away; NaN where faint."""
    light_step: Array
    """Looks × (subject, background): change of mean luma since the last look, levels; NaN at the first."""


class SubjectLook:
    """Follows one clip."""

    def __init__(self, facts: MediaFacts) -> None:
        self.facts = facts
        self.latest = -1
        self._stride = stride_of(facts, RATE)
        self._mask: Mask | None = None
        self._before: NDArray[np.float32] | None = None
        self._rows: list[tuple[int, float, Array, float, Array, Array]] = []

    def add(self, frame: Frame) -> None:
        if frame.index <= self.latest:
            return
        self.latest = frame.index
        if frame.index % self._stride == 0:
            with torch_on_one_thread():
                on_one_thread(lambda: self._look(frame))

    def _look(self, frame: Frame) -> None:
        rgb = frame.rgb()
        if self._mask is None or len(self._rows) % MASK_EVERY == 0:
            self._mask = subject_mask(rgb)
        light = np.asarray(cv2.cvtColor(np.ascontiguousarray(rgb), cv2.COLOR_RGB2GRAY), np.uint8)
        small = np.asarray(reduced(light), np.float32)
        inside = cv2.resize(self._mask, small.shape[::-1], interpolation=cv2.INTER_LINEAR)
        before = self._before if self._before is not None and self._before.shape == small.shape else None
        step = np.full(2, np.nan) if before is None else np.array([weighted(small - before, w) for w in _both(inside)])
        sharp = np.array([sharpness(small, part) for part in _both(inside)])
        self._before = small
        features = pooled(feature_map(rgb), self._mask)
        area = float(self._mask.mean(dtype=np.float64))
        self._rows.append((frame.index, frame.time_ms, features, area, sharp, np.abs(step)))

    def finish(self) -> SubjectObservation | str:
        """What was seen, or why there is nothing to say."""
        if not self._rows:
            return "no frame was looked at"
        frames, times, features, area, sharp, steps = zip(*self._rows, strict=True)
        return SubjectObservation(
            frames=np.array(frames, np.int64),
            time_ms=np.array(times, np.float64),
            features=np.stack(features),
            area=np.array(area, np.float64),
            sharpness=np.stack(sharp),
            light_step=np.stack(steps),
        )


def _both(inside: Any) -> tuple[Any, Any]:
    return inside, 1 - inside


def pooled(found: NDArray[np.float32], mask: Mask) -> Array:
    """Means of a map (D, n, n) weighted by the mask, by what it leaves, and by nothing: (3, D); 0 for an empty part.

    >>> two = np.array([[[1.0, 3.0], [1.0, 3.0]]], np.float32)
    >>> pooled(two, np.array([[0, 1], [0, 1]], np.float32)).ravel().tolist()
    [3.0, 1.0, 2.0]
    """
    inside = cv2.resize(mask, found.shape[:0:-1], interpolation=cv2.INTER_AREA).astype(np.float64)
    values = found.astype(np.float64)
    parts = [inside, 1 - inside, np.ones_like(inside)]
    return np.stack([(values * part).sum(axis=(1, 2)) / max(part.sum(), 1e-6) for part in parts])


def weighted(values: Any, weights: Any) -> float:
    """The weighted mean; NaN where the weights are less than a hundredth on the whole.

    >>> weighted(np.array([1.0, 5.0]), np.array([3.0, 1.0]))
    2.0
    """
    if weights.mean(dtype=np.float64) < _LEAST:
        return float("nan")
    return float((values * weights).sum(dtype=np.float64) / weights.sum(dtype=np.float64))


def sharpness(plane: NDArray[np.float32], weights: Any) -> float:
    """1 − E(b) / E(g) of a part: what a blur of a pixel takes away from its weighted gradient energy; NaN where faint.

    >>> columns = np.tile(np.array([0, 200], np.float32), (40, 20))
    >>> round(sharpness(columns, np.ones_like(columns)), 6)
    1.0
    """
    if min(plane.shape) < 8:
        return float("nan")
    sharp, blurred = (_energy(one, weights) for one in (plane, cv2.sepFilter2D(plane, cv2.CV_32F, *_BLUR)))
    return 1.0 - blurred / sharp if sharp >= FAINT else float("nan")


def _energy(plane: Any, weights: Any) -> float:
    """Weighted mean of squared differences of neighbours along both axes, borders of two pixels left out."""
    inner, part = plane[2:-2, 2:-2].astype(np.float64), weights[2:-2, 2:-2][:-1, :-1]
    squares = (inner[:-1, 1:] - inner[:-1, :-1]) ** 2 + (inner[1:, :-1] - inner[:-1, :-1]) ** 2
    return weighted(squares, part) if part.mean(dtype=np.float64) >= _LEAST else 0.0
