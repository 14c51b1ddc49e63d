"""Degradations planted on purpose: a judge that looks at the clip must like each less, and the strong one least.

blur     Gaussian, σ = 1 % (mild) or 4 % (strong) of the longer side
noise    Gaussian in every channel, σ = 15 or 60 levels, PCG64 seeded by the clip's digest
shuffle  the sampled frames in another order: each two neighbours exchanged (mild), or first halves and second halves
         interleaved backwards (strong); needs three frames
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rushes.vision.judges.pictures import Picture

KINDS = ("blur", "noise", "shuffle")
LEVELS = ("mild", "strong")
_BLUR = {"mild": 0.01, "strong": 0.04}
_NOISE = {"mild": 15.0, "strong": 60.0}


def degraded(frames: Sequence[Picture], plant: str, *, sha256: str) -> list[Picture]:
    """The frames with "blur-mild", "noise-strong" …; as they are for ""."""
    kind, _, level = plant.partition("-")
    if not kind:
        return list(frames)
    if kind == "shuffle":
        return [frames[place] for place in shuffled(len(frames), level)]
    if kind == "blur":
        return [_blurred(frame, _BLUR[level]) for frame in frames]
    draw = np.random.Generator(np.random.PCG64(int(sha256[:16], 16)))
    return [_noisy(frame, _NOISE[level], draw) for frame in frames]


def shuffled(count: int, level: str) -> list[int]:
    """
    >>> shuffled(5, "mild"), shuffled(6, "strong")
    ([1, 0, 3, 2, 4], [5, 2, 4, 1, 3, 0])
    """
    if level == "mild":
        return [min(place ^ 1, count - 1) if place ^ 1 < count else place for place in range(count)]
    half = count // 2
    late, early = list(range(count - 1, half - 1, -1)), list(range(half - 1, -1, -1))
    return [place for two in zip(late, early, strict=False) for place in two] + late[len(early) :]


def _blurred(frame: Picture, share: float) -> Picture:
    import cv2

    return np.asarray(cv2.GaussianBlur(frame, (0, 0), share * max(frame.shape[:2])), np.uint8)


def _noisy(frame: Picture, sigma: float, draw: np.random.Generator) -> Picture:
    return np.clip(np.rint(frame + draw.normal(0.0, sigma, frame.shape)), 0, 255).astype(np.uint8)
