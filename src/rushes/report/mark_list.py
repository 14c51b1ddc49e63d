"""Which marks of a timeline get a line in the list beside it: the few worth a look, and the rest as a count.

Every mark is drawn. A list of each would hide the long ones: real clips have dozens of stills of one to three steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

SHORTEST_MS = 200.0
"""A span shorter than this is drawn and counted, and not listed."""
MOST_SPANS = 10
"""Spans of one kind in the list: the longest."""
MOST_POINTS = 20
"""Points of one kind in the list: the first."""

At: TypeAlias = Sequence[float]
"""Of a span its start and end in ms and how many units it is long; of a point its time in ms and frame."""


def joined_spans(spans: Sequence[At]) -> list[list[float]]:
    """Neighbours with only a blip between them as one span, from the first one's start to the last one's end.

    Formula     joined where the gap is shorter than 0.2 s and than half of the shorter neighbour, from left to right;
                units add up, so that the blip itself is not counted as part of it
    Edge cases  a film on twos or threes (still and moving steps by turns) is not joined into one still

    >>> joined_spans([(0, 400, 10), (440, 800, 9), (2000, 2400, 10)])
    [[0, 800, 19], [2000, 2400, 10]]
    >>> joined_spans([(0, 80, 2), (120, 200, 2)])
    [[0, 80, 2], [120, 200, 2]]
    """
    joined: list[list[float]] = []
    for start, end, count in spans:
        if joined:
            before = joined[-1]
            gap = start - before[1]
            if gap < SHORTEST_MS and gap < min(before[1] - before[0], end - start) / 2:
                joined[-1] = [before[0], end, before[2] + count]
                continue
        joined.append([start, end, count])
    return joined


def listed_spans(spans: Sequence[At]) -> tuple[list[list[float]], int]:
    """The ten longest of 0.2 s and more, in order of time, and how many shorter ones there are beside them.

    >>> listed_spans([(0, 400, 10), (1000, 1080, 2), (3000, 3040, 1)])
    ([[0, 400, 10]], 2)
    """
    joined = joined_spans(spans)
    long = [span for span in joined if span[1] - span[0] >= SHORTEST_MS]
    chosen = sorted(sorted(long, key=lambda span: span[0] - span[1])[:MOST_SPANS])
    return chosen, len(joined) - len(chosen)


def listed_points(points: Sequence[At]) -> tuple[list[list[float]], int]:
    """The first twenty, and how many more there are."""
    return [list(point) for point in points[:MOST_POINTS]], max(len(points) - MOST_POINTS, 0)
