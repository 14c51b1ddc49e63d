"""Stretches of a clip: the longest one in which something holds, and how it is said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """From the presentation time of a stretch's first frame to that of its last, in milliseconds."""

    start_ms: float
    end_ms: float

    @property
    def length_ms(self) -> float:
        return self.end_ms - self.start_ms

    def text(self) -> str:
        """For people, in seconds.

        >>> Span(1000.0, 2440.0).text(), Span(40.0, 40.0).text()
        ('1.0–2.4 s', '0.0 s')
        """
        start, end = f"{self.start_ms / 1000:.1f}", f"{self.end_ms / 1000:.1f}"
        return f"{start} s" if start == end else f"{start}–{end} s"


def stretches(holds: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """(first, last) index of every run of true values.

    >>> list(stretches([True, False, True, True]))
    [(0, 0), (2, 3)]
    """
    start = None
    for index, value in enumerate(holds):
        if value and start is None:
            start = index
        elif not value and start is not None:
            yield start, index - 1
            start = None
    if start is not None:
        yield start, len(holds) - 1


def longest(spans: Iterator[Span]) -> Span | None:
    """The longest of them, the first of equals; None where there is none."""
    return max(spans, key=lambda span: span.length_ms, default=None)


def still_spans(holds: Sequence[bool], times_ms: Sequence[float]) -> Iterator[Span]:
    """Stretches of steps: step i leads from frame i to frame i + 1, so a run of one step spans two frames.

    >>> [span.text() for span in still_spans([False, True, True], [0.0, 1000.0, 2000.0, 3000.0])]
    ['1.0–3.0 s']
    """
    for first, last in stretches(holds):
        yield Span(times_ms[first], times_ms[last + 1])


def frame_spans(holds: Sequence[bool], times_ms: Sequence[float]) -> Iterator[Span]:
    """Stretches of frames, each to the start of the frame that ends it; one at the end of the clip to its last frame.

    >>> [span.text() for span in frame_spans([False, True, True, False], [0.0, 1000.0, 2000.0, 3000.0])]
    ['1.0–3.0 s']
    """
    for first, last in stretches(holds):
        yield Span(times_ms[first], times_ms[min(last + 1, len(times_ms) - 1)])
