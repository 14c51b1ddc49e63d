"""Kill -9 at random moments, full disks and lost permissions: going on gives the bytes of a run left in peace."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from benchmarks.faults import (
    Job,
    clip_job,
    contents,
    killed_rounds,
    limit_file_size,
    mount_tiny,
    remount,
    run,
    shards_job,
    sweep_job,
    unmount,
)
from benchmarks.serve_kills import kill_serve
from tests.without_root import files_as_others
from typer.testing import CliRunner

from rushes.cli.main import app
from rushes.workers.engine import inline_work

pytestmark = pytest.mark.workers

KILLS = 2


@pytest.mark.parametrize(
    "make",
    [partial(clip_job, clips=3), *(pytest.param(make, marks=pytest.mark.soak) for make in (shards_job, sweep_job))],
)
def test_killed_and_resumed_equals_uninterrupted(make: Callable[[Path], Job], tmp_path: Path) -> None:
    job = make(tmp_path / "material")
    assert killed_rounds(job, tmp_path / "runs", kills=KILLS, per_round=KILLS, seed=5) >= 1


@pytest.mark.soak
def test_a_killed_server_has_every_vote_it_acknowledged(tmp_path: Path) -> None:
    """Three kills of `rushes serve` under votes, one of them while it starts; `make soak` does many more."""
    databases = [str(tmp_path / name) for name in ("studies.db", "in-peace.db")]
    votes = kill_serve(*databases, tmp_path / "material", kills=3, seed=2, raters=2, pairs=150)
    assert votes >= 2


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Job:
    made = clip_job(tmp_path_factory.mktemp("job") / "material", clips=2)
    return Job(made.name, (*made.arguments[:-1], "1"))


@pytest.fixture(scope="module")
def whole(job: Job, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run of it that nothing disturbs."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    run(job, folder)
    return folder


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 16 KB, with the journal's first lines and no more."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if not mount_tiny(folder, kilobytes=16):
        pytest.skip("mounting a small file system needs root")
    yield folder
    unmount(folder)


def fails_in_one_line(job: Job, output: Path, *, before: object = None) -> str:
    done = subprocess.run(job.command(output), capture_output=True, text=True, preexec_fn=before)
    assert done.returncode == 1, done.stderr
    assert len(done.stderr.strip().splitlines()) == 1 and done.stderr.startswith("rushes: "), done.stderr
    return done.stderr


def fails_here(job: Job, output: Path) -> str:
    """The same of the command in this process: what a disk refuses is the same for every process."""
    with inline_work():
        done = CliRunner().invoke(app, [*job.arguments, "-o", str(output)])
    assert done.exit_code == 1, done.output
    assert len(done.stderr.strip().splitlines()) == 1 and done.stderr.startswith("rushes: "), done.stderr
    return done.stderr


def test_a_full_disk_is_one_line_and_the_run_goes_on_when_there_is_room(
    job: Job, whole: Path, small_disk: Path
) -> None:
    assert "the disk is full" in fails_here(job, small_disk / "run")
    assert remount(small_disk, "size=20m")
    with inline_work():
        assert CliRunner().invoke(app, [*job.arguments, "-o", str(small_disk / "run")]).exit_code == 0
    assert contents(small_disk / "run") == contents(whole)


def test_a_file_that_may_not_grow_is_one_line_and_the_run_goes_on(job: Job, whole: Path, tmp_path: Path) -> None:
    said = fails_in_one_line(job, tmp_path / "run", before=partial(limit_file_size, 4096))
    assert "cannot write the run" in said and "File too large" in said
    run(job, tmp_path / "run")
    assert contents(tmp_path / "run") == contents(whole)


def test_a_disk_that_turns_read_only_is_one_line_and_nothing_is_lost(job: Job, whole: Path, small_disk: Path) -> None:
    assert remount(small_disk, "size=20m")
    shutil.copytree(whole, small_disk / "run")
    assert remount(small_disk, "ro")
    fails_here(job, small_disk / "run")
    fails_here(job, small_disk / "other")
    assert contents(small_disk / "run") == contents(whole)


def test_a_folder_that_may_not_be_written_is_one_line(job: Job, tmp_path: Path) -> None:
    run(job, tmp_path / "run")
    before = contents(tmp_path / "run")
    (tmp_path / "run").chmod(0o500)
    try:
        with files_as_others():
            fails_here(job, tmp_path / "run")
    finally:
        (tmp_path / "run").chmod(0o700)
    assert contents(tmp_path / "run") == before
