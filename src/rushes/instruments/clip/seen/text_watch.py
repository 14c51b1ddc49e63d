"""Reads the text of a clip's frames in the one pass, two looks a second."""

from __future__ import annotations

from dataclasses import dataclass

from rushes.core.errors import RushesError
from rushes.instruments.clip.frames.one_thread import on_one_thread
from rushes.media import Frame
from rushes.vision.ocr.reading import read_lines

RATE = 2.0
"""Looks a second: one takes 0.25 s of a core at 256 × 256, and 0.5 s at 1280 × 720."""
_SLACK_MS = 1.0
"""Container times are rounded to a millisecond."""


@dataclass(frozen=True, slots=True)
class TextObservation:
    """What was read, look by look."""

    frames: tuple[int, ...]
    texts: tuple[str, ...]
    """All lines of the frame, row by row, a space between two; "" where none was found."""


class TextWatch:
    """Looks at a frame every half second; what fails ends it, and is the reason."""

    def __init__(self) -> None:
        self._next_ms: float | None = None
        self._frames: list[int] = []
        self._texts: list[str] = []
        self._failure = ""

    def add(self, frame: Frame) -> None:
        due = self._next_ms is None or frame.time_ms >= self._next_ms - _SLACK_MS
        if self._failure or not due:
            return
        # From the last wanted time and not from the frame's own, so that the rate is kept at any frame rate.
        self._next_ms = (frame.time_ms if self._next_ms is None else self._next_ms) + 1000.0 / RATE
        try:
            lines = on_one_thread(lambda: read_lines(frame.rgb()))
        except RushesError as error:
            self._failure = str(error)
            return
        self._frames.append(frame.index)
        self._texts.append(" ".join(line.text for line in lines))

    def finish(self) -> TextObservation | str:
        """What was read, or why nothing was."""
        if self._failure:
            return self._failure
        return TextObservation(tuple(self._frames), tuple(self._texts)) if self._frames else "no frame was looked at"
