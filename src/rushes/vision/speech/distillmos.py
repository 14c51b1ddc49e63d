"""DistillMOS, how good speech sounds (Stahl & Gamper 2025), run as the package `distillmos` 0.9.1 runs it.

A compressed complex spectrum through six convolutions, seven transformer layers and an attention pool. The names of the
layers are those of the checkpoint, `rushes models pull distillmos`.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from rushes.storage.numpy_files import load_npz
from rushes.vision.models.cache import model_path
from rushes.vision.one_thread import torch_on_one_thread
from rushes.vision.speech.spectra import Samples

FILE = "distillmos-v7.npz"
STRETCH = 122880
"""Samples that the network hears at once: 7.68 s at 16 kHz."""
HOP = 16000
_WINDOW, _STEP = 320, 160
_CHANNELS = (2, 64, 64, 128, 256, 256, 256)
_WIDTH = 200


class Spectrum(nn.Module):
    """Sounds to 1024 numbers each 20 ms."""

    def __init__(self) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for n in range(6):
            stride = (2 if n else 1, 2 if n == 5 else 1)
            layers += [nn.Conv2d(_CHANNELS[n], _CHANNELS[n + 1], 3, stride, (0, 1)), nn.LeakyReLU(0.1)]
        self.cnn = nn.Sequential(*layers)

    def forward(self, sounds: Tensor) -> Tensor:
        edge = (_WINDOW - _STEP) // 2
        padded = F.pad(sounds, (edge, edge), mode="reflect")
        window = torch.hann_window(_WINDOW)
        bins = torch.view_as_real(torch.stft(padded, _WINDOW, _STEP, window=window, center=False, return_complex=True))
        size = bins.square().sum(-1, keepdim=True).sqrt().clip(1e-12)
        found: Tensor = self.cnn((size**0.3 * bins / size).permute(0, 3, 1, 2))
        return found.flatten(1, -2)


class Positions(nn.Module):
    """Where in the stretch a number stands; the sines are in the checkpoint."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("pe", torch.zeros(1, STRETCH // 320, _WIDTH))


class Encoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(1024)
        self.position_encoding = Positions()
        self.linear_proj = nn.Linear(1024, _WIDTH)
        layer = nn.TransformerEncoderLayer(_WIDTH, 8, 2 * _WIDTH, 0.0, batch_first=True)
        self.transformer_encoder = nn.TransformerEncoder(layer, 7, enable_nested_tensor=False)

    def forward(self, features: Tensor) -> Tensor:
        x = self.linear_proj(self.norm(features).transpose(1, 2)) + self.position_encoding.pe
        found: Tensor = self.transformer_encoder(x)
        return found


class Pool(nn.Module):
    """A mean over time, by weights that depend on what is there."""

    def __init__(self) -> None:
        super().__init__()
        self.linear1, self.linear2, self.linear3 = (
            nn.Linear(_WIDTH, 2 * _WIDTH),
            nn.Linear(2 * _WIDTH, 1),
            nn.Linear(_WIDTH, 1),
        )

    def forward(self, x: Tensor) -> Tensor:
        weights = self.linear2(F.relu(self.linear1(x))).softmax(1)
        found: Tensor = self.linear3((weights * x).sum(1))
        return found


class Judge(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm_input, self.transformer = nn.BatchNorm1d(1024), Encoder()
        self.norm_trans, self.pool = nn.BatchNorm1d(_WIDTH), Pool()

    def forward(self, features: Tensor) -> Tensor:
        x = self.transformer(self.norm_input(features)).transpose(1, 2)
        return torch.sigmoid(self.pool(self.norm_trans(x).transpose(1, 2))).squeeze(1)


class DistillMOS(nn.Module):
    """Stretches of 122,880 samples to opinions from 1 to 5."""

    def __init__(self) -> None:
        super().__init__()
        self.cnn, self.transformer_pool_attn = Spectrum(), Judge()

    def forward(self, stretches: Tensor) -> Tensor:
        loudest = stretches.abs().max(1, keepdim=True).values
        found: Tensor = 1 + 4 * self.transformer_pool_attn(self.cnn(stretches / (loudest + 1e-8)))
        return found


def stretches(samples: Samples) -> list[Samples]:
    """What the network hears: 7.68 s each, at most a second apart and evenly spread; a short sound is followed by
    silence.

    >>> [len(stretches(np.zeros(seconds * 16000, np.float32))) for seconds in (1, 7, 8, 10)]
    [1, 1, 2, 4]
    """
    over = len(samples) - STRETCH
    if over <= 0:
        return [np.pad(samples, (0, -over))]
    count = math.ceil(over / HOP) + 1
    starts = [int(share * over) for share in np.linspace(0, 1, count)]
    return [samples[start : start + STRETCH] for start in starts]


def opinion(samples: Samples) -> tuple[float, int]:
    """The mean opinion over the stretches of a sound, and how many there are."""
    parts = stretches(samples)
    with torch.inference_mode(), torch_on_one_thread():
        heard = [float(_network()(torch.from_numpy(np.ascontiguousarray(part))[None])[0]) for part in parts]
    return float(np.mean(heard)), len(heard)


@cache
def _network() -> DistillMOS:
    arrays, _ = load_npz(model_path(FILE))
    network = DistillMOS()
    state = {name.removeprefix("model."): torch.from_numpy(values) for name, values in arrays.items()}
    network.load_state_dict(state)
    return network.eval()
