"""Hundreds of kill -9 at random moments of `rushes clip`, `sweep`, `fvd` and `serve`: nothing is lost, nothing differs.

    python benchmarks/soak_runs.py [--kills 210] [--per-round 4] [--seed 1] [--only clip --only serve]

Each command has its share of the kills; `serve` on SQLite, and on PostgreSQL where there is a server binary. Stops at
the first result that differs, with the folder kept. Results go into RESULTS.md.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from faults import Job, clip_job, fvd_job, killed_rounds, shards_job, sweep_job
from load_study import fresh_database, postgres
from recording import record
from serve_kills import kill_serve

JOBS: dict[str, Callable[[Path], Job]] = {"clip": clip_job, "shards": shards_job, "sweep": sweep_job, "fvd": fvd_job}
SERVERS = ("serve", "serve-postgresql")
SHARES = {"clip": 3, "shards": 4, "sweep": 5, "fvd": 2, "serve": 5, "serve-postgresql": 2}
"""Of 21 kills; `fvd` has the fewest, for it takes longest to start."""


def soak_job(name: str, folder: Path, *, kills: int, per_round: int, seed: int) -> tuple[str, str, str]:
    """Kill one command and compare; the line for the results."""
    job = JOBS[name](folder / "material")
    compared = killed_rounds(job, folder, kills=kills, per_round=per_round, seed=seed)
    return f"`rushes {job.name}`: kills, results compared", "all equal", f"{kills}, {compared} equal"


def soak_serve(name: str, folder: Path, *, kills: int, seed: int) -> tuple[str, str, str] | None:
    """Kill the server under votes and compare; None where its database is not to be had."""
    what = f"`rushes serve` on {'PostgreSQL' if name == SERVERS[1] else 'SQLite'}: kills, votes acknowledged"
    soak = partial(kill_serve, folder=folder, kills=kills, seed=seed)
    if name == SERVERS[0]:
        folder.mkdir(parents=True)
        votes = soak(str(folder / "studies.db"), str(folder / "in-peace.db"))
        return what, "none lost, exports equal", f"{kills}, {votes} there, equal"
    with postgres() as home:
        if home is None:
            return None
        votes = soak(fresh_database(home, "killed"), fresh_database(home, "in_peace"))
    return what, "none lost, exports equal", f"{kills}, {votes} there, equal"


def main() -> None:
    """Kill, go on, compare; then write down how it went."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=210)
    parser.add_argument("--per-round", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=[*JOBS, *SERVERS], action="append", default=None)
    asked = parser.parse_args()
    chosen, began, total = asked.only or [*JOBS, *SERVERS], time.monotonic(), 0
    rows: list[tuple[str, str, str]] = []
    folder = Path(tempfile.mkdtemp(prefix="soak-"))
    for name in chosen:
        kills = -(-asked.kills * SHARES[name] // sum(SHARES[other] for other in chosen))
        if name in SERVERS:
            row = soak_serve(name, folder / name, kills=kills, seed=asked.seed)
        else:
            row = soak_job(name, folder / name, kills=kills, per_round=asked.per_round, seed=asked.seed)
        if row is not None:
            rows.append(row)
            total += kills
            print(row, f"{time.monotonic() - began:.0f} s", flush=True)
    rows = [("kill -9 at random moments", "≥ 200", str(total)), *rows]
    rows.append(("seconds", "–", f"{time.monotonic() - began:.0f}"))
    how = (
        "SIGKILL to the parent at a uniform moment; every few kills the run finishes and all files are compared. "
        "`serve`: four raters vote without a pause, one kill in five while the server starts; afterwards every vote "
        "that was acknowledged is stored once, and all exports equal those of a store that was never interrupted."
    )
    record("soak", "Fault injection: kill and resume", rows, how=f"{how} `make soak`.")


if __name__ == "__main__":
    main()
