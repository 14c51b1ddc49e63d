"""FVD on a CPU: the quick path against a peer's loop, the Fréchet distance against the matrix square root, memory."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from scipy.linalg import sqrtm

from recording import record
from rushes.core.errors import WeightsError
from rushes.instruments.distribution.features.extraction import CpuExtractor
from rushes.instruments.distribution.features.random_weights import write_random_checkpoint
from rushes.instruments.distribution.features.weights import Weights, find_weights, read_weights
from rushes.instruments.distribution.protocols import PROTOCOLS
from rushes.stats.frechet import frechet_distance

CLIPS = 6

_MEMORY = """
import sys
from pathlib import Path
import numpy as np
from rushes.instruments.distribution.clips.reading import Task
from rushes.instruments.distribution.clips.decoding import Decoders
from rushes.media.find.sets import Clip
from rushes.instruments.distribution.recipes import recipe
clip, count = Path(sys.argv[1]), int(sys.argv[2])
tasks = [Task(Clip(f"c{n}", (clip,)), recipe("genhoi", "fvd"), "gen") for n in range(count)]
with Decoders(2) as decoders:
    total = sum(float(e.payload.mean()) for e in decoders.read(tasks) if e.kind == "segment")
status = Path("/proc/self/status").read_text()  # getrusage would count the parent's peak in
print(int(status.split("VmHWM:")[1].split()[0]) // 1024)
"""


def seconds(work: Callable[[], object], repeats: int = 3) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def trained_or_random(backbone: str, folder: Path) -> Weights:
    """The weights that are here, or random ones."""
    try:
        return find_weights(backbone, [])
    except WeightsError:
        return read_weights(write_random_checkpoint(backbone, folder / f"{backbone}.pt"))


def network(backbone: str, folder: Path) -> tuple[str, str, str]:
    """Clips a second: plain eager loop with batch 1, and ours, on the same clips and weights."""
    recipe = PROTOCOLS["genhoi"][backbone]
    weights = trained_or_random(backbone, folder)
    draw = np.random.RandomState(0)
    segments = [draw.uniform(-1, 1, (16, recipe.size, recipe.size, 3)).astype(np.float32) for _ in range(CLIPS)]
    plain = weights.network(recipe)
    ours = CpuExtractor(weights, recipe)

    def loop() -> list[np.ndarray]:
        with torch.inference_mode():
            clips = (torch.from_numpy(s[None]).permute(0, 4, 1, 2, 3).contiguous() for s in segments)
            return [plain(clip)[0].numpy() for clip in clips]

    want, got = np.stack(loop()), np.stack(list(ours.features(segments)))
    off = np.linalg.norm(got - want) / np.linalg.norm(want)
    # by turns, so that what else the machine does falls on both
    pairs = [(seconds(loop, 1), seconds(lambda: list(ours.features(segments)), 1)) for _ in range(5)]
    peer, mine = statistics.median(p for p, _ in pairs), statistics.median(m for _, m in pairs)
    ratio = statistics.median(p / m for p, m in pairs)
    rates = f"{CLIPS / mine:.2f} against {CLIPS / peer:.2f} clips/s"
    return (
        f"{backbone}: quick path against the eager batch-1 loop",
        "1.5×",
        f"{ratio:.2f}× ({rates}; rows off {off:.0e})",
    )


def frechet() -> tuple[str, str, str]:
    draw = np.random.RandomState(1)
    x, y = draw.normal(size=(512, 2048)), draw.normal(0.1, 1.1, size=(512, 2048))
    before = [seconds(lambda: frechet_distance(x, y), 1) for _ in range(7)]

    def by_square_root() -> float:
        s1, s2 = np.cov(x.T), np.cov(y.T)
        return float(np.sum((x.mean(0) - y.mean(0)) ** 2) + np.trace(s1 + s2 - 2 * np.real(sqrtm(s1 @ s2))))

    peer = seconds(by_square_root, 1)
    # on both sides of the long run, so that what else the machine does falls on both
    mine = statistics.median(before + [seconds(lambda: frechet_distance(x, y), 1) for _ in range(7)])
    return (
        "Fréchet distance, D = 2048, N = 512, against sqrtm",
        "100×",
        f"{peer / mine:.0f}× ({mine:.3f} against {peer:.1f} s)",
    )


def memory(folder: Path) -> tuple[str, str, str]:
    """Peak of the reading process with few and with many clips."""
    from rushes.media import write_clip

    draw = np.random.RandomState(2)
    clip = folder / "clip.mp4"
    write_clip(clip, [draw.randint(0, 256, (64, 64, 3)).astype(np.uint8) for _ in range(16)], fps=25)
    peaks = [
        int(subprocess.run([sys.executable, "-c", _MEMORY, str(clip), str(n)], capture_output=True, check=True).stdout)
        for n in (12, 96)
    ]
    return "memory with 8 times the clips", "flat", f"{peaks[0]} MiB with 12 clips, {peaks[1]} MiB with 96"


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = [network("i3d", folder), network("r3d50", folder), frechet(), memory(folder)]
    record(
        "distribution",
        "FVD on a CPU",
        rows,
        how="16-frame clips, trained I3D and random R3D-50, medians of interleaved runs. Script: "
        "`benchmarks/bench_distribution.py`.",
    )


if __name__ == "__main__":
    main()
