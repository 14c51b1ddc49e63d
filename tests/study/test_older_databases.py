"""Commands that look make and change nothing: an older database is upgraded by one command, with a copy kept."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.study.test_command import done, rushes

GOLDENS = Path(__file__).parents[1] / "goldens/studies"


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "studies.db"
    with closing(sqlite3.connect(path)) as database:
        database.executescript((GOLDENS / "0004.sql").read_text(encoding="utf-8"))
        database.commit()
    return path


def version(path: Path) -> str:
    with closing(sqlite3.connect(path)) as database:
        return str(database.execute("SELECT version_num FROM alembic_version").fetchone()[0])


def test_a_look_upgrades_nothing(old: Path) -> None:
    told = rushes("study", "status", "takes", "--db", old)
    assert told.exit_code == 1 and f"run: rushes study upgrade --db {old}" in " ".join(told.stderr.split())
    assert version(old) == "0004"


def test_the_upgrade_keeps_a_copy(old: Path) -> None:
    copy = old.with_name("studies.db.0004.bak")
    assert str(copy) in done("study", "upgrade", "--db", old).stdout.replace("\n", "")
    assert (version(copy), version(old)) == ("0004", "0010") and copy.stat().st_mode & 0o077 == 0
    assert "rater_01" in done("study", "status", "takes", "--db", old).stdout
    assert done("study", "upgrade", "--db", old).stdout == "The tables are up to date.\n"


def test_a_mistyped_path_makes_nothing(tmp_path: Path) -> None:
    told = rushes("study", "status", "--db", tmp_path / "studeis.db")
    assert told.exit_code == 1 and "no such database; check --db" in told.stderr
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "other.db").touch()
    assert rushes("study", "status", "--db", tmp_path / "other.db").exit_code == 1
