"""Which frames of a video go through the network together: the cutting rules of the protocols. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Literal, TypeAlias

Cut: TypeAlias = Literal["segments-repeat-last", "whole", "first", "random"]
"""segments-repeat-last: every `frames` frames, the last segment filled with the last frame; features are averaged.
whole: all frames in one pass. first: frames 0 to `frames` − 1. random: one run of `frames`, chosen by seed and name."""


def segment_indices(total: int, frames: int, cut: Cut, *, seed: int = 0, name: str = "") -> list[list[int]]:
    """Frame numbers of each pass; [] when the video is too short for the rule.

    >>> segment_indices(5, 2, "segments-repeat-last")
    [[0, 1], [2, 3], [4, 4]]
    >>> segment_indices(3, 2, "whole"), segment_indices(3, 2, "first"), segment_indices(1, 2, "first")
    ([[0, 1, 2]], [[0, 1]], [])
    """
    if total < 1:
        return []
    if cut == "whole":
        return [list(range(total))]
    if cut == "segments-repeat-last":
        starts = range(0, total, frames)
        return [[min(index, total - 1) for index in range(start, start + frames)] for start in starts]
    if total < frames:
        return []
    start = 0 if cut == "first" else random_start(total - frames + 1, seed=seed, name=name)
    return [list(range(start, start + frames))]


def random_start(choices: int, *, seed: int, name: str) -> int:
    """A start from 0 to choices − 1 that depends on the seed and the clip's name only, never on the order of clips.

    The draw is our own (a digest), so a run's bytes do not hang on a generator; published code draws otherwise, which
    is why the seed is not enough to repeat its exact choice.
    """
    digest = hashlib.sha256(f"{seed}:{name}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % choices


def needs_total(cut: Cut) -> bool:
    """Whether the length must be known before the first frame is kept."""
    return cut == "random"


def last_needed(cut: Cut, frames: int) -> int | None:
    """How many frames from the start are enough; None when all are needed."""
    return frames if cut == "first" else None


def fill_segments(kept: Iterator[object], frames: int) -> Iterator[list[object]]:
    """Group items as they come into lists of `frames`, the last filled with its last item.

    >>> list(fill_segments(iter("abcde"), 2))
    [['a', 'b'], ['c', 'd'], ['e', 'e']]
    """
    held: list[object] = []
    for item in kept:
        held.append(item)
        if len(held) == frames:
            yield held
            held = []
    if held:
        yield held + [held[-1]] * (frames - len(held))
