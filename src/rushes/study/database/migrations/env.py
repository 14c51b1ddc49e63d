"""Alembic's entry: runs the versions on the connection that `connection.py` beside it hands over."""

from __future__ import annotations

from alembic import context

from rushes.study.database.tables import metadata


def run() -> None:
    context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
    with context.begin_transaction():
        context.run_migrations()


if __name__ == "env_py":  # the name Alembic loads this file under; a plain import changes nothing
    run()
