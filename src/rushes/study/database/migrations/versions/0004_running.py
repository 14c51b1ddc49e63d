"""Running a study with paid raters: its state, open links, participants, retired pairs, resolved problems, erasure.

Rows of the append-only tables may now be deleted for one reason: their rater is being erased, which
`rushes.study.owner.erasing` says for the length of its transaction in `rater.erasing`. Changing a row stays
impossible.
"""

from __future__ import annotations

from alembic import op

from rushes.study.database.migrations.missing import add_missing

revision = "0004"
down_revision = "0003"

_ERASABLE = {
    "vote": "rater.id = OLD.rater_id",
    "exclusion": "rater.id = OLD.rater_id",
    "play": "rater.id = (SELECT rater_id FROM assignment WHERE assignment.id = OLD.assignment_id)",
    "audit": "rater.study_id = OLD.study_id",
}
"""Which rater's erasure opens a row of a table: their own rows, and the lines of their study's log that name them."""


def upgrade() -> None:
    add_missing()
    for table, whose in _ERASABLE.items():
        erased = f"SELECT 1 FROM rater WHERE rater.erasing AND {whose}"  # names from above  # nosec B608
        if op.get_bind().dialect.name == "sqlite":
            _open_sqlite(table, erased)
        else:
            _open_postgresql(table, erased)


def _open_sqlite(table: str, erased: str) -> None:
    op.execute(f"DROP TRIGGER IF EXISTS {table}_no_delete")
    op.execute(
        f"CREATE TRIGGER {table}_no_delete BEFORE DELETE ON {table} WHEN NOT EXISTS ({erased}) "
        f"BEGIN SELECT RAISE(ABORT, '{table} rows are append-only'); END"
    )


def _open_postgresql(table: str, erased: str) -> None:
    op.execute(f"DROP TRIGGER IF EXISTS {table}_append_only ON {table}")
    op.execute(f"DROP TRIGGER IF EXISTS {table}_erasable ON {table}")
    op.execute(
        f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR TRUNCATE ON {table} "
        f"FOR EACH STATEMENT EXECUTE FUNCTION {table}_append_only()"
    )
    op.execute(
        f"CREATE OR REPLACE FUNCTION {table}_erasable() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN IF EXISTS ({erased}) THEN RETURN OLD; END IF; "
        f"RAISE EXCEPTION '{table} rows are append-only'; END $$"
    )
    op.execute(
        f"CREATE TRIGGER {table}_erasable BEFORE DELETE ON {table} FOR EACH ROW EXECUTE FUNCTION {table}_erasable()"
    )
