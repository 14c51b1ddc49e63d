"""A database of the first version, with a vote in it, opens and keeps it; and nobody else may read the file."""

from __future__ import annotations

import os
import stat

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine

from rushes.preference.study.database.connection import MIGRATIONS, Database
from rushes.preference.study.service import open_service

OLD = """
INSERT INTO admin VALUES (1, '$argon2id$old', 5);
INSERT INTO study VALUES (1, 'takes', 'Takes', '0.1', 1, 2, NULL, 0, 0, '{}', '{"passes": 2}', 0, 5);
INSERT INTO clip VALUES (1, 1, 'a', 'a', '/c/a.mp4', '/c/a.mp4', 'aa', 480, 25, 48, 32, 0, 'video/mp4', 9, 't1');
INSERT INTO clip VALUES (2, 1, 'b', 'b', '/c/b.mkv', '/m/b.mp4', 'bb', 480, 25, 48, 32, 0, 'video/mp4', 9, 't2');
INSERT INTO pair VALUES (1, 1, 'sample', 's1', 'T1', 'p1', 'Words', 1, 2, NULL, NULL, '', 'a', 1, 1, 1, 2, 1, 'open');
INSERT INTO rater VALUES (1, 1, 'rater_01', NULL, 5, 5, 5, 5, 0, 1, 0);
INSERT INTO assignment VALUES
  (1, 1, 1, 1, 'key', 'sample', 1, 1, 'a', 'ta', 'tb', 'voted', 1, NULL, NULL, 5, 5, 5);
INSERT INTO vote VALUES
  (1, 1, 1, 1, 1, 'sample', 'k', 'a', 'a', 'Missed constraint', '[]', '{}', '{}', 'kept', '[]', NULL, 5);
"""


@pytest.fixture
def old(tmp_path):
    """studies.db as the first version left it, readable by everybody."""
    path = tmp_path / "studies.db"
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    engine = create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
        for line in OLD.strip().split(";\n"):
            connection.exec_driver_sql(line.rstrip(";"))
    engine.dispose()
    path.chmod(0o644)
    return path


def test_votes_of_the_first_version_are_kept(old):
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
