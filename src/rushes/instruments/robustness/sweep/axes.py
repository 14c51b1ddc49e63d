"""The axes a clip can be perturbed along, `name=v1,v2` as the command line writes them, and the runs of a sweep."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rushes.core.errors import InputError
from rushes.core.judge import Judge
from rushes.core.words.options import option
from rushes.core.words.suggest import did_you_mean
from rushes.instruments.robustness.seed.encoding import encode_value
from rushes.instruments.robustness.seed.sweep_dir import FULL_GRID, ONE_AT_A_TIME


@dataclass(frozen=True, slots=True)
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
        Axis("audio_noise", 0, 1, "noise added to the sound, share of full scale", sound=True, noise=True),
        Axis("audio_shift", -60_000, 60_000, "sound later by this many ms", sound=True),
        Axis("brightness", 0, 10, "levels times this; 1 unchanged"),
        Axis("contrast", 0, 10, "distance from mid-grey times this; 1 unchanged"),
        Axis("crf", 0, 51, "H.264 quality; 18 unless swept, higher is worse", whole=True),
        Axis("fps", 1, 240, "frame rate, nearest frames"),
        Axis("gaussian_blur", 0, 100, "blur, standard deviation in pixels"),
        Axis("gaussian_noise", 0, 255, "noise added to the picture, levels", noise=True),
        Axis("resize", 0.05, 4, "width and height times this; 1 unchanged"),
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
        raise InputError(f"no perturbation is called {name!r}{did_you_mean(name, AXES)}")
    return AXES[name]


def checked_grid(axes: Iterable[tuple[str, Sequence[float]]]) -> dict[str, list[float]]:
    """Axes sorted by name with values in their type; refuses unknown names, values out of range, and repeats."""
    grid: dict[str, list[float]] = {}
    for name, values in axes:
        axis = known(name)
        if name in grid:
            raise InputError(f"axis {name} is given twice; write all its values after one {option('--axis')}")
        grid[name] = [_number(axis, value) for value in values]
        codes = [encode_value(value) for value in grid[name]]
        if not codes or len(set(codes)) != len(codes):
            raise InputError(f"axis {name} needs values that differ; got {list(values)}")
    if not grid:
        raise InputError(
            f"a sweep needs at least one axis; for example {option('--axis brightness=0.8,1.0,1.2', 'axes=…')}"
        )
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


def planned(grid: Grid, seeds: Sequence[int], *, design: str = FULL_GRID) -> list[tuple[dict[str, float], int]]:
    """Axis values and seed of every run, in execution order: axes by name, the last fastest, seeds innermost.

    One at a time: only those points at which all axes but one have their first value, so their sum and not their
    product of runs.
    """
    names = sorted(grid)
    values = [grid[name] for name in names]
    points = _one_at_a_time(values) if design == ONE_AT_A_TIME else itertools.product(*values)
    return [(dict(zip(names, point, strict=True)), seed) for point in points for seed in seeds]


def _one_at_a_time(values: Sequence[Sequence[float]]) -> list[tuple[float, ...]]:
    ranks = [
        tuple(rank if other == moved else 0 for other in range(len(values)))
        for moved, of_axis in enumerate(values)
        for rank in range(len(of_axis))
    ]
    return [tuple(values[n][rank] for n, rank in enumerate(point)) for point in sorted(set(ranks))]


def idle_axes(grid: Grid, seeds: Sequence[int], judge: Judge) -> list[str]:
    """A line for each axis that cannot move the judge, and one where several seeds make the same run again."""
    lines = []
    for name in grid:
        if why := judge.cannot_see(name, sound=AXES[name].sound):
            lines.append(f"{name} cannot affect this judge, and will look perfectly stable: {why}")
    heard = [name for name in grid if AXES[name].noise and any(grid[name])]
    drawn = [name for name in heard if not judge.cannot_see(name, sound=AXES[name].sound)]
    if len(seeds) > 1 and not drawn and not judge.uses_seed():
        lines.append(
            f"{len(seeds)} seeds only repeat each run: no axis draws noise that this judge can see "
            "(gaussian_noise, audio_noise), and the judge takes no seed"
        )
    return lines
