"""The axes a clip can be perturbed along: names, ranges, and `name=v1,v2` as the command line writes them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from rushes.errors import InputError
from rushes.robustness.encoding import encode_value
from rushes.robustness.sweep_dir import FULL_GRID, ONE_AT_A_TIME


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """One way to perturb a clip."""

    name: str
    lowest: float
    highest: float
    meaning: str
    whole: bool = False
    """Whether values are whole numbers."""
    sound: bool = False
    """Whether it needs an audio track."""
    noise: bool = False
    """Whether it draws noise, anew for each seed."""


AXES = {
    axis.name: axis
    for axis in (
        Axis(
            name="audio_noise",
            lowest=0,
            highest=1,
            meaning="noise added to the sound, share of full scale",
            sound=True,
            noise=True,
        ),
        Axis(name="audio_shift", lowest=-60_000, highest=60_000, meaning="sound later by this many ms", sound=True),
        Axis(name="brightness", lowest=0, highest=10, meaning="levels times this; 1 unchanged"),
        Axis(name="contrast", lowest=0, highest=10, meaning="distance from mid-gray times this; 1 unchanged"),
        Axis(name="crf", lowest=0, highest=51, meaning="H.264 quality; 18 unless swept, higher is worse", whole=True),
        Axis(name="fps", lowest=1, highest=240, meaning="frame rate, nearest frames"),
        Axis(name="gaussian_blur", lowest=0, highest=100, meaning="blur, standard deviation in pixels"),
        Axis(name="gaussian_noise", lowest=0, highest=255, meaning="noise added to the picture, levels", noise=True),
        Axis(name="resize", lowest=0.05, highest=4, meaning="width and height times this; 1 unchanged"),
    )
}

Grid = Mapping[str, Sequence[float]]


def parse_axis(text: str) -> tuple[str, list[float]]:
    """`brightness=0.8,1.0` as a name and its values; `InputError` says what an axis looks like.

    >>> parse_axis("brightness=0.8,1"), parse_axis("crf=18,28")
    (('brightness', [0.8, 1.0]), ('crf', [18, 28]))
    """
    name, equals, values = text.partition("=")
    if not equals or not values.strip():
        raise InputError(f"an axis reads name=value,value; got {text!r}; for example brightness=0.8,1.0,1.2")
    return name.strip(), [_number(known(name.strip()), value) for value in values.split(",")]


def known(name: str) -> Axis:
    """The axis of this name, or `InputError` with the nearest names."""
    if name not in AXES:
        near = get_close_matches(name, AXES, n=2) or [axis for axis in AXES if name and name in axis]
        hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(AXES)}"
        raise InputError(f"no perturbation is called {name!r}; {hint}")
    return AXES[name]


def checked_grid(axes: Iterable[tuple[str, Sequence[float]]]) -> dict[str, list[float]]:
    """Axes sorted by name with values in their type; refuses unknown names, values out of range, and repeats."""
    grid: dict[str, list[float]] = {}
    for name, values in axes:
        axis = known(name)
        if name in grid:
            raise InputError(f"axis {name} is given twice; write all its values after one --axis")
        grid[name] = [_number(axis, value) for value in values]
        codes = [encode_value(value) for value in grid[name]]
        if not codes or len(set(codes)) != len(codes):
            raise InputError(f"axis {name} needs values that differ; got {list(values)}")
    if not grid:
        raise InputError("a sweep needs at least one axis; for example --axis brightness=0.8,1.0,1.2")
    return dict(sorted(grid.items()))


def check_design(design: str) -> None:
    """Refuse a design that is not known."""
    if design not in (FULL_GRID, ONE_AT_A_TIME):
        raise InputError(f"a design is {FULL_GRID} or {ONE_AT_A_TIME}; got {design!r}")


def checked_seeds(seeds: Iterable[int]) -> list[int]:
    """Seeds as given; refuses none at all and repeats."""
    listed = list(seeds)
    if not listed or len(set(listed)) != len(listed):
        raise InputError(f"a sweep needs seeds that differ; got {listed}")
    return listed


def parse_seeds(text: str) -> list[int]:
    """`1,2` as whole numbers.

    >>> parse_seeds("1, 2")
    [1, 2]
    """
    try:
        return checked_seeds(int(seed) for seed in text.split(","))
    except ValueError:
        raise InputError(f"seeds are whole numbers with commas, as in 1,2; got {text!r}") from None


def _number(axis: Axis, value: str | float) -> float:
    try:
        number = float(value)
    except ValueError:
        raise InputError(f"axis {axis.name}: expected a number; got {value!r}") from None
    if not math.isfinite(number) or not axis.lowest <= number <= axis.highest or (axis.whole and number % 1):
        kind = "whole numbers" if axis.whole else "numbers"
        raise InputError(f"axis {axis.name} takes {kind} from {axis.lowest:g} to {axis.highest:g}; got {value!r}")
    return int(number) if axis.whole else number + 0.0
