"""The form that participants' ids of an open link must have."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    known = {column["name"] for column in sa.inspect(op.get_bind()).get_columns("recruitment")}
    if "participant_form" not in known:
        op.add_column("recruitment", sa.Column("participant_form", sa.Text(), nullable=False, server_default=""))
