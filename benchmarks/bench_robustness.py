"""Robustness: Levenshtein against the textbook table, a sweep of 10,000 runs, a trace of a gigabyte.

python benchmarks/bench_robustness.py
"""

from __future__ import annotations

import hashlib
import json
import random
import resource
import statistics
import string
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from recording import record
from rushes.instruments.robustness import MetricsEngine, measure_robustness
from rushes.instruments.robustness.seed.encoding import run_directory
from rushes.instruments.robustness.seed.metrics import levenshtein
from rushes.instruments.robustness.seed.traces import last_record

LETTERS = string.ascii_lowercase + "     .,"
AXES = {"brightness": [0.5 + 0.1 * i for i in range(10)], "contrast": [0.5 + 0.1 * i for i in range(10)]}
SEEDS = list(range(100))


def textbook(one: str, other: str) -> int:
    """The table cell by cell, two rows at a time: the form the metric's specification describes."""
    above = list(range(len(other) + 1))
    row = [0] * (len(other) + 1)
    for i, a in enumerate(one):
        row[0] = i + 1
        for j, b in enumerate(other):
            row[j + 1] = min(above[j + 1] + 1, row[j] + 1, above[j] + (a != b))
        above, row = row, above
    return above[-1]


def seconds(work: Callable[[], object]) -> float:
    """CPU time of this process: what the work costs, whatever else the machine is doing."""
    start = time.process_time()
    work()
    return time.process_time() - start


def text(generator: random.Random, length: int) -> str:
    return "".join(generator.choices(LETTERS, k=length))


def bench_levenshtein() -> list[tuple[str, str, str]]:
    generator = random.Random(1)
    one, other = text(generator, 10_000), text(generator, 10_000)
    assert levenshtein(one[:500], other[:500]) == textbook(one[:500], other[:500])
    ours = statistics.median(seconds(lambda: levenshtein(one, other)) for _ in range(9))
    theirs = seconds(lambda: textbook(one, other))
    figures = f"{theirs / ours:.0f}× ({theirs:.1f} s against {ours * 1000:.1f} ms)"
    return [("levenshtein of 10,000 random characters, against the textbook table in pure Python", "≥ 150×", figures)]


def write_sweep(folder: Path, runs: int) -> Path:
    """A sweep of this many runs; every justification is 2 kB of its own: the slowest case there is."""
    generator = random.Random(2)
    listed = []
    points = [{"brightness": b, "contrast": c} for b in AXES["brightness"] for c in AXES["contrast"]]
    for point in points:
        for seed in SEEDS[: runs // len(points)]:
            run = folder / "runs" / run_directory(point, seed)
            run.mkdir(parents=True)
            answer = {
                "step": 1,
                "output": generator.choice(["pass", "flagged"]),
                "justification": text(generator, 2048),
            }
            (run / "trace_pack.jsonl").write_text(json.dumps(answer) + "\n")
            manifest = {"run_id": run.name, "timestamp": "1970-01-01T00:00:00Z", "seed": seed, "artifacts": []}
            data = json.dumps(manifest).encode()
            (run / "manifest.json").write_bytes(data)
            digest = hashlib.sha256(data).hexdigest()
            listed.append({"axis_values": point, "seed": seed, "manifest_hash": digest})
    seeds = SEEDS[: runs // len(points)]
    (folder / "sweep_manifest.json").write_text(json.dumps({"axes": AXES, "seeds": seeds, "runs": listed}))
    return folder


def peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def bench_sweep(folder: Path) -> list[tuple[str, str, str]]:
    small, large = write_sweep(folder / "small", 1_000), write_sweep(folder / "large", 10_000)
    MetricsEngine().compute(small)
    before = peak_mib()
    clock = time.perf_counter()
    taken = seconds(lambda: MetricsEngine().compute(large))
    clock = time.perf_counter() - clock
    grown = peak_mib() - before
    whole = time.perf_counter()
    measured = seconds(lambda: measure_robustness(large, run=folder / "run"))
    whole = time.perf_counter() - whole
    what = "sweep of 10,000 runs, each with 2 kB of justification unlike any other"
    texts = 10_000 * 2048 / 2**20
    return [
        (f"{what}: compute()", "≤ 20 s", f"{taken:.1f} s of CPU, {clock:.1f} s by the clock"),
        (
            "the same: measure_robustness, verified, with effects, cells and a run directory",
            "≤ 20 s",
            f"{measured:.1f} s of CPU, {whole:.1f} s by the clock",
        ),
        ("memory it adds over a sweep of 1,000 runs", "flat", f"{grown:.0f} MiB (the texts alone are {texts:.0f} MiB)"),
    ]


def bench_trace(folder: Path) -> list[tuple[str, str, str]]:
    path = folder / "trace_pack.jsonl"
    line = json.dumps({"step": 1, "event": "token", "text": "x" * 900}).encode() + b"\n"
    with open(path, "wb") as file:
        for _ in range((1 << 30) // (len(line) * 1000)):
            file.write(line * 1000)
        file.write(json.dumps({"step": 2, "output": "pass", "justification": "y" * 2048}).encode() + b"\n")
    before = peak_mib()
    taken = statistics.median(seconds(lambda: last_record(path)) for _ in range(9))
    size = path.stat().st_size / 2**30
    figures = f"{taken * 1000:.2f} ms, {peak_mib() - before:.0f} MiB more"
    return [(f"last record of a trace of {size:.2f} GiB", "read from its end", figures)]


def main() -> None:
    rows = bench_levenshtein()
    with tempfile.TemporaryDirectory() as folder:
        rows += bench_sweep(Path(folder))
        rows += bench_trace(Path(folder))
    record(
        "robustness",
        "Robustness",
        rows,
        how="Pure Python, one core, one process, CPU time. Random texts, so that no two runs share a justification.",
    )


if __name__ == "__main__":
    sys.exit(main())
