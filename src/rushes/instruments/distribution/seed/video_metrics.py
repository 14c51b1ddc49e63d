"""`calculate_video_metrics`, as the specification documents it: its signature and the shape of its result."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from rushes.core import Measurement
from rushes.core.errors import InputError
from rushes.core.selection import keys_of
from rushes.instruments.distribution.compare import SetComparison, prepare
from rushes.instruments.distribution.features.backbones import BACKBONES
from rushes.instruments.distribution.protocols import METRICS, SPECIFICATION, Choices
from rushes.instruments.distribution.settings import Role, Settings, metrics_from
from rushes.instruments.distribution.show.remarks import sentences_of

if TYPE_CHECKING:
    import torch

_NAMED = 5
"""Clips of a side that are named when they were left out; the others are counted."""


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
    device: str | torch.device = _WHERE_THERE_IS_ONE,
    *,
    protocol: str = SPECIFICATION,
    weights: Sequence[str | Path] = (),
) -> VideoMetrics:
    """FID-VID and FVD between generated and ground-truth videos, as `{'FVD-3DRN50': …, 'FVD-3DInception': …}`.

    Parameters: paths are relative to `root_dir`, unless they begin with it. `sample_duration` is the frames of one
    segment. `batch_size` 1, the documented default, leaves the choice to Rushes; no value depends on it. `device` is
    "cpu", "cuda", "cuda:1" or a `torch.device`; a GPU given by the caller must be there; left out, a machine without
    one uses its CPU and says so. Weights come from the first place that has them: the files given as `weights`; the
    folder that RUSHES_WEIGHTS names; `tools/eval_fvd/` under `root_dir`, then in the checkout that Rushes runs from,
    then in the working directory; the cache of `rushes models pull`. Where they are missing, the error names these
    places and is a `FileNotFoundError` too.

    What a reader must know goes to stderr: the weights file of each network, clips that were left out, random or
    unpublished weights, fewer clips than features, lengths that differ.

    The result is a dictionary with an attribute `comparison`: the same values with their signatures, and the weights
    files, as `rushes.compare_sets` gives them.
    """
    root = Path(root_dir)
    kind, chosen = _resolved(device)
    settings = Settings(
        metrics=metrics_from(metrics),
        protocol=protocol,
        choices=Choices(sample_duration=sample_duration),
        weights=tuple(Path(path) for path in weights),
        device=kind,
        batch=batch_size if batch_size > 1 else None,
        jobs=num_workers,
        root=root,
    )
    with chosen:
        comparison = prepare(_below(root, path_gen), _below(root, path_gt), settings, warn=_print).compared()
    for line in (*left_out_lines(comparison), *note_lines(comparison)):
        _print(line)
    return as_results(comparison)


class VideoMetrics(dict[str, float]):
    """The documented dictionary, and the comparison that it is from."""

    def __init__(self, values: Mapping[str, float], comparison: SetComparison) -> None:
        super().__init__(values)
        self.comparison = comparison

    def __reduce__(self) -> tuple[object, ...]:
        return VideoMetrics, (dict(self), self.comparison)

    def labelled(self) -> dict[str, object]:
        """The values at their places, and beside them what made them: signatures, and weights files with labels."""
        found = self.comparison
        signatures = {result_key(m): m.signature for m in found.measurements if m.name in METRICS}
        files = {str(path): label for path, (_, label) in zip(found.weights_files, found.weights, strict=True)}
        return {**self, "signatures": signatures, "weights": files}


def as_results(comparison: SetComparison) -> VideoMetrics:
    """The documented dictionary of a comparison; under several protocols the last one's values."""
    distances = [m for m in comparison.measurements if m.name in METRICS]
    return VideoMetrics({result_key(m): float(m.value) for m in distances if m.value is not None}, comparison)


def result_key(distance: Measurement) -> str:
    """How the specification calls a distance: "FVD-3DInception", "FVD-3DRN50", "KVD-3DInception"."""
    backbone = BACKBONES[keys_of(distance)["backbone"]]
    kinds = {"fvd": "FVD", "fid-vid": "FVD", "kvd": "KVD", "fid": "FID", "kid": "KID"}
    return f"{kinds.get(distance.name, distance.name.capitalize())}-{backbone.label}"


def left_out_lines(comparison: SetComparison) -> Iterator[str]:
    """The clips that were left out and what lay beside the clips, each with its reason: the first few, then a count."""
    sides: tuple[tuple[Role, str], ...] = (("gen", "generated"), ("gt", "ground-truth"), ("versus", "second generated"))
    for side, name in sides:
        yield from _lines(f"left out of the {name} set", comparison.excluded(side))
    for side, name in sides:
        yield from _lines(f"no part of the {name} set", comparison.ignored(side))


def _lines(what: str, reasons: Mapping[str, str]) -> Iterator[str]:
    for name, why in list(reasons.items())[:_NAMED]:
        yield f"{what}: {why if name in why else f'{name} ({why})'}"
    if len(reasons) > _NAMED:
        yield f"{what}: {len(reasons) - _NAMED} more"


def note_lines(comparison: SetComparison) -> Iterator[str]:
    """What a reader must know of each distance, under the names of the results; what holds for all is said once."""
    distances = [m for m in comparison.measurements if m.name in METRICS]
    named: dict[str, list[str]] = {}
    for distance in distances:
        for sentence in sentences_of(distance.note):
            named.setdefault(sentence, []).append(result_key(distance))
    for sentence, keys in named.items():
        yield f"note: {sentence}" if len(keys) == len(distances) else f"note: {', '.join(keys)}: {sentence}"


def _print(line: str) -> None:
    print(line, file=sys.stderr)


def _below(root: Path, path: str | Path) -> Path:
    """A path that begins with the root already is taken as it is, as by the original, unless it is there twice over."""
    whole = root / path
    return Path(path) if Path(path).is_relative_to(root) and not whole.exists() else whole


def _resolved(device: str | torch.device) -> tuple[str, AbstractContextManager[object]]:
    """ "cpu" or "cuda", and a context in which that is the GPU with the number asked for."""
    from rushes.instruments.distribution.features.extraction import resolve_device

    if isinstance(device, _Default):
        found = resolve_device(None)
        if found == "cpu":
            _print("no CUDA device here; computing on the CPU")
        return found, nullcontext()
    parts = re.fullmatch(r"(cpu|cuda)(?::([0-9]+))?", str(device))
    if parts is None:
        raise InputError(f"expected device cpu, cuda or cuda:0; got {str(device)!r}")
    kind, number = resolve_device(parts[1]), parts[2]
    if kind == "cpu" or number is None:
        return kind, nullcontext()
    import torch

    if int(number) >= torch.cuda.device_count():
        raise InputError(f"expected {device}; torch finds {torch.cuda.device_count()} CUDA devices here")
    return kind, torch.cuda.device(int(number))
