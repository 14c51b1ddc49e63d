"""Killing `rushes` at random moments and going on: what is left must equal what was never interrupted.

Used by `soak_runs.py` (`make soak`) for hundreds of kills and by the tests for a few.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rushes.media import write_clip


@dataclass(frozen=True, slots=True)
class Job:
    """A command line of rushes, without its output."""

    name: str
    arguments: tuple[str, ...]

    def command(self, output: Path) -> list[str]:
        return [sys.executable, "-m", "rushes", *self.arguments, "-o", str(output)]


def clip_job(folder: Path, *, clips: int = 8) -> Job:
    """`rushes clip` on small clips, one of them broken."""
    takes = folder / "takes"
    takes.mkdir(parents=True)
    for number in range(clips):
        write_clip(takes / f"take{number}.mp4", _frames(number, 30))
    (takes / "broken.mp4").write_text("no video")
    return Job("clip", ("clip", str(takes), "--jobs", "2"))


def shards_job(folder: Path) -> Job:
    """The same into a run in shards of three clips."""
    return Job("clip --shards", (*clip_job(folder).arguments, "--shards", "3"))


def sweep_job(folder: Path) -> Job:
    """`rushes sweep` on one clip: eight runs."""
    folder.mkdir(parents=True, exist_ok=True)
    clip = write_clip(folder / "swept.mp4", _frames(7, 12))
    axes = ("--axis", "brightness=0.8,1.2", "--axis", "gaussian_noise=0,9")
    return Job("sweep", ("sweep", str(clip), *axes, "--seeds", "1,2", "--jobs", "2", "--keep-clips"))


def fvd_job(folder: Path) -> Job:
    """`rushes fvd` of two small sets with random weights on the CPU."""
    from rushes.instruments.distribution.features.random_weights import write_random_checkpoint

    for name, first in (("gen", 0), ("gt", 50)):
        (folder / name).mkdir(parents=True)
        for number in range(4):
            write_clip(folder / name / f"clip{number}.mp4", _frames(first + number, 16))
    weights = write_random_checkpoint("i3d", folder / "i3d-random.pt")
    arguments = ("fvd", str(folder / "gen"), str(folder / "gt"), "--weights", str(weights), "--device", "cpu")
    return Job("fvd", (*arguments, "--workers", "1"))


def _frames(seed: int, count: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    still = rng.integers(0, 256, (96, 128, 3), dtype=np.uint8)
    return [np.roll(still, 3 * step, axis=1) for step in range(count)]


def run(job: Job, output: Path) -> float:
    """Run to the end; how many seconds it took. Raises where it did not end well."""
    began = time.monotonic()
    done = subprocess.run(job.command(output), capture_output=True, text=True)
    if done.returncode:
        raise AssertionError(f"{job.name} ended with {done.returncode}: {done.stderr}")
    return time.monotonic() - began


def run_and_kill(job: Job, output: Path, after: float) -> bool:
    """Start, kill -9 the process alone after so many seconds; whether the kill came before the end."""
    process = subprocess.Popen(job.command(output), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        _, errors = process.communicate(timeout=after)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()  # the pipe closes when the last worker is gone too
        return True
    if process.returncode:
        raise AssertionError(f"{job.name} ended with {process.returncode}: {errors.decode()}")
    return False


def killed_rounds(job: Job, folder: Path, *, kills: int, per_round: int, seed: int) -> int:
    """Kill and go on until `kills` is reached, finishing every `per_round`; how many results were compared.

    Raises `AssertionError` at the first result that differs from the uninterrupted one.
    """
    rng = random.Random(seed)
    folder.mkdir(parents=True, exist_ok=True)
    span = run(job, folder / "whole")
    wanted, compared, done = contents(folder / "whole"), 0, 0
    while done < kills:
        target = folder / f"killed{compared}"
        for attempt in range(min(per_round, kills - done)):
            began = time.monotonic()
            if not run_and_kill(job, target, rng.uniform(0.0, span)):
                if attempt == 0:  # a whole run: the machine is less busy than when `span` was taken
                    span = min(span, time.monotonic() - began)
                break  # it was done before the kill came
            done += 1
        run(job, target)
        differing = sorted(name for name, data in contents(target).items() ^ wanted.items())
        assert not differing, f"{job.name}, round {compared}: {differing[:5]} differ from the uninterrupted result"
        compared += 1
    return compared


def contents(folder: Path) -> dict[str, bytes]:
    """Every file's bytes by its path in the folder; of `run.json` what is not a time."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name != ".lock":
            found[path.relative_to(folder).as_posix()] = _steady(path)
    return found


def _steady(path: Path) -> bytes:
    if path.name != "run.json":
        return path.read_bytes()
    info = json.loads(path.read_bytes())
    return json.dumps({key: value for key, value in info.items() if key not in ("started", "finished")}).encode()


def mount_tiny(folder: Path, *, kilobytes: int) -> bool:
    """Put a file system of this size on the folder; False where that is not allowed."""
    if os.geteuid() != 0:
        return False
    command = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "none", str(folder)]
    return _quiet(command)


def remount(folder: Path, option: str) -> bool:
    """Change an option of the file system on the folder: "ro" takes the right to write away, "size=…" grows it."""
    return _quiet(["mount", "-o", f"remount,{option}", str(folder)])


def unmount(folder: Path) -> None:
    """Take the file system away again."""
    _quiet(["umount", str(folder)])


def _quiet(command: Sequence[str]) -> bool:
    try:
        return subprocess.run(command, capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


def limit_file_size(size: int) -> None:
    """For a child before it starts: files end at this size, as on a disk that is full."""
    import resource

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
