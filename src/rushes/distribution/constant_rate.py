"""Frames of a variable-rate video at a constant rate, by the rule of ffmpeg's command line. Pure.

Published code that decodes by `ffmpeg -i clip -f rawvideo` never sees the frames a file stores: the command repeats
and drops frames until there is one for each tick of the file's nominal rate. A screen recording of 24 stored frames
can become 47. Where a protocol's numbers were made so, that is part of the protocol.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

Item = TypeVar("Item")

_SLACK = 1.1
"""How far, in ticks, a frame may be from its place before frames are repeated or dropped."""
_EARLY = 0.6


@dataclass(frozen=True, slots=True)
class Timed(Generic[Item]):
    """A frame, when it is shown and for how long, in ticks of the constant rate."""

    item: Item
    start: float
    length: float = 1.0


def constant_rate(frames: Iterable[Timed[Item]], *, late_start: bool = False) -> Iterator[Item]:
    """One item for each tick: a frame is repeated while it lasts, and left out where another took its place.

    `late_start`: a first frame that is not at 0 is not repeated backwards; so ffmpeg treats a file of one stream.

    Edge cases  frames at 0, 1, 2 …: as they are. A clip that ends on a long frame keeps it for its length.
    Reference   `-vsync cfr` of ffmpeg 4 and 5, which is what their raw video output uses.

    >>> "".join(constant_rate([Timed("a", 0, 3), Timed("b", 0.5), Timed("c", 3)]))
    'aaac'
    """
    ticks, before = 0, None
    repeats: deque[int] = deque([0, 0, 0], maxlen=3)
    for frame in frames:
        length = float(round(frame.length)) or 1.0  # a length that is not known is one tick
        early = frame.start - ticks
        reach = early + length
        if early < 0 < reach:
            early = 0.0
        if late_start and before is None and early >= 0.5:
            ticks, reach, early = round(frame.start), length, 0.0
        count, older = 1, 0
        if reach < -_SLACK:
            count = 0
        elif reach > _SLACK:
            count = round(reach)
            older = max(round(early - _EARLY), 0) if early > _SLACK else 0
        repeats.append(older)
        for number in range(count):
            yield before.item if number < older and before is not None else frame.item
        ticks += count
        before = frame
    if before is not None:
        for _ in range(sorted(repeats)[1]):
            yield before.item
