"""A study's declared plan in the database: what it consists of, and the log's entry about its registration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, select

from rushes.preference.study.database.tables import audit, clip, pair
from rushes.preference.study.queries import SAMPLE_KINDS, log, study_row

_ACTION = "preregistered"
_PLAN = (
    *("rubric", "seed", "min_raters", "quota", "gold_every", "repeat_every", "exclusion_rule", "watch_rule"),
    "simulated",
)


def declared_plan(connection: Connection, study_name: str) -> dict[str, Any]:
    """The plan's settings, and `pairs`: sample, task family, prompt, and each clip's system and digest."""
    found = study_row(connection, study_name)
    first, second = clip.alias(), clip.alias()
    query = (
        select(
            *(pair.c.sample, pair.c.family, pair.c.prompt, pair.c.prompt_text),
            *(first.c.system, first.c.sha256, second.c.system, second.c.sha256),
        )
        .join(first, first.c.id == pair.c.clip_a_id)
        .join(second, second.c.id == pair.c.clip_b_id)
        .where(pair.c.study_id == found.id, pair.c.kind.in_(SAMPLE_KINDS))
    )
    pairs = sorted(list(row) for row in connection.execute(query))
    return {**{name: getattr(found, name) for name in _PLAN}, "pairs": pairs}


def record(
    connection: Connection, study_name: str, *, digest: str, parts: Mapping[str, str], votes_before: int, now: int
) -> None:
    """One line in the study's log: the digest, and a short one of each part, to say later what differs."""
    found = study_row(connection, study_name)
    detail = {"digest": digest, "votes_before": votes_before, "parts": dict(parts)}
    log(connection, study_id=found.id, actor="admin", action=_ACTION, now=now, **detail)


def recorded(connection: Connection, study_name: str) -> dict[str, Any] | None:
    """The first registration in the log: a plan declared twice was declared when it was declared first."""
    found = study_row(connection, study_name)
    query = select(audit.c.detail).where(audit.c.study_id == found.id, audit.c.action == _ACTION).order_by(audit.c.id)
    row = connection.execute(query.limit(1)).first()
    return None if row is None else dict(row.detail)
