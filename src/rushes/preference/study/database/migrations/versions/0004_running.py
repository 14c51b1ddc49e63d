"""Running a study with paid raters: its state, open links, participants, retired pairs, resolved problems, erasure.

Rows of the append-only tables may now be deleted for one reason: their rater is being erased, which
`rushes.preference.study.erasing` says for the length of its transaction in `rater.erasing`. Changing a row stays
impossible.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

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
    _add_columns()
    _create_recruitment()
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


def _add_columns() -> None:
    added = {
        "study": (
            sa.Column("state", sa.String(length=10), nullable=False, server_default="open"),
            sa.Column("on_erase", sa.String(length=10), nullable=False, server_default="keep"),
            sa.Column("pairing", sa.String(length=20), nullable=False, server_default="round-robin"),
            sa.Column("pay", sa.Text(), nullable=False, server_default=""),
        ),
        "pair": (sa.Column("retired", sa.Boolean(), nullable=False, server_default=sa.false()),),
        "rater": (
            sa.Column("recruitment_id", sa.Integer(), nullable=True),
            sa.Column("participant", sa.String(length=128), nullable=True),
            sa.Column("platform_session", sa.String(length=128), nullable=True),
            sa.Column("outcome", sa.String(length=20), nullable=True),
            sa.Column("joined_ms", sa.BigInteger(), nullable=True),
            sa.Column("erased_ms", sa.BigInteger(), nullable=True),
            sa.Column("erasing", sa.Boolean(), nullable=False, server_default=sa.false()),
        ),
        "problem": (
            sa.Column("resolution", sa.Text(), nullable=False, server_default=""),
            sa.Column("resolved_by", sa.String(length=80), nullable=False, server_default=""),
            sa.Column("resolved_ms", sa.BigInteger(), nullable=True),
        ),
    }
    there = sa.inspect(op.get_bind())
    for table, columns in added.items():
        known = {column["name"] for column in there.get_columns(table)}
        for column in columns:
            if column.name not in known:
                op.add_column(table, column)
    name = op.f("ix_rater_study_id_participant")
    op.create_index(name, "rater", ["study_id", "participant"], unique=True, if_not_exists=True)


def _create_recruitment() -> None:
    if sa.inspect(op.get_bind()).has_table("recruitment"):
        return
    op.create_table(
        "recruitment",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("token_hash", sa.String(length=64), nullable=False),
        sa.Column("platform", sa.String(length=20), nullable=False),
        sa.Column("quota", sa.Integer(), nullable=False),
        sa.Column("ids", sa.String(length=10), nullable=False),
        sa.Column("secret", sa.String(length=64), nullable=False),
        sa.Column("codes", sa.JSON(), nullable=False),
        sa.Column("return_url", sa.Text(), nullable=False),
        sa.Column("opened_ms", sa.BigInteger(), nullable=False),
        sa.Column("closed_ms", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name=op.f("fk_recruitment_study_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_recruitment")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_recruitment_token_hash")),
    )
    op.create_index(op.f("ix_recruitment_study_id"), "recruitment", ["study_id"], unique=False)
