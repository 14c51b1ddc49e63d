"""Which part of a picture is its subject: U²-Netp (Qin et al. 2020), as `rembg` runs it.

The picture is brought to 320 × 320 (bicubic with antialiasing), divided by its largest value and normalised as for
ImageNet; the network's first output is stretched to 0–1. A mask says how much a pixel belongs to what stands out,
whatever that is: a picture without a subject has one all the same.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from rushes.vision.models.cache import model_path

GROUP = "subject"
FILE = "u2netp.onnx"
SIDE = 320
_MEAN = np.array([0.485, 0.456, 0.406], np.float64)
_SPREAD = np.array([0.229, 0.224, 0.225], np.float64)
_TINY = 1e-6

Mask = NDArray[np.float32]


@lru_cache(maxsize=1)
def _network() -> tuple[Any, str]:
    network = cv2.dnn.readNetFromONNX(str(model_path(FILE)))
    return network, network.getUnconnectedOutLayersNames()[0]


def subject_mask(rgb: NDArray[np.uint8]) -> Mask:
    """How much each pixel belongs to the subject, 0 to 1, 320 × 320; all 0 where the network sees no difference."""
    network, output = _network()
    values = _small(rgb).astype(np.float64)
    values = (values / max(values.max(), _TINY) - _MEAN) / _SPREAD
    network.setInput(np.ascontiguousarray(values.transpose(2, 0, 1)[None], dtype=np.float32))
    return stretched(network.forward(output)[0, 0])


def stretched(values: NDArray[np.float32]) -> Mask:
    """From the lowest to the highest value onto 0 to 1; 0 everywhere where they are one.

    >>> stretched(np.array([[1.0, 2.0], [2.0, 3.0]], np.float32)).tolist()
    [[0.0, 0.5], [0.5, 1.0]]
    """
    low, high = float(values.min()), float(values.max())
    return np.asarray((values - low) / (high - low) if high > low else np.zeros_like(values), dtype=np.float32)


def _small(rgb: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Bicubic with antialiasing, as Pillow has it, within a level."""
    import torch
    from torch.nn import functional as F

    picture = torch.from_numpy(np.ascontiguousarray(rgb.transpose(2, 0, 1))[None]).float()
    small = F.interpolate(picture, size=(SIDE, SIDE), mode="bicubic", antialias=True)
    return np.asarray(small.round().clamp(0, 255)[0].permute(1, 2, 0).byte().numpy())
