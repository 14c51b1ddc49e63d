"""What it costs to begin: processor time of whole commands, workers forked from one template against workers each by
themselves (RUSHES_WORKERS=fresh), and the memory of eight workers.

    python benchmarks/bench_start.py [--repeats 5]

Processor time is user and system time of the command and of everything it started, so it hardly depends on what else
the machine does. Clips are those of bench_clip.py, 3 s at 512², with a number of its own in each file. Both ways run in
turns; the figures are medians.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from bench_clip import make_clip
from recording import record

WAYS = ("forked", "fresh")
CASES = ((1, 1, "≤ 0.8 s (aim 0.5)"), (16, 2, "–"), (16, 16, "–"), (64, 16, "≤ 5.1 s"))
"""Clips, workers, and what was asked."""
FRAMES, FPS = 72, 24


def write_clips(folder: Path, count: int) -> list[Path]:
    """The same picture in every file, and in each a box that players skip, with its number."""
    model = make_clip(folder / "model.mp4", 512, 512, FRAMES, fps=FPS).read_bytes()
    (folder / "clips").mkdir()
    paths = [folder / "clips" / f"clip{number:03d}.mp4" for number in range(count)]
    for number, path in enumerate(paths):
        path.write_bytes(model + struct.pack(">I4sQ", 16, b"free", number))
    return paths


def started(words: Sequence[str], way: str) -> subprocess.Popen[bytes]:
    variables = os.environ | {"RUSHES_WORKERS": way}
    command = [sys.executable, "-m", "rushes", *words]
    return subprocess.Popen(command, env=variables, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def cpu_seconds(words: Sequence[str], way: str = "forked") -> float:
    """User and system time of a command and of all its processes, which are waited for one by another."""

    def now() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    before = now()
    assert started(words, way).wait() == 0
    return now() - before


def clip_words(paths: Sequence[Path], workers: int, run: Path) -> list[str]:
    shutil.rmtree(run, ignore_errors=True)
    return ["clip", *map(str, paths), "-o", str(run), "--tier", "0", "--jobs", str(workers)]


def below(pid: int) -> list[int]:
    """All processes that a process has started, and those they have."""
    found: list[int] = []
    with suppress(OSError):
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            found += [int(child), *below(int(child))]
    return found


def pss_mb(pids: Sequence[int]) -> float:
    """Proportional resident memory: what several share is counted once."""
    total = 0
    for pid in pids:
        with suppress(OSError, StopIteration):
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
            total += int(next(line for line in lines if line.startswith("Pss:")).split()[1])
    return total / 1024


def workers_mb(paths: Sequence[Path], way: str, run: Path) -> float:
    """The most that eight workers, and their template, hold at one moment of a run."""
    process, most = started(clip_words(paths, 8, run), way), 0.0
    while process.poll() is None:
        pids = below(process.pid)
        if len(pids) >= 8:
            most = max(most, pss_mb(pids))
        time.sleep(0.02)
    return most


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = write_clips(folder, 64)
        for way in WAYS:
            cpu_seconds(clip_words(paths[:2], 1, folder / "run"), way)  # compiles and warms
        for clips, workers, asked in CASES:
            times = {way: [] for way in WAYS}
            for _ in range(repeats):
                for way in WAYS:
                    times[way].append(cpu_seconds(clip_words(paths[:clips], workers, folder / "run"), way))
            forked, fresh = (statistics.median(times[way]) for way in WAYS)
            what = f"`rushes clip`, {clips} clip{'s' * (clips > 1)} of 3 s, {workers} worker{'s' * (workers > 1)}"
            rows.append([f"{what}: processor time", asked, f"{forked:.2f} s (each worker by itself: {fresh:.2f} s)"])
            print(rows[-1], flush=True)
        memory = {way: [workers_mb(paths, way, folder / "run") for _ in range(3)] for way in WAYS}
        held, alone = (statistics.median(memory[way]) for way in WAYS)
        rows.append(["eight workers, resident (PSS)", "≤ 277 MB", f"{held:.0f} MB (each by itself: {alone:.0f} MB)"])
        small = [make_clip(folder / f"{side}.mp4", 512, 512, 2) for side in ("gen", "gt")]
        pair = ["fidelity", *map(str, small), "--protocol", "ffmpeg", "--jobs", "1", "--overwrite"]
        for what, words, asked in (
            ("`rushes fidelity`, a pair of two frames", [*pair, "-o", str(folder / "pair")], "≤ 0.6 s"),
            ("`rushes --help`", ["--help"], "≤ 0.25 s"),
        ):
            cpu_seconds(words)
            seconds = statistics.median(cpu_seconds(words) for _ in range(repeats))
            rows.append([f"{what}: processor time", asked, f"{seconds:.2f} s"])
    load = os.getloadavg()[0]
    how = (
        "User and system time of the command and all its processes, start included, medians; forked from one template, "
        f"and each worker by itself, in turns. Load average at the end {load:.1f}. `python benchmarks/bench_start.py`."
    )
    record("start", "What it costs to begin", rows, how=how)


if __name__ == "__main__":
    main()
