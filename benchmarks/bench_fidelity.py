"""PSNR and SSIM of 1080p pairs: CPU time over decoding both files, against ffmpeg's filters, and over plain Python.

    python benchmarks/bench_fidelity.py [--repeats 7]

Clips are synthetic (moving texture in colour, with grain, H.264), so that anyone can repeat this: a reference at CRF 20
and the same scene at CRF 30. What a filter costs is the command with it less the command without.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from recording import record
from rushes.instruments.fidelity.measure import score_frames
from rushes.instruments.fidelity.metrics import METRICS
from rushes.instruments.fidelity.pairs.frames import Pairing
from rushes.instruments.fidelity.pairs.reading import open_pair
from rushes.instruments.fidelity.protocols import chosen_metrics
from rushes.media import ClipReader, write_clip
from rushes.media.find.sets import Clip

SIZE = (1920, 1080)
FRAMES = 60
GRAIN = 2.0
FFMPEG = chosen_metrics("ffmpeg")
WANG = ("psnr_y", "ssim")
ASKED = "≥ 3×, or the line below"
WITHIN = "≤ 1.25"


def make_pair(folder: Path, frames: int = FRAMES) -> tuple[Path, Path]:
    """A clip and its reference."""
    width, height = SIZE
    rng = np.random.default_rng(7)
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    waves = [60 * np.sin(2 * np.pi * (fx * x / width + fy * y / height)) for fx, fy in ((2, 3), (7, 5), (19, 23))]
    grain = [rng.normal(0, GRAIN, (height, width)).astype(np.float32) for _ in range(8)]

    def picture(t: int) -> np.ndarray:
        moved = [np.roll(wave, (t, 2 * t), axis=(0, 1)) + grain[t % 8] for wave in waves]
        return np.clip(120 + np.stack(moved, axis=2), 0, 255).astype(np.uint8)

    paths = [folder / f"{name}{frames}.mp4" for name in ("gen", "gt")]
    for path, crf in zip(paths, (30, 20), strict=True):
        write_clip(path, (picture(t) for t in range(frames)), fps=25, crf=crf)
    return paths[0], paths[1]


def decode(gen: Path, gt: Path) -> None:
    """Both files through our reader, side by side, and nothing else."""
    with ClipReader(gen) as ours, ClipReader(gt) as theirs:
        for _ in zip(ours, theirs, strict=True):
            pass


def measure(gen: Path, gt: Path, *, metrics: Sequence[str]) -> None:
    with open_pair(Clip("clip", (gen,)), Clip("clip", (gt,)), Pairing()) as opened:
        score_frames(opened.frames, opened.context, {name: METRICS[name] for name in metrics})


def ffmpeg(gen: Path, gt: Path, *, graph: str) -> None:
    one, other = (["-threads", "1", "-i", str(path)] for path in (gen, gt))
    chosen = ["-lavfi", graph] if graph else ["-map", "0:v", "-map", "1:v", "-c:v", "wrapped_avframe"]
    command = ["ffmpeg", "-nostdin", "-v", "error", "-filter_threads", "1", *one, *other, *chosen, "-f", "null", "-"]
    subprocess.run(command, check=True)


def plain_python(gen: Path, gt: Path, *, every: int) -> None:
    """What scikit-image costs for the same two numbers on luma, on one frame of every few."""
    from skimage.metrics import peak_signal_noise_ratio, structural_similarity

    with ClipReader(gen) as ours, ClipReader(gt) as theirs:
        for index, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            if index % every == 0:
                pair = one.luma.full_range(), other.luma.full_range()
                peak_signal_noise_ratio(*pair, data_range=255)
                structural_similarity(
                    *pair, data_range=255, gaussian_weights=True, sigma=1.5, use_sample_covariance=False
                )


def cpu_seconds(work: Callable[[], object]) -> float:
    """CPU time of this process and its children."""

    def now() -> float:
        own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
        return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime

    start = now()
    work()
    return now() - start


def ratios(gen: Path, gt: Path, repeats: int) -> list[list[str]]:
    work: dict[str, Callable[[], object]] = {
        "decode": partial(decode, gen, gt),
        "ffmpeg protocol": partial(measure, gen, gt, metrics=FFMPEG),
        "psnr_y + ssim": partial(measure, gen, gt, metrics=WANG),
        "wang2004": partial(measure, gen, gt, metrics=chosen_metrics("wang2004")),
    }
    if shutil.which("ffmpeg"):
        work["bare"] = partial(ffmpeg, gen, gt, graph="")
        work["filters"] = partial(ffmpeg, gen, gt, graph="[0:v][1:v]psnr[a];[a][1:v]ssim")
    for each in work.values():
        each()  # compiles the kernels, warms the files
    times: dict[str, list[float]] = {key: [] for key in work}
    for _ in range(repeats):
        for key, each in work.items():
            times[key].append(cpu_seconds(each))

    def over(one: str, less: str = "", other: str = "decode", other_less: str = "") -> float:
        zeros = [0.0] * repeats
        columns = (times.get(key, zeros) for key in (one, less, other, other_less))
        return statistics.median((a - b) / (c - d) for a, b, c, d in zip(*columns, strict=True))

    rows = []
    for key in ("ffmpeg protocol", "psnr_y + ssim"):
        if "filters" in times:
            ratio = over("filters", "bare", key, "decode")
            rows.append([f"ffmpeg's psnr and ssim filters / {key}, both less decoding", ASKED, f"{ratio:.2f}×"])
        rows.append([f"{key} / decoding both files with our reader", WITHIN, f"{over(key):.3f}"])
        if "filters" in times:
            rows.append(
                [f"ffmpeg with both filters / {key}, decoding included", "–", f"{over('filters', '', key):.2f}×"]
            )
    rows.append(["wang2004, all five / decoding both files", "–", f"{over('wang2004'):.2f}"])
    for key in work:
        rows.append(
            [f"{LABELS[key]}, per pair of frames", "–", f"{statistics.median(times[key]) / FRAMES * 1e3:.2f} ms"]
        )
    return rows


LABELS = {
    "decode": "decoding both with our reader",
    "ffmpeg protocol": "protocol ffmpeg",
    "psnr_y + ssim": "psnr_y and ssim",
    "wang2004": "protocol wang2004",
    "bare": "ffmpeg, decoding both",
    "filters": "ffmpeg with both filters",
}


def against_scikit_image(gen: Path, gt: Path, repeats: int) -> list[list[str]]:
    """Only where scikit-image is installed: it is no dependency of ours."""
    try:
        import skimage  # noqa: F401
    except ImportError:
        return []
    few = 10
    found = []
    for _ in range(repeats):
        bare = cpu_seconds(partial(decode, gen, gt))
        theirs = cpu_seconds(partial(plain_python, gen, gt, every=few)) - bare
        ours = cpu_seconds(partial(measure, gen, gt, metrics=WANG)) - bare
        found.append(theirs * few / ours)
    return [["scikit-image / psnr_y + ssim, both less decoding", "–", f"{statistics.median(found):.1f}×"]]


def command(gen: Path, gt: Path, *, run: Path) -> None:
    """What a user types, files to run directory, in processes of its own."""
    words = ["fidelity", str(gen), str(gt), "--protocol", "ffmpeg", "--jobs", "1", "-o", str(run), "--overwrite"]
    subprocess.run([sys.executable, "-m", "rushes", *words], check=True, capture_output=True)


def through_the_command(folder: Path, repeats: int) -> list[list[str]]:
    """The public command with its start-up, on a pair three times as long as the others, and on one of two frames."""
    gen, gt = make_pair(folder, 3 * FRAMES)
    short = make_pair(folder, 2)
    whole, bare, start, filters = [], [], [], []
    for _ in range(repeats):
        whole.append(cpu_seconds(partial(command, gen, gt, run=folder / "run")))
        start.append(cpu_seconds(partial(command, *short, run=folder / "short")))
        bare.append(cpu_seconds(partial(decode, gen, gt)))
        if shutil.which("ffmpeg"):
            filters.append(cpu_seconds(partial(ffmpeg, gen, gt, graph="[0:v][1:v]psnr[a];[a][1:v]ssim")))
    beyond = statistics.median((a - b) / c for a, b, c in zip(whole, start, bare, strict=True))
    rows = [
        [
            f"`rushes fidelity --protocol ffmpeg`, {3 * FRAMES} pairs, less its start-up / decoding both files",
            WITHIN,
            f"{beyond:.3f}",
        ],
        ["start-up of the command, a pair of two frames", "–", f"{statistics.median(start):.2f} s"],
    ]
    if filters:
        ratio = statistics.median(a / b for a, b in zip(filters, whole, strict=True))
        rows.append(["ffmpeg with both filters / the command, start-up included", "–", f"{ratio:.2f}×"])
    return rows


def memory(folder: Path) -> list[list[str]]:
    """Peak resident memory of one process, and with a pair three times as long."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from pathlib import Path; import bench_fidelity as b;"
        "b.measure(Path(sys.argv[2]), Path(sys.argv[3]), metrics=b.FFMPEG + b.WANG);"
        "print(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))"
    )
    peaks = []
    for frames in (FRAMES, 3 * FRAMES):
        pair = map(str, make_pair(folder, frames))
        command = [sys.executable, "-c", code, str(Path(__file__).parent), *pair]
        peaks.append(int(subprocess.run(command, capture_output=True, text=True, check=True).stdout) / 1024)
    return [[f"peak memory, {FRAMES} / {3 * FRAMES} pairs of frames", "flat", f"{peaks[0]:.0f} / {peaks[1]:.0f} MB"]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    repeats = parser.parse_args().repeats
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        gen, gt = make_pair(folder)
        size = sum(path.stat().st_size for path in (gen, gt)) / FRAMES / 1000
        rows = [*ratios(gen, gt, repeats), *through_the_command(folder, 5)]
        rows += [*against_scikit_image(gen, gt, 3), *memory(folder)]
    how = (
        f"CPU time, one thread, 1080p, {FRAMES} pairs of frames ({size:.0f} kB a pair), medians of {repeats} "
        f"interleaved ratios. Load average at the end {os.getloadavg()[0]:.1f}."
    )
    record("fidelity", "Against a reference: PSNR and SSIM", rows, how=how)


if __name__ == "__main__":
    main()
