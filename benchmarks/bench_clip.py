"""Tier 0: its CPU time over bare decoding, against a plain OpenCV loop and ffmpeg's filters; scaling, memory, start-up.

    python benchmarks/bench_clip.py [--repeats 7] [--only cost]

Clips are synthetic (moving texture with grain, H.264 at CRF 23), 4 s each, so that anyone can repeat this.
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
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import av
import cv2
import numpy as np

from recording import record
from rushes.instruments.clip import evaluate_clip
from rushes.instruments.clip.frames.observe import observe
from rushes.media import write_clip

SIZES = {"512²": (512, 512), "720p": (1280, 720), "1080p": (1920, 1080)}
ASKED_DECODE = {"512²": "≤ 1.15 (aim 1.10)", "720p": "–", "1080p": "≤ 1.15 (aim 1.10)"}
ASKED_OPENCV = {"512²": "≥ 1.6×", "720p": "≥ 2.7×", "1080p": "≥ 3.5×"}
FRAMES = 100
GRAIN = {256: 3.5, 512: 3.5, 720: 2.5, 1080: 2.0}
"""Set so that a frame takes as many bytes as in a talking-head clip encoded at that size: 2, 6 and 11 kB."""
COST_SIZES = {"256²": (256, 256), **SIZES}
ASKED_PASS = {"512²": "≤ 1.10", "720p": "≤ 1.15", "1080p": "≤ 1.15"}
BATCH = 400
PEER = (
    "The OpenCV loop computes the same entries; "
    "a leaner one (float32 differences, no cut detection) was 2.8 / 3.2 / 2.9 times tier 0."
)


def make_clip(path: Path, width: int, height: int, frames: int = FRAMES, *, fps: int = 25) -> Path:
    """Waves that drift under grain; its strength decides the bitrate, and with it what decoding costs."""
    rng = np.random.default_rng(7)
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    texture = sum(
        a * np.sin(2 * np.pi * (fx * x / width + fy * y / height) + p)
        for a, fx, fy, p in zip((30, 22, 14, 10), (2, 7, 19, 43), (3, 5, 23, 31), rng.uniform(0, 6, 4), strict=True)
    )
    grain = [rng.normal(0, GRAIN[height], (height, width)).astype(np.float32) for _ in range(8)]

    def picture(t: int) -> np.ndarray:
        moved = np.roll(texture, (t, 2 * t), axis=(0, 1)) + grain[t % 8]
        return np.clip(120 + moved, 0, 255).astype(np.uint8)

    return write_clip(path, (picture(t) for t in range(frames)), fps=fps, crf=23)


def decode_only(path: Path) -> None:
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        stream.thread_type = "NONE"
        stream.codec_context.thread_count = 1
        for packet in container.demux(stream):
            for _ in packet.decode():
                pass


def plain_opencv(path: Path) -> None:
    """What a user writes in an afternoon for the same entries: gray, mean, Laplacian and differences in double, and
    the histogram comparison that the specification names as the other way to find cuts."""
    capture = cv2.VideoCapture(str(path), cv2.CAP_FFMPEG, [cv2.CAP_PROP_N_THREADS, 1])
    before, histogram, diffs, cuts, lumas, blurs = None, None, [], [], [], []
    while True:
        there, frame = capture.read()
        if not there:
            break
        gray = cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY)
        lumas.append(gray.mean())
        now = cv2.calcHist([gray], [0], None, [256], [0, 256])
        blurs.append(cv2.Laplacian(gray, cv2.CV_64F).var())
        if before is not None:
            diffs.append(np.abs(gray.astype(float) - before.astype(float)).mean())
            cuts.append(cv2.compareHist(histogram, now, cv2.HISTCMP_CORREL))
        before, histogram = gray, now


def ffmpeg_filters(path: Path) -> None:
    chain = "signalstats,freezedetect,blurdetect,scdet"
    command = ["ffmpeg", "-v", "error", "-threads", "1", "-filter_threads", "1", "-i", str(path), "-an", "-vf", chain]
    subprocess.run([*command, "-f", "null", "-"], check=True)


def cpu_seconds(work: Callable[[Path], object], path: Path) -> float:
    """CPU time of this process and its children."""

    def now() -> float:
        own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
        return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime

    start = now()
    work(path)
    return now() - start


def ratios(folder: Path, repeats: int) -> list[list[str]]:
    rows = []
    contenders: dict[str, Callable[[Path], object]] = {"decode": decode_only, "tier0": observe, "opencv": plain_opencv}
    if shutil.which("ffmpeg"):
        contenders["ffmpeg"] = ffmpeg_filters
    for name, (width, height) in SIZES.items():
        clip = make_clip(folder / f"{width}.mp4", width, height)
        times: dict[str, list[float]] = {key: [] for key in contenders}
        observe(clip)
        for _ in range(repeats):
            for key, work in contenders.items():
                times[key].append(cpu_seconds(work, clip))

        def middle(over: str, under: str, times: dict[str, list[float]] = times) -> float:
            return statistics.median(a / b for a, b in zip(times[over], times[under], strict=True))

        milliseconds = statistics.median(times["tier0"]) / FRAMES * 1000
        rows.append([f"tier 0 / bare PyAV decoding, {name}", ASKED_DECODE[name], f"{middle('tier0', 'decode'):.3f}"])
        rows.append([f"plain OpenCV loop / tier 0, {name}", ASKED_OPENCV[name], f"{middle('opencv', 'tier0'):.2f}×"])
        if "ffmpeg" in times:
            rows.append([f"ffmpeg's four filters / tier 0, {name}", "≥ 5×", f"{middle('ffmpeg', 'tier0'):.2f}×"])
        rows.append([f"tier 0 per frame, {name}", "–", f"{milliseconds:.2f} ms"])
    return rows


def cost(folder: Path, repeats: int) -> list[list[str]]:
    """The one pass, and a clip from file to result under two profiles, over bare decoding; in turns."""
    rows = []
    contenders: dict[str, Callable[[Path], object]] = {
        "decode": decode_only,
        "pass": observe,
        "clip": evaluate_clip,
        "generated": partial(evaluate_clip, profile="generated"),
    }
    for name, (width, height) in COST_SIZES.items():
        clip = make_clip(folder / f"cost{width}.mp4", width, height)
        times: dict[str, list[float]] = {key: [] for key in contenders}
        for work in contenders.values():
            work(clip)
        for _ in range(repeats):
            for key, work in contenders.items():
                times[key].append(cpu_seconds(work, clip))
        decoding = times["decode"]
        taken = {key: statistics.median(a / b for a, b in zip(times[key], decoding, strict=True)) for key in times}
        rows.append([f"the one pass / bare PyAV decoding, {name}", ASKED_PASS.get(name, "–"), f"{taken['pass']:.3f}"])
        rows.append([f"`evaluate_clip`, profile general / the same, {name}", "–", f"{taken['clip']:.3f}"])
        rows.append([f"`evaluate_clip`, profile generated / the same, {name}", "≤ 3", f"{taken['generated']:.3f}"])
        milliseconds = statistics.median(decoding) / FRAMES * 1000
        rows.append([f"bare decoding per frame, {name}", "–", f"{milliseconds:.2f} ms"])
    return rows


def motion(folder: Path, repeats: int) -> list[list[str]]:
    """What `--motion` adds to a frame: at 25 frames a second, every third is followed; at 10, every one."""
    rows = []
    for fps in (25, 10):
        clip = make_clip(folder / f"motion{fps}.mp4", 512, 512, fps=fps)
        evaluate_clip(clip, motion=True)
        added = []
        for _ in range(repeats):
            plain = cpu_seconds(evaluate_clip, clip)
            added.append(cpu_seconds(partial(evaluate_clip, motion=True), clip) - plain)
        cost = f"{statistics.median(added) / FRAMES * 1000:.2f} ms"
        rows.append([f"--motion, added per frame, 512² at {fps} frames/s", "≤ 6 ms", cost])
    return rows


def scaling(folder: Path, repeats: int) -> list[list[str]]:
    """Clips per second with two workers over one, on 400 clips; the workers' start is counted."""
    from rushes.instruments.clip.evaluate import evaluate_clips

    source = folder / "512.mp4"
    clips = folder / "batch"
    clips.mkdir()
    for n in range(BATCH):
        shutil.copy(source, clips / f"{n}.mp4")
    seconds: dict[int, list[float]] = {1: [], 2: []}
    for repeat in range(repeats):
        for jobs in (1, 2):
            start = time.perf_counter()
            evaluate_clips([clips], run=folder / f"run{repeat}-{jobs}", jobs=jobs)
            seconds[jobs].append(time.perf_counter() - start)
    ratio = statistics.median(a / b for a, b in zip(seconds[1], seconds[2], strict=True))
    rate = BATCH / statistics.median(seconds[2])
    return [["clips/s with 2 processes / with 1 (2 cores)", "≥ 1.8×", f"{ratio:.2f}× ({rate:.1f} clips/s of 4 s)"]]


def memory(folder: Path) -> list[list[str]]:
    """Peak resident memory of one process measuring a 1080p clip, and the same clip five times as long."""
    peaks = []
    for frames in (FRAMES, 5 * FRAMES):
        clip = make_clip(folder / f"long{frames}.mp4", 1920, 1080, frames)
        code = (
            "import sys; from rushes.instruments.clip.frames.observe import observe; observe(sys.argv[1]);"
            "print(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))"
        )
        out = subprocess.run([sys.executable, "-c", code, str(clip)], capture_output=True, text=True, check=True).stdout
        peaks.append(int(out) / 1024)
    return [["peak memory, 1080p, 4 s / 20 s", "≤ 250 MB, flat", f"{peaks[0]:.0f} / {peaks[1]:.0f} MB"]]


def start_up(repeats: int) -> list[list[str]]:
    def seconds(*command: str) -> float:
        taken = []
        for _ in range(repeats):
            start = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            taken.append(time.perf_counter() - start)
        return statistics.median(taken)

    bare, imported = seconds(sys.executable, "-c", "pass"), seconds(sys.executable, "-c", "import rushes")
    shown = seconds(sys.executable, "-m", "rushes", "--help")
    return [
        ["`import rushes`, over an empty Python", "< 0.1 s", f"{max(imported - bare, 0):.3f} s"],
        ["`rushes --help`", "< 0.4 s", f"{shown:.2f} s"],
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--only", choices=["cost"], help="only what tier 0 costs over decoding")
    asked = parser.parse_args()
    repeats = asked.repeats
    cv2.setNumThreads(1)
    with tempfile.TemporaryDirectory() as name:
        rows = cost(Path(name), repeats)
    how = f"CPU time, one thread, {FRAMES} frames of H.264, medians of {repeats} interleaved ratios."
    record("tier0", "Tier 0 over decoding", rows, how=how + f" Load average at the end {os.getloadavg()[0]:.1f}.")
    if asked.only:
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = [
            *ratios(folder, repeats),
            *motion(folder, repeats),
            *scaling(folder, 3),
            *memory(folder),
            *start_up(repeats),
        ]
    how = f"CPU time, one thread, {FRAMES} frames, medians of {repeats} interleaved ratios. {PEER}"
    record("clip", "Clips, tier 0", rows, how=how + f" Load average at the end {os.getloadavg()[0]:.1f}.")


if __name__ == "__main__":
    main()
