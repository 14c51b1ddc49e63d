"""Databases of studies for tests, made as quickly as may be: passwords at their least cost, tables from a recording."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

import pytest

recorded: dict[str, list[tuple[str, Any]]] = {}
"""Statements and their values, by kind of database."""


@pytest.fixture(scope="session", autouse=True)
def quick_passwords() -> Iterator[None]:
    """Argon2 at its least cost: a real hash takes a second and 64 MiB on a busy machine, on purpose."""
    from argon2 import PasswordHasher

    from rushes.study.owner import administrators

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(administrators, "_HASHER", PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
        yield


@pytest.fixture(scope="session", autouse=True)
def quick_tables() -> Iterator[None]:
    """The migrations run once for each kind of database; the statements they made are given to every empty one after.

    Alembic reads its scripts anew each time, which takes longer than most tests. A database that has tables already,
    of whatever version, takes the real way.
    """
    from sqlalchemy import Engine, event, inspect

    from rushes.study.database import connection as module

    # Several folders' conftests take this fixture: what stands there may be the quick way of another one of them.
    upgrade = getattr(module.upgrade, "real", module.upgrade)

    def is_empty(engine: Engine) -> bool:
        try:
            return not inspect(engine).get_table_names()
        except Exception:  # no database: the real way says so
            return False

    def record(engine: Engine) -> None:
        made: list[tuple[str, Any]] = []

        def note(_: Any, __: Any, statement: str, parameters: Any, *___: Any) -> None:
            if not statement.lstrip().upper().startswith(("SELECT", "PRAGMA", "BEGIN")):
                made.append((statement, parameters))

        event.listen(engine, "before_cursor_execute", note)
        try:
            upgrade(engine)
        finally:
            event.remove(engine, "before_cursor_execute", note)
        recorded[engine.dialect.name] = made

    def quick(engine: Engine) -> None:
        if not is_empty(engine):
            return upgrade(engine)
        if engine.dialect.name not in recorded:
            return record(engine)
        with engine.begin() as connection:
            driver: Any = connection.connection.driver_connection
            for has_values, group in groupby(recorded[engine.dialect.name], key=lambda made: bool(made[1])):
                if engine.dialect.name == "postgresql" and not has_values:  # one round trip in place of a hundred
                    driver.execute(";\n".join(statement for statement, _ in group))
                    continue
                for statement, parameters in group:
                    connection.exec_driver_sql(statement, parameters or None)

    quick.real = upgrade  # type: ignore[attr-defined]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "upgrade", quick)
        yield
