"""`rushes clip` on every core: clips a second, start included, beside the same cores decoding bare.

    python benchmarks/bench_cores.py [--sizes 16,320,2000] [--repeats 3]

The clips are one of 4 s at 512², with a number of its own in each, so that every file has its own digest. Bare decoding
is a plain PyAV loop with one thread in as many processes as the command has workers, started at the same moment and
timed from there to the end of the last. The command is timed from its start to its exit. Both are run in turns; the
figures are medians; of a thousand clips and more one run.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from bench_clip import make_clip
from recording import record

_BARE = """
import sys, av
for path in sys.argv[1:]:
    with av.open(path) as container:
        stream = container.streams.video[0]
        stream.thread_type = "NONE"
        stream.codec_context.thread_count = 1
        for packet in container.demux(stream):
            for _ in packet.decode():
                pass
"""


def write_clips(folder: Path, count: int) -> list[Path]:
    """The same picture in every file, and in each a box that players skip, with its number."""
    folder.mkdir(parents=True, exist_ok=True)
    model = make_clip(folder.parent / "model.mp4", 512, 512).read_bytes()
    paths = [folder / f"clip{number:05d}.mp4" for number in range(count)]
    for number, path in enumerate(paths):
        path.write_bytes(model + struct.pack(">I4sQ", 16, b"free", number))
    return paths


def bare(paths: Sequence[Path], workers: int) -> float:
    """Seconds that plain processes take to decode these clips, from their start to the end of the last."""
    began = time.perf_counter()
    shares = [[str(path) for path in paths[n::workers]] for n in range(workers)]
    running = [subprocess.Popen([sys.executable, "-c", _BARE, *share]) for share in shares]
    assert not any(process.wait() for process in running)
    return time.perf_counter() - began


def command(paths: Sequence[Path], workers: int, run: Path) -> float:
    """Seconds of `rushes clip` on these clips, from its start to its exit."""
    shutil.rmtree(run, ignore_errors=True)
    folder = run.with_name(f"{run.name}-clips")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for path in paths:
        os.link(path, folder / path.name)
    words = [sys.executable, "-m", "rushes", "clip", str(folder), "-o", str(run), "--tier", "0", "--jobs", str(workers)]
    began = time.perf_counter()
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - began


ASKED = {16: "≤ 1.5 s (aim 1.0)", 320: "≥ 60 % of bare", 2000: "≥ 88 % of bare"}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes", default="16,320,2000")
    parser.add_argument("--repeats", type=int, default=3)
    chosen = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # users have compiled modules from the second command on
    sizes = [int(word) for word in chosen.sizes.split(",")]
    cores = len(os.sched_getaffinity(0))
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = write_clips(folder / "clips", max(sizes))
        command(paths[:4], 1, folder / "warm")  # compiles modules
        command(paths[: 10 * cores], cores, folder / "warm")  # compiles the kernels
        for size in sizes:
            turns = [
                (bare(paths[:size], cores), command(paths[:size], cores, folder / "run"))
                for _ in range(chosen.repeats if size < 1000 else 1)
            ]
            plain, ours = (statistics.median(side) for side in zip(*turns, strict=True))
            text = f"{ours:.2f} s, {plain / ours:.0%} of bare decoding ({plain:.2f} s)"
            rows.append([f"{size:,} clips, {cores} workers", ASKED.get(size, "–"), text])
            print(rows[-1], flush=True)
        before = os.times()
        command(paths[:1], 1, folder / "run")
        after = os.times()
        spent = after.children_user + after.children_system - before.children_user - before.children_system
        rows.append(["one clip of 4 s, processor time", "≤ 0.8 s (of 3 s)", f"{spent:.2f} s"])
        print(rows[-1], flush=True)
    how = (
        "Clips of 4 s at 512², from the command's start to its exit; bare decoding is a PyAV loop, one thread in as "
        "many processes. `python benchmarks/bench_cores.py`."
    )
    record("cores", "Clips on every core", rows, how=how)


if __name__ == "__main__":
    main()
