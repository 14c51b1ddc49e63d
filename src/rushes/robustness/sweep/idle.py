"""What a sweep asks in vain: an axis the judge cannot see, and seeds that only repeat a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rushes.core.judge import Judge
from rushes.robustness.sweep.axes import AXES


def idle_axes(grid: Mapping[str, Sequence[float]], seeds: Sequence[int], judge: Judge) -> list[str]:
    """A line for each axis that cannot move the judge, and one where several seeds make the same run again."""
    lines = []
    for name in grid:
        if why := judge.cannot_see(name, sound=AXES[name].sound):
            lines.append(f"{name} cannot move this judge, and will look perfectly stable: {why}")
    heard = [name for name in grid if AXES[name].noise and any(grid[name])]
    drawn = [name for name in heard if not judge.cannot_see(name, sound=AXES[name].sound)]
    if len(seeds) > 1 and not drawn and not judge.uses_seed():
        lines.append(
            f"{len(seeds)} seeds only repeat each run: no axis draws noise that this judge can see "
            "(gaussian_noise, audio_noise), and the judge takes no seed"
        )
    return lines
