"""What belongs in clips: a flag on it is a false alarm."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .facts import Facts
from .kinds import benign
from .model import Plant, plain
from .source import Source, write_source


@dataclass(frozen=True, slots=True, kw_only=True)
class Benign:
    """Something that belongs in clips. A flag on it is a false alarm, under the profiles named."""

    name: str
    what: str
    plant: Plant
    profiles: tuple[str, ...] = ("general", "generated")
    kinds: tuple[str, ...] = ("film", "face", "speech")
    uses: tuple[str, ...] = ()
    fits: Callable[[Facts], bool] = lambda facts: True


def _benign(name: str, what: str, change: Callable[[Source], Source], **more: Any) -> Benign:
    return Benign(name=name, what=what, plant=plain(change), **more)


def _cadence(distinct: int, fps: int) -> Callable[[Source], Source]:
    return lambda source: benign.shown_at(source, distinct, fps)


_FILMED = ("film", "face", "speech")
_DRAWN = ("animation",)
BENIGN: tuple[Benign, ...] = (
    _benign("fades", "from black and back to black within 0.6 s", benign.fade_in_and_out),
    _benign("dip to black", "down and up again in the middle", benign.dip_to_black),
    _benign("night", "a fifth of the light, with sensor noise", benign.night),
    _benign("candle", "warm light that wanders by 6 %, slower than 6 Hz", benign.candle),
    _benign("flash", "a photographer's flash", benign.camera_flash),
    _benign("handheld", "slow shake of 1 % of the height", benign.handheld),
    _benign("film grain", "4 levels of grain", benign.light_grain),
    _benign("slow motion", "half the speed, frames between averaged", benign.slow_motion),
    Benign(
        name="hard cut",
        what="another clip from the middle on",
        uses=("other",),
        plant=lambda source, material, path: write_source(benign.hard_cut(source, material.other), path),
    ),  # type: ignore[arg-type]
    Benign(
        name="split screen",
        what="two clips side by side",
        uses=("other",),
        plant=lambda source, material, path: write_source(benign.split_screen(source, material.other), path),
    ),  # type: ignore[arg-type]
    _benign("mirrored", "the left half and its mirror image", benign.mirrored),
    _benign("24 in 60", "24 pictures a second in 60", _cadence(24, 60), fits=lambda f: f.fps >= 23),
    _benign("24 in 30", "24 pictures a second in 30", _cadence(24, 30), fits=lambda f: f.fps >= 23),
    _benign(
        "on twos",
        "drawn animation at 12 pictures a second in 24",
        _cadence(12, 24),
        kinds=_DRAWN,
        profiles=("animation",),
        fits=lambda f: f.fps >= 12,
    ),
    _benign(
        "on threes",
        "drawn animation at 8 pictures a second in 24",
        _cadence(8, 24),
        kinds=_DRAWN,
        profiles=("animation",),
        fits=lambda f: f.fps >= 12,
    ),
)
