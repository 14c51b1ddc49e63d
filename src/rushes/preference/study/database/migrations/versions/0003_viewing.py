"""What the rater's page needs: how a vote was looked at, source clips, refusals, own rubrics and texts, sound check."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    _add("study", sa.Column("language", sa.String(length=8), nullable=False, server_default="en"))
    _add("study", sa.Column("rubric_text", sa.Text(), nullable=True))
    _add("study", sa.Column("consent_text", sa.JSON(), nullable=True))
    _add("study", sa.Column("audio_check", sa.Boolean(), nullable=False, server_default=sa.false()))
    _add("clip", sa.Column("refused", sa.Text(), nullable=False, server_default=""))
    _add("pair", sa.Column("source_clip_id", sa.Integer(), nullable=True))
    _add("rater", sa.Column("language", sa.String(length=8), nullable=True))
    _add("rater", sa.Column("sound_ms", sa.BigInteger(), nullable=True))
    _add("rater", sa.Column("sound_tries", sa.Integer(), nullable=False, server_default="0"))
    _add("vote", sa.Column("viewing", sa.JSON(), nullable=True))


def _add(table: str, column: sa.Column[Any]) -> None:
    """The column, unless it is there: an upgrade that was broken off can be run again."""
    if column.name not in {there["name"] for there in sa.inspect(op.get_bind()).get_columns(table)}:
        op.add_column(table, column)
