"""Boards, sweeps and study databases in a few words: what the home page says of them, without opening them.

A study's database is only read, and never brought to a newer form: that is for `rushes serve`, which its owner starts.
"""

from __future__ import annotations

import json
import os
from contextlib import closing
from pathlib import Path
from typing import Any

_STUDIES = """
SELECT name, title, {state} AS state, simulated,
  (SELECT COUNT(*) FROM pair WHERE pair.study_id = study.id AND pair.kind IN ('sample', 'imported')) AS pairs,
  (SELECT COUNT(*) FROM rater WHERE rater.study_id = study.id) AS raters,
  (SELECT COUNT(*) FROM vote WHERE vote.study_id = study.id AND vote.purpose != 'training') AS votes
FROM study ORDER BY name
"""
_LARGEST = 16 * 1024 * 1024
"""Bytes of a manifest that is read for the sake of one line."""


def suite_status(folder: Path) -> dict[str, object]:
    """What `suite.json` says of a suite: how many systems, prompts and runs, and whether it is complete."""
    facts: dict[str, object] = {"path": str(folder), "systems": 0, "prompts": 0, "runs": 0, "failed": 0}
    try:
        data = json.loads((folder / "suite.json").read_bytes())
        suite, steps = data["suite"], data["steps"]
        there = sum(_runs_of(folder / str(step["folder"])) for step in steps)
        return facts | {
            "systems": len(suite["systems"]),
            "prompts": len(suite["prompts"]),
            "runs": there + sum(len(system["runs"]) for system in suite["systems"]),
            "failed": sum(bool(step["why"]) for step in steps),
            "status": "complete" if data["complete"] else "not complete",
        }
    except FileNotFoundError:
        return facts | {"status": "not found"}
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return facts | {"status": "cannot be read"}


def _runs_of(folder: Path) -> int:
    if (folder / "run.json").is_file():
        return 1
    return sum(1 for _ in folder.glob("*/run.json"))


def sweep_status(folder: Path) -> dict[str, object]:
    """The axes of a sweep and how many of its runs are there."""
    facts: dict[str, object] = {"path": str(folder), "axes": [], "declared": 0, "runs": 0}
    file = folder / "sweep_manifest.json"
    try:
        if file.stat().st_size > _LARGEST:
            return facts | {"status": "too large to look into"}
        data = json.loads(file.read_bytes())
        axes = data["axes"]
        names = list(axes) if isinstance(axes, dict) else [str(axis["name"]) for axis in axes]
        declared = len(data["runs"])
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return facts | {"status": "cannot be read"}
    try:
        with os.scandir(folder / "runs") as entries:
            runs = sum(entry.is_dir() for entry in entries)
    except OSError:
        runs = 0
    status = "complete" if runs >= declared else "not complete"
    return facts | {"axes": names, "declared": declared, "runs": runs, "status": status}


def studies_in(database: Path) -> list[dict[str, Any]] | None:
    """The studies of a SQLite file: name, title, state, pairs, raters and votes; None where it is no such file."""
    import sqlite3

    # Without a log beside it nobody writes to the file, and it is read as it lies: nothing is put beside it.
    quiet = "" if os.path.exists(f"{database}-wal") else "&immutable=1"
    try:
        address = f"{database.resolve().as_uri()}?mode=ro{quiet}"
        with closing(sqlite3.connect(address, uri=True, timeout=0.2)) as connection:
            connection.row_factory = sqlite3.Row
            columns = {row["name"] for row in connection.execute("PRAGMA table_info(study)")}
            if not {"name", "title", "simulated"} <= columns:
                return None
            query = _STUDIES.format(state="state" if "state" in columns else "'open'")
            return [dict(row) for row in connection.execute(query)]
    except (sqlite3.Error, OSError, ValueError):
        return None
