"""How an import into a study is going: written by the process that does it, read by whichever answers."""

from __future__ import annotations

from typing import Literal, TypeAlias

from sqlalchemy import Connection, select

from rushes.study.database.tables import import_state

ImportState: TypeAlias = Literal["none", "running", "done", "failed"]
STALE_MS = 600_000
"""No single clip takes longer: an import that has said nothing for so long ended with its process."""
_STOPPED = "The server stopped before all clips were read."


def note(connection: Connection, now: int, study: str, state: ImportState, text: str) -> None:
    """What is so from now on."""
    values = {"state": state, "text": text, "at_ms": now}
    changed = connection.execute(import_state.update().where(import_state.c.study == study).values(**values))
    if not changed.rowcount:
        connection.execute(import_state.insert().values(study=study, **values))


def read(connection: Connection, now: int, study: str) -> tuple[ImportState, str]:
    """The state and a sentence about it."""
    row = connection.execute(select(import_state).where(import_state.c.study == study)).first()
    if row is None:
        return "none", ""
    if row.state == "running" and now - row.at_ms > STALE_MS:
        return "failed", _STOPPED
    return row.state, row.text
