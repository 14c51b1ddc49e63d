"""Hundreds of kill -9 at random moments of `rushes clip`, `sweep` and `fvd`: every resumed result has the same bytes.

    python benchmarks/soak_runs.py [--kills 210] [--per-round 4] [--seed 1] [--only clip]

A third of the kills each. Stops at the first result that differs, with the folder kept. Results go into RESULTS.md.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from faults import clip_job, fvd_job, killed_rounds, sweep_job
from recording import record

JOBS = {"clip": clip_job, "sweep": sweep_job, "fvd": fvd_job}


def main() -> None:
    """Kill, go on, compare; then write down how it went."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=210)
    parser.add_argument("--per-round", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=sorted(JOBS), action="append", default=None)
    asked = parser.parse_args()
    chosen, began, rows = asked.only or list(JOBS), time.monotonic(), []
    folder = Path(tempfile.mkdtemp(prefix="soak-"))
    for name in chosen:
        kills = -(-asked.kills // len(chosen))
        job = JOBS[name](folder / name / "material")
        compared = killed_rounds(job, folder / name, kills=kills, per_round=asked.per_round, seed=asked.seed)
        rows.append((f"`rushes {name}`: kills, results compared", "all equal", f"{kills}, {compared} equal"))
        print(rows[-1], flush=True)
    total = sum(int(row[2].split(",")[0]) for row in rows)
    rows = [("kill -9 at random moments", "≥ 200", str(total)), *rows]
    rows.append(("seconds", "–", f"{time.monotonic() - began:.0f}"))
    how = "SIGKILL to the parent at a uniform moment; every few kills the run finishes and all files are compared."
    record("soak", "Fault injection: kill and resume", rows, how=f"{how} `make soak`.")


if __name__ == "__main__":
    main()
