"""A stretch of a clip in time."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """From the presentation time of a stretch's first frame to that of its last, in milliseconds."""

    start_ms: float
    end_ms: float

    @property
    def length_ms(self) -> float:
        return self.end_ms - self.start_ms

    @property
    def middle_ms(self) -> float:
        return (self.start_ms + self.end_ms) / 2

    def text(self) -> str:
        """For people, in seconds.

        >>> Span(1000.0, 2440.0).text(), Span(40.0, 40.0).text()
        ('1.0–2.4 s', '0.0 s')
        """
        start, end = f"{self.start_ms / 1000:.1f}", f"{self.end_ms / 1000:.1f}"
        return f"{start} s" if start == end else f"{start}–{end} s"
