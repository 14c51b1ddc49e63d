"""MobileNetV2 on OpenCV: the bytes of ONNX by hand, and the same maps as the published layers give in torch."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from rushes.storage.numpy_files import load_npz
from rushes.vision.mobilenet import CHANNELS, FILE, LAYERS, folded, maps, network_bytes
from rushes.vision.models.cache import is_pulled, model_path
from rushes.vision.models.catalogue import group_named
from rushes.vision.onnx_bytes import Graph, varint

pulled = pytest.mark.skipif(not is_pulled(group_named("mobilenet")), reason="rushes models pull mobilenet")


def test_numbers_of_any_length() -> None:
    assert varint(0) == b"\x00" and varint(127) == b"\x7f" and varint(128) == b"\x80\x01"


def test_opencv_reads_what_is_written() -> None:
    graph = Graph()
    kernel, bias = np.full((1, 1, 1, 1), 2, np.float32), np.full(1, -1, np.float32)
    low, high = (graph.constant(np.array(end, np.float32)) for end in (0, 6))
    shape = {"kernel_shape": (1, 1), "strides": (1, 1), "pads": (0,) * 4, "group": 1}
    found = graph.node("Conv", ("x", graph.constant(kernel), graph.constant(bias)), **shape)
    cut = graph.node("Clip", (found, low, high))
    out = graph.node("Add", (cut, "x"))
    content = graph.onnx(("x", (1, 1, 1, 3)), [(out, (1, 1, 1, 3))])
    network = cv2.dnn.readNetFromONNX(np.frombuffer(content, np.uint8))
    network.setInput(np.array([[[[0, 2, 5]]]], np.float32))
    # 2x − 1 is −1, 3, 9; cut to 0, 3, 6; and x again.
    assert network.forward(out).ravel().tolist() == [0.0, 5.0, 11.0]


def test_a_batch_norm_is_folded_in() -> None:
    weights = {
        "c.weight": np.array([[[[3.0]]]], np.float32),
        "n.weight": np.array([2.0], np.float32),
        "n.bias": np.array([1.0], np.float32),
        "n.running_mean": np.array([5.0], np.float32),
        "n.running_var": np.array([4.0 - 1e-5], np.float32),
    }
    kernel, bias = folded(weights, "c", "n")
    # (3x − 5) / 2 · 2 + 1 = 3x − 4
    assert kernel.ravel().tolist() == pytest.approx([3.0]) and bias.tolist() == pytest.approx([-4.0])


@pulled
def test_the_maps_are_those_of_the_published_layers() -> None:
    torch = pytest.importorskip("torch")
    weights = {name: torch.from_numpy(values) for name, values in load_npz(model_path(FILE))[0].items()}
    picture = np.random.default_rng(4).integers(0, 256, (224, 224, 3), np.uint8)
    mean, spread = (torch.tensor(three)[:, None, None] for three in ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]))
    x = ((torch.from_numpy(picture.transpose(2, 0, 1).copy()).float() / 255 - mean) / spread)[None]

    def step(x, conv, norm, *, stride=1, cut=True):  # type: ignore[no-untyped-def]
        kernel = weights[f"{conv}.weight"]
        groups = x.shape[1] if kernel.shape[1] == 1 else 1
        x = torch.nn.functional.conv2d(x, kernel, None, stride, kernel.shape[2] // 2, groups=groups)
        rest = (weights[f"{norm}.{part}"] for part in ("running_mean", "running_var", "weight", "bias"))
        x = torch.nn.functional.batch_norm(x, *rest, eps=1e-5)
        return x.clamp(0, 6) if cut else x

    found = [step(x, "features.0.0", "features.0.1", stride=2)]
    for layer in range(1, 18):
        place, inside = f"features.{layer}.conv", found[-1]
        parts = 3 if layer == 1 else 4
        steps = [(f"{place}.{n}.0", f"{place}.{n}.1") for n in range(parts - 2)]
        for n, (conv, norm) in enumerate(steps):
            is_apart = n == len(steps) - 1
            inside = step(inside, conv, norm, stride=2 if is_apart and layer in (2, 4, 7, 14) else 1)
        inside = step(inside, f"{place}.{parts - 2}", f"{place}.{parts - 1}", cut=False)
        found.append(inside + found[-1] if inside.shape == found[-1].shape else inside)
    found.append(step(found[-1], "features.18.0", "features.18.1"))
    for seen, layer, channels in zip(maps(picture), LAYERS, CHANNELS, strict=True):
        assert seen.shape[0] == channels
        np.testing.assert_allclose(seen, found[layer][0].numpy(), atol=2e-4)


@pulled
def test_the_file_is_the_same_every_time() -> None:
    weights = load_npz(model_path(FILE))[0]
    assert network_bytes(weights) == network_bytes(weights)
