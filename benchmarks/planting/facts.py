"""What a clip is, as far as planting needs it: measured once, before it is decided which clips get which fault."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from .kinds.sound import audible
from .source import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Differences are mean absolute ones of the small picture, in levels of 255."""

    seconds: float
    fps: float
    moving: float
    """Share of steps above 0.3."""
    motion: float
    """Median step."""
    moves_late: bool
    """Whether most steps of the last half differ: a still clip cannot be frozen any further."""
    moves_right: bool
    """Likewise for the right half of the picture, over the whole clip."""
    colour: float
    """Mean distance of red, green and blue from their mean."""
    audible: bool


def facts_of(source: Source) -> Facts:
    """Look at every step, small."""
    small = [cv2.resize(frame, (96, 54), interpolation=cv2.INTER_AREA).astype(np.float32) for frame in source.frames]
    pairs = list(zip(small, small[1:], strict=False))
    steps = np.array([float(np.abs(b - a).mean()) for a, b in pairs] or [0.0])
    right = np.array([float(np.abs(b[:, 48:] - a[:, 48:]).mean()) for a, b in pairs] or [0.0])
    middle = small[len(small) // 2]
    return Facts(
        seconds=source.seconds,
        fps=float(source.fps),
        moving=float((steps > 0.3).mean()),
        motion=float(np.median(steps)),
        moves_late=bool((steps[len(steps) // 2 :] > 0.3).mean() > 0.5),
        moves_right=bool((right > 0.5).mean() > 0.5),
        colour=float(np.abs(middle - middle.mean(axis=2, keepdims=True)).mean()),
        audible=audible(source),
    )
