"""The studies' tables, with triggers that keep votes, plays, decisions and the log append-only."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

APPEND_ONLY = ("vote", "play", "adjudication", "exclusion", "audit")


def upgrade() -> None:
    _create_tables()
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


def _create_tables() -> None:
    op.create_table(
        "admin",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("password_hash", sa.Text(), nullable=False),
        sa.Column("set_ms", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_admin")),
    )
    op.create_table(
        "admin_session",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("token_hash", sa.String(length=64), nullable=False),
        sa.Column("expires_ms", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_admin_session")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_admin_session_token_hash")),
    )
    op.create_table(
        "study",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=80), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("rubric", sa.String(length=20), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("min_raters", sa.Integer(), nullable=False),
        sa.Column("quota", sa.Integer(), nullable=True),
        sa.Column("gold_every", sa.Integer(), nullable=False),
        sa.Column("repeat_every", sa.Integer(), nullable=False),
        sa.Column("exclusion_rule", sa.JSON(), nullable=False),
        sa.Column("watch_rule", sa.JSON(), nullable=False),
        sa.Column("simulated", sa.Boolean(), nullable=False),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_study")),
        sa.UniqueConstraint("name", name=op.f("uq_study_name")),
    )
    op.create_table(
        "audit",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=True),
        sa.Column("actor", sa.String(length=80), nullable=False),
        sa.Column("action", sa.String(length=40), nullable=False),
        sa.Column("detail", sa.JSON(), nullable=False),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name=op.f("fk_audit_study_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit")),
    )
    op.create_index(op.f("ix_audit_study_id"), "audit", ["study_id"], unique=False)
    op.create_table(
        "clip",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("system", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("duration_ms", sa.Integer(), nullable=False),
        sa.Column("fps", sa.Float(), nullable=False),
        sa.Column("width", sa.Integer(), nullable=False),
        sa.Column("height", sa.Integer(), nullable=False),
        sa.Column("has_audio", sa.Boolean(), nullable=False),
        sa.Column("content_type", sa.String(length=40), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("token", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name=op.f("fk_clip_study_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_clip")),
        sa.UniqueConstraint("token", name=op.f("uq_clip_token")),
    )
    op.create_table(
        "rater",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("code", sa.String(length=80), nullable=False),
        sa.Column("invite_hash", sa.String(length=64), nullable=True),
        sa.Column("consent_ms", sa.BigInteger(), nullable=True),
        sa.Column("trained_ms", sa.BigInteger(), nullable=True),
        sa.Column("seen_ms", sa.BigInteger(), nullable=True),
        sa.Column("work_since_ms", sa.BigInteger(), nullable=True),
        sa.Column("active_ms", sa.BigInteger(), nullable=False),
        sa.Column("tasks", sa.Integer(), nullable=False),
        sa.Column("excluded", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name=op.f("fk_rater_study_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rater")),
        sa.UniqueConstraint("invite_hash", name=op.f("uq_rater_invite_hash")),
        sa.UniqueConstraint("study_id", "code", name=op.f("uq_rater_study_id_code")),
    )
    op.create_table(
        "exclusion",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("rater_id", sa.Integer(), nullable=False),
        sa.Column("excluded", sa.Boolean(), nullable=False),
        sa.Column("rule", sa.Text(), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["rater_id"], ["rater.id"], name=op.f("fk_exclusion_rater_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_exclusion")),
    )
    op.create_index(op.f("ix_exclusion_rater_id"), "exclusion", ["rater_id"], unique=False)
    op.create_table(
        "pair",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=10), nullable=False),
        sa.Column("sample", sa.Text(), nullable=False),
        sa.Column("family", sa.String(length=80), nullable=False),
        sa.Column("prompt", sa.Text(), nullable=False),
        sa.Column("prompt_text", sa.Text(), nullable=False),
        sa.Column("clip_a_id", sa.Integer(), nullable=False),
        sa.Column("clip_b_id", sa.Integer(), nullable=False),
        sa.Column("expected", sa.String(length=4), nullable=True),
        sa.Column("expected_tag", sa.Text(), nullable=True),
        sa.Column("feedback", sa.Text(), nullable=False),
        sa.Column("first_left", sa.String(length=1), nullable=False),
        sa.Column("votes", sa.Integer(), nullable=False),
        sa.Column("live", sa.Integer(), nullable=False),
        sa.Column("lefts_a", sa.Integer(), nullable=False),
        sa.Column("needed", sa.Integer(), nullable=False),
        sa.Column("free", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.ForeignKeyConstraint(["clip_a_id"], ["clip.id"], name=op.f("fk_pair_clip_a_id")),
        sa.ForeignKeyConstraint(["clip_b_id"], ["clip.id"], name=op.f("fk_pair_clip_b_id")),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name=op.f("fk_pair_study_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pair")),
        sa.UniqueConstraint("study_id", "sample", name=op.f("uq_pair_study_id_sample")),
    )
    op.create_index(op.f("ix_pair_study_id_kind_free"), "pair", ["study_id", "kind", "free"], unique=False)
    op.create_table(
        "rater_session",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("token_hash", sa.String(length=64), nullable=False),
        sa.Column("rater_id", sa.Integer(), nullable=False),
        sa.Column("expires_ms", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["rater_id"], ["rater.id"], name=op.f("fk_rater_session_rater_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rater_session")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_rater_session_token_hash")),
    )
    op.create_index(op.f("ix_rater_session_rater_id"), "rater_session", ["rater_id"], unique=False)
    op.create_table(
        "adjudication",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("pair_id", sa.Integer(), nullable=False),
        sa.Column("winner", sa.String(length=4), nullable=False),
        sa.Column("tags", sa.JSON(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("actor", sa.String(length=80), nullable=False),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["pair_id"], ["pair.id"], name=op.f("fk_adjudication_pair_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_adjudication")),
    )
    op.create_index(op.f("ix_adjudication_pair_id"), "adjudication", ["pair_id"], unique=False)
    op.create_table(
        "assignment",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("pair_id", sa.Integer(), nullable=False),
        sa.Column("rater_id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("purpose", sa.String(length=10), nullable=False),
        sa.Column("look", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("left", sa.String(length=1), nullable=False),
        sa.Column("token_a", sa.String(length=64), nullable=False),
        sa.Column("token_b", sa.String(length=64), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("vote_id", sa.Integer(), nullable=True),
        sa.Column("watch", sa.JSON(), nullable=True),
        sa.Column("draft", sa.JSON(), nullable=True),
        sa.Column("assigned_ms", sa.BigInteger(), nullable=False),
        sa.Column("shown_ms", sa.BigInteger(), nullable=True),
        sa.Column("touched_ms", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["pair_id"], ["pair.id"], name=op.f("fk_assignment_pair_id")),
        sa.ForeignKeyConstraint(["rater_id"], ["rater.id"], name=op.f("fk_assignment_rater_id")),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name=op.f("fk_assignment_study_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_assignment")),
        sa.UniqueConstraint("key", name=op.f("uq_assignment_key")),
        sa.UniqueConstraint("pair_id", "rater_id", "look", name=op.f("uq_assignment_pair_id_rater_id_look")),
        sa.UniqueConstraint("token_a", name=op.f("uq_assignment_token_a")),
        sa.UniqueConstraint("token_b", name=op.f("uq_assignment_token_b")),
    )
    op.create_index(
        op.f("ix_assignment_rater_id_state_number"), "assignment", ["rater_id", "state", "number"], unique=False
    )
    op.create_index(
        op.f("ix_assignment_study_id_state_touched_ms"), "assignment", ["study_id", "state", "touched_ms"], unique=False
    )
    op.create_table(
        "play",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("assignment_id", sa.Integer(), nullable=False),
        sa.Column("sequence", sa.BigInteger(), nullable=False),
        sa.Column("side", sa.String(length=1), nullable=False),
        sa.Column("start_ms", sa.Float(), nullable=False),
        sa.Column("end_ms", sa.Float(), nullable=False),
        sa.Column("rate", sa.Float(), nullable=False),
        sa.Column("visible", sa.Boolean(), nullable=False),
        sa.Column("refused", sa.Text(), nullable=False),
        sa.Column("client_ms", sa.BigInteger(), nullable=False),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["assignment_id"], ["assignment.id"], name=op.f("fk_play_assignment_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_play")),
        sa.UniqueConstraint("assignment_id", "side", "sequence", name=op.f("uq_play_assignment_id_side_sequence")),
    )
    op.create_table(
        "problem",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("assignment_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=40), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["assignment_id"], ["assignment.id"], name=op.f("fk_problem_assignment_id")),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name=op.f("fk_problem_study_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_problem")),
    )
    op.create_index(op.f("ix_problem_study_id"), "problem", ["study_id"], unique=False)
    op.create_table(
        "vote",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("assignment_id", sa.Integer(), nullable=False),
        sa.Column("pair_id", sa.Integer(), nullable=False),
        sa.Column("rater_id", sa.Integer(), nullable=False),
        sa.Column("purpose", sa.String(length=10), nullable=False),
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("winner", sa.String(length=4), nullable=False),
        sa.Column("left", sa.String(length=1), nullable=True),
        sa.Column("primary_tag", sa.Text(), nullable=False),
        sa.Column("secondary_tags", sa.JSON(), nullable=False),
        sa.Column("ratings", sa.JSON(), nullable=False),
        sa.Column("pair_ratings", sa.JSON(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("watched", sa.JSON(), nullable=False),
        sa.Column("supersedes", sa.Integer(), nullable=True),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["assignment_id"], ["assignment.id"], name=op.f("fk_vote_assignment_id")),
        sa.ForeignKeyConstraint(["pair_id"], ["pair.id"], name=op.f("fk_vote_pair_id")),
        sa.ForeignKeyConstraint(["rater_id"], ["rater.id"], name=op.f("fk_vote_rater_id")),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name=op.f("fk_vote_study_id")),
        sa.ForeignKeyConstraint(["supersedes"], ["vote.id"], name=op.f("fk_vote_supersedes")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_vote")),
        sa.UniqueConstraint("assignment_id", "key", name=op.f("uq_vote_assignment_id_key")),
    )
    op.create_index(op.f("ix_vote_pair_id"), "vote", ["pair_id"], unique=False)
    op.create_index(op.f("ix_vote_study_id_purpose"), "vote", ["study_id", "purpose"], unique=False)
