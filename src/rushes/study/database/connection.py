"""The studies' database: SQLite at a path, or PostgreSQL by URL, brought up to date when it is opened.

SQLite runs in WAL mode: readers never wait. A write transaction begins with BEGIN IMMEDIATE, because a transaction
that first reads and then writes would otherwise fail at once when another has written meanwhile, whatever the
timeout; and the writers of one process wait for a lock of their own, because SQLite's waiting is a sleep with growing
steps that lets late comers in first. On PostgreSQL transactions take turns for a few connections
(`rushes.study.database.fair_semaphore`).
"""

from __future__ import annotations

import math
import os
import sqlite3
import stat
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, inspect, make_url
from sqlalchemy.engine import URL
from sqlalchemy.exc import (
    ArgumentError,
    DatabaseError,
    DataError,
    DisconnectionError,
    NoSuchModuleError,
    OperationalError,
)

from rushes.core.errors import InputError
from rushes.core.machine.installing import not_installed
from rushes.study.database.fair_semaphore import FairSemaphore

MIGRATIONS = Path(__file__).with_name("migrations")
BUSY_TIMEOUT_MS = 15_000
POSTGRES_POOL = 8
"""Connections to PostgreSQL: more would only take turns on the same processors; requests queue for them instead."""
_TRUSTED_S = 1.0
"""A connection used so recently is taken to be alive."""
_READ = "rushes_read"
_NO_RIGHT = ("42501", "25006")
"""PostgreSQL's numbers for a right that is lacking, and for a server that only reads."""


class Database:
    """An open database, its tables up to date. Close it when done, or use it in a `with` statement.

    `migrate=False` makes and changes nothing: `InputError` for a file that is not there and for older tables.
    `connections`: the most that are open to PostgreSQL at a time.

    >>> import tempfile
    >>> with Database(Path(tempfile.mkdtemp()) / "studies.db") as database:
    ...     database.kind
    'sqlite'
    """

    def __init__(self, target: Path | str, *, migrate: bool = True, connections: int = POSTGRES_POOL) -> None:
        self.url = database_url(target)
        if not migrate:
            _require_file(self.url)
        self.engine = _engine(self.url, connections)
        self._gate: threading.Lock | FairSemaphore = (
            threading.Lock() if self.kind == "sqlite" else FairSemaphore(connections)
        )
        try:
            if migrate:
                upgrade(self.engine)
            else:
                require_current(self.engine)
        except BaseException:
            self.engine.dispose()
            raise

    @property
    def kind(self) -> str:
        """ "sqlite" or "postgresql"."""
        return self.engine.dialect.name

    @property
    def path(self) -> Path | None:
        """SQLite's file; None for PostgreSQL."""
        return Path(self.url.database) if self.kind == "sqlite" and self.url.database else None

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that only reads: one consistent view, no lock taken."""
        gate = nullcontext() if self.kind == "sqlite" else self._gate
        options = {_READ: True}
        with (
            _misfits(self.url),
            gate,
            self.engine.connect().execution_options(**options) as connection,
            connection.begin(),
        ):
            yield connection

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """A long transaction that reads, all of it one view of the database: what a backup is made of."""
        if self.kind == "sqlite":
            with self.read() as connection:
                yield connection
            return
        options = {"isolation_level": "REPEATABLE READ"}
        with self._gate, self.engine.connect().execution_options(**options) as connection, connection.begin():
            yield connection

    @contextmanager
    def glance(self) -> Iterator[Connection]:
        """For one statement that reads: PostgreSQL is spared the words that begin and end a transaction."""
        if self.kind == "sqlite":
            with self.read() as connection:
                yield connection
            return
        options = {"isolation_level": "AUTOCOMMIT"}
        with _misfits(self.url), self._gate, self.engine.connect().execution_options(**options) as connection:
            yield connection

    @contextmanager
    def write(self, *, durable: bool = True) -> Iterator[Connection]:
        """A transaction that writes: all of it is stored when the block ends, or none of it.

        It survives a crash of the program either way. `durable=False` does not wait for the disk, so that a power cut
        may take the last moments back: right for what a page reports every second, wrong for a vote.
        """
        if self.kind != "sqlite":
            with _misfits(self.url), self._gate, self.engine.begin() as connection:
                if durable:
                    connection.exec_driver_sql("SET LOCAL synchronous_commit = on")
                yield connection
            return
        with _misfits(self.url), self._gate, self.engine.connect() as connection:
            _wait_for_disk(connection, durable)
            with connection.begin():
                yield connection

    def require_writable(self) -> None:
        """`InputError` where this user may only read, before anybody's vote meets that."""
        with self.write() as connection:
            connection.exec_driver_sql("UPDATE study SET id = id WHERE id IS NULL")

    def close(self) -> None:
        self.engine.dispose()

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextmanager
def _misfits(url: URL) -> Iterator[None]:
    """What somebody sent and no column can hold (a NUL, half a character, a number past 64 bits) is one line, and so is
    what the database's user has no right to.

    The transaction is undone before this is said.
    """
    try:
        yield
    except (DataError, OverflowError, UnicodeEncodeError) as error:
        reason = _first_line(error) if isinstance(error, DataError) else str(error)
        raise InputError(f"a text or number cannot be stored ({ascii(reason)[1:-1]}); shorten or correct it") from None
    except DatabaseError as error:
        if not _no_right(error):
            raise
        raise _refused(url, error) from None


def _no_right(error: DatabaseError) -> bool:
    """Whether the user of the database lacks a right, or its server or file can only be read."""
    if isinstance(error.orig, sqlite3.Error):
        return getattr(error.orig, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_READONLY
    return getattr(error.orig, "sqlstate", "") in _NO_RIGHT


def _refused(url: URL, error: DatabaseError) -> InputError:
    where = url.render_as_string(hide_password=True)
    return InputError(f"{where}: {_first_line(error)}; give this user the right to it, or connect as another")


def database_url(target: Path | str) -> URL:
    """The URL of a path or of a URL's text.

    >>> database_url("studies.db").render_as_string(), database_url("postgresql://db/rushes").drivername
    ('sqlite:///studies.db', 'postgresql+psycopg')
    """
    text = str(target)
    if "://" not in text:
        return URL.create("sqlite", database=text)
    try:
        url = make_url(text)
    except ArgumentError:
        raise InputError(f"expected a path or a database URL such as postgresql://host/name; got {text!r}") from None
    name = url.get_backend_name()
    if name not in ("sqlite", "postgresql"):
        raise InputError(f"a study is kept in SQLite or PostgreSQL; got a {name} URL")
    return url.set(drivername="postgresql+psycopg") if name == "postgresql" else url


def _engine(url: URL, connections: int = POSTGRES_POOL) -> Engine:
    try:
        if url.get_backend_name() == "postgresql":
            engine = create_engine(url, pool_size=connections, max_overflow=0)
            event.listen(engine, "connect", _prepare_postgresql)
            event.listen(engine, "checkin", _note_time)
            event.listen(engine, "checkout", _check_alive)
            return engine
        if not url.database or url.database == ":memory:":
            raise InputError("a study's SQLite database is a file; got no path")
        Path(url.database).absolute().parent.mkdir(parents=True, exist_ok=True)
        keep_private(Path(url.database))
        engine = create_engine(url, connect_args={"check_same_thread": False}, pool_size=20, max_overflow=40)
    except (NoSuchModuleError, ModuleNotFoundError):
        raise not_installed("PostgreSQL needs the psycopg package", extra="postgres") from None
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def keep_private(path: Path) -> None:
    """Mode 0600, before SQLite opens it: its -wal and -shm files take the mode of the file itself.

    Somebody else's file stays as it is; whether it can be opened is said where that is tried.
    """
    with suppress(OSError):
        if path.is_dir():
            return
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        for file in (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")):
            if file.exists() and stat.S_IMODE(file.stat().st_mode) & 0o077:
                file.chmod(0o600)


def _prepare_postgresql(connection: Any, _: object) -> None:
    """Frequent small writes do not wait for the disk; `Database.write` asks for it where it matters."""
    connection.execute("SET synchronous_commit = off")
    connection.commit()


def _note_time(_: object, record: Any) -> None:
    record.info["used_s"] = time.monotonic()


def _check_alive(connection: Any, record: Any, _: object) -> None:
    """A connection that lay idle may have lost its server: ask before use. Asking each time would cost a round trip."""
    if time.monotonic() - record.info.get("used_s", math.inf) < _TRUSTED_S:
        return
    import psycopg

    try:
        connection.execute("")
        connection.rollback()
    except psycopg.Error as error:
        raise DisconnectionError(str(error)) from None  # the pool opens another


def _prepare_sqlite(connection: Any, _: object) -> None:
    connection.isolation_level = None  # transactions begin where `_begin_sqlite` says, not where the driver guesses
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}")
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.execute("PRAGMA secure_delete=ON")  # who is erased leaves nothing in the file, however SQLite was built
    cursor.close()


def _wait_for_disk(connection: Connection, wait: bool) -> None:
    """SQLite takes this setting between transactions only, so it goes to the driver before SQLAlchemy begins one."""
    driver: Any = connection.connection.driver_connection
    driver.execute(f"PRAGMA synchronous={'FULL' if wait else 'NORMAL'}")


def _begin_sqlite(connection: Connection) -> None:
    reading = connection.get_execution_options().get(_READ, False)
    connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")


def _require_file(url: URL) -> None:
    if url.get_backend_name() == "sqlite" and url.database and not Path(url.database).is_file():
        raise InputError(f"{url.database}: no such database; check --db, or make one with rushes study create")


def require_current(engine: Engine) -> None:
    """`InputError` for tables of another version: they are changed by `rushes study upgrade` alone."""
    with _opening(engine) as (connection, current, newest):
        where = engine.url.render_as_string(hide_password=True)
        if current is None and not inspect(connection).has_table("study"):
            raise InputError(f"{where}: expected a database of studies; it has no such tables")
        if current != newest:
            raise InputError(
                f"{where}: made by an earlier rushes (tables {current or 'unknown'}, now {newest}); "
                f"run: rushes study upgrade --db {where.removeprefix('sqlite:///')}"
            )


def upgrade(engine: Engine) -> Path | None:
    """Bring the tables to the newest version; `InputError` for a database that cannot be opened or is newer.

    Of a SQLite file with studies in older tables a copy is kept beside it, which is returned.
    """
    from alembic import command

    with _opening(engine) as (connection, current, newest):
        if current == newest:
            return None
        kept = _copy(engine.url, current)
        _one_at_a_time(connection)
        config = _alembic()
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
        return kept


def upgraded(target: Path | str) -> Path | None:
    """Upgrade the database that is there; returns the copy of the old one, if one was made."""
    url = database_url(target)
    _require_file(url)
    engine = _engine(url)
    try:
        return upgrade(engine)
    finally:
        engine.dispose()


def _copy(url: URL, version: str | None) -> Path | None:
    """A copy of a SQLite file as it is: `studies.db` → `studies.db.0006.bak`."""
    if version is None or url.get_backend_name() != "sqlite" or not url.database:
        return None
    target = Path(f"{url.database}.{version}.bak")
    keep_private(target)
    with closing(sqlite3.connect(url.database)) as source, closing(sqlite3.connect(target)) as copy:
        source.backup(copy)
    return target


def _alembic() -> Any:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    return config


@contextmanager
def _opening(engine: Engine) -> Iterator[tuple[Connection, str | None, str | None]]:
    """A first transaction, the version of the tables, and the newest; `InputError` where there is no such database."""
    from alembic.runtime.migration import MigrationContext
    from alembic.script import ScriptDirectory

    known = ScriptDirectory.from_config(_alembic())
    where = engine.url.render_as_string(hide_password=True)
    try:
        with engine.begin() as connection:
            current = MigrationContext.configure(connection).get_current_revision()
            if current is not None and current not in {script.revision for script in known.walk_revisions()}:
                raise InputError(f"{where}: made by a newer rushes (tables {current}); upgrade rushes")
            yield connection, current, known.get_current_head()
    except OperationalError as error:
        raise InputError(f"{where}: cannot be opened ({_first_line(error)}); check the path or the server") from None
    except DatabaseError as error:
        if _no_right(error):
            raise _refused(engine.url, error) from None
        raise InputError(
            f"{where}: expected a database of studies; got something else ({_first_line(error)})"
        ) from None


def _one_at_a_time(connection: Connection) -> None:
    """Two servers that start together upgrade one after the other; SQLite's BEGIN IMMEDIATE does the same."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("SELECT pg_advisory_xact_lock(7282374)")


def _first_line(error: DatabaseError) -> str:
    return str(error.orig).strip().splitlines()[0]
