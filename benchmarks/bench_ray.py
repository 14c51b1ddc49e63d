"""What Ray costs on one machine, and what a second node gains: `rushes clip` on 200 clips, whole commands by the clock.

    python benchmarks/bench_ray.py [--repeats 3] [--clips 200]

Clips are those of bench_clip.py at 512², 4 s each. Bytecode is compiled beforehand, as an installed package has it.
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


class Bench:
    """Runs commands in one temporary folder and holds their bytes against the first."""

    def __init__(self, folder: Path, clips: int, environment: dict[str, str]) -> None:
        self._folder, self._environment = folder, environment
        self._material, self._one = folder / "clips", folder / "one"
        self._material.mkdir()
        self._one.mkdir()
        first = make_clip(self._one / "clip.mp4", 512, 512)
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


def measure(bench: Bench, repeats: int, shared: dict[str, str]) -> dict[str, list[float]]:
    """Seconds of every kind of run."""
    cores = len(os.sched_getaffinity(0))
    ours = ("--engine", "local")
    on_ray = ("--engine", "ray")
    bench.seconds(*ours, one=True)
    bench.seconds(*on_ray, one=True)  # compiles Ray's own modules too
    found: dict[str, list[float]] = {name: [] for name in ("local", "own", "local one", "there", "there one", "1", "2")}
    for _ in range(repeats):
        found["local"].append(bench.seconds(*ours))
        found["own"].append(bench.seconds(*on_ray))
        found["local one"].append(bench.seconds(*ours, one=True))
    for name, nodes in (("there", (cores,)), ("1", (1,)), ("2", (1, 1))):
        with running(nodes, shared) as cluster:
            joined = (*on_ray, "--address", cluster.address)
            bench.seconds(*joined, one=True)
            found[name] = [bench.seconds(*joined) for _ in range(repeats)]
            if name == "there":
                found["there one"] = [bench.seconds(*joined, one=True) for _ in range(repeats)]
    return found


def rows(found: dict[str, list[float]], clips: int) -> list[tuple[str, str, str]]:
    took = {name: statistics.median(seconds) for name, seconds in found.items()}
    further = (took["there"] - took["there one"]) / (took["local"] - took["local one"])
    return [
        (f"{clips} clips, --engine local", "–", f"{took['local']:.1f} s ({clips / took['local']:.1f} clips/s)"),
        (
            "--engine ray, a running cluster joined",
            "≤ 1.10",
            f"{took['there'] / took['local']:.2f} ({took['there']:.1f} s)",
        ),
        ("… of it, each clip after the first", "–", f"{further:.2f}"),
        (
            "--engine ray, Ray started and stopped too",
            "≤ 1.10",
            f"{took['own'] / took['local']:.2f} ({took['own']:.1f} s)",
        ),
        (
            "two nodes of one core / one",
            "≥ 1.7×",
            f"{took['1'] / took['2']:.2f}× ({took['1']:.1f} s, {took['2']:.1f} s)",
        ),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--clips", type=int, default=200)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        shared = environment(Path(place))
        found = measure(Bench(Path(place), options.clips, shared), options.repeats, shared)
    how = (
        "Whole `rushes clip --json` commands by the clock, with the start of Python, of Ray and of its workers; "
        f"medians of {options.repeats}; as many workers as cores on both engines; every run's bytes compared. "
        "Script: `benchmarks/bench_ray.py`."
    )
    record("ray", "The Ray engine", rows(found, options.clips), how=how)


if __name__ == "__main__":
    main()
