"""RIFE 3.8, the frame between two frames (Huang et al. 2022), on a CPU and in 32-bit floats.

Three blocks, from coarse to fine, each say how both pictures move to the middle and how they are mixed there. Where
the first look finds large motion, all three look at half the size. The names of the layers are those of the published
checkpoint, `rushes models pull rife`.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from rushes.instruments.clip.frames.one_thread import torch_on_one_thread
from rushes.storage.numpy_files import load_npz
from rushes.vision.models.cache import model_path

FILE = "rife-3.8.npz"
CHANNELS = 90
CELL = 32
"""Both sides are filled up with black to a multiple of it."""
SCALES = (4.0, 2.0, 1.0)
LARGE = 64.0
"""Pixels of motion, at an eighth of the size, beyond which everything is looked at at half the size."""

Rgb = NDArray[np.uint8]


def _conv(before: int, after: int, stride: int = 1) -> nn.Sequential:
    return nn.Sequential(nn.Conv2d(before, after, 3, stride, 1), nn.PReLU(after))


def _enlarging(after: int) -> nn.Sequential:
    half = CHANNELS // 2
    return nn.Sequential(
        nn.ConvTranspose2d(CHANNELS, half, 4, 2, 1), nn.PReLU(half), nn.ConvTranspose2d(half, after, 4, 2, 1)
    )


def _scaled(x: Tensor, factor: float) -> Tensor:
    return F.interpolate(x, scale_factor=factor, mode="bilinear", align_corners=False, recompute_scale_factor=False)


class Block(nn.Module):
    """Both pictures, the mixing and the flow so far, to what is to be added to flow and mixing."""

    def __init__(self) -> None:
        super().__init__()
        self.conv0 = nn.Sequential(_conv(11, CHANNELS // 2, 2), _conv(CHANNELS // 2, CHANNELS, 2))
        for number in range(4):
            self.add_module(f"convblock{number}", nn.Sequential(_conv(CHANNELS, CHANNELS), _conv(CHANNELS, CHANNELS)))
        self.conv1, self.conv2 = _enlarging(4), _enlarging(1)

    def forward(self, x: Tensor, flow: Tensor, scale: float) -> tuple[Tensor, Tensor]:
        found = self.conv0(torch.cat([_scaled(x, 1 / scale), _scaled(flow, 1 / scale) / scale], 1))
        for number in range(4):
            found = self.get_submodule(f"convblock{number}")(found) + found
        return _scaled(self.conv1(found), scale) * scale, _scaled(self.conv2(found), scale)


class Rife(nn.Module):
    """Two pictures N × 3 × H × W on 0–1, sides multiples of 32, to the one between them."""

    def __init__(self) -> None:
        super().__init__()
        self.block0, self.block1, self.block2 = Block(), Block(), Block()

    def forward(self, one: Tensor, other: Tensor) -> Tensor:
        flow, mask = torch.zeros_like(one[:, :1]).repeat(1, 4, 1, 1), torch.zeros_like(one[:, :1])
        first, _ = self.block0(torch.cat([one, other, mask], 1), flow, 2 * SCALES[0])
        wider = 2.0 if float(first.abs().max()) > LARGE else 1.0
        here, there = one, other
        for block, scale in zip((self.block0, self.block1, self.block2), SCALES, strict=True):
            more_flow, more_mask = block(torch.cat([here, there, mask], 1), flow, scale * wider)
            flow, mask = flow + more_flow, mask + more_mask
            here, there = _taken_back(one, flow[:, :2]), _taken_back(other, flow[:, 2:])
        mixing = torch.sigmoid(mask)
        return here * mixing + there * (1 - mixing)


def _taken_back(picture: Tensor, flow: Tensor) -> Tensor:
    """The picture read at each point plus the flow there, bilinearly; its edges go on."""
    rows, columns = picture.shape[2:]
    across = torch.linspace(-1.0, 1.0, columns).view(1, 1, 1, columns).expand(1, -1, rows, -1)
    down = torch.linspace(-1.0, 1.0, rows).view(1, 1, rows, 1).expand(1, -1, -1, columns)
    steps = torch.cat([flow[:, :1] / ((columns - 1) / 2), flow[:, 1:] / ((rows - 1) / 2)], 1)
    grid = (torch.cat([across, down], 1) + steps).permute(0, 2, 3, 1)
    return F.grid_sample(picture, grid, mode="bilinear", padding_mode="border", align_corners=True)


def middle(one: Rgb, other: Rgb) -> Rgb:
    """The frame between two, H × W × 3, values cut down to whole levels; one thread."""
    height, width = one.shape[:2]
    pictures = torch.from_numpy(np.stack([one, other])).permute(0, 3, 1, 2).float() / 255
    pictures = F.pad(pictures, (0, -width % CELL, 0, -height % CELL))
    with torch.inference_mode(), torch_on_one_thread():
        found = network()(pictures[:1], pictures[1:])[0, :, :height, :width]
    return np.asarray((found * 255).clamp(0, 255).byte().permute(1, 2, 0).numpy())


@cache
def network() -> Rife:
    """The network with the pulled weights; raises `MissingDependency` where they are not there."""
    rife = Rife()
    arrays, _ = load_npz(model_path(FILE))
    state = {name.removeprefix("module."): torch.from_numpy(values) for name, values in arrays.items()}
    # The teacher that it was trained with is in the file too.
    rife.load_state_dict({name: value for name, value in state.items() if not name.startswith("block_tea.")})
    return rife.eval()
