"""The rate that a clip's frames show: what its canonical form runs at where no other rate is asked for.

Regular     there is a rate r at which every frame falls on a place of its own: frame n is shown nearer to t_0 + n / r
            than half a step, for all frames. The rate is then r: the first of the average and the base rate in the
            file's header that is right to a tick of the file's clock; else the first of the two, and the mean rate
            from first frame to last, that is right to half a step.
Irregular   1 / the usual step. Usual are the most common step between two frames (of equals the shorter) and those one
            tick longer or shorter, for a clock of milliseconds shows 24 frames a second as steps of 41 and 42; their
            mean is taken. A rate within 0.05 % of a whole number, or of one times 1000/1001, is that number.
Unknown     one frame, or frames without times: the rate in the header. Where there is none either, or the frames show
            one above 1000, 30.

Only packets are read; nothing is decoded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

from av.packet import Packet

from rushes.core.media_facts import HIGHEST_RATE
from rushes.media.opening import DEMUX_ERRORS, need_video, open_media
from rushes.media.pyav import ratio

USUAL = Fraction(30)
"""Where a clip does not show its rate."""
_NTSC = Fraction(1000, 1001)
_CLOSE = Fraction(5, 10_000)
_COARSE = 2
"""A usual step of so many ticks is exact: one tick more or less would be another rate."""


def own_rate(path: Path | str) -> Fraction:
    """The rate that a clip's frames show, above 0 and up to 1000; see the module's docstring.

    Raises `MediaError` where the file cannot be opened or has no picture.
    """
    with open_media(path) as container:
        video = need_video(container, path)
        stated = [rate for rate in (ratio(video.average_rate), ratio(video.base_rate)) if rate]
        clock = ratio(video.time_base)
        rate = shown_rate(_times(container.demux(video)), clock, stated) if clock else next(iter(stated), USUAL)
    return rate if 0 < rate <= HIGHEST_RATE else USUAL


def shown_rate(ticks: Sequence[int], clock: Fraction, stated: Sequence[Fraction]) -> Fraction:
    """The rate of frames at these times, in order, on a clock of so many seconds a tick; see the module's docstring.

    >>> shown_rate([0, 42, 83, 125], Fraction(1, 1000), [Fraction(24)])
    Fraction(24, 1)
    >>> shown_rate([0, 40, 80, 200, 240], Fraction(1, 1000), [Fraction(20)])
    Fraction(25, 1)
    """
    if len(ticks) < 2:
        return next(iter(stated), USUAL)
    mean_rate = Fraction(len(ticks) - 1, ticks[-1] - ticks[0]) / clock
    for slack, rates in ((1, stated), (None, (*stated, mean_rate))):
        if (rate := next((rate for rate in rates if _fits(ticks, 1 / (rate * clock), slack)), None)) is not None:
            return rate
    steps = Counter(late - early for early, late in pairwise(ticks))
    common = min(steps, key=lambda step: (-steps[step], step))
    near = 1 if common > _COARSE else 0
    usual = {step: many for step, many in steps.items() if abs(step - common) <= near}
    mean = Fraction(sum(step * many for step, many in usual.items()), sum(usual.values()))
    return _whole(1 / (mean * clock))


def _fits(ticks: Sequence[int], step: Fraction, slack: int | None) -> bool:
    """Whether each frame is on its place to less than so many ticks, and to less than half a step."""
    most = step / 2 if slack is None else min(Fraction(slack), step / 2)
    return all(abs(tick - ticks[0] - n * step) < most for n, tick in enumerate(ticks))


def _whole(rate: Fraction) -> Fraction:
    known = [Fraction(round(rate)), round(rate / _NTSC) * _NTSC]
    nearest = min(known, key=lambda one: abs(one - rate))
    return nearest if nearest and abs(nearest - rate) <= _CLOSE * rate else rate.limit_denominator(1001)


def _times(packets: Iterable[Packet[Any]]) -> list[int]:
    """When the frames are shown, in ticks and in order; those that an edit list hides are left out.

    Nothing where a packet has no time: the times of the others would show gaps that are not there.
    """
    found: set[int] = set()
    try:
        for packet in packets:
            if packet.pts is None and packet.size:
                return []
            if packet.pts is not None and not packet.is_discard:
                found.add(packet.pts)
    except DEMUX_ERRORS:
        pass  # it breaks off; what was read shows the rate
    return sorted(found)
