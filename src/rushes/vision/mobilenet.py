"""MobileNetV2 (Sandler et al. 2018) on OpenCV: what three of its layers see in a picture; weights by torchvision.

Batch norms are folded into the convolutions before them, in 64-bit floats. OpenCV runs the rest on one thread.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from rushes.storage.numpy_files import load_npz
from rushes.vision.models.cache import model_path
from rushes.vision.onnx_bytes import Graph

FILE = "mobilenet-v2.npz"
SIDE = 224
LAYERS = (13, 17, 18)
"""Those whose maps are given, counted as torchvision counts them."""
CHANNELS = (96, 320, 1280)
_SIDES = (14, 7, 7)
_BLOCKS = ((1, 1, 1), (6, 2, 2), (6, 3, 2), (6, 4, 2), (6, 3, 1), (6, 3, 2), (6, 1, 1))
"""Expansion, how many blocks, and the stride of the first."""
_EPSILON = 1e-5
_MEAN = np.array([0.485, 0.456, 0.406], np.float32)
_SPREAD = np.array([0.229, 0.224, 0.225], np.float32)

Weights = Mapping[str, NDArray[np.float32]]
Map = NDArray[np.float32]


def maps(picture: NDArray[np.uint8]) -> tuple[Map, ...]:
    """The three maps of a picture of 224 × 224 × 3 (RGB), each channels × rows × columns."""
    network, names = _network()
    values = (picture.astype(np.float32) / np.float32(255) - _MEAN) / _SPREAD
    network.setInput(np.ascontiguousarray(values.transpose(2, 0, 1)[None]))
    return tuple(found[0] for found in network.forward(names))


@lru_cache(maxsize=1)
def _network() -> tuple[Any, list[str]]:
    content, names = network_bytes(load_npz(model_path(FILE))[0])
    return cv2.dnn.readNetFromONNX(np.frombuffer(content, np.uint8)), names


def network_bytes(weights: Weights) -> tuple[bytes, list[str]]:
    """The network as an ONNX file, and the names of the three maps."""
    graph, given = Graph(), "picture"
    low, high = (graph.constant(np.array(end, np.float32)) for end in (0, 6))

    def convolved(given: str, conv: str, norm: str, *, stride: int = 1, apart: bool = False, cut: bool = True) -> str:
        kernel, bias = folded(weights, conv, norm)
        found = graph.node(
            "Conv",
            (given, graph.constant(kernel), graph.constant(bias)),
            kernel_shape=kernel.shape[2:],
            strides=(stride, stride),
            pads=(kernel.shape[2] // 2,) * 4,
            group=len(kernel) if apart else 1,
        )
        return graph.node("Clip", (found, low, high)) if cut else found

    layers = [convolved(given, "features.0.0", "features.0.1", stride=2)]
    for expansion, count, first in _BLOCKS:
        for number in range(count):
            before, place, part = layers[-1], f"features.{len(layers)}.conv", 0
            stride, inside = first if number == 0 else 1, layers[-1]
            if expansion > 1:
                inside, part = convolved(inside, f"{place}.0.0", f"{place}.0.1"), 1
            inside = convolved(inside, f"{place}.{part}.0", f"{place}.{part}.1", stride=stride, apart=True)
            inside = convolved(inside, f"{place}.{part + 1}", f"{place}.{part + 2}", cut=False)
            layers.append(graph.node("Add", (before, inside)) if number else inside)
    layers.append(convolved(layers[-1], "features.18.0", "features.18.1"))
    names = [layers[layer] for layer in LAYERS]
    shapes = [(1, channels, side, side) for channels, side in zip(CHANNELS, _SIDES, strict=True)]
    return graph.onnx(("picture", (1, 3, SIDE, SIDE)), zip(names, shapes, strict=True)), names


def folded(weights: Weights, conv: str, norm: str) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """A convolution's kernel and bias with the batch norm after it: w γ/√(σ² + ε), β − μ γ/√(σ² + ε)."""
    gain, offset, mean, square = (
        weights[f"{norm}.{part}"].astype(np.float64) for part in ("weight", "bias", "running_mean", "running_var")
    )
    scale = gain / np.sqrt(square + _EPSILON)
    kernel = weights[f"{conv}.weight"].astype(np.float64) * scale[:, None, None, None]
    return kernel.astype(np.float32), (offset - mean * scale).astype(np.float32)
