"""The database: migrations, append-only tables, what cannot be opened, many raters at once."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from tests.study.conftest import fresh_postgres

from rushes.core.errors import InputError, RushesError
from rushes.study import Accepted, PlayEvent, StudyPlan, VoteForm, open_service
from rushes.study.database.connection import Database, database_url
from rushes.study.database.tables import APPEND_ONLY, metadata


def test_the_migrations_make_exactly_the_tables(database):
    with database.read() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []


def test_opening_again_changes_nothing(database, study, service):
    with Database(database.url.render_as_string(hide_password=False)) as again, again.read() as connection:
        assert connection.execute(text("SELECT name FROM study")).scalars().all() == ["takes"]


def test_append_only_tables_refuse_change_and_deletion(service, people, database):
    one, other = people(2)
    for person, choice in ((one, "alpha"), (other, "beta")):
        task = person.task()
        person.vote(task, person.side_of(task, choice))
    sample = service.votes("takes")[0].sample
    if service.adjudication_queue("takes"):
        service.adjudicate("takes", sample, winner="Tie", tags=["Missed constraint"])
    for table in APPEND_ONLY:
        for statement in (f"UPDATE {table} SET at_ms = 0", f"DELETE FROM {table}"):
            with database.read() as connection:
                count = connection.execute(text(f"SELECT count(*) FROM {table}")).scalar()
            if count == 0:
                continue  # triggers fire per row
            with pytest.raises(DBAPIError, match="append-only"), database.write() as connection:
                connection.execute(text(statement))


def test_votes_are_among_the_append_only_tables(service, people, database):
    (one,) = people(1)
    one.vote(one.task())
    with pytest.raises(DBAPIError, match="vote rows are append-only"), database.write() as connection:
        connection.execute(text("UPDATE vote SET winner = 'tie'"))
    assert service.votes("takes")[0].winner in ("a", "b")


def test_sqlite_is_set_up_for_many_writers(tmp_path):
    with Database(tmp_path / "s.db") as database, database.write() as connection:
        settings = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "foreign_keys", "busy_timeout", "synchronous")
        }
    assert settings == {"journal_mode": "wal", "foreign_keys": 1, "busy_timeout": 15000, "synchronous": 2}


@pytest.mark.parametrize(("durable", "expected"), [(True, "on"), (False, "off")])
def test_only_what_must_waits_for_the_disk(database, durable, expected):
    with database.write(durable=durable) as connection:
        if database.kind == "postgresql":
            assert connection.exec_driver_sql("SHOW synchronous_commit").scalar() == expected
        else:
            assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == (2 if durable else 1)


def test_a_glance_reads_what_is_stored(database):
    with database.write() as connection:
        connection.execute(text("INSERT INTO admin (id, password_hash, set_ms) VALUES (1, 'x', 1)"))
    with database.glance() as connection:
        assert connection.execute(text("SELECT password_hash FROM admin")).scalar() == "x"
    with database.write() as connection:  # the same connection is good for a transaction again
        connection.execute(text("UPDATE admin SET password_hash = 'y'"))
        connection.rollback()
    with database.glance() as connection:
        assert connection.execute(text("SELECT password_hash FROM admin")).scalar() == "x"


@pytest.mark.postgres
@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_a_connection_that_lost_its_server_is_replaced(database, postgres_server, monkeypatch):
    import psycopg

    monkeypatch.setattr("rushes.study.database.connection._TRUSTED_S", 0.0)
    with database.read() as connection:
        process = connection.execute(text("SELECT pg_backend_pid()")).scalar()
    with psycopg.connect(postgres_server, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s, 5000)", (process,))
    with database.write() as connection:
        assert connection.execute(text("SELECT pg_backend_pid()")).scalar() != process


@pytest.mark.postgres
def test_a_user_who_may_only_read_gets_a_line(postgres_server, tmp_path):
    """Such a user sees how a study stands, and is told in one line why it cannot be served or changed."""
    import psycopg

    db = fresh_postgres(postgres_server)
    schema = db.rsplit("%3D", 1)[1]
    with open_service(db, media=tmp_path / "media") as service:
        service.create_study(StudyPlan(name="s"))
    with psycopg.connect(postgres_server, autocommit=True) as owner:
        for name, rights in (("reader", f"SELECT ON ALL TABLES IN SCHEMA {schema}"), ("nobody", "")):
            owner.execute(f"CREATE ROLE {name}_{schema} LOGIN")
            owner.execute(f"GRANT USAGE ON SCHEMA {schema} TO {name}_{schema}")
            if rights:
                owner.execute(f"GRANT {rights} TO {name}_{schema}")
    reader, nobody = (db.replace("rushes@", f"{name}_{schema}@") for name in ("reader", "nobody"))

    def refused(*words: str) -> str:
        command = [sys.executable, "-m", "rushes", *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=tmp_path)
        assert done.returncode == 1 and not done.stdout, done
        (line,) = done.stderr.splitlines()
        assert line.startswith("rushes: postgresql+psycopg://") and line.endswith("or connect as another")
        return line

    serve = ("serve", "--media", str(tmp_path / "media"), "--port", "0", "--db")
    for more in ((), ("--workers", "2")):
        assert "permission denied for table study" in refused(*serve, reader, *more)
    assert "permission denied for table" in refused("study", "invite", "s", "--db", reader)
    assert "permission denied for table" in refused("study", "status", "--db", nobody)
    with open_service(reader, media=tmp_path / "media", migrate=False) as service:
        assert [one.name for one in service.studies()] == ["s"]


def test_a_file_that_can_only_be_read_gets_a_line(tmp_path):
    with Database(tmp_path / "s.db") as database:
        database.require_writable()
        with database.engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA query_only = on")
        with pytest.raises(InputError, match=r"s\.db: attempt to write a readonly database; give"):
            database.require_writable()


def test_a_failed_transaction_leaves_nothing(database):
    with pytest.raises(RuntimeError), database.write() as connection:
        connection.execute(text("INSERT INTO admin (id, password_hash, set_ms) VALUES (1, 'x', 1)"))
        raise RuntimeError
    with database.read() as connection:
        assert connection.execute(text("SELECT count(*) FROM admin")).scalar() == 0


def test_what_is_no_database_of_studies_is_said_in_one_line(tmp_path):
    (tmp_path / "text.db").write_text("this is not a database, it is a text of some length")
    newer = sqlite3.connect(tmp_path / "newer.db")
    newer.execute("CREATE TABLE alembic_version (version_num TEXT)")
    newer.execute("INSERT INTO alembic_version VALUES ('9999')")
    newer.commit()
    newer.close()
    (tmp_path / "folder.db").mkdir()
    for name, words in (("text.db", "something else"), ("newer.db", "newer rushes"), ("folder.db", "cannot be opened")):
        with pytest.raises(InputError, match=words):
            Database(tmp_path / name)
    with pytest.raises(InputError, match="SQLite or PostgreSQL"):
        database_url("mysql://host/name")
    with pytest.raises(InputError, match="expected a path or a database URL"):
        database_url("://")
    with pytest.raises(InputError, match="no path"):
        Database("sqlite://")
    with pytest.raises(InputError, match="cannot be opened"):
        Database("postgresql://nobody@127.0.0.1:1/none")


def test_postgresql_needs_a_media_folder(postgres_server):
    with pytest.raises(RushesError, match="--media FOLDER"):
        open_service(postgres_server)


def test_many_raters_at_once_lose_no_vote(service, study, database):
    """Every rater in a thread of its own, all on the same six pairs."""
    people = 24
    sessions = [service.accept_invite(one.token).token for one in service.invite(study, count=people)]
    for session in sessions:
        service.give_consent(session)
    accepted: list[int] = []
    failures: list[BaseException] = []
    start = threading.Barrier(people)

    def begin(session: str) -> None:
        start.wait()
        work(session)

    def work(session: str) -> None:
        try:
            while (task := service.next_task(session)) is not None:
                plays = [PlayEvent(side=s, start_ms=0, end_ms=480, sequence=n) for n in (1, 2) for s in ("A", "B")]
                service.load_clips(session, task)
                assert service.record_play(session, task.assignment, plays).complete
                ratings = {name: 3 for name in task.dimensions}
                form = VoteForm(winner="A", primary_tag=task.tags[0], ratings_a=ratings, ratings_b=ratings)
                answers = [service.submit_vote(session, task.assignment, form, key="same") for _ in range(2)]
                assert all(isinstance(answer, Accepted) for answer in answers)
                assert answers[0].vote == answers[1].vote
                accepted.append(answers[0].vote)
        except BaseException as error:  # handed to the test's own thread
            failures.append(error)

    threads = [threading.Thread(target=begin, args=(session,)) for session in sessions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for session in sessions:  # a third place may have come free after those who could take it had gone home
        work(session)
    assert failures == []
    with database.read() as connection:
        stored = connection.execute(text("SELECT id FROM vote")).scalars().all()
        doubled = connection.execute(
            text("SELECT pair_id, rater_id FROM assignment GROUP BY pair_id, rater_id HAVING count(*) > 1")
        ).all()
    assert sorted(stored) == sorted(accepted) and doubled == []
    # Everybody votes left and every pair is shown both ways round: two disagree, a third decides.
    assert len(stored) == 18
    assert all(f.finished == f.samples for f in service.study_status(study).families)


def test_two_servers_can_open_one_database_at_once(tmp_path):
    errors: list[BaseException] = []

    def opened() -> None:
        try:
            with Database(tmp_path / "both.db"):
                pass
        except BaseException as error:  # handed to the test's own thread
            errors.append(error)

    threads = [threading.Thread(target=opened) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_a_service_beside_its_sqlite_file(tmp_path):
    with open_service(tmp_path / "studies.db") as service:
        service.create_study(StudyPlan(name="s"))
        assert service.media_folder == tmp_path / "studies.media"
        assert sorted(path.name for path in (service.media_folder / "clips").rglob("*.mp4")) == [
            "steady.mp4",
            "unsteady.mp4",
        ]
