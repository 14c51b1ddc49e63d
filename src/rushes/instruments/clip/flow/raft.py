"""RAFT, optical flow by recurrent refinement (Teed & Deng 2020), on a CPU and in 32-bit floats.

Features of both pictures at an eighth of their size, the products of every pair of points, and a recurrent block that
looks up the products around where each point is thought to be and says how far that is off. Both directions are found
at once: the features are the same, and the products of one direction are those of the other transposed.

The names of the layers are those of the published checkpoint, `rushes models pull raft`.
"""

from __future__ import annotations

import math
from functools import cache, lru_cache

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from rushes.instruments.clip.frames.one_thread import torch_on_one_thread
from rushes.storage.numpy_files import load_npz
from rushes.vision.models.cache import model_path

FILE = "raft-things.npz"
HIDDEN = 128
"""Channels of the state, and of the context that goes with it."""
LEVELS = 4
"""Sizes at which products are looked up: as they are, and averaged over 2, 4 and 8 points of the second picture."""
RADIUS = 4
CELL = 8
"""Pixels to a side of what one point of the features stands for."""

Field = NDArray[np.float32]
Rgb = NDArray[np.uint8]


class Block(nn.Module):
    """Two convolutions and a way around them."""

    def __init__(self, before: int, after: int, norm: type[nn.Module], stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(before, after, 3, stride, 1)
        self.conv2 = nn.Conv2d(after, after, 3, 1, 1)
        self.norm1, self.norm2 = norm(after), norm(after)
        self.downsample = None if stride == 1 else nn.Sequential(nn.Conv2d(before, after, 1, stride), norm(after))

    def forward(self, x: Tensor) -> Tensor:
        y = F.relu(self.norm1(self.conv1(x)))
        y = F.relu(self.norm2(self.conv2(y)))
        around: Tensor = x if self.downsample is None else self.downsample(x)
        return F.relu(around + y)


class Encoder(nn.Module):
    """A picture in −1..1 to 256 channels at an eighth of its size."""

    def __init__(self, norm: type[nn.Module]) -> None:
        super().__init__()
        self.conv1, self.norm1 = nn.Conv2d(3, 64, 7, 2, 3), norm(64)
        self.layer1 = nn.Sequential(Block(64, 64, norm, 1), Block(64, 64, norm, 1))
        self.layer2 = nn.Sequential(Block(64, 96, norm, 2), Block(96, 96, norm, 1))
        self.layer3 = nn.Sequential(Block(96, 128, norm, 2), Block(128, 128, norm, 1))
        self.conv2 = nn.Conv2d(128, 256, 1)

    def forward(self, x: Tensor) -> Tensor:
        x = F.relu(self.norm1(self.conv1(x)))
        found: Tensor = self.conv2(self.layer3(self.layer2(self.layer1(x))))
        return found


class MotionEncoder(nn.Module):
    """What was looked up, and the flow so far, as 128 channels."""

    def __init__(self) -> None:
        super().__init__()
        self.convc1 = nn.Conv2d(LEVELS * (2 * RADIUS + 1) ** 2, 256, 1)
        self.convc2 = nn.Conv2d(256, 192, 3, padding=1)
        self.convf1 = nn.Conv2d(2, 128, 7, padding=3)
        self.convf2 = nn.Conv2d(128, 64, 3, padding=1)
        self.conv = nn.Conv2d(256, 126, 3, padding=1)

    def forward(self, flow: Tensor, products: Tensor) -> Tensor:
        products = F.relu(self.convc2(F.relu(self.convc1(products))))
        moved = F.relu(self.convf2(F.relu(self.convf1(flow))))
        return torch.cat([F.relu(self.conv(torch.cat([products, moved], 1))), flow], 1)


class SeparableGRU(nn.Module):
    """A gated recurrent unit that sees five points to a side, along rows and then along columns."""

    def __init__(self) -> None:
        super().__init__()
        for axis, (kernel, padding) in enumerate((((1, 5), (0, 2)), ((5, 1), (2, 0))), 1):
            for gate in "zrq":
                self.add_module(f"conv{gate}{axis}", nn.Conv2d(3 * HIDDEN, HIDDEN, kernel, padding=padding))

    def forward(self, state: Tensor, x: Tensor) -> Tensor:
        for axis in (1, 2):
            both = torch.cat([state, x], 1)
            update = torch.sigmoid(self.get_submodule(f"convz{axis}")(both))
            reset = torch.sigmoid(self.get_submodule(f"convr{axis}")(both))
            fresh = torch.tanh(self.get_submodule(f"convq{axis}")(torch.cat([reset * state, x], 1)))
            state = (1 - update) * state + update * fresh
        return state


class FlowHead(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(HIDDEN, 256, 3, padding=1), nn.Conv2d(256, 2, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = self.conv2(F.relu(self.conv1(x)))
        return found


class UpdateBlock(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encoder, self.gru, self.flow_head = MotionEncoder(), SeparableGRU(), FlowHead()
        self.mask = nn.Sequential(nn.Conv2d(HIDDEN, 256, 3, padding=1), nn.ReLU(), nn.Conv2d(256, 9 * CELL**2, 1))


class Raft(nn.Module):
    """Two pictures to the flow from each to the other."""

    def __init__(self) -> None:
        super().__init__()
        self.fnet, self.cnet, self.update_block = Encoder(nn.InstanceNorm2d), Encoder(nn.BatchNorm2d), UpdateBlock()

    def forward(self, pictures: Tensor, iterations: int) -> Tensor:
        """Flow from the first to the second picture, and back: 2 × 2 × H × W, in pixels as (x, y).

        `pictures` is 2 × 3 × H × W on 0–255, height and width multiples of 8.
        """
        block, scaled = self.update_block, pictures * (2 / 255) - 1
        pyramid = _pyramid(self.fnet(scaled))
        state, context = self.cnet(scaled).split([HIDDEN, HIDDEN], 1)
        state, context = torch.tanh(state), F.relu(context)
        start = _points(state.shape[2], state.shape[3])
        flow = torch.zeros_like(start).repeat(2, 1, 1, 1)
        for _ in range(iterations):
            motion = block.encoder(flow, _looked_up(pyramid, start + flow))
            state = block.gru(state, torch.cat([context, motion], 1))
            flow = flow + block.flow_head(state)
        return _enlarged(flow, 0.25 * block.mask(state))


def _pyramid(features: Tensor) -> list[Tensor]:
    """Products of every point of one picture with every point of the other, for both directions, at each size."""
    _, channels, rows, columns = features.shape
    one, other = features.flatten(2)
    products = one.T @ other / math.sqrt(channels)
    level = torch.cat([products, products.T]).view(-1, 1, rows, columns)
    found = [level]
    for _ in range(LEVELS - 1):
        found.append(level := F.avg_pool2d(level, 2))
    return found


def _points(rows: int, columns: int) -> Tensor:
    """The place of every point, as 1 × (x, y) × rows × columns."""
    y, x = torch.meshgrid(torch.arange(rows), torch.arange(columns), indexing="ij")
    return torch.stack([x, y]).float()[None]


@lru_cache(maxsize=1)
def _window() -> Tensor:
    """Places around a point: (x, y) offsets, x changing slowest, as the network was trained."""
    reach = torch.arange(-RADIUS, RADIUS + 1, dtype=torch.float32)
    x, y = torch.meshgrid(reach, reach, indexing="ij")
    return torch.stack([x, y], -1)


def _looked_up(pyramid: list[Tensor], places: Tensor) -> Tensor:
    """The products around each place, at each size; nothing lies outside the picture."""
    pairs, _, rows, columns = places.shape
    centres = places.permute(0, 2, 3, 1).reshape(-1, 1, 1, 2)
    found = []
    for size, level in enumerate(pyramid):
        inside = torch.tensor([level.shape[3], level.shape[2]], dtype=torch.float32)
        grid = (centres / 2**size + _window()) * 2 / (inside - 1) - 1
        products = F.grid_sample(level, grid, align_corners=True)
        found.append(products.view(pairs, rows, columns, -1))
    return torch.cat(found, -1).permute(0, 3, 1, 2).contiguous()


def _enlarged(flow: Tensor, mask: Tensor) -> Tensor:
    """Eight times the size: each pixel a weighted mean of the nine points around it, by weights of its own."""
    pairs, _, rows, columns = flow.shape
    weights = mask.view(pairs, 1, 9, CELL, CELL, rows, columns).softmax(2)
    around = F.unfold(CELL * flow, 3, padding=1).view(pairs, 2, 9, 1, 1, rows, columns)
    fine = (weights * around).sum(2)
    return fine.permute(0, 1, 4, 2, 5, 3).reshape(pairs, 2, CELL * rows, CELL * columns)


def flows(one: Rgb, other: Rgb, *, iterations: int) -> tuple[Field, Field]:
    """Where each point of `one` goes in `other`, and of `other` in `one`; H × W × (x, y), pixels.

    The edges are repeated to the next multiple of 8, as much on either side; the pictures are at least 128 pixels wide
    and high. One thread, so that the values do not depend on how many there are.
    """
    height, width = one.shape[:2]
    left, top = -width % CELL // 2, -height % CELL // 2
    pictures = torch.from_numpy(np.stack([one, other])).permute(0, 3, 1, 2).float()
    pictures = F.pad(pictures, (left, -width % CELL - left, top, -height % CELL - top), mode="replicate")
    with torch.inference_mode(), torch_on_one_thread():
        found = network()(pictures, iterations)[:, :, top : top + height, left : left + width]
    there, back = found.permute(0, 2, 3, 1).contiguous().numpy()
    return there, back


@cache
def network() -> Raft:
    """The network with the pulled weights; raises `MissingDependency` where they are not there."""
    raft = Raft()
    arrays, _ = load_npz(model_path(FILE))
    state = {name.removeprefix("module."): torch.from_numpy(values) for name, values in arrays.items()}
    # The checkpoint has the norm beside a way around twice, under two names.
    raft.load_state_dict({name: value for name, value in state.items() if ".norm3." not in name})
    return raft.eval()
