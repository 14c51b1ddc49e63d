"""SyncNet's two streams in torch, with the layer names of the public `syncnet_v2.model` checkpoint.

Sound: 13 coefficients × 20 steps (0.2 s). Lips: five 224² frames. Both end in 1024 numbers; in sync they are close.
Chung and Zisserman, "Out of time: automated lip sync in the wild", 2016; layout of joonson/syncnet_python.
"""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from rushes.core.errors import InputError, WeightsError
from rushes.core.machine.provenance import file_digest, short_digest
from rushes.instruments.clip.frames.one_thread import torch_on_one_thread

EMBEDDING = 1024
FRAME_SIDE = 224
FRAMES = 5
STEPS = 20
COEFFICIENTS = 13


class SyncNet(nn.Module):
    """The network; `state_dict` keys are `netcnnaud`, `netfcaud`, `netcnnlip`, `netfclip`, as in the checkpoint."""

    def __init__(self) -> None:
        super().__init__()
        self.netcnnaud = nn.Sequential(
            *_flat(1, 64, 3, padding=1),
            nn.MaxPool2d((1, 1), stride=(1, 1)),
            *_flat(64, 192, 3, padding=1),
            nn.MaxPool2d((3, 3), stride=(1, 2)),
            *_flat(192, 384, 3, padding=1),
            *_flat(384, 256, 3, padding=1),
            *_flat(256, 256, 3, padding=1),
            nn.MaxPool2d((3, 3), stride=(2, 2)),
            *_flat(256, 512, (5, 4), padding=0),
        )
        self.netfcaud = _head()
        self.netfclip = _head()
        self.netcnnlip = nn.Sequential(
            *_deep(3, 96, (5, 7, 7), stride=2, padding=0),
            nn.MaxPool3d((1, 3, 3), stride=(1, 2, 2)),
            *_deep(96, 256, (1, 5, 5), stride=2, padding=1),
            nn.MaxPool3d((1, 3, 3), stride=(1, 2, 2), padding=(0, 1, 1)),
            *_deep(256, 256, (1, 3, 3), stride=1, padding=1),
            *_deep(256, 256, (1, 3, 3), stride=1, padding=1),
            *_deep(256, 256, (1, 3, 3), stride=1, padding=1),
            nn.MaxPool3d((1, 3, 3), stride=(1, 2, 2)),
            *_deep(256, 512, (1, 6, 6), stride=1, padding=0),
        )

    def sound(self, coefficients: torch.Tensor) -> torch.Tensor:
        """N × 1 × 13 × 20 → N × 1024."""
        result: torch.Tensor = self.netfcaud(self.netcnnaud(coefficients).flatten(1))
        return result

    def lips(self, frames: torch.Tensor) -> torch.Tensor:
        """N × 3 × 5 × 224 × 224 (BGR, 0–255) → N × 1024."""
        result: torch.Tensor = self.netfclip(self.netcnnlip(frames).flatten(1))
        return result


class Evaluator:
    """A loaded SyncNet that turns windows into embeddings, on one thread so that results do not depend on how many."""

    def __init__(self, network: SyncNet, digest: str) -> None:
        self.network = network.eval()
        self.digest = digest
        """First digits of the weights' sha256: part of the signature."""

    @classmethod
    def load(cls, path: Path | str) -> Evaluator:
        """Read `syncnet_v2.model`. Only tensors are accepted: a file that would run code is a `WeightsError`."""
        path = Path(path)
        if not path.is_file():
            raise InputError(f"{path}: no such weights file; give SyncNet's syncnet_v2.model")
        network = SyncNet()
        _fill(network, _read(path), path)
        return cls(network, short_digest(file_digest(path)))

    def lips(self, windows: NDArray[np.uint8]) -> NDArray[np.float32]:
        """N × 5 × 224 × 224 × 3 BGR crops → N × 1024."""
        with torch.inference_mode(), torch_on_one_thread():
            frames = torch.from_numpy(np.ascontiguousarray(windows)).permute(0, 4, 1, 2, 3).float()
            return np.asarray(self.network.lips(frames).numpy(), np.float32)

    def sound(self, windows: NDArray[np.float64]) -> NDArray[np.float32]:
        """N × 20 × 13 coefficients → N × 1024."""
        with torch.inference_mode(), torch_on_one_thread():
            steps = torch.from_numpy(np.ascontiguousarray(windows.transpose(0, 2, 1)[:, None])).float()
            return np.asarray(self.network.sound(steps).numpy(), np.float32)


def _flat(inputs: int, outputs: int, kernel: int | tuple[int, int], *, padding: int) -> tuple[nn.Module, ...]:
    return nn.Conv2d(inputs, outputs, kernel, padding=padding), nn.BatchNorm2d(outputs), nn.ReLU()


def _deep(
    inputs: int, outputs: int, kernel: tuple[int, int, int], *, stride: int, padding: int
) -> tuple[nn.Module, ...]:
    convolution = nn.Conv3d(inputs, outputs, kernel, stride=(1, stride, stride), padding=(0, padding, padding))
    return convolution, nn.BatchNorm3d(outputs), nn.ReLU()


def _head() -> nn.Sequential:
    return nn.Sequential(nn.Linear(512, 512), nn.BatchNorm1d(512), nn.ReLU(), nn.Linear(512, EMBEDDING))


def _read(path: Path) -> dict[str, torch.Tensor]:
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError:
        raise WeightsError(
            f"{path}: expected SyncNet weights; got a file that holds more than plain tensors, which was not loaded"
        ) from None
    except (RuntimeError, EOFError, OSError, ValueError, KeyError, AttributeError, TypeError, IndexError) as error:
        digest = short_digest(file_digest(path))
        raise WeightsError(
            f"{path}: expected SyncNet's syncnet_v2.model; got a file with sha256 {digest}… that torch cannot read "
            f"({type(error).__name__})"
        ) from None
    if not isinstance(state, dict) or not all(isinstance(value, torch.Tensor) for value in state.values()):
        raise WeightsError(f"{path}: expected a table of tensors by layer name; got {type(state).__name__}")
    return state


def _fill(network: SyncNet, state: dict[str, torch.Tensor], path: Path) -> None:
    """Copy the weights in; every tensor has to be there, by name and shape. Step counters may be missing."""
    wanted = {name: tuple(value.shape) for name, value in network.state_dict().items()}
    got = {name: tuple(value.shape) for name, value in state.items()}
    needed = {name for name in wanted if not name.endswith("num_batches_tracked")}
    for name in sorted(needed | got.keys()):
        if wanted.get(name) != got.get(name):
            there = f"has {name} of {got[name]}" if name in got else f"lacks {name}"
            here = f"SyncNet's is {wanted[name]}" if name in wanted else "SyncNet has no such layer"
            raise WeightsError(f"{path}: expected the layers of SyncNet's syncnet_v2.model; the file {there}, {here}")
    network.load_state_dict(state, strict=False)
