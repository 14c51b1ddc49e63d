"""The studies of a database file, read as it lies: never brought to a newer form, and nothing is put beside it."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path
from typing import Any

ENDINGS = (".db", ".sqlite", ".sqlite3")
_STUDIES = """
SELECT name, title, {state} AS state, simulated,
  (SELECT COUNT(*) FROM pair WHERE pair.study_id = study.id AND pair.kind IN ('sample', 'imported')) AS pairs,
  (SELECT COUNT(*) FROM rater WHERE rater.study_id = study.id) AS raters,
  (SELECT COUNT(*) FROM vote WHERE vote.study_id = study.id AND vote.purpose != 'training') AS votes
FROM study ORDER BY name
"""


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
