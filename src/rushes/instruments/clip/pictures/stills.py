"""Where the picture stands still: change accumulated since the stretch began, beside the motion around it.

Steps alone cannot tell a standstill from a low rate: three of four steps of 6 pictures a second in 24 are still. What
counts is the picture itself. A stretch is still as long as every frame of it is the picture it began with.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushes.instruments.clip.frames.quantiles import quantile
from rushes.instruments.clip.pictures.shown import Shown, rms

Floats = NDArray[np.float64]

EPSILON = 0.1
"""Levels that coding changes a held picture by, where the film hardly moves."""
SHARE = 0.04
"""The same as a share of the clip's own change: a moving film is coded more coarsely."""
WINDOW_MS = 360.0
BESIDE = 0.15
"""A standstill changes by at most this share of what the motion next to it changes within 360 ms."""
UNEVEN = 6.0
"""Motion that a freeze interrupts goes on: its last steps differ by less than this factor."""
NEIGHBOURS = 4
CATCH_UP = 3.0
WHOLE, HARDLY = 0.6, 3.0
"""A standstill of this share of a clip that changes by at most three epsilons is the clip: one picture, which an
encoder refined at its beginning."""
FLAT = 3.0
"""Levels of standard deviation over blocks below which a picture is black or of one tone."""
STOPS = 2
"""Other standstills half as long and more, from which on a clip stops and goes by nature."""
_BLOCK = 64


class Still(NamedTuple):
    """Frames `first` to `last` show one picture."""

    first: int
    last: int


def own_change(shown: Shown) -> float:
    """What the clip changes by within 360 ms: the upper quartile over frames of the largest distance in that time."""
    most = min(max(1, round(WINDOW_MS / shown.step_ms)), len(shown) - 1) if shown.step_ms else 0
    return quantile(shown.changes_within(most), 0.75) if most > 0 else 0.0


def still_limit(own: float) -> float:
    """Distance up to which two frames of a clip that changes by `own` show one picture."""
    return max(EPSILON, SHARE * own)


def stills(shown: Shown, limit: float) -> list[Still]:
    """Stretches of two frames and more in which every frame is the picture of the first, one after the other."""
    found: list[Still] = []
    first, count = 0, len(shown)
    quiet = shown.steps <= limit
    while first < count - 1:
        if not quiet[first]:
            first += 1
            continue
        last = _until(shown, first, limit)
        found.append(Still(first, last))
        first = last + 1
    return found


def _until(shown: Shown, first: int, limit: float) -> int:
    """The last frame of the stretch that begins at `first`."""
    begin = first + 1
    while begin < len(shown):
        far = np.flatnonzero(shown.away(first, slice(begin, begin + _BLOCK)) > limit)
        if len(far):
            return begin + int(far[0]) - 1
        begin += _BLOCK
    return len(shown) - 1


def is_flat(shown: Shown, frame: int) -> bool:
    """Whether a frame is black or of one tone: a fade ends in that, and it is no frozen picture."""
    picture = shown.values[frame]
    return float(rms(picture - picture.mean())) < FLAT


def stops_and_goes(found: list[Still], longest: Still) -> bool:
    """Whether a clip has other standstills of that kind: a screen recording, limited animation."""
    least = (longest.last - longest.first) / 2
    return sum(least <= still.last - still.first for still in found if still != longest) >= STOPS


def interrupts(shown: Shown, still: Still) -> bool:
    """Whether motion goes on up to the standstill and on from it: at the ends of a clip, on the one side there is.

    Motion after it is enough where the picture catches up: the step that ends it is three times those that follow.

    A person who stops, or a screen on which nothing happens, slows down or changes by fits and starts.
    """
    inside = float(shown.away(still.first, slice(still.first, still.last + 1)).max())
    window = max(NEIGHBOURS, round(WINDOW_MS / shown.step_ms)) if shown.step_ms else NEIGHBOURS
    before = max(0, still.first - window), still.first
    after = still.last, min(len(shown) - 1, still.last + window)
    sides = [side for side in (before, after) if side[1] - side[0] >= 2]
    moving = [side for side in sides if _moves(shown, *side, inside=inside, edge=still)]
    return bool(sides) and (moving == sides or after in moving and _catches_up(shown, still))


def _catches_up(shown: Shown, still: Still) -> bool:
    """Whether the step that ends a standstill is far larger than those after it: time went on behind it."""
    steps = shown.steps[still.last : still.last + NEIGHBOURS + 1]
    return len(steps) > 1 and float(steps[0]) >= CATCH_UP * float(steps[1:].max())


def _moves(shown: Shown, first: int, last: int, *, inside: float, edge: Still) -> bool:
    held = edge.first if last == edge.first else edge.last
    change = float(shown.away(held, slice(first, last + 1)).max())
    steps = shown.steps[first:last]
    moving = steps[~shown.cadence.repeats[first:last]]
    near = moving[-NEIGHBOURS:] if last == edge.first else moving[1 : NEIGHBOURS + 1]  # the first may catch up
    steady = len(near) >= 2 and float(near.max()) <= UNEVEN * float(near.min())
    return steady and inside <= BESIDE * change
