"""Stretches of a clip: the longest one in which something holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rushes.core import Definition, Measurement
from rushes.core.span import Span as Span


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


def longest_of(definition: Definition, spans: Iterator[Span], count: int) -> Measurement:
    """The length of the longest (the first of equals), whose note says where it is; 0 where there is none."""
    span = max(spans, key=lambda span: span.length_ms, default=None)
    if span is None or span.length_ms <= 0:  # times of a damaged file may run backwards
        return Measurement(definition=definition, value=0.0, count=count)
    return Measurement(definition=definition, value=span.length_ms, count=count, note=span.text(), span=span)


def spanned(definition: Definition, value: float, count: int, span: Span | None) -> Measurement:
    """A value whose note and span say where it comes from; 0 comes from nowhere."""
    if span is None or not value:
        return Measurement(definition=definition, value=value, count=count)
    return Measurement(definition=definition, value=value, count=count, note=span.text(), span=span)


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
