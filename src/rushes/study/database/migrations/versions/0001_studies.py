"""The studies' tables, with triggers that keep votes, plays, decisions and the log append-only.

A new database gets the tables as they are now, and later versions find their part done: a database that is at this
version was made by an earlier Rushes.
"""

from __future__ import annotations

from alembic import op

from rushes.study.database.migrations.missing import add_missing
from rushes.study.database.tables import APPEND_ONLY

revision = "0001"
down_revision = None


def upgrade() -> None:
    add_missing()
    for table in APPEND_ONLY:
        if op.get_bind().dialect.name == "sqlite":
            _lock_sqlite(table)
        else:
            _lock_postgresql(table)


def _lock_sqlite(table: str) -> None:
    for verb in ("UPDATE", "DELETE"):
        op.execute(
            f"CREATE TRIGGER {table}_no_{verb.lower()} BEFORE {verb} ON {table} "
            f"BEGIN SELECT RAISE(ABORT, '{table} rows are append-only'); END"
        )


def _lock_postgresql(table: str) -> None:
    op.execute(
        f"CREATE FUNCTION {table}_append_only() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{table} rows are append-only'; END $$"
    )
    op.execute(
        f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
        f"FOR EACH STATEMENT EXECUTE FUNCTION {table}_append_only()"
    )
