"""What `rushes fvd` gives from files on disk, against what the same cores decode bare; on a GPU where there is one.

    python benchmarks/bench_fvd_files.py [--clips 1024] [--weights FILE] [--protocols videogpt genhoi]

Sets of mp4 clips (512×512, 32 frames) and of frame folders (JPEG) are made first; the clips of a set have one of 32
pictures each and a number of their own, so that every file has its own digest. "Bare" is PyAV alone (or PIL), one
process per core, the frames that the protocol uses. Each protocol runs in three fresh processes: one with no kernel
compiled yet, two after it. A whole call is from the start of Python's imports to the result. The rate of the second set
is from its first row to its last; its clips are decoded while the first set's last ones are in the network, and before
that while the network starts, so the rate may exceed bare decoding.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from recording import record

SIZE, FRAMES = 512, 32
USED = {"videogpt": 16, "genhoi": 32, "disco": 32}
"""Frames of a clip that a protocol looks at."""

_RUN = """
import json, sys, time
started = time.perf_counter()
import rushes
gen, gt, protocol, options = sys.argv[1], sys.argv[2], sys.argv[3], json.loads(sys.argv[4])
seen = []
found = rushes.compare_sets(gen, gt, metrics="fvd", protocol=protocol, **options,
                            progress=lambda done, total, step: seen.append((time.perf_counter(), done, step)))
last = [(at, done) for at, done, step in seen if step == seen[-1][2]]
rate = last[-1][1] / (last[-1][0] - last[0][0])
first = next(at for at, done, _ in seen if done) - started
wall = time.perf_counter() - started
print(json.dumps({"rate": rate, "first_s": first, "wall_s": wall, "value": found["fvd"].value}))
"""


def pictures(seed: int) -> Iterator[NDArray[np.uint8]]:
    """Waves that drift under moving texture and grain, at the bitrate of a real clip."""
    draw = np.random.RandomState(seed)
    y, x = (np.mgrid[0:SIZE, 0:SIZE] / SIZE).astype(np.float32)
    blocks = draw.uniform(0, 40, (SIZE // 8, SIZE // 8, 3)).astype(np.float32).repeat(8, 0).repeat(8, 1)
    grain = draw.normal(0, 2, (SIZE, SIZE, 3)).astype(np.float32)
    for t in range(FRAMES):
        waves = 110 + 60 * np.sin(2 * np.pi * (x * (2 + seed % 3) + y * (1 + seed % 2) + t * (1 + seed % 4) / 80))
        moved = np.roll(blocks, (t, t * (1 + seed % 3)), (0, 1)) + np.roll(grain, t, 1)
        yield np.clip(waves[..., None] + moved, 0, 255).astype(np.uint8)


MODELS = 32
"""Different pictures in each set."""


def make_clip(job: tuple[Path, int]) -> None:
    from rushes.media import write_clip

    write_clip(job[0], pictures(job[1]), fps=25, crf=23)


def make_folder(job: tuple[Path, int]) -> None:
    from PIL import Image

    job[0].mkdir(parents=True, exist_ok=True)
    for number, picture in enumerate(pictures(job[1])):
        Image.fromarray(picture).save(job[0] / f"{number:04}.jpg", quality=92)


def bare_clip(job: tuple[Path, int]) -> None:
    import av

    with av.open(str(job[0])) as container:
        stream = container.streams.video[0]
        stream.thread_count, stream.thread_type = 1, "NONE"
        for _ in itertools.islice(container.decode(stream), job[1]):
            pass


def bare_folder(job: tuple[Path, int]) -> None:
    from PIL import Image

    for path in sorted(job[0].iterdir())[: job[1]]:
        with Image.open(path) as image:
            image.convert("RGB")


def rate(work: Callable[[tuple[Path, int]], None], jobs: Sequence[tuple[Path, int]]) -> float:
    """Jobs a second over all cores, processes already started; the better of two rounds."""
    best = 0.0
    with ProcessPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        list(pool.map(work, jobs[:64]))
        for _ in range(2):
            start = time.perf_counter()
            list(pool.map(work, jobs, chunksize=4))
            best = max(best, len(jobs) / (time.perf_counter() - start))
    return best


def product(folder: Path, protocol: str, options: dict[str, object], compiled: Path) -> dict[str, float]:
    """One run in a fresh process."""
    command = [sys.executable, "-c", _RUN, str(folder / "gen"), str(folder / "gt"), protocol, json.dumps(options)]
    environment = os.environ | {"TRITON_CACHE_DIR": str(compiled)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        raise SystemExit(done.stderr[-2000:])
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clips", type=int, default=None, help="clips in each set; 1024 with a GPU, 8 without")
    parser.add_argument("--weights", default=None)
    parser.add_argument("--protocols", nargs="+", default=["videogpt", "genhoi"])
    parser.add_argument("--kinds", nargs="+", default=["mp4", "folders"])
    parser.add_argument("--folder", default=None, help="where the sets are, or are made")
    asked = parser.parse_args()
    options: dict[str, object] = {"weights": asked.weights} if asked.weights else {}
    name, cores = gpu(), len(os.sched_getaffinity(0))
    clips = asked.clips or (1024 if name else 8)
    machine = f"{name or 'no GPU'}, {cores} cores"
    lines: list[list[str]] = []
    with tempfile.TemporaryDirectory() as made:
        root = Path(asked.folder or made)
        for kind in asked.kinds:
            lines += measured(root / kind, kind, clips, asked.protocols, options, Path(made))
    record(
        "fvd-files",
        "FVD from files",
        lines,
        how=f"Two sets of {clips} clips, {SIZE}×{SIZE}, {FRAMES} frames. Bare decoding: PyAV or PIL alone on the same "
        "cores, the same frames. The second set's rate is from its first row to its last; clips are decoded before the "
        "network is ready, so it may exceed bare decoding. Script: `benchmarks/bench_fvd_files.py`.",
        machine=machine,
    )


def gpu() -> str:
    """The GPU's name; "" where there is none."""
    import torch

    return torch.cuda.get_device_name() if torch.cuda.is_available() else ""


def make_set(
    places: Sequence[Path], make: Callable[[tuple[Path, int]], None], seed: int, models: Path, ending: str
) -> None:
    """A set of clips or folders: few pictures, and a number in each clip's file in a box that players skip."""
    models.mkdir(parents=True)
    jobs = [(models / f"{n:02}{ending}", seed + n) for n in range(min(MODELS, len(places)))]
    with ProcessPoolExecutor() as pool:
        list(pool.map(make, jobs))
    places[0].parent.mkdir(parents=True, exist_ok=True)
    for number, place in enumerate(places):
        model = jobs[number % len(jobs)][0]
        if ending:
            place.write_bytes(model.read_bytes() + struct.pack(">I4sQ", 16, b"free", seed + number))
        else:
            place.symlink_to(model, target_is_directory=True)


def measured(
    folder: Path, kind: str, clips: int, protocols: Sequence[str], options: dict[str, object], scratch: Path
) -> list[list[str]]:
    make, bare = (make_clip, bare_clip) if kind == "mp4" else (make_folder, bare_folder)
    ending = ".mp4" if kind == "mp4" else ""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # users have compiled modules from the second command on
    places = {side: [folder / side / f"{n:05}{ending}" for n in range(clips)] for side in ("gen", "gt")}
    if not folder.exists():
        for number, side in enumerate(places):
            make_set(places[side], make, number * 100_000, folder / f"models-{side}", ending)
    lines = []
    for protocol in protocols:
        alone = rate(bare, [(place, USED[protocol]) for found in places.values() for place in found])
        compiled = scratch / f"compiled-{kind}-{protocol}"
        cold, *warm = (product(folder, protocol, options, compiled) for _ in range(3))
        rate_of_second, seconds, first = (
            float(np.median([run[key] for run in warm])) for key in ("rate", "wall_s", "first_s")
        )
        whole = 2 * clips / seconds
        lines += [
            [f"{kind}, {protocol}: bare decoding of the same frames", "–", f"{alone:.0f} clips/s"],
            [
                f"{kind}, {protocol}: second set",
                "≥ 80 % of bare",
                f"{rate_of_second:.0f} clips/s ({rate_of_second / alone:.0%})",
            ],
            [
                f"{kind}, {protocol}: whole call, 2 × {clips:,} clips, second command on the machine",
                "≥ 60 % of bare",
                f"{whole:.0f} clips/s ({whole / alone:.0%}), {seconds:.1f} s, first rows after {first:.1f} s",
            ],
            [
                f"{kind}, {protocol}: whole call, first command ever",
                "≤ 12 s",
                f"{cold['wall_s']:.1f} s, first rows after {cold['first_s']:.1f} s",
            ],
        ]
        for line in lines[-4:]:
            print(" | ".join(line), flush=True)
        print("values", *(run["value"] for run in (cold, *warm)), flush=True)
    return lines


if __name__ == "__main__":
    main()
