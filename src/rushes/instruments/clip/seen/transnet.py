"""TransNetV2, where shots change (Souček & Lokoč 2020), on a CPU and in 32-bit floats.

Pictures of 48 × 27 pixels, a hundred at a time; three stacks of convolutions that look 1, 2, 4 and 8 frames far, and
how alike each frame and its colours are to the fifty before and after it. The names of the layers are those of the
published checkpoint, `rushes models pull transnet`.
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

FILE = "transnetv2.npz"
WIDTH, HEIGHT = 48, 27
WINDOW, STEP, MARGIN = 100, 50, 25
"""Frames seen at once, frames told of by each window, and those at either end that are only looked at."""
FILTERS, STACKS, REACH = 16, 3, 101


class _Separable(nn.Module):
    """A convolution over the picture, then one over time."""

    def __init__(self, before: int, after: int, far: int) -> None:
        super().__init__()
        over = nn.Conv3d(before, 2 * after, (1, 3, 3), padding=(0, 1, 1), bias=False)
        along = nn.Conv3d(2 * after, after, (3, 1, 1), dilation=(far, 1, 1), padding=(far, 0, 0), bias=False)
        self.layers = nn.ModuleList([over, along])

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


class _Cell(nn.Module):
    def __init__(self, before: int, after: int) -> None:
        super().__init__()
        for far in (1, 2, 4, 8):
            self.add_module(f"Conv3D_{far}", _Separable(before, after, far))
        self.bn = nn.BatchNorm3d(4 * after, eps=1e-3)

    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = self.bn(torch.cat([self.get_submodule(f"Conv3D_{far}")(x) for far in (1, 2, 4, 8)], 1))
        return found


class _Stack(nn.Module):
    def __init__(self, before: int, after: int) -> None:
        super().__init__()
        self.DDCNN = nn.ModuleList([_Cell(before, after), _Cell(4 * after, after)])

    def forward(self, x: Tensor) -> Tensor:
        first = F.relu(self.DDCNN[0](x))
        return F.avg_pool3d(F.relu(self.DDCNN[1](first)) + first, (1, 2, 2))


def _around(rows: Tensor) -> Tensor:
    """Likeness of each row to those up to 50 before and after it: N × T × 101; 0 beyond the ends."""
    time = rows.shape[1]
    alike = F.pad(rows @ rows.transpose(1, 2), (REACH // 2, REACH // 2))
    places = torch.arange(time)[:, None] + torch.arange(REACH)[None]
    return alike.gather(2, places.expand(len(rows), -1, -1))


class _FrameSimilarity(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.projection = nn.Linear(sum(4 * FILTERS * 2**n for n in range(STACKS)), 128)
        self.fc = nn.Linear(REACH, 128)

    def forward(self, stacks: list[Tensor]) -> Tensor:
        means = torch.cat([stack.mean(dim=(3, 4)) for stack in stacks], 1).transpose(1, 2)
        return F.relu(self.fc(_around(F.normalize(self.projection(means), dim=2))))


class _ColorHistograms(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(REACH, 128)

    def forward(self, pictures: Tensor) -> Tensor:
        red, green, blue = (pictures.int() >> 5).flatten(2, 3).unbind(-1)
        bins = ((red << 6) + (green << 3) + blue).long()
        counts = torch.zeros(*bins.shape[:2], 512).scatter_add_(2, bins, torch.ones(bins.shape))
        return F.relu(self.fc(_around(F.normalize(counts, dim=2))))


class TransNet(nn.Module):
    """Pictures N × T × 27 × 48 × 3 (uint8, RGB) to the logit of a change at each, N × T."""

    def __init__(self) -> None:
        super().__init__()
        widths = [3, *(4 * FILTERS * 2**n for n in range(STACKS - 1))]
        self.SDDCNN = nn.ModuleList([_Stack(width, FILTERS * 2**n) for n, width in enumerate(widths)])
        self.frame_sim_layer, self.color_hist_layer = _FrameSimilarity(), _ColorHistograms()
        self.fc1 = nn.Linear(4 * FILTERS * 2 ** (STACKS - 1) * 18 + 256, 1024)
        self.cls_layer1 = nn.Linear(1024, 1)

    def forward(self, pictures: Tensor) -> Tensor:
        x, stacks = pictures.permute(0, 4, 1, 2, 3).float() / 255, []
        for stack in self.SDDCNN:
            x = stack(x)
            stacks.append(x)
        flat = x.permute(0, 2, 3, 4, 1).flatten(2)
        seen = torch.cat([self.color_hist_layer(pictures), self.frame_sim_layer(stacks), flat], 2)
        found: Tensor = self.cls_layer1(F.relu(self.fc1(seen)))[..., 0]
        return found


def changes(pictures: NDArray[np.uint8]) -> NDArray[np.float64]:
    """How likely the shot changes at each of T pictures (T × 27 × 48 × 3, RGB); one thread."""
    count = len(pictures)
    ends = np.repeat(pictures[:1], MARGIN, 0), np.repeat(pictures[-1:], MARGIN + -count % STEP, 0)
    padded = torch.from_numpy(np.concatenate([ends[0], pictures, ends[1]]))
    found = []
    with torch.inference_mode(), torch_on_one_thread():
        for start in range(0, len(padded) - WINDOW + 1, STEP):
            found.append(torch.sigmoid(network()(padded[None, start : start + WINDOW]))[0, MARGIN:-MARGIN])
    return torch.cat(found)[:count].double().numpy()


@cache
def network() -> TransNet:
    """The network with the pulled weights; raises `MissingDependency` where they are not there."""
    transnet = TransNet()
    arrays, _ = load_npz(model_path(FILE))
    # A second head, for every frame of a slow change, is in the file and not asked.
    state = {name: torch.from_numpy(values) for name, values in arrays.items() if not name.startswith("cls_layer2")}
    transnet.load_state_dict(state)
    return transnet.eval()
