"""What must hold before the first frame is decoded: enough clips for what was asked, targets that can be written."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from rushes.distribution.definitions import family
from rushes.distribution.protocols import Metric, Recipe
from rushes.distribution.statistics import IntervalMethod
from rushes.errors import InputError
from rushes.remote.address import is_remote

LEAST_FOR_INTERVAL: dict[IntervalMethod, int] = {"jackknife": 3, "subsampling": 4}
"""Rows of each set that an interval needs: with one of them, or half of them, left out two remain."""
_REASONS_SHOWN = 3


def need_two(side: str, count: int, left_out: Sequence[tuple[str, str]] = ()) -> None:
    """`InputError` for a set of fewer than two rows; it names the first clips that were left out, and why."""
    if count >= 2:
        return
    why = ""
    if left_out:
        shown = ", ".join(_named(name, reason) for name, reason in left_out[:_REASONS_SHOWN])
        more = f" and {len(left_out) - _REASONS_SHOWN} more" if len(left_out) > _REASONS_SHOWN else ""
        why = f" ({len(left_out)} left out: {shown}{more})"
    raise InputError(f"a distance between sets needs at least two clips in each; the {side} set has {count}{why}")


def _named(name: str, reason: str) -> str:
    """A reason mostly begins with the clip's name or its path."""
    return reason if name in reason else f"{name}: {reason}"


def need_enough(
    wanted: Sequence[tuple[Metric, Recipe]],
    n_gen: int,
    n_gt: int,
    *,
    interval: IntervalMethod | None,
    extrapolate: bool,
) -> None:
    """`InputError` where sets of these sizes cannot give what was asked."""
    need_two("generated", n_gen)
    need_two("ground-truth", n_gt)
    fewest = min(n_gen, n_gt)
    if interval and fewest < (least := LEAST_FOR_INTERVAL[interval]):
        words = {3: "three", 4: "four"}[least]
        raise InputError(f"a {interval} interval needs {words} clips in each set; there are {n_gen} and {n_gt}")
    for metric, recipe in wanted:
        if extrapolate and family(metric) == "frechet" and fewest <= recipe.d:
            raise InputError(
                f"extrapolation needs more clips than features: {metric} more than {recipe.d} in each set; there are "
                f"{n_gen} and {n_gt}; leave it out, or use kvd for small sets"
            )


def need_writable(target: Path | str | None) -> None:
    """`InputError` where a file cannot be written at this place; an address is not tried."""
    if target is None or is_remote(target):
        return
    path = Path(target)
    if path.is_dir():
        raise InputError(f"{path}: expected the name of a file to write; this is a folder")
    folder = path.parent
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror or error})") from None
