"""Pictures in the wrong order: shown again, shown backwards, shuffled; all pairs of frames are compared.

A copy of a frame is nearer than its neighbour; a natural repetition, a wave or a pendulum, comes back to about the same
place and not to the same picture. So distances are compared with the clip's own steps on either side.
"""

from __future__ import annotations

from itertools import permutations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

COPY = 0.5
"""Pictures nearer than this share of the steps next to them, over a whole stretch, are copies."""
MOVING = 0.15
"""Levels a step has at least on average, for copies to be told from a picture that hardly changes."""
LEAP, FIT = 2.0, 0.36
"""Times the steps around that both ends of a part which was turned leap, and what is left of them once it is turned."""
END_LEAP, END_FIT, END_STEP, QUIETER = 3.0, 0.4, 1.5, 0.75
"""The same where the part reaches to an end of the clip and has one leap; how many of the steps around its far end lies
from the other side of the leap at most; and how large other steps of the part are at most, in leaps."""
_WINDOW = 6
_ORDERS = tuple((0, *inner, 5) for inner in permutations(range(1, 5)))


class Stretch(NamedTuple):
    """Frames `first` to `last`, which show what `source` began to show."""

    first: int
    last: int
    source: int


def again(apart: Floats, *, least: int, lag: int) -> Stretch | None:
    """The longest stretch of at least `least` frames that is shown a second time, `lag` frames later or more."""
    total = len(apart)
    steps = np.diag(apart, 1)
    if total < lag + least + 1:
        return None
    level = np.minimum(steps[:, None], steps[None, :])
    rows, columns = np.nonzero((apart[:-1, :-1] <= COPY * 1.5 * level) & (level > 0))
    counts = np.bincount(np.maximum(columns - rows, 0), minlength=total)
    best: Stretch | None = None
    for shift in np.flatnonzero(counts >= least / 2).tolist():
        if shift < lag:
            continue
        near = np.minimum(steps[: total - 1 - shift], steps[shift:])
        run = _longest(np.diag(apart, shift)[: len(near)], near, least)
        if run and (best is None or run[1] - run[0] > best.last - best.first):
            best = Stretch(run[0] + shift, run[1] + shift, run[0])
    return best


def _longest(apart: Floats, near: Floats, least: int) -> tuple[int, int] | None:
    """First and last index of the longest run whose windows of `least` values are copies and move."""
    if len(apart) < least:
        return None
    ones = np.ones(least)
    distance, level = np.convolve(apart, ones, "valid"), np.convolve(near, ones, "valid")
    marks = np.concatenate([[0], ((distance <= COPY * level) & (level >= MOVING * least)).astype(np.int8), [0]])
    edges = np.flatnonzero(np.diff(marks))
    if not len(edges):
        return None
    starts, ends = edges[::2], edges[1::2]
    longest = int(np.argmax(ends - starts))
    return int(starts[longest]), int(ends[longest]) - 1 + least - 1


def mirrored(apart: Floats, *, least: int) -> Stretch | None:
    """The longest stretch that shows backwards what came just before it: frame c + k is frame c − k.

    Turns at a frame (c whole) and between two (a frame shown twice) both count; of equals the first.
    """
    total = len(apart)
    steps = np.diag(apart, 1)
    best: Stretch | None = None
    turns = np.arange(2 * least, 2 * (total - 1 - least) + 1)
    lefts, rights = (turns - 1) // 2, turns // 2 + 1
    first = np.arange(least)[:, None]  # the first frames on both sides decide which turns are worth a closer look
    beside = np.minimum(steps[lefts - first], steps[np.minimum(rights + first, total - 1) - 1]).sum(axis=0)
    near = apart[lefts - first, np.minimum(rights + first, total - 1)].sum(axis=0) <= 2 * COPY * beside
    for left, right in zip(lefts[near].tolist(), rights[near].tolist(), strict=True):
        reach = min(left + 1, total - right)
        back = np.arange(reach)
        distance = apart[left - back, right + back]
        level = np.minimum(steps[left - back], steps[right + back - 1])
        totals, levels = np.cumsum(distance), np.cumsum(level)
        fits = np.flatnonzero((totals <= COPY * levels) & (levels >= MOVING * (back + 1)))
        if len(fits) and fits[-1] + 1 >= least and (best is None or fits[-1] > best.last - best.first):
            best = Stretch(right, right + int(fits[-1]), left)
    return best


def turned(apart: Floats, *, least: int) -> Stretch | None:
    """A stretch that fits its neighbours only the other way round.

    Frames p + 1 … q between two leaps (more than twice the steps around, which move) such that q follows p and q + 1
    follows p + 1: d(p, q) + d(p + 1, q + 1) ≤ 0.36 (d(p, p + 1) + d(q, q + 1)). A cut to another shot and back has no
    such fit. Where there is none, `turned_end`.
    """
    steps = np.diag(apart, 1)
    usual = around(steps)
    leaps = np.flatnonzero((steps > LEAP * usual) & (usual >= 2 * MOVING))
    found: tuple[float, Stretch] | None = None
    for number, first in enumerate(leaps.tolist()):
        for last in leaps[number + 1 :].tolist():
            if last - first < least:
                continue
            fit = float(apart[first, last] + apart[first + 1, last + 1]) / float(steps[first] + steps[last])
            if fit <= FIT and (found is None or fit < found[0]):
                found = fit, Stretch(first + 1, last, first)
    return turned_end(apart, least=2 * least) if found is None else found[1]


def turned_end(apart: Floats, *, least: int) -> Stretch | None:
    """The same of a stretch that reaches to an end of the clip, and has one leap therefore.

    Frames p + 1 … n such that n follows p: d(p, n) ≤ 0.4 d(p, p + 1), and ≤ 1.5 times the steps around, from which the
    leap stands out threefold; or the same in reverse. No other step of it is three quarters as large as the leap: a cut
    away and back has two that are alike.
    """
    back = _turned_tail(apart[::-1, ::-1], least)
    tail = _turned_tail(apart, least)
    if tail is None and back is not None:
        last = len(apart) - 1
        return Stretch(0, last - back.first, last - back.source)
    return tail


def _turned_tail(apart: Floats, least: int) -> Stretch | None:
    steps, last = np.diag(apart, 1), len(apart) - 1
    usual = around(steps)
    for leap in np.flatnonzero((steps > END_LEAP * usual) & (usual >= 2 * MOVING)).tolist():
        if min(leap, last - leap) < least:
            continue
        far = float(apart[leap, last])
        fits = far <= END_FIT * steps[leap] and far <= END_STEP * usual[leap]
        if fits and steps[leap + 1 :].max() <= QUIETER * steps[leap]:
            return Stretch(leap + 1, last, leap)
    return None


def around(steps: Floats, *, reach: int = 4) -> Floats:
    """Median of up to `reach` steps before and after each, itself left out; 0 for a single step."""
    if len(steps) < 2:
        return np.zeros(len(steps))
    return middle_of(beside(steps, reach))


def beside(steps: Floats, reach: int) -> Floats:
    """Up to `reach` steps before and after each, without itself, in order of size; NaN where there are fewer."""
    padded = np.full(len(steps) + 2 * reach, np.nan)
    padded[reach : reach + len(steps)] = steps
    windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1)
    return np.sort(np.concatenate([windows[:, :reach], windows[:, reach + 1 :]], axis=1), axis=1)


def middle_of(ordered: Floats) -> Floats:
    """The median of each row, whose values are in order with NaN at the end; every row has a value.

    >>> middle_of(np.array([[1.0, 2.0, 4.0], [1.0, 4.0, np.nan]])).tolist()
    [2.0, 2.5]
    """
    counts, rows = _counts(ordered), np.arange(len(ordered))
    return np.asarray((ordered[rows, (counts - 1) // 2] + ordered[rows, counts // 2]) / 2)


def largest_of(ordered: Floats) -> Floats:
    """The largest value of each such row.

    >>> largest_of(np.array([[1.0, 2.0, 4.0], [1.0, 4.0, np.nan]])).tolist()
    [4.0, 4.0]
    """
    return np.asarray(ordered[np.arange(len(ordered)), _counts(ordered) - 1])


def _counts(ordered: Floats) -> NDArray[np.int64]:
    """How many values each row has."""
    return np.asarray(ordered.shape[1] - np.count_nonzero(np.isnan(ordered), axis=1))


def disorder(apart: Floats) -> float | None:
    """By how much the way through the pictures gets shorter if frames are put in order, 0 to 1.

    Of every six frames in a row the four inner ones are put into the order with the shortest way from the first to the
    last; the value is 1 − Σ shortest / Σ as shown. None for fewer than six frames, or where nothing moves.
    """
    if len(apart) < _WINDOW:
        return None
    first = np.arange(len(apart) - _WINDOW + 1)
    orders = np.array(_ORDERS)
    ways = apart[first[:, None, None] + orders[:, :-1], first[:, None, None] + orders[:, 1:]].sum(axis=2)
    shown, shortest = ways[:, 0], ways.min(axis=1)
    if float(shown.mean()) < MOVING * (_WINDOW - 1):
        return None
    return max(0.0, 1.0 - float(shortest.sum()) / float(shown.sum()))
