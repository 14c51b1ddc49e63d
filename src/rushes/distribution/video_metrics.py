"""`calculate_video_metrics`, as the specification documents it, and its labelled twin."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from rushes.core import Measurement
from rushes.distribution.compare import Comparison, Question, compare, metrics_from
from rushes.distribution.protocols import DEFAULT, Metric

RESULT_KEYS: dict[Metric, str] = {"fid-vid": "FVD-3DRN50", "fvd": "FVD-3DInception", "kvd": "KVD-3DInception"}


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

    `video_metrics_measurements` gives the same values with their signatures.
    """
    comparison = _compared(
        root_dir, path_gen, path_gt, metrics, sample_duration, batch_size, num_workers, device, protocol, weights
    )
    for side, words in (("gen", "generated"), ("gt", "ground-truth")):
        for why in comparison.excluded("gen" if side == "gen" else "gt").values():
            print(f"left out of the {words} set: {why}", file=sys.stderr)
    return as_results(comparison)


def video_metrics_measurements(
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
) -> tuple[Measurement, ...]:
    """What `calculate_video_metrics` computes, as measurements with full signatures."""
    comparison = _compared(
        root_dir, path_gen, path_gt, metrics, sample_duration, batch_size, num_workers, device, protocol, weights
    )
    return as_measurements(comparison)


def as_results(comparison: Comparison) -> dict[str, float]:
    """The documented dictionary of a comparison under one protocol."""
    values = {RESULT_KEYS[answer.metric]: answer.value.value for answer in comparison.answers}
    return {key: float(value) for key, value in values.items() if value is not None}


def as_measurements(comparison: Comparison) -> tuple[Measurement, ...]:
    """Every number of a comparison with its signature."""
    return tuple(m for answer in comparison.answers for m in answer.measurements)


def _compared(
    root_dir: str | Path,
    path_gen: str | Path,
    path_gt: str | Path,
    metrics: Sequence[str],
    sample_duration: int,
    batch_size: int,
    num_workers: int,
    device: str,
    protocol: str,
    weights: Sequence[str | Path],
) -> Comparison:
    root = Path(root_dir)
    question = Question(
        metrics=metrics_from(metrics),
        protocol=protocol,
        sample_duration=sample_duration,
        weights=tuple(Path(path) for path in weights),
        device=_settled(device),
        batch=batch_size if batch_size > 1 else None,
        workers=num_workers,
        root=root,
    )
    return compare(root / path_gen, root / path_gt, question, say=lambda line: print(line, file=sys.stderr))


def _settled(device: str) -> str | None:
    if not isinstance(device, _Default):
        return device
    from rushes.distribution.features import choose_device

    found = choose_device(None)
    if found == "cpu":
        print("no CUDA device here: computing on the CPU", file=sys.stderr)
    return found
