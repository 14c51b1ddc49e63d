"""FVD networks on one GPU: peers' loop, best stock, ours; correctness. From files: `bench_fvd_files.py`.

Run from the repository root: PYTHONPATH=src python benchmarks/bench_distribution_gpu.py --out FILE
Needs torch with CUDA, Triton and numpy. Every kernel can be switched off: --off conv linear epilogue pool pool3.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from gpu_tuning import TuningOperations, milliseconds
from recording import record
from rushes.instruments.distribution.clips.preparation import normalised
from rushes.instruments.distribution.features.backbones import BACKBONES
from rushes.instruments.distribution.features.extraction import CpuExtractor, gpu_extractor
from rushes.instruments.distribution.features.random_weights import random_state, write_random_checkpoint
from rushes.instruments.distribution.features.weights import read_weights
from rushes.instruments.distribution.networks.gpu import GpuNetwork, Recorded
from rushes.instruments.distribution.networks.i3d import I3D
from rushes.instruments.distribution.networks.kernels import Switches
from rushes.instruments.distribution.networks.r3d50 import ResNet3D50
from rushes.instruments.distribution.protocols import PROTOCOLS
from rushes.stats.frechet import frechet_distance

FRAMES = 16
SIZES = {"i3d": 224, "r3d50": 112}
ASKED = {"i3d": 3200, "r3d50": 6500}
GIVEN: dict[str, Path] = {}
"""Weights files by network; random ones where none is given."""
NORMALISE = {"i3d": "x/127.5-1", "r3d50": "x-[114.7748,107.7354,99.475]"}


class Log:
    """Lines to the terminal and, at once, to the file; figures by name at the end."""

    def __init__(self, path: Path | None) -> None:
        self.file = path.open("w") if path else None
        self.figures: dict[str, Any] = {}

    def __call__(self, line: str) -> None:
        print(line, flush=True)
        if self.file:
            print(line, file=self.file, flush=True)

    def figure(self, name: str, value: float, unit: str = "") -> None:
        self.figures[name] = round(value, 6)
        self(f"RESULT {name} = {value:.6g} {unit}".rstrip())


def network_of(name: str) -> I3D | ResNet3D50:
    network: I3D | ResNet3D50 = I3D() if name == "i3d" else ResNet3D50()
    network.load_state_dict(dict(read_weights(GIVEN[name]).state) if name in GIVEN else random_state(name, 0))
    return network.eval()


def clips(count: int, size: int, seed: int, *, shift: float, grain: float) -> Iterator[torch.Tensor]:
    """Batches of 32 moving smooth patterns (N, T, H, W, 3), on the 0–255 scale; two seeds with shifts make two sets."""
    for start in range(0, count, 32):
        source = torch.Generator("cuda").manual_seed(seed * 100_003 + start)
        coarse = torch.randn(32, 3, 4, 9, 9, device="cuda", generator=source)
        smooth = torch.nn.functional.interpolate(coarse, size=(FRAMES, size, size), mode="trilinear")
        level = torch.randn(32, 3, 1, 1, 1, device="cuda", generator=source) * 20 + 118 + shift
        noise = torch.randn(32, 1, FRAMES, size, size, device="cuda", generator=source) * grain
        yield (level + 45 * smooth + noise).clamp(0, 255).permute(0, 2, 3, 4, 1).contiguous()


def set_tf32(on: bool) -> None:
    torch.backends.cudnn.allow_tf32 = on
    torch.backends.cuda.matmul.allow_tf32 = on


def two_sets(name: str, features: Callable[[torch.Tensor], torch.Tensor], count: int) -> list[np.ndarray]:
    """Features of the two synthetic sets under one way of computing them."""
    size = SIZES[name]
    sets = []
    for seed, shift, grain in ((1, 0.0, 2.0), (2, 12.0, 6.0)):
        rows = [features(batch).float().cpu() for batch in clips(count, size, seed, shift=shift, grain=grain)]
        sets.append(torch.cat(rows).numpy().astype(np.float64))
    return sets


def bench_peers(log: Log, name: str, eager: torch.nn.Module) -> None:
    size = SIZES[name]
    clip = torch.rand(1, 3, FRAMES, size, size, device="cuda")
    set_tf32(False)
    torch.backends.cudnn.allow_tf32 = True  # torch's defaults, as a peer's script runs
    torch.backends.cudnn.benchmark = False
    with torch.inference_mode():
        for _ in range(5):
            eager(clip).cpu()
        start = time.perf_counter()
        for _ in range(40):
            eager(clip).cpu()
        log.figure(f"{name}.peer_batch1_clips_per_s", 40 / (time.perf_counter() - start), "clips/s")


def bench_stock(log: Log, name: str, eager: torch.nn.Module, batch: int, compiled: bool) -> None:
    size = SIZES[name]
    set_tf32(True)
    torch.backends.cudnn.benchmark = True
    x = torch.rand(batch, 3, FRAMES, size, size, device="cuda").contiguous(memory_format=torch.channels_last_3d)
    module = eager.to(memory_format=torch.channels_last_3d)
    kind = "compiled" if compiled else "eager"
    forward = torch.compile(module) if compiled else module
    with torch.inference_mode():
        taken = milliseconds(lambda: forward(x), warm=4, repeats=7)
    log.figure(f"{name}.stock_{kind}_batch{batch}_clips_per_s", batch / taken * 1000, "clips/s")


def bench_ours(log: Log, name: str, precision: str, options: argparse.Namespace, reference: list[np.ndarray]) -> None:
    size, batch = SIZES[name], int(options.batch)
    label = f"{name}.{precision}"
    switches = Switches(**{kernel: False for kernel in options.off})
    network = GpuNetwork(network_of(name), BACKBONES[name], precision=precision, switches=switches)  # type: ignore[arg-type]
    set_tf32(True)
    torch.backends.cudnn.benchmark = True
    x = torch.rand(batch, FRAMES, size, size, 3, device="cuda") * 2 - 1
    if options.tune:
        tuner = TuningOperations(network.ops, seconds=options.tune_seconds, say=log)
        network.fast.ops = tuner  # type: ignore[assignment]
        started = time.perf_counter()
        with torch.inference_mode():
            network.features(x)
        network.fast.ops = network.ops
        log(f"tuned {label} in {time.perf_counter() - started:.0f} s")
        tiles = {str(key): vars_of(tile) for key, tile in network.ops.tiles.items()}
        log(f"TILES {label} {json.dumps(tiles)}")
        log(f"CUDNN {label} {json.dumps([list(key) for key in sorted(network.ops.left_to_cudnn)])}")
    with torch.inference_mode():
        log.figure(f"{label}.batch{batch}_eager_launch_clips_per_s", _rate(lambda: network.features(x), batch))
    profile(log, label, lambda: network.features(x))
    recorded = Recorded(network.features, x)
    taken = milliseconds(recorded.replay, warm=3, repeats=15)
    log.figure(f"{label}.batch{batch}_graph_clips_per_s", batch / taken * 1000, f"clips/s (asked {ASKED[name]})")
    del recorded
    how = NORMALISE[name]
    with torch.inference_mode():
        ours = two_sets(name, lambda b: network.features(normalised(b, how)), options.count)
    compare(log, label, ours, reference)


def vars_of(tile: object) -> list[int]:
    return [getattr(tile, field) for field in ("rows", "columns", "depth", "warps", "stages")]


def _rate(work: Callable[[], object], batch: int) -> float:
    return batch / milliseconds(work, warm=3, repeats=9) * 1000


def compare(log: Log, label: str, ours: list[np.ndarray], reference: list[np.ndarray]) -> None:
    both, want = np.concatenate(ours), np.concatenate(reference)
    centred = want - want.mean(axis=0)
    log.figure(f"{label}.feature_relative_error", float(np.linalg.norm(both - want) / np.linalg.norm(want)))
    log.figure(f"{label}.feature_error_over_spread", float(np.linalg.norm(both - want) / np.linalg.norm(centred)))
    exact, got = frechet_distance(*reference), frechet_distance(*ours)
    log.figure(f"{label}.fvd", got)
    log.figure(f"{label}.fvd_fp32", exact)
    log.figure(f"{label}.fvd_off_percent", 100 * abs(got - exact) / exact, "% (asked < 0.1)")


def check_product(log: Log, name: str) -> None:
    """The path `rushes fvd --device cuda` takes: its rows against the CPU's, and a batch that does not fit."""
    recipe = PROTOCOLS["genhoi"]["i3d" if name == "i3d" else "r3d50"]
    with tempfile.TemporaryDirectory() as folder:
        weights = read_weights(GIVEN.get(name) or write_random_checkpoint(recipe.backbone, Path(folder) / "random.pt"))
    draw = np.random.RandomState(0)
    segments = [draw.uniform(-1, 1, (FRAMES, recipe.size, recipe.size, 3)).astype(np.float32) for _ in range(6)]
    want = np.stack(list(CpuExtractor(weights, recipe).features(segments)))
    for precision in ("fp32", "tf32", "fp16"):
        extractor = gpu_extractor(weights, recipe, precision=precision, batch=4, warn=log)  # type: ignore[arg-type]
        rows = np.stack(list(extractor.features(segments)))
        log.figure(f"{name}.product_{precision}_against_cpu", float(np.linalg.norm(rows - want) / np.linalg.norm(want)))
    del extractor
    gc.collect()
    torch.cuda.empty_cache()
    _, whole = torch.cuda.mem_get_info()
    torch.cuda.set_per_process_memory_fraction((torch.cuda.memory_reserved() + (6 << 30)) / whole)
    try:
        extractor = gpu_extractor(weights, recipe, precision="tf32", batch=256, warn=log)
        rows = np.stack(list(extractor.features(segments)))
        log.figure(f"{name}.product_batch_after_out_of_memory", extractor.batch)
        error = float(np.linalg.norm(rows - want) / np.linalg.norm(want))
        log.figure(f"{name}.product_after_out_of_memory_against_cpu", error)
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)


def profile(log: Log, label: str, work: Callable[[], object]) -> None:
    from torch.profiler import ProfilerActivity
    from torch.profiler import profile as profiled

    with torch.inference_mode(), profiled(activities=[ProfilerActivity.CUDA]) as seen:
        work()
        torch.cuda.synchronize()
    rows = sorted(seen.key_averages(), key=lambda row: -row.self_device_time_total)[:14]
    log(f"profile {label}:")
    for row in rows:
        log(f"  {row.self_device_time_total / 1000:8.3f} ms  {row.count:4d}×  {row.key[:90]}")


def step(log: Log, title: str, work: Callable[[], Any]) -> Any:
    """Run one part; a failure is written down and the rest goes on."""
    log(f"== {title}")
    try:
        return work()
    except Exception:
        log(traceback.format_exc(limit=6))
        torch.cuda.empty_cache()
        return None


def bench_network(log: Log, name: str, options: argparse.Namespace) -> None:
    if options.product_only:
        step(log, f"{name}: the product's own path", lambda: check_product(log, name))
        return
    eager = network_of(name).cuda()
    how = NORMALISE[name]

    def plain(batch: torch.Tensor) -> torch.Tensor:
        return eager(normalised(batch, how).permute(0, 4, 1, 2, 3))

    def exact() -> list[np.ndarray]:
        set_tf32(False)
        with torch.inference_mode():
            return two_sets(name, plain, options.count)

    def stock_tf32() -> list[np.ndarray]:
        set_tf32(True)
        with torch.inference_mode():
            return two_sets(name, plain, options.count)

    step(log, f"{name}: a peer's loop, batch 1", lambda: bench_peers(log, name, eager))
    reference = step(log, f"{name}: reference features, fp32", exact)
    step(log, f"{name}: stock TF32 features", lambda: compare(log, f"{name}.stock_tf32", stock_tf32(), reference))
    step(log, f"{name}: the product's own path", lambda: check_product(log, name))
    for precision in options.precision:
        for batch in options.batches:
            chosen = argparse.Namespace(**(vars(options) | {"batch": batch}))
            title = f"{name}: ours, {precision}, batch {batch}"
            step(log, title, lambda p=precision, o=chosen: bench_ours(log, name, p, o, reference))
            torch.cuda.empty_cache()
    step(log, f"{name}: stock, eager", lambda: bench_stock(log, name, eager, 64, False))
    if not options.no_compile:
        step(log, f"{name}: stock, compiled", lambda: bench_stock(log, name, eager, 64, True))


def record_log(path: Path) -> int:
    """Figures of a log, as a section of RESULTS.md: ratios within that one run."""
    lines = path.read_text().splitlines()
    figures = json.loads(next(line for line in reversed(lines) if line.startswith("FIGURES")).removeprefix("FIGURES "))
    rows: list[tuple[str, str, str]] = []
    for name in ("i3d", "r3d50"):
        peer = figures[f"{name}.peer_batch1_clips_per_s"]
        stock = max(value for key, value in figures.items() if key.startswith(f"{name}.stock_") and "clips_per" in key)
        rows.append((f"{name}: a peer's loop, batch 1", "–", f"{peer:,.0f} clips/s"))
        rows.append((f"{name}: best stock (batch 64, eager or compiled)", "–", f"{stock:,.0f} clips/s"))
        for precision in ("tf32", "fp16"):
            rows += _recorded(figures, name, precision, peer, stock)
    record(
        "distribution-gpu",
        "FVD networks on one GPU",
        rows,
        how="16-frame clips on the device; medians; FVD on two synthetic sets. From files: the section "
        "below. Script: `benchmarks/bench_distribution_gpu.py`.",
        machine=lines[0].split(", [")[0],
    )
    return 0


def _recorded(
    figures: dict[str, float], name: str, precision: str, peer: float, stock: float
) -> list[tuple[str, str, str]]:
    label = f"{name}.{precision}"
    rates = [v for key, v in figures.items() if key.startswith(f"{label}.batch") and key.endswith("graph_clips_per_s")]
    if not rates:
        return []
    rate, asked = max(rates), f"{ASKED[name]:,} clips/s"
    off = figures[f"{label}.fvd_off_percent"]
    ratios = f"{rate:,.0f} ({rate / peer:.0f}× the loop, {rate / stock:.1f}× stock)"
    return [
        (f"{name} {precision}: model only", asked, ratios),
        (f"{name} {precision}: FVD against fp32", "within 0.1 %", f"{off:.4f} % off"),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="file for the same lines as the terminal")
    parser.add_argument("--record", type=Path, help="put the figures of an earlier --out file into RESULTS.md")
    parser.add_argument("--network", nargs="+", choices=("i3d", "r3d50"), default=["i3d", "r3d50"])
    parser.add_argument("--precision", nargs="+", choices=("tf32", "fp16"), default=["tf32", "fp16"])
    parser.add_argument("--batches", nargs="+", type=int, default=[64])
    parser.add_argument("--count", type=int, default=512, help="clips in each synthetic set")
    parser.add_argument("--off", nargs="*", default=[], choices=("conv", "linear", "epilogue", "pool", "pool3"))
    parser.add_argument("--tune", action="store_true", help="choose tiles by measuring")
    parser.add_argument("--tune-seconds", type=float, default=100.0)
    parser.add_argument("--weights", nargs="*", type=Path, default=[], help="trained weights; random where left out")
    parser.add_argument("--product-only", action="store_true", help="only check the path `rushes fvd` takes")
    parser.add_argument("--no-compile", action="store_true", help="leave torch.compile's figure out")
    options = parser.parse_args()
    if options.record:
        return record_log(options.record)
    if not torch.cuda.is_available():
        print("bench_distribution_gpu: no CUDA device here; the CPU figures are in bench_distribution.py")
        return 0
    GIVEN.update({read_weights(path).backbone: path for path in options.weights})
    log = Log(options.out)
    import triton

    trained = ", ".join(GIVEN) or "none"
    log(
        f"{torch.cuda.get_device_name()}, torch {torch.__version__}, triton {triton.__version__}, trained: {trained}, ["
    )
    log(str(sys.argv[1:]))
    for name in options.network:
        bench_network(log, name, options)
    log("FIGURES " + json.dumps(log.figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
