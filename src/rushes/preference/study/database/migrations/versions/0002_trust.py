"""Named administrators with roles, known devices, what was sent of a clip, its digest as served, training tries."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def _columns() -> dict[str, tuple[sa.Column[object], ...]]:
    return {
        "admin": (
            sa.Column("name", sa.String(length=40), nullable=False, server_default="admin"),
            sa.Column("role", sa.String(length=12), nullable=False, server_default="owner"),
        ),
        "admin_session": (sa.Column("name", sa.String(length=40), nullable=False, server_default="admin"),),
        "study": (sa.Column("training_tries", sa.Integer(), nullable=False, server_default="3"),),
        "clip": (
            sa.Column("served_sha256", sa.String(length=64), nullable=True),
            sa.Column("treatment", sa.String(length=10), nullable=True),
        ),
        "assignment": (sa.Column("sent", sa.JSON(), nullable=True),),
    }


def upgrade() -> None:
    there = sa.inspect(op.get_bind())
    for table, columns in _columns().items():
        known = {column["name"] for column in there.get_columns(table)}
        for column in columns:
            if column.name not in known:
                op.add_column(table, column)
    if not there.has_table("admin_device"):
        op.create_table(
            "admin_device",
            sa.Column("id", sa.Integer(), nullable=False),
            sa.Column("name", sa.String(length=40), nullable=False),
            sa.Column("device_hash", sa.String(length=64), nullable=False),
            sa.Column("at_ms", sa.BigInteger(), nullable=False),
            sa.PrimaryKeyConstraint("id", name=op.f("pk_admin_device")),
            sa.UniqueConstraint("name", "device_hash", name=op.f("uq_admin_device_name_device_hash")),
        )
