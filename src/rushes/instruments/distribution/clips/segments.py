"""Which frames of a video go through the network together: the cutting rules of the protocols. Pure."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, Literal, TypeAlias, TypeVar

Cut: TypeAlias = Literal["segments-repeat-last", "whole", "first", "random", "sliding"]
"""segments-repeat-last: every `length` frames, the last segment filled with the last frame.
whole: all frames in one pass. first: one window from frame 0. random: one window, chosen by seed and content.
sliding: a window every `stride` frames, those that would reach past the end left out."""
Rows: TypeAlias = Literal["video-mean", "window"]
"""What becomes of a video with several windows: their mean is one row, or each window is a row of its own."""

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True, kw_only=True)
class Windows:
    """How one video is cut into windows, and what its windows count as."""

    cut: Cut
    length: int
    """Frames of one window; not used by "whole"."""
    step: int = 1
    """Every `step`-th frame is in the window."""
    stride: int = 1
    """Frames from one "sliding" window's start to the next one's."""
    rows: Rows = "video-mean"
    gaps: tuple[int, ...] = ()
    """Frames before which something is missing: no "sliding" window reaches over one, and each run of frames between
    two gaps is slid over by itself."""

    @property
    def span(self) -> int:
        """Frames of the video from a window's first to its last.

        >>> Windows(cut="first", length=16, step=8).span
        121
        """
        return (self.length - 1) * self.step + 1

    @property
    def enough(self) -> int | None:
        """How many frames are looked at from where the windows begin; None when all are.

        A subsampled window asks for whole steps, 128 frames for 16 with a step of 8, as published code does.
        """
        return self.length * self.step if self.cut in ("first", "random") else None


def cut_frames(frames: Iterable[Item], windows: Windows) -> Iterator[list[Item]]:
    """Windows over frames as they come, holding no more than the window under way; none where there are too few.

    A "random" window is a "first" one over frames that begin at its start: see `random_start`.

    >>> list(cut_frames("abcde", Windows(cut="segments-repeat-last", length=2)))
    [['a', 'b'], ['c', 'd'], ['e', 'e']]
    >>> list(cut_frames("abcdef", Windows(cut="sliding", length=2, step=2, stride=3)))
    [['a', 'c'], ['d', 'f']]
    >>> list(cut_frames("abxy", Windows(cut="sliding", length=2, gaps=(2,))))
    [['a', 'b'], ['x', 'y']]
    >>> list(cut_frames("abc", Windows(cut="first", length=2))), list(cut_frames("a", Windows(cut="first", length=2)))
    ([['a', 'b']], [])
    """
    cutter: Cutter[Item] = Cutter(windows)
    for frame in frames:
        if (window := cutter.push(frame)) is not None:
            yield window
        if cutter.is_done:
            return
    if (window := cutter.end()) is not None:
        yield window


class Cutter(Generic[Item]):
    """`cut_frames`, a frame at a time."""

    def __init__(self, windows: Windows) -> None:
        self._windows = windows
        bounded = windows.cut not in ("segments-repeat-last", "whole")
        self._held: deque[Item] = deque(maxlen=windows.span if bounded else None)
        self._index = self._count = 0
        self.is_done = False
        """Whether no further frame can matter."""

    def push(self, frame: Item) -> list[Item] | None:
        """The window that this frame completes, if any."""
        windows, held = self._windows, self._held
        if self._index in windows.gaps:
            held.clear()
            self._count = 0
        held.append(frame)
        self._index += 1
        self._count += 1
        if windows.cut == "whole":
            return None
        if windows.cut == "segments-repeat-last":
            return self._taken() if len(held) == windows.length else None
        start = self._count - windows.span
        if start < 0 or (windows.cut == "sliding" and start % windows.stride):
            return None
        self.is_done = windows.cut != "sliding"
        return list(held)[:: windows.step]

    def end(self) -> list[Item] | None:
        """The window that is left when the frames have ended, if any."""
        if not self._held or self._windows.cut not in ("segments-repeat-last", "whole"):
            return None
        rest = self._taken()
        missing = self._windows.length - len(rest) if self._windows.cut == "segments-repeat-last" else 0
        return rest + [rest[-1]] * missing

    def _taken(self) -> list[Item]:
        taken = list(self._held)
        self._held.clear()
        return taken


def random_start(choices: int, *, seed: int, content: str) -> int:
    """A start from 0 to choices − 1 that depends on the seed and the clip's content (its digest) only.

    Neither the clip's name nor the order of clips moves it. The draw is our own (a digest), so a run's bytes do not
    hang on a generator; published code draws otherwise, which is why the seed is not enough to repeat its exact choice.
    """
    digest = hashlib.sha256(f"{seed}:{content}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % choices
