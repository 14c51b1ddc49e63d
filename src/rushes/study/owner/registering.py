"""A study's declared plan in the database: what it consists of, and the log's entry about its registration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, select

from rushes.instruments.preference.methods.method import PAIRS
from rushes.study.database.tables import audit, pair
from rushes.study.queries import SAMPLE_KINDS, TRIAL, log, study_row, with_all_clips

_ACTION = "preregistered"
_PLAN = (
    *("rubric", "seed", "min_raters", "quota", "gold_every", "repeat_every", "exclusion_rule", "watch_rule"),
    "simulated",
)


def declared_plan(connection: Connection, study: str) -> dict[str, Any]:
    """The plan's settings and its pairs, as a preregistration states them."""
    found = study_row(connection, study)
    plain = found.method == PAIRS.text  # as earlier versions stated it
    stated = (
        *(pair.c.sample, pair.c.family, pair.c.prompt, pair.c.prompt_text),
        *(column for table in TRIAL[: 2 if plain else None] for column in (table.c.system, table.c.sha256)),
    )
    query = with_all_clips(select(*stated)).where(pair.c.study_id == found.id, pair.c.kind.in_(SAMPLE_KINDS))
    pairs = sorted((list(row) for row in connection.execute(query)), key=lambda row: [part or "" for part in row])
    names = _PLAN if plain else (*_PLAN, "method", "reference")
    return {**{name: getattr(found, name) for name in names}, "pairs": pairs}


def record(
    connection: Connection, now: int, study: str, *, digest: str, parts: Mapping[str, str], votes_before: int
) -> None:
    """Put a preregistration into the study's log."""
    found = study_row(connection, study)
    detail = {"digest": digest, "votes_before": votes_before, "parts": dict(parts)}
    log(connection, study_id=found.id, actor="admin", action=_ACTION, now=now, **detail)


def recorded(connection: Connection, study: str) -> dict[str, Any] | None:
    """The first preregistration in the log; None where there is none."""
    found = study_row(connection, study)
    query = select(audit.c.detail).where(audit.c.study_id == found.id, audit.c.action == _ACTION).order_by(audit.c.id)
    row = connection.execute(query.limit(1)).first()
    return None if row is None else dict(row.detail)
