"""Damaged clips by the thousand through `evaluate_clip`: each ends in a result, in a worker that can be lost.

    python benchmarks/fuzz_clips.py [--cases 20000] [--seed 1] [--jobs N] [--state FILE]

Case N of a seed is always the same file, so a count is a place to go on from: the state file keeps it, and the same
command continues there. A surprise (an exception, a crash, a hang, runaway memory) is kept under `.cache/fuzz` with its
case number; exceptions make the exit code 1. The last results go into RESULTS.md.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from damage import Case, measure_damaged, write_sources
from recording import record
from rushes.workers.limits import Limits
from rushes.workers.local import Crash, cpu_count, run_tasks

_KEPT = Path(".cache/fuzz")
_BATCH = 500
TIMEOUT_S, MEMORY_MB = 60, 1500


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=cpu_count())
    parser.add_argument("--state", type=Path, default=None, help="where the count is kept")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after this long; go on next time")
    return parser.parse_args()


def _keep(case: Case, why: str) -> None:
    _KEPT.mkdir(parents=True, exist_ok=True)
    kept = _KEPT / f"seed{case.seed}-case{case.number}{case.source.suffix}"
    kept.write_bytes(case.damaged())
    kept.with_suffix(".txt").write_text(why + "\n")
    print(f"case {case.number}, kept as {kept}: {why.strip().splitlines()[-1]}", file=sys.stderr)


def _batch(cases: list[Case], jobs: int) -> Counter[str]:
    seen: Counter[str] = Counter()
    for index, outcome in run_tasks(measure_damaged, cases, jobs=jobs, limits=Limits(TIMEOUT_S, MEMORY_MB)):
        kind, why = ("isolated", outcome.reason) if isinstance(outcome, Crash) else outcome
        seen[kind] += 1
        if why:
            _keep(cases[index], why)
    return seen


def main() -> None:
    """Go on from the count in the state file until the cases are done."""
    asked = _asked()
    state: Path = asked.state or _KEPT / f"seed{asked.seed}.json"
    before = json.loads(state.read_text()) if state.exists() else {"done": 0, "seen": {}, "seconds": 0.0}
    done, seen, spent = before["done"], Counter(before["seen"]), before["seconds"]
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        write_sources(Path(folder))
        while done < asked.cases and time.monotonic() - began < asked.seconds:
            numbers = range(done, min(done + _BATCH, asked.cases))
            seen += _batch([Case(folder, asked.seed, number) for number in numbers], asked.jobs)
            done = numbers.stop
            state.parent.mkdir(parents=True, exist_ok=True)
            now = spent + time.monotonic() - began
            state.write_text(json.dumps({"done": done, "seen": dict(seen), "seconds": now}))
            print(f"{done} of {asked.cases}: {dict(seen)}", file=sys.stderr)
    _record(asked, done, seen, spent + time.monotonic() - began)
    sys.exit(1 if seen["surprise"] else 0)


def _record(asked: argparse.Namespace, done: int, seen: Counter[str], seconds: float) -> None:
    outcomes = ", ".join(f"{kind} {count}" for kind, count in sorted(seen.items()))
    rows = [
        ("damaged clips measured", "≥ 20,000", f"{done:,} (seed {asked.seed})"),
        ("exceptions", "0", str(seen["surprise"])),
        ("workers lost (crash, hang, memory), each one `reject` row", "–", str(seen["isolated"])),
        ("outcomes", "–", outcomes),
        ("seconds", "–", f"{seconds:.0f}"),
    ]
    how = (
        "mp4, mkv, webm, avi, gif and mpg of 12 frames, damaged in header, packets and length, through `evaluate_clip` "
        f"in worker processes ({TIMEOUT_S} s, {MEMORY_MB} MB each); `make fuzz`."
    )
    record("fuzz-clips", "Fuzzing: damaged clips", rows, how=how)


if __name__ == "__main__":
    main()
