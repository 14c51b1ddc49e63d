"""Which frame is held against which: by index or by time, with a lag, and never by silently dropping what is over.

    index  frame n of one side with frame n of the other
    time   each frame of the reference with the generated frame on the screen at its middle; times count from the
           first frame of each clip

A lag of k holds generated frame n + k against reference frame n: positive where the generated clip is late.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal, TypeAlias

from rushes.core import Measurement
from rushes.core.definition import Setting
from rushes.core.errors import InputError
from rushes.core.words.options import option
from rushes.instruments.fidelity.pairs.sides import RESIZER, Shown, Side

By: TypeAlias = Literal["name", "index", "time"]
Cut: TypeAlias = Literal["none", "shortest"]
ResizeTo: TypeAlias = Literal["gt", "gen"]
Lag: TypeAlias = "int | Literal['auto']"

MOST_LAG = 25
"""Frames to either side that `--lag auto` looks at."""
_RATE_SLACK = 0.0005
"""Rates that differ by less are one rate: 29.97 and 30 (0.1 %) are two, 29.97 and 30000/1001 one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairing:
    """How clips and their frames are paired; everything here that can move a value is in every signature."""

    by: By = "name"
    """name: clips by name, frames by index, rates must agree. index: clips by their order, frames by index, whatever
    the rates. time: clips by name, frames by time."""
    cut: Cut = "none"
    """What happens where one side is longer: an error, or the first frames of both up to the shorter one's end."""
    lag: Lag = 0
    resize_to: ResizeTo | None = None

    def __post_init__(self) -> None:
        if self.lag != "auto" and (isinstance(self.lag, bool) or not isinstance(self.lag, int)):
            raise InputError(f"a lag is a whole number of frames, or auto; got {self.lag!r}")
        if self.lag and self.by == "time":
            raise InputError(f"a lag counts frames, and {option('--pair time')} pairs by time; give one of them")

    @property
    def params(self) -> dict[str, Setting]:
        """What is added to every signature."""
        return {
            "cut": "overlap" if self.lag or self.by == "time" else self.cut,
            "lag": self.lag or "none",
            "pair": "time" if self.by == "time" else "index",
            "resize": f"{self.resize_to}-{RESIZER}" if self.resize_to else "none",
        }


def with_pairing(found: Measurement, how: Mapping[str, Setting]) -> Measurement:
    """The number under a definition that says how frames were paired (`Pairing.params`)."""
    return replace(found, definition=found.definition.add_params(**how))


@dataclass(slots=True)
class Tally:
    """What pairing left over, filled in on the way."""

    pairs: int = 0
    gen_over: int = 0
    """Frames of the generated clip that are held against nothing."""
    gt_over: int = 0


def common_size(gen: Side, gt: Side, pairing: Pairing) -> tuple[int, int]:
    """The size at which both are compared; `InputError` where sizes differ and nothing was chosen."""
    if gen.size == gt.size:
        return gt.size
    if pairing.resize_to is None:
        raise InputError(
            f"{gen.clip.name}: {_size(gen)} against a reference of {_size(gt)}; give --resize-to gt, or --resize-to gen"
        )
    return gt.size if pairing.resize_to == "gt" else gen.size


def check_rates(gen: Side, gt: Side, pairing: Pairing) -> None:
    """`InputError` where frame rates differ and frames would be paired by index all the same, unasked."""
    if pairing.by != "name" or gen.fps is None or gt.fps is None:
        return
    if abs(gen.fps - gt.fps) > _RATE_SLACK * max(gen.fps, gt.fps):
        raise InputError(
            f"{gen.clip.name}: {gen.fps:.6g} frames a second against a reference of {gt.fps:.6g}; give --pair time to "
            "pair frames by time, or --pair index for frame by frame"
        )


def check_light(gen: Side, gt: Side) -> None:
    """`InputError` where one side is HDR and the other is not, or of another curve: equal codes are unequal light."""
    curves = [side.facts.video.transfer if side.facts and side.facts.video else "sdr" for side in (gen, gt)]
    if curves[0] != curves[1]:
        one, other = (str(curve).upper() for curve in curves)
        raise InputError(f"{gen.clip.name}: {one} against a reference in {other}; convert one of them first")


def paired(gen: Side, gt: Side, pairing: Pairing, *, lag: int = 0, tally: Tally) -> Iterator[tuple[Shown, Shown]]:
    """Pairs of frames, generated first; `InputError` at the end where one side is longer and nothing was chosen."""
    found = _by_time(gen, gt, tally) if pairing.by == "time" else _by_index(gen, gt, lag, tally)
    for pair in found:
        tally.pairs += 1
        yield pair
    if (tally.gen_over or tally.gt_over) and pairing.by != "time" and not pairing.lag and pairing.cut == "none":
        counts = tally.pairs + tally.gen_over, tally.pairs + tally.gt_over
        raise InputError(
            f"{gen.clip.name}: {counts[0]} frames against a reference of {counts[1]}; give --cut shortest to "
            "truncate to the shorter, --lag auto to look for a shift, or --pair time"
        )
    if not tally.pairs:
        raise InputError(f"{gen.clip.name}: none of its frames has a counterpart in the reference ({_left(tally)})")


def _by_index(gen: Side, gt: Side, lag: int, tally: Tally) -> Iterator[tuple[Shown, Shown]]:
    ours, theirs = iter(gen), iter(gt)
    tally.gen_over += sum(1 for _ in islice(ours, max(lag, 0)))
    tally.gt_over += sum(1 for _ in islice(theirs, max(-lag, 0)))
    for one in ours:
        other = next(theirs, None)
        if other is None:
            tally.gen_over += 1 + sum(1 for _ in ours)
            return
        yield one, other
    tally.gt_over += sum(1 for _ in theirs)


def _by_time(gen: Side, gt: Side, tally: Tally) -> Iterator[tuple[Shown, Shown]]:
    for side in (gen, gt):
        if side.fps is None:
            raise InputError(
                f"{side.clip.name}: has no times (a folder of pictures has none); "
                f"{option('--pair time')} needs two videos"
            )
    assert gen.fps is not None and gt.fps is not None
    ours = iter(gen)
    now, after = next(ours, None), next(ours, None)
    used = False
    for other in gt:
        middle = other.time_ms + 500.0 / gt.fps
        while after is not None and after.time_ms <= middle:
            tally.gen_over += not used
            now, after, used = after, next(ours, None), False
        if now is None or (after is None and middle > now.time_ms + 1000.0 / gen.fps):
            tally.gt_over += 1
            continue
        used = True
        yield now, other
    tally.gen_over += (now is not None and not used) + (after is not None) + sum(1 for _ in ours)


def _size(side: Side) -> str:
    return f"{side.size[0]}×{side.size[1]}"


def _left(tally: Tally) -> str:
    return f"{tally.gen_over} frames of it and {tally.gt_over} of the reference are left over"
