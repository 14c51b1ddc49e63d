"""Networks of the layout of known ones, with random weights, as files; and the same in numpy.

Also for the documentation's blocks: `python small_networks.py FOLDER` writes all of them with their manifests.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from rushes.core.machine.provenance import file_digest

RNG = np.random.default_rng(7)
KERNEL = RNG.normal(0, 0.4, (4, 3, 3, 3)).astype(np.float32)
BINS = RNG.normal(0, 1.5, (10, 4)).astype(np.float32)
FEATURES = RNG.normal(0, 1.0, (5, 4)).astype(np.float32)
WORDS = RNG.normal(0, 1.0, (524, 5)).astype(np.float32)
"""A row for each id of the small vocabulary: 512 bytes, 10 merges, start, end."""
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
MERGES = ["c a", "ca t</w>", "d o", "do g</w>", "a n", "an d</w>", "r e", "re d</w>", "h o", "' s</w>"]


def model(path: Path, nodes: list, inputs: list, output: tuple[str, list], weights: dict[str, np.ndarray]) -> Path:
    graph = helper.make_graph(
        nodes,
        "small",
        inputs,
        [helper.make_tensor_value_info(output[0], TensorProto.FLOAT, output[1])],
        [numpy_helper.from_array(values, name) for name, values in weights.items()],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(made)
    path.write_bytes(made.SerializeToString())
    return path


def image_tower(path: Path, head: np.ndarray, *, softmax: bool = False, batch: int | str = "n", size: int = 8) -> Path:
    """Convolution, mean over the picture, and a matrix: the shape of NIMA, and of a feature tower."""
    nodes = [
        helper.make_node("Conv", ["pixels", "kernel"], ["maps"], strides=[2, 2]),
        helper.make_node("Relu", ["maps"], ["seen"]),
        helper.make_node("GlobalAveragePool", ["seen"], ["pooled"]),
        helper.make_node("Flatten", ["pooled"], ["flat"]),
        helper.make_node("Gemm", ["flat", "head"], ["raw" if softmax else "out"], transB=1),
        *([helper.make_node("Softmax", ["raw"], ["out"], axis=1)] if softmax else []),
    ]
    given = [helper.make_tensor_value_info("pixels", TensorProto.FLOAT, [batch, 3, size, size])]
    return model(path, nodes, given, ("out", [batch, len(head)]), {"kernel": KERNEL, "head": head})


def text_tower(path: Path, *, context: int = 12) -> Path:
    """The mean of the ids' rows."""
    nodes = [
        helper.make_node("Gather", ["rows", "ids"], ["each"]),
        helper.make_node("ReduceMean", ["each"], ["out"], axes=[1], keepdims=0),
    ]
    given = [helper.make_tensor_value_info("ids", TensorProto.INT64, ["n", context])]
    return model(path, nodes, given, ("out", ["n", 5]), {"rows": WORDS})


def in_numpy(frames: np.ndarray, head: np.ndarray) -> np.ndarray:
    """The image tower on RGB frames (T, 8, 8, 3) of 0–255 that need no resizing, in float64."""
    x = (frames / 255 - np.array(MEAN)) / np.array(STD)
    rows = []
    for frame in x:
        maps = np.zeros((4, 3, 3))
        for i in range(3):
            for j in range(3):
                patch = frame[2 * i : 2 * i + 3, 2 * j : 2 * j + 3].transpose(2, 0, 1)
                maps[:, i, j] = (KERNEL.astype(np.float64) * patch).sum(axis=(1, 2, 3))
        rows.append(head.astype(np.float64) @ np.maximum(maps, 0).mean(axis=(1, 2)))
    return np.array(rows)


def vocabulary(path: Path) -> Path:
    path.write_text("#version: 0.2\n" + "\n".join(MERGES) + "\n", encoding="utf-8")
    return path


_INPUT = f"""
[input]
size = 8
library = "opencv"
mean = {list(MEAN)}
std = {list(STD)}
"""


def quality(folder: Path, more: dict[str, str] | None = None) -> Path:
    file = image_tower(folder / "quality.onnx", BINS, softmax=True)
    return written(
        folder / "quality.toml",
        f"""
name = "tiny_quality"
kind = "quality"
[network]
file = "quality.onnx"
sha256 = "{file_digest(file)}"
{_INPUT}
[output]
reduce = "distribution"
values = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
[metric]
better = "higher"
unit = "opinion score"
lowest = 1
highest = 10
""",
        more or {},
    )


def features(folder: Path, more: dict[str, str] | None = None) -> Path:
    file = image_tower(folder / "features.onnx", FEATURES)
    return written(
        folder / "features.toml",
        f"""
name = "tiny_dino"
kind = "features"
[network]
file = "features.onnx"
sha256 = "{file_digest(file)}"
{_INPUT}
""",
        more or {},
    )


def two_towers(folder: Path, more: dict[str, str] | None = None) -> Path:
    image, text = image_tower(folder / "image.onnx", FEATURES), text_tower(folder / "text.onnx")
    words = vocabulary(folder / "merges.txt")
    return written(
        folder / "clip.toml",
        f"""
name = "tiny_clip"
kind = "two-tower"
[network]
file = "image.onnx"
sha256 = "{file_digest(image)}"
{_INPUT}
[text]
file = "text.onnx"
sha256 = "{file_digest(text)}"
context = 12
[tokenizer]
file = "merges.txt"
sha256 = "{file_digest(words)}"
[alignment]
scale = 100.0
""",
        more or {},
    )


def written(path: Path, text: str, more: dict[str, str]) -> Path:
    """The manifest; each of `more` takes the place of the first such piece of text."""
    for old, new in more.items():
        assert old in text, old
        text = text.replace(old, new, 1)
    path.write_text(text, encoding="utf-8")
    return path


if __name__ == "__main__":
    made = Path(sys.argv[1])
    quality(made), features(made), two_towers(made)
