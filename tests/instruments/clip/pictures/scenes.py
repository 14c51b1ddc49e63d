"""Made pictures whose distances are known to grow with time, and clips that show them in any order."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import cv2
import numpy as np
from tests.clips import coded_frame, write_frames

from rushes.instruments.clip.pictures.shown import Shown, rms

ENCODERS = {
    "ultrafast": ("libx264", {"preset": "ultrafast", "crf": "16"}),
    "medium": ("libx264", {"preset": "medium", "crf": "23"}),
    "veryslow": ("libx264", {"preset": "veryslow", "crf": "28"}),
    "mpeg4": ("mpeg4", {"qmin": "5", "qmax": "5"}),
}


def scene(count: int, *, seed: int = 0, blocks: int = 16, speed: float = 1.0) -> np.ndarray:
    """Smooth motion that never comes back: every block swings at a rate of its own. count × blocks × blocks luma."""
    random = np.random.default_rng(seed)
    rate, phase = random.uniform(0.02, 0.1, (blocks, blocks)) * speed, random.uniform(0, 6.28, (blocks, blocks))
    return (128 + 60 * np.sin(np.arange(count)[:, None, None] * rate + phase)).astype(np.float32)


def shown(order: Sequence[int], *, fps: float = 25.0, pictures: np.ndarray | None = None, noise: float = 0.0) -> Shown:
    """The frames of a scene in this order, as an ideal decoder would give them, with coding noise of so many levels."""
    values = scene(max(order) + 1)[list(order)] if pictures is None else pictures[list(order)]
    values = values + np.random.default_rng(1).normal(0, noise, values.shape).astype(np.float32)
    flat = values.reshape(len(values), -1).astype(np.float64)
    return Shown.of(values, np.arange(len(values)) * 1000.0 / fps, rms(np.diff(flat, axis=0)) * 64)


def coded(path: Path, order: Sequence[int], encoder: str, *, fps: int = 24, speed: float = 1.0) -> Path:
    """The same as a clip of 96 × 96 pixels by one of `ENCODERS`."""
    codec, options = ENCODERS[encoder]
    small = scene(max(order) + 1, blocks=8, speed=speed)
    grain = np.random.default_rng(3).normal(0, 2, (96, 96))
    planes = {n: cv2.resize(small[n], (96, 96), interpolation=cv2.INTER_CUBIC) + grain for n in set(order)}
    frames = (coded_frame(np.clip(planes[n], 0, 255).astype(np.uint8), "yuv420p") for n in order)
    return write_frames(path, frames, codec=codec, options=options, rate=fps, time_base=Fraction(1, fps))
