"""The time a rater works: from the first page to the last, breaks left out. Pay by the hour rests on it.

Reading the consent page and the instructions, the sound check, training, watching and thinking all count. A page gives
a sign of life with everything a rater does; a gap between two of them counts in full up to `THINKING_MS`, a longer one
as much as that, and one of `BREAK_MS` or more is a break and counts nothing.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import BigInteger, Connection, Row, bindparam

from rushes.study.database.tables import rater
from rushes.study.queries import RATER

BREAK_MS = 10 * 60_000
THINKING_MS = 3 * 60_000
SIGN_EVERY_MS = 4_000
"""Signs of life closer together than this are one: a page reports its play every second."""


def count_time(connection: Connection, who: Row[Any], *, now: int) -> None:
    """Count the time since the rater's last sign of life; a break starts a new stretch of work."""
    gap = None if who.seen_ms is None else max(0, now - who.seen_ms)
    if gap is not None and gap < SIGN_EVERY_MS:
        return
    fresh_start = gap is None or gap >= BREAK_MS or who.work_since_ms is None
    values = {
        "rater_wanted": who.id,
        "seen_ms": now,
        "work_since_ms": now if fresh_start else who.work_since_ms,
        "worked_ms": 0 if gap is None or gap >= BREAK_MS else min(gap, THINKING_MS),
    }
    connection.execute(_SEEN, values)


_SEEN = (
    rater.update()
    .where(rater.c.id == RATER)
    .values(
        seen_ms=bindparam("seen_ms"),
        work_since_ms=bindparam("work_since_ms"),
        active_ms=rater.c.active_ms + bindparam("worked_ms", type_=BigInteger),
    )
)
