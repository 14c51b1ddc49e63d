"""A database of every earlier version, with a vote in it, opens and keeps it; and nobody else may read the file."""

from __future__ import annotations

import os
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory

from rushes.study.database.connection import MIGRATIONS, Database
from rushes.study.service import open_service

GOLDENS = Path(__file__).parents[1] / "goldens/studies"
"""A study with one vote in each schema so far, as SQL; `goldens/make_old_files.py` says how they were made."""
VERSIONS = sorted(path.stem for path in GOLDENS.glob("*.sql"))


@pytest.fixture(params=VERSIONS)
def old(tmp_path, request):
    """studies.db as an earlier version left it, readable by everybody."""
    path = tmp_path / "studies.db"
    with closing(sqlite3.connect(path)) as database:
        database.executescript((GOLDENS / f"{request.param}.sql").read_text(encoding="utf-8"))
    path.chmod(0o644)
    return path


def test_there_is_a_database_of_every_schema():
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    assert sorted(known) == VERSIONS, "a new schema gets a database here before the next one comes"


def test_votes_of_every_version_are_kept(old):
    with open_service(old) as service:
        (vote,) = service.votes("takes")
        assert (vote.rater, vote.winner, vote.note) == ("rater_01", "a", "kept")
        assert service.admin_exists()
        assert service.media("ta").sha256 == "aa", "a clip used where it lies is checked by its own digest"
        assert service.media("tb").sha256 == "", "nobody wrote down what a converted copy was"


@pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX's")
def test_nobody_else_may_read_the_database(old, tmp_path):
    for path in (old, tmp_path / "new.db"):
        with Database(path) as database, database.write() as connection:
            connection.exec_driver_sql("UPDATE study SET title = 'x'")
            files = [path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")]
            assert {file.name: oct(stat.S_IMODE(file.stat().st_mode)) for file in files} == {
                file.name: "0o600" for file in files
            }


def _schema(database: Database) -> dict[str, object]:
    """Columns, indexes and triggers, in no order: what an upgrade adds stands last in a table."""
    with database.read() as connection:
        rows = connection.exec_driver_sql("SELECT type, name, tbl_name, sql FROM sqlite_master").all()
        columns = {row.name: connection.exec_driver_sql(f"PRAGMA table_info({row.name})") for row in rows}
        found = {name: {tuple(column)[1:] for column in found} for name, found in columns.items()}
    return found | {row.name: row.sql for row in rows if row.type in ("index", "trigger")}


def test_an_old_database_has_the_tables_of_a_new_one(old, tmp_path):
    with Database(old) as before, Database(tmp_path / "new.db") as new:
        assert _schema(before) == _schema(new)
