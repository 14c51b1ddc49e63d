"""Which runs a sweep is made of: every combination of values, or one axis at a time."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from rushes.robustness.sweep_dir import FULL_GRID, ONE_AT_A_TIME


def planned(
    grid: Mapping[str, Sequence[float]], seeds: Sequence[int], *, design: str = FULL_GRID
) -> list[tuple[dict[str, float], int]]:
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
