"""What a database lacks of the tables as they are now: tables, columns and indexes.

`tables.py` is the one place that describes them. A version that only adds is this one call, whatever version the
database comes from; and an upgrade that was broken off can be run again. Later versions may find their part done.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from rushes.study.database.tables import metadata


def add_missing() -> None:
    """Add what is missing; rows stay as they are, with each new column's default."""
    bind = op.get_bind()
    metadata.create_all(bind)
    there = sa.inspect(bind)
    for table in metadata.sorted_tables:
        known = {column["name"] for column in there.get_columns(table.name)}
        for column in table.columns:
            if column.name not in known:
                op.add_column(table.name, column)
        for index in table.indexes:
            index.create(bind, checkfirst=True)
