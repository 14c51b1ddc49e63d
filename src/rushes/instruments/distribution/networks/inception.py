"""Inception-v3 as FID uses it, on the frames of clips; the layers are in `rushes.vision.inception`.

It sees pictures resized to 299 as (x − 128)/128; the 128 is taken off before, and here it divides.
"""

from __future__ import annotations

import torch
from torch import nn

from rushes.instruments.distribution.features.backbones import Backbone, Published
from rushes.vision.inception import FEATURES, inception_layers


class FrameInception(nn.Module):
    """Clips of one frame (N, 3, 1, 299, 299), less 128, to features (N, 2048); of several, to the mean over them."""

    def __init__(self) -> None:
        super().__init__()
        self.net = nn.ModuleDict({"layers": inception_layers()})

    def forward(self, clips: torch.Tensor) -> torch.Tensor:
        count, channels, frames, height, width = clips.shape
        pictures = clips.transpose(1, 2).reshape(count * frames, channels, height, width)
        vectors: torch.Tensor = self.net["layers"](pictures / 128.0)
        return vectors.reshape(count, frames, FEATURES).mean(dim=1)


BACKBONE = Backbone(
    name="inception",
    label="Inception",
    features={"pool2048": FEATURES},
    build=lambda recipe: FrameInception(),
    recognised_by="net.layers.",
    published=(
        Published(
            "fid-inception-v3.npz",
            sha256="7ff4a85c3a6378f0dfc8433ffd789663b01176bec0a683a435651739c091fa34",
            content="73dc5d80609e3eb9755ba392f8aba24761a696fd10419abe774f8f7c4b4595da",
        ),
    ),
    bn_eps=1e-3,
    pool="8x8-mean",
    size=299,
    resize="tf1-bilinear-squash",
    normalise="x-[128,128,128]",
    frames=1,
    protocols=("fid",),
)
