"""Scenes drawn in numpy, for demonstrations: small, the same pixels every time, and worth looking at.

    from rushes.media.scenes import SCENES
    frames = list(SCENES["ball"].frames(75, look=2))    # RGB, uint8

Each scene has looks: number 0, 1, 2 … choose colours, speeds and shapes, and `prompt(look)` describes what is seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rushes.media.scenes import ball, hills, walker, waves
from rushes.media.scenes.canvas import Canvas, Colours, canvas

Frame = NDArray[np.uint8]
FPS = 25
WIDTH, HEIGHT = 320, 192


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """Something that moves, and the words for it."""

    name: str
    draw: Callable[[Canvas, float, int], Colours]
    """Canvas, seconds, look: colours from 0 to 1."""
    describe: Callable[[int], str]

    def prompt(self, look: int = 0) -> str:
        """What is seen, as somebody would ask a model for it."""
        return self.describe(look)

    def frames(
        self,
        count: int,
        *,
        look: int = 0,
        fps: float = FPS,
        width: int = WIDTH,
        height: int = HEIGHT,
        speed: float = 1.0,
    ) -> Iterator[Frame]:
        """`count` frames, RGB; `speed` 2 shows twice as much in the same time."""
        on = canvas(width, height)
        for number in range(count):
            colours = self.draw(on, speed * number / fps, look)
            yield np.rint(255 * np.clip(colours, 0, 1)).astype(np.uint8)


SCENES = {
    name: Scene(name=name, draw=module.draw, describe=module.describe)
    for name, module in (("ball", ball), ("waves", waves), ("hills", hills), ("walker", walker))
}


def scene_of(number: int) -> tuple[Scene, int]:
    """Scene and look of the number-th prompt: the scenes in turn, with a new look each round."""
    names = list(SCENES)
    return SCENES[names[number % len(names)]], number // len(names)
