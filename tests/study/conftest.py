"""A study in a real database, on SQLite and on a PostgreSQL server that the tests start."""

from __future__ import annotations

import itertools
import os
import pwd
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.quick_studies import quick_clips, quick_passwords, quick_tables  # noqa: F401

from rushes.media import write_clip
from rushes.study import (
    Accepted,
    Invitation,
    PlayEvent,
    StudyPlan,
    StudyService,
    Task,
    VoteForm,
    WatchState,
)
from rushes.study.database.connection import Database


class HandClock:
    """A clock that moves when told."""

    def __init__(self) -> None:
        self.now = 1_700_000_000_000

    def __call__(self) -> int:
        return self.now

    def forward(self, milliseconds: int) -> None:
        self.now += milliseconds


@pytest.fixture
def first_tables() -> Callable[[Path], Any]:
    """Makes a SQLite file with the tables of the first version, empty, and gives a connection that commits at the end.

    They are those of a golden, because a migration makes what is there now."""

    @contextmanager
    def made(path: Path) -> Iterator[sqlite3.Connection]:
        golden = Path(__file__).parents[1] / "goldens/studies/0001.sql"
        lines = golden.read_text(encoding="utf-8").splitlines()
        kept = [line for line in lines if not line.startswith("INSERT") or "alembic_version" in line]
        with closing(sqlite3.connect(path)) as database:
            database.executescript("\n".join(kept))
            yield database
            database.commit()

    return made


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture(scope="session")
def takes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Small clips named like A_T2_p01.mp4: systems alpha, beta and gamma, six prompts of three families."""
    folder = tmp_path_factory.mktemp("takes")
    for number, system in enumerate(("alpha", "beta", "gamma")):
        for place, family in enumerate(("T1", "T1", "T2", "T2", "T4", "T7")):
            frames = [np.full((32, 48, 3), 20 * number + 3 * place + step, np.uint8) for step in range(12)]
            write_clip(folder / f"{system}_{family}_p{place:02d}.mp4", frames, fps=25)
    return folder


@pytest.fixture(scope="session")
def manifest(takes: Path) -> Path:
    path = takes / "prompts.csv"
    rows = [f"{family},{place},Prompt {place}" for place, family in enumerate(("T1", "T1", "T2", "T2", "T4", "T7"))]
    path.write_text("task_id,prompt_id,prompt_text\n" + "\n".join(rows) + "\n")
    return path


@pytest.fixture(scope="session")
def two_systems(takes: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("two")
    for path in sorted(takes.glob("*.mp4")):
        if not path.name.startswith("gamma"):
            shutil.copy(path, folder / path.name)
    return folder


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """URL of a PostgreSQL server of our own; skipped where there is no binary."""
    binaries = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not binaries:
        pytest.skip("no PostgreSQL server binary in /usr/lib/postgresql; install postgresql to run these tests")
    bin_folder = binaries[-1].parent
    home = Path(tempfile.mkdtemp(prefix="rushes-pg-"))
    as_user: list[str] = []
    if os.getuid() == 0:  # PostgreSQL refuses to run as root
        user = pwd.getpwnam("postgres")
        os.chown(home, user.pw_uid, user.pw_gid)
        runuser = shutil.which("runuser", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
        if runuser is None:
            pytest.skip("running as root without runuser: PostgreSQL cannot be started as its own user")
        as_user = [runuser, "-u", "postgres", "--"]
    data = home / "data"

    def run(*command: str) -> None:
        subprocess.run([*as_user, *command], check=True, capture_output=True, cwd="/")

    run(str(bin_folder / "initdb"), "-D", str(data), "-U", "rushes", "-A", "trust", "--no-sync", "-E", "UTF8")
    options = f"-c listen_addresses='' -c unix_socket_directories={home} -c fsync=off -c max_connections=120"
    run(str(bin_folder / "pg_ctl"), "-D", str(data), "-w", "-l", str(home / "log"), "-o", options, "start")
    try:
        yield f"postgresql://rushes@/postgres?host={home}"
    finally:
        run(str(bin_folder / "pg_ctl"), "-D", str(data), "-m", "immediate", "stop")
        shutil.rmtree(home, ignore_errors=True)


_numbers = itertools.count()


def fresh_postgres(server: str) -> str:
    """An empty schema of its own on the server: as good as a database for the tests, and much quicker to make."""
    import psycopg

    name = f"study_{next(_numbers)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
    return f"{server}&options=-csearch_path%3D{name}"


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """The same tests on both databases."""
    if request.param == "sqlite":
        target: Path | str = tmp_path / "studies.db"
    else:
        target = fresh_postgres(request.getfixturevalue("postgres_server"))
    with Database(target) as opened:
        yield opened


@pytest.fixture
def service(database: Database, tmp_path: Path, clock: HandClock) -> StudyService:
    return StudyService(database, media=tmp_path / "media", clock=clock)


@pytest.fixture
def study(service: StudyService, manifest: Path, two_systems: Path) -> str:
    """A study of alpha against beta over six prompts, without training, gold or repeats."""
    service.create_study(StudyPlan(name="takes", gold_every=0, repeat_every=0), training=False)
    service.import_csv("takes", manifest, clips=two_systems)
    return "takes"


_sequences = itertools.count(1)


class Person:
    """A rater who is signed in, and what such a person does."""

    def __init__(self, service: StudyService, clock: HandClock, study: str, invitation: Invitation) -> None:
        self.service, self.clock, self.study, self.code = service, clock, study, invitation.rater
        self.session = service.accept_invite(invitation.token).token
        service.give_consent(self.session)

    def task(self, ahead: int = 0) -> Task:
        task = self.service.next_task(self.session, ahead=ahead)
        assert task is not None
        return task

    def watch(self, task: Task, passes: int = 2, **details: object) -> WatchState:
        """Watch both clips from end to end so many times, in as much time as that takes."""
        state = task.watch
        self.service.load_clips(self.session, task)
        for _ in range(passes):
            self.clock.forward(max(task.a.duration_ms, task.b.duration_ms))
            events = [
                PlayEvent(side=side, start_ms=0, end_ms=view.duration_ms, sequence=next(_sequences), **details)
                for side, view in (("A", task.a), ("B", task.b))
            ]
            state = self.service.record_play(self.session, task.assignment, events)
        return state

    def form(self, task: Task, winner: str = "A", **changes: object) -> VoteForm:
        """A complete form for this task."""
        ratings = {name: 3 for name in task.dimensions}
        values = {"winner": winner, "primary_tag": task.tags[0], "ratings_a": ratings, "ratings_b": ratings}
        return VoteForm(**(values | changes))

    def vote(self, task: Task, winner: str = "A", **changes: object) -> Accepted:
        """Watch and vote, and be accepted."""
        self.watch(task)
        answer = self.service.submit_vote(
            self.session, task.assignment, self.form(task, winner, **changes), key=task.assignment
        )
        assert isinstance(answer, Accepted), answer
        return answer

    def vote_for(self, task: Task, system: str) -> Accepted:
        """Vote for a system by name, which only the database can tell."""
        return self.vote(task, self.side_of(task, system))

    def side_of(self, task: Task, system: str) -> str:
        return "A" if Path(self.service.media(task.a.token).source).name.startswith(system) else "B"


@pytest.fixture
def people(service: StudyService, clock: HandClock, study: str) -> Callable[[int], list[Person]]:
    """New raters of the study, signed in."""
    return lambda count: [Person(service, clock, study, one) for one in service.invite(study, count=count)]
