"""How long each picture is held: a native low rate, a pull-down, or frames that stutter.

Film at 24 pictures a second in a stream of 60 shows each picture two or three times, animation on twos shows each
twice: nothing is wrong with either. A stutter shows a repeat in place of a frame, so that the step after it is about
twice as large as the others; where a rate was converted, it is as large as any other. Of 121 real clips 13 had repeats
amid motion at odd rates, by conversion, with steps after them of 0.75 to 1.2 of the others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from rushes.instruments.clip.frames.quantiles import median

Floats = NDArray[np.float64]
Marks = NDArray[np.bool_]

REPEAT_SHARE = 0.3
"""A step this small beside the largest ones on both sides of it repeats a picture."""
REACH, REACH_S = 4, 0.125
"""Steps to either side that are looked at, or as many as there are in 125 ms."""
FEW = 0.06
"""Up to this share of repeats a clip has its stream's rate."""
EVEN_SHARE = 0.8
SAME_HOLD = 0.8
LEAP = 1.35
"""From this many times the others on, the step after a longer hold makes up for a frame that was not shown."""
MADE_UP, BESIDE = 0.4, 4
"""How far the step after a longer hold is, in the median, from that to the next picture (0) to that to the next but one
(1): of 31 clips with one frame in eight repeated those at their own rate have 0.54 to 1.5, conversions −0.4 to 0.2."""
DEPTH = 0.18
"""Repeats of a stutter differ from their frame by at most this share of a usual step: others may be quiet motion."""
SLOWEST = 12.0
"""Frames a second below which single frames are seen as such, and no stutter is looked for."""
ONGOING_FACTOR, ONGOING_SUM, ONGOING_LEVEL, ONGOING_SHARE = 3.0, 0.6, 0.25, 0.6
PHASED, PHASE_SHARE = 0.5, 0.42
"""Share of the variance of log D that a period explains, and the share of the largest step below which a phase
repeats."""
_LEAST_HOLDS = 6
_TINY = 1e-3


class Kind(StrEnum):
    """How the pictures of a clip are held."""

    NATIVE = "native"
    EVERY = "every"
    PULLDOWN = "pulldown"
    HELD = "held"
    STUTTER = "stutter"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, eq=False)
class Cadence:
    """How a clip's pictures are held."""

    kind: Kind
    fps: float
    """Different pictures a second."""
    repeats: Marks
    """Of each step, whether it repeats the picture."""
    stutters: int = 0
    """Repeats amid motion that goes on, of a clip that stutters."""

    @property
    def left_out(self) -> Marks:
        """Repeats to leave out where different pictures are measured; of a clip at its stream's rate none."""
        return np.zeros_like(self.repeats) if self.kind is Kind.NATIVE else self.repeats

    def words(self, stream: float) -> str:
        """ "each picture 2 times: 12 fps shown at 24"; "" for a clip at its stream's rate."""
        rates = f"{self.fps:.3g} fps shown at {stream:.3g}"
        if self.kind is Kind.EVERY:
            return f"each picture {round(stream / self.fps)} times: {rates}"
        if self.kind is Kind.PULLDOWN:
            return f"pull-down: {rates}"
        return f"pictures held for different times: {rates}" if self.kind is Kind.HELD else ""


def repeats_of(steps: Floats, fps: float, *, share: float = REPEAT_SHARE) -> Marks:
    """Which steps repeat a picture: at most `share` of the largest step near by, on both sides where both exist.

    >>> repeats_of(np.array([4.0, 0.2, 4.0, 0.1, 4.0]), 24.0).tolist()
    [False, True, False, True, False]
    """
    reach = max(REACH, round(fps * REACH_S))
    beyond = np.full(reach, -1.0)
    padded = np.concatenate([beyond, steps, beyond])
    windows = np.lib.stride_tricks.sliding_window_view(padded, reach)
    if not len(steps):
        return np.zeros(0, np.bool_)
    before, after = windows[: len(steps)].max(axis=1), windows[reach + 1 :][: len(steps)].max(axis=1)
    both = np.where(np.minimum(before, after) < 0, np.maximum(before, after), np.minimum(before, after))
    found: Marks = (steps <= share * both) & (both > 0)
    return found


def find_cadence(steps: Floats, changes: Floats, fps: float, *, across: Callable[[int, int], float]) -> Cadence:
    """How the pictures are held; `across` is the distance of two frames.

    A step repeats a picture where both its distance and its mean change at full resolution are that small.
    """
    repeats = repeats_of(steps, fps) & repeats_of(changes, fps)
    ends = np.flatnonzero(~repeats)
    holds, after = np.diff(ends), steps[ends[1:]]
    if len(holds) < _LEAST_HOLDS or not fps:
        return Cadence(Kind.UNKNOWN, fps, np.zeros(len(steps), np.bool_))
    mean = float(holds.mean())
    if 1 - 1 / mean < FEW:
        return Cadence(Kind.NATIVE, fps, repeats)
    usual = round(mean)
    if mean >= 1.5 and np.mean(holds == usual) >= SAME_HOLD:
        return Cadence(Kind.EVERY, fps / usual, repeats)
    leap = _leap(holds, after, mean)
    if _is_even(holds, mean) and leap < LEAP:
        return Cadence(Kind.PULLDOWN, fps / mean, repeats)
    if mean >= 1.8:
        return Cadence(Kind.HELD, fps / mean, repeats)
    if phased := _phased(steps, fps):
        kind = Kind.EVERY if abs(fps / phased - round(fps / phased)) < _TINY else Kind.PULLDOWN
        return Cadence(kind, phased, repeats)
    ongoing = _ongoing(steps, ends, across)
    clear = median(steps[repeats]) <= DEPTH * median(after)
    amid = ongoing >= ONGOING_SHARE * np.count_nonzero(repeats)
    skips = leap >= LEAP and _made_up(steps, ends, mean, across) >= MADE_UP
    stutters = fps >= SLOWEST and skips and clear and amid
    return Cadence(Kind.STUTTER if stutters else Kind.HELD, fps / mean, repeats, ongoing if stutters else 0)


def _is_even(holds: NDArray[np.int64], mean: float) -> bool:
    """Whether any four holds in a row add up to four times the mean, within a frame."""
    sums = np.convolve(holds, np.ones(4), "valid")
    return bool(np.mean(np.abs(sums - 4 * mean) <= 1 + _TINY) >= EVEN_SHARE)


def _leap(holds: NDArray[np.int64], after: Floats, mean: float) -> float:
    """The median step after a longer hold over that after a shorter one; 1 where all are alike."""
    longer, shorter = after[holds >= np.ceil(mean)], after[holds <= np.floor(mean)]
    if np.ceil(mean) == np.floor(mean) or min(len(longer), len(shorter)) < 2:
        return 1.0
    return median(longer) / max(median(shorter), _TINY)


def _made_up(steps: Floats, ends: NDArray[np.int64], mean: float, across: Callable[[int, int], float]) -> float:
    """How much of a frame that was not shown the steps after longer holds make up for; 0 for fewer than three of them.

    Each is compared with the steps near by: those from a picture that is not held to the next, and to the next but one.
    """
    holds, one = np.diff(ends, prepend=ends[:1] - 1), steps[ends]
    two = np.array([across(int(first), int(last) + 1) for first, last in zip(ends[:-1], ends[1:], strict=True)])
    shorter = holds <= np.floor(mean)
    found = []
    for place in np.flatnonzero(holds >= np.ceil(mean)).tolist():
        near = [n for n in range(max(0, place - BESIDE), min(len(one), place + BESIDE + 1)) if shorter[n]]
        pairs = [n for n in near if n + 1 < len(one) and shorter[n + 1]]
        if len(near) < 3 or len(pairs) < 2:
            continue
        single, double = median(one[near]), median(two[pairs])
        if double > 1.15 * single:
            found.append((float(one[place]) - single) / (double - single))
    return median(found) if len(found) >= 3 else 0.0


def _phased(steps: Floats, fps: float) -> float:
    """The native rate of a clip whose steps are large and small in turn with a period of 2 to 6; 0 where there is none.

    Coding noise may hide single repeats of a quiet clip, and their mean over a phase shows them all the same.
    """
    levels = np.log(np.maximum(steps, _TINY))
    best, rate = PHASED, 0.0
    for period in range(2, 7):
        phases = [levels[first::period] for first in range(period)]
        if len(phases[-1]) < _LEAST_HOLDS:
            break
        inside = sum(float(((part - part.mean()) ** 2).sum()) for part in phases)
        explained = 1 - inside / max(float(((levels - levels.mean()) ** 2).sum()), _TINY)
        means = np.array([part.mean() for part in phases])
        large = means[means > means.max() + np.log(PHASE_SHARE)]
        moving, alike = len(large), float(np.ptp(large)) < np.log(LEAP)
        native = fps * moving / period
        if explained > best and moving < period and alike:
            best, rate = explained, native
    return rate


def _ongoing(steps: Floats, ends: NDArray[np.int64], across: Callable[[int, int], float]) -> int:
    """Repeats amid motion that goes on: the steps around are alike, near the clip's own, and add up."""
    own, count = median(steps[ends]), 0
    for first, last in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        if last - first < 2:
            continue
        low, high = sorted((float(steps[first]), float(steps[last])))
        if high > ONGOING_FACTOR * low or low < ONGOING_LEVEL * own:
            continue
        if across(first, last + 1) >= ONGOING_SUM * (low + high):
            count += last - first - 1
    return count
