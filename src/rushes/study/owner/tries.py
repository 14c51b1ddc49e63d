"""How often a password or an open link may be tried, counted in the database: for all processes of a server together.

A try counts when it begins, so that many at once count too. What it counts against (an address, a browser, an account)
is kept as a hash, and for an hour at most.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Connection, delete, func, select

from rushes.study.database.tables import attempt
from rushes.study.tokens import token_hash

LONGEST_WINDOW_S = 3600


def begin(connection: Connection, now: int, keys: Mapping[str, int], *, window_s: int) -> int:
    """Count a try against every key, with the most it may have in the window; or, where one is used up, the seconds to
    wait."""
    _one_at_a_time(connection)
    waits = [wait for key, most in keys.items() if (wait := _wait_ms(connection, now, key, most, window_s * 1000))]
    if waits:
        return max(1, round(max(waits) / 1000))
    connection.execute(delete(attempt).where(attempt.c.at_ms <= now - LONGEST_WINDOW_S * 1000))
    connection.execute(attempt.insert(), [{"key": token_hash(key), "at_ms": now} for key in keys])
    return 0


def succeeded(connection: Connection, keys: Mapping[str, int]) -> None:
    """The try was a good one: it does not count."""
    for key in keys:
        newest = select(func.max(attempt.c.id)).where(attempt.c.key == token_hash(key)).scalar_subquery()
        connection.execute(delete(attempt).where(attempt.c.id == newest))


def _wait_ms(connection: Connection, now: int, key: str, most: int, window_ms: int) -> int:
    """Until the oldest of the newest `most` tries leaves the window; 0 where there are fewer."""
    counted = select(attempt.c.at_ms).where(attempt.c.key == token_hash(key), attempt.c.at_ms > now - window_ms)
    oldest = connection.execute(counted.order_by(attempt.c.at_ms.desc()).offset(most - 1).limit(1)).scalar()
    return 0 if oldest is None else int(oldest) + window_ms - now


def _one_at_a_time(connection: Connection) -> None:
    """Two processes must not both see the last free try; SQLite's BEGIN IMMEDIATE does the same."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("SELECT pg_advisory_xact_lock(7282375)")
