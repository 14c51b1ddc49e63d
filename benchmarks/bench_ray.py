"""What Ray costs on one machine, and what a second node gains: `rushes clip` on 200 clips, whole commands by the clock.

    python benchmarks/bench_ray.py [--repeats 3] [--clips 200]

Clips are those of bench_clip.py, 4 s each, at two sizes. Bytecode is compiled beforehand, as an installed package has.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench_clip import make_clip
from faults import contents
from ray_cluster import running, token
from recording import record

SIZES = {"512²": (512, 512), "720p": (1280, 720)}
STEADY = "720p"
"""The size at which nodes are compared: Ray's own start is a small part of the run."""


class Bench:
    """Runs commands on clips of one size in one temporary folder and holds their bytes against the first."""

    def __init__(self, folder: Path, clips: int, environment: dict[str, str], size: tuple[int, int]) -> None:
        folder.mkdir()
        self._folder, self._environment = folder, environment
        self._material, self._one = folder / "clips", folder / "one"
        self._material.mkdir()
        self._one.mkdir()
        first = make_clip(self._one / "clip.mp4", *size)
        for number in range(clips):
            shutil.copy(first, self._material / f"clip{number:03}.mp4")
        self._wanted: dict[str, bytes] | None = None

    def seconds(self, *engine: str, one: bool = False) -> float:
        """One whole command, in seconds; `one`: for a single clip."""
        run = self._folder / "run"
        shutil.rmtree(run, ignore_errors=True)
        command = [sys.executable, "-m", "rushes", "clip", str(self._one if one else self._material), "-o", str(run)]
        began = time.monotonic()
        subprocess.run([*command, "--json", *engine], check=True, stdout=subprocess.DEVNULL, env=self._environment)
        took = time.monotonic() - began
        if not one:
            self._wanted = self._wanted or contents(run)
            assert contents(run) == self._wanted, f"{engine}: other bytes than the first run"
        return took


def environment(folder: Path) -> dict[str, str]:
    """Ours, with bytecode kept in the folder, and a token for the clusters."""
    ours = {name: value for name, value in os.environ.items() if name not in ("PYTHONDONTWRITEBYTECODE", "RAY_ADDRESS")}
    return ours | token() | {"PYTHONPYCACHEPREFIX": str(folder / "bytecode")}


def measure(benches: dict[str, Bench], repeats: int, shared: dict[str, str]) -> dict[str, list[float]]:
    """Seconds of every kind of run, turn by turn."""
    cores = len(os.sched_getaffinity(0))
    ours, on_ray = ("--engine", "local"), ("--engine", "ray")
    small, steady = benches["512²"], benches[STEADY]
    small.seconds(*ours, one=True)
    small.seconds(*on_ray, one=True)  # compiles Ray's own modules too
    found: dict[str, list[float]] = {"own": [small.seconds(*on_ray) for _ in range(repeats)]}
    with running((cores,), shared) as cluster:
        joined = (*on_ray, "--address", cluster.address)
        small.seconds(*joined, one=True)
        for size, bench in benches.items():
            found |= {f"local {size}": [], f"joined {size}": []}
            for _ in range(repeats):
                found[f"local {size}"].append(bench.seconds(*ours))
                found[f"joined {size}"].append(bench.seconds(*joined))
        found["local one"] = [small.seconds(*ours, one=True) for _ in range(repeats)]
        found["joined one"] = [small.seconds(*joined, one=True) for _ in range(repeats)]
    for nodes in ((1,), (1, 1)):
        with running(nodes, shared) as cluster:
            joined = (*on_ray, "--address", cluster.address)
            small.seconds(*joined, one=True)
            found[f"nodes {len(nodes)}"] = [steady.seconds(*joined) for _ in range(repeats)]
    return found


def rows(found: dict[str, list[float]], clips: int) -> list[tuple[str, str, str]]:
    took = {name: statistics.median(seconds) for name, seconds in found.items()}

    def against_local(size: str) -> tuple[str, str, str]:
        here, there = took[f"local {size}"], took[f"joined {size}"]
        name = f"{clips} clips of {size}, a running cluster joined, over --engine local"
        return name, "≤ 1.10", f"{there / here:.2f} ({there:.1f} over {here:.1f} s)"

    one, two = took["nodes 1"], took["nodes 2"]
    start = took["joined one"] - took["local one"]
    return [
        *map(against_local, SIZES),
        ("of it, what the start of Ray's workers costs, whatever the number of clips", "–", f"{start:.1f} s"),
        (
            f"{clips} clips of 512², Ray started and stopped too",
            "–",
            f"{took['own'] / took['local 512²']:.2f} ({took['own']:.1f} s)",
        ),
        (
            f"two nodes of one core / one, {clips} clips of {STEADY}",
            "≥ 1.7×",
            f"{one / two:.2f}× ({one:.1f}, {two:.1f} s)",
        ),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--clips", type=int, default=200)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        shared = environment(Path(place))
        benches = {name: Bench(Path(place) / name, options.clips, shared, size) for name, size in SIZES.items()}
        found = measure(benches, options.repeats, shared)
    how = (
        "Whole `rushes clip --json` commands by the clock, with the start of Python, of Ray and of its workers; "
        f"medians of {options.repeats}; as many workers as cores on both engines; every run's bytes compared. "
        "Script: `benchmarks/bench_ray.py`."
    )
    record("ray", "The Ray engine", rows(found, options.clips), how=how)


if __name__ == "__main__":
    main()
