"""A talking face made from a still portrait: the mouth opens with the loudness of a speech-like sound."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from rushes.media import AudioTrack

FPS = 25
FRAMES = 100
RATE = 16000
SIDE = 320
CENTRE = (230.0, 168.0)
"""Middle of the part of the 512² portrait that is shown."""
SWAY, SWAY_FRAMES = 6.0, 60
"""The head goes round in a circle of this radius in this many frames: no frame stands still."""
LIPS = (223.3, 147.5)
"""Where the lips part, in the portrait."""
MOUTH_HALF_WIDTH = 19.0
JAW = 50.0
"""Pixels below the lips over which the lower face gives way."""
WIDEST = 14.0
"""Pixels the mouth opens at the loudest."""
AT_REST = 0.2
"""Share of that at which it rests: a thinner gap, the face mesh takes for the teeth."""
_INSIDE = (38, 18, 20)

Frame = NDArray[np.uint8]

# (syllable's length, pause after it, loudness): twentieths of a second, and share of the loudest.
_SYLLABLES = (
    ((4, 1, 0.9), (3, 2, 0.6), (5, 1, 1.0), (3, 6, 0.5), (4, 1, 0.8), (4, 3, 0.95), (3, 1, 0.55))
    + ((6, 8, 0.85), (3, 1, 0.7), (5, 2, 1.0), (3, 1, 0.6), (4, 4, 0.9))
)  # fmt: skip


def speech() -> AudioTrack:
    """Four seconds that rise and fall like syllables: a buzz at 130 Hz with harmonics, shaped by half sines."""
    t = np.arange(FRAMES * RATE // FPS) / RATE
    buzz = sum(np.sin(2 * np.pi * 130 * k * t + k) / k for k in (1, 2, 3, 5, 7, 11))
    shape = np.zeros_like(t)
    start = 2
    for length, pause, loudness in _SYLLABLES:
        low, high = start * RATE // 20, min((start + length) * RATE // 20, len(t))
        if low < high:
            shape[low:high] = loudness * np.sin(np.pi * np.arange(high - low) / (high - low))
        start += length + pause
    return AudioTrack.of((0.25 * buzz * shape).astype(np.float32), RATE)


def talking(portrait: Frame, openings: Sequence[float]) -> Iterator[Frame]:
    """Frames of the portrait with the mouth open by each share of the widest; the head sways a little.

    Parameters: `portrait` is the 512² astronaut, RGB; an opening is 0 (at rest) to 1.
    """
    for number, opening in enumerate(openings):
        opened = open_mouth(portrait, WIDEST * (AT_REST + (1 - AT_REST) * opening))
        turn = 2 * np.pi * number / SWAY_FRAMES
        centre = (CENTRE[0] + SWAY * np.cos(turn), CENTRE[1] + SWAY * np.sin(turn))
        yield np.asarray(cv2.getRectSubPix(opened, (SIDE, SIDE), centre), np.uint8)


def open_mouth(portrait: Frame, pixels: float) -> Frame:
    """The portrait with the lower lip and jaw drawn down, and the dark of the mouth in the gap."""
    left, right, top, bottom = 150, 300, 140, 205  # nothing outside this moves
    y, x = np.mgrid[top:bottom, left:right].astype(np.float32)
    across = np.clip(1 - np.square((x - LIPS[0]) / MOUTH_HALF_WIDTH), 0, 1)
    gap = np.float32(pixels) * np.sqrt(across)
    # Below the gap everything moves down, less and less towards the chin, and less to the sides than at the middle.
    side = np.exp(-np.square((x - LIPS[0]) / (1.6 * MOUTH_HALF_WIDTH)))
    below = np.clip((y - LIPS[1]) / JAW, 0, 1)
    drop = np.where(y > LIPS[1], np.float32(pixels) * side * np.square(1 - below), 0)
    moved = cv2.remap(portrait, x, (y - drop).astype(np.float32), cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    inside = np.clip(np.minimum(y - LIPS[1] + 1, LIPS[1] + gap * 0.92 - y), 0, 1)[..., None]
    inside = np.where(gap[..., None] > 0.5, inside, 0)
    opened = portrait.copy()
    opened[top:bottom, left:right] = np.rint(moved * (1 - inside) + np.array(_INSIDE) * inside)
    return opened
