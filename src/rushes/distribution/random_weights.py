"""Seeded random checkpoints in the published layouts, for the demo and the tests where the trained files are not.

A number made with them compares only with itself. The layout is exactly the published one: the mark that says
"random, seed N" sits in two `num_batches_tracked` counters, which no forward pass reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
import torch

from rushes.distribution.networks.i3d import I3D
from rushes.distribution.networks.resnet3d import ResNet3D50
from rushes.errors import InputError

Backbone: TypeAlias = Literal["i3d", "r3d50"]

# "RUSHES" as a number: a training run does not stop at exactly this many batches.
_MARK = int.from_bytes(b"RUSHES", "big")


def random_state(backbone: Backbone, seed: int) -> dict[str, torch.Tensor]:
    """A state dict with He-normal convolutions and mild batch norms, the same on every machine for one seed."""
    if not 0 <= seed < 2**32:
        raise InputError(f"a seed is a whole number from 0 to 4294967295; got {seed}")
    network = I3D() if backbone == "i3d" else ResNet3D50()
    draw = np.random.RandomState(seed)  # its streams are frozen by numpy, unlike those of newer generators
    state: dict[str, torch.Tensor] = {}
    counters = []
    for name, value in network.state_dict().items():
        if name.endswith("num_batches_tracked"):
            counters.append(name)
            state[name] = torch.tensor(0)
        else:
            state[name] = torch.from_numpy(_values(draw, name, tuple(value.shape)))
    state[counters[0]], state[counters[1]] = torch.tensor(_MARK), torch.tensor(seed)
    return state


def _values(draw: np.random.RandomState, name: str, shape: tuple[int, ...]) -> np.ndarray:
    if len(shape) > 1:
        spread = np.sqrt(2.0 / np.prod(shape[1:]))
        if name == "conv1.weight":
            spread /= 64  # this network sees pixels on the 0–255 scale; the other one −1 to 1
        return np.asarray(draw.standard_normal(shape) * spread, np.float32)
    if name.endswith(("running_var", "weight")):
        # a bottleneck's last norm is kept small, or sixteen shortcuts in a row would grow without end
        size = 0.3 if ".bn3.weight" in name else 1.0
        return (size * draw.uniform(0.8, 1.2, shape)).astype(np.float32)
    return (0.1 * draw.standard_normal(shape)).astype(np.float32)


def random_seed_of(state: Mapping[str, torch.Tensor]) -> int | None:
    """The seed when `random_state` made this state dict, else None."""
    counters = [name for name in state if name.endswith("num_batches_tracked")]
    if len(counters) < 2 or int(state[counters[0]]) != _MARK:
        return None
    return int(state[counters[1]])


def write_random_checkpoint(backbone: Backbone, path: Path | str, *, seed: int = 0) -> Path:
    """Write a random checkpoint laid out as the published file: a plain state dict, or `module.` under `state_dict`."""
    state = random_state(backbone, seed)
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    content: object = state
    if backbone == "r3d50":
        content = {"state_dict": {f"module.{name}": value for name, value in state.items()}}
    torch.save(content, target)
    return target
