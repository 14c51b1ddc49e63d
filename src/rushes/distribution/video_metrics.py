"""`calculate_video_metrics`, as the specification documents it: its signature and the shape of its result."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from rushes.core import Measurement
from rushes.core.selection import keys_of
from rushes.distribution.backbones import BACKBONES
from rushes.distribution.compare import SetComparison, Settings, compare, metrics_from
from rushes.distribution.protocols import DEFAULT, METRICS


class _Default(str):
    """The documented default device, told apart from the same word given by the caller."""


_WHERE_THERE_IS_ONE = _Default("cuda")


def calculate_video_metrics(
    root_dir: str | Path,
    path_gen: str | Path,
    path_gt: str | Path,
    metrics: Sequence[str] = ("fid-vid", "fvd"),
    sample_duration: int = 16,
    batch_size: int = 1,
    num_workers: int = 16,
    device: str = _WHERE_THERE_IS_ONE,
    *,
    protocol: str = DEFAULT,
    weights: Sequence[str | Path] = (),
) -> dict[str, float]:
    """FID-VID and FVD between generated and ground-truth videos, as `{'FVD-3DRN50': …, 'FVD-3DInception': …}`.

    Parameters: paths are relative to `root_dir`. `sample_duration` is the frames of one segment. `batch_size` 1, the
    documented default, leaves the choice to Rushes; no value depends on it. `device` "cuda" given by the caller must be
    there; left out, a machine without one uses its CPU and says so. Weights are looked for at `tools/eval_fvd/` under
    `root_dir` and the working directory, unless given. A clip that cannot be read is named on stderr and left out.

    `rushes.compare_sets` gives the same values with their signatures.
    """
    root = Path(root_dir)
    settings = Settings(
        metrics=metrics_from(metrics),
        protocol=protocol,
        sample_duration=sample_duration,
        weights=tuple(Path(path) for path in weights),
        device=_resolved(device),
        batch=batch_size if batch_size > 1 else None,
        jobs=num_workers,
        root=root,
    )
    comparison = compare(root / path_gen, root / path_gt, settings, warn=_print)
    for line in exclusion_lines(comparison):
        _print(line)
    return as_results(comparison)


def as_results(comparison: SetComparison) -> dict[str, float]:
    """The documented dictionary of a comparison; under several protocols the last one's values."""
    distances = [m for m in comparison.measurements if m.name in METRICS]
    return {result_key(m): float(m.value) for m in distances if m.value is not None}


def result_key(distance: Measurement) -> str:
    """How the specification calls a distance: "FVD-3DInception", "FVD-3DRN50", "KVD-3DInception"."""
    backbone = BACKBONES[keys_of(distance)["backbone"]]
    kind = {"fvd": "FVD", "fid-vid": "FVD", "kvd": "KVD"}.get(distance.name, distance.name.capitalize())
    return f"{kind}-{backbone.label}"


def exclusion_lines(comparison: SetComparison) -> Iterator[str]:
    """One line for each clip that was left out, and why."""
    for why in comparison.excluded("gen").values():
        yield f"left out of the generated set: {why}"
    for why in comparison.excluded("gt").values():
        yield f"left out of the ground-truth set: {why}"
    for why in comparison.excluded("versus").values():
        yield f"left out of the second generated set: {why}"


def _print(line: str) -> None:
    print(line, file=sys.stderr)


def _resolved(device: str) -> str | None:
    if not isinstance(device, _Default):
        return device
    from rushes.distribution.features import resolve_device

    found = resolve_device(None)
    if found == "cpu":
        _print("no CUDA device here: computing on the CPU")
    return found
