"""A study moves with its folder; its own training pair is shown; its title names no system."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from sqlalchemy import text
from tests.study.conftest import Person
from tests.study.test_command import done, rushes

from rushes.study import StudyError, StudyPlan, open_service
from rushes.study.material.sources import from_csv


def made(folder: Path, manifest: Path, clips: Path) -> None:
    with open_service(folder / "studies.db") as service:
        service.create_study(StudyPlan(name="s"), clips=from_csv(manifest, clips=clips))


def files(folder: Path) -> list[bool]:
    with open_service(folder / "studies.db") as service:
        tokens = _tokens(service)
        return [Path(service.media(token).path).is_relative_to(folder.resolve()) for token in tokens]


def _tokens(service) -> list[str]:
    with service.database.read() as connection:
        return list(connection.execute(text("SELECT token FROM clip")).scalars())


def test_a_study_moves_with_its_folder(tmp_path, manifest, two_systems):
    made(tmp_path / "one", manifest, two_systems)
    (tmp_path / "one").rename(tmp_path / "two")
    assert files(tmp_path / "two") == [True] * 14
    with open_service(tmp_path / "two" / "studies.db") as service:
        assert all(Path(service.media(token).path).is_file() for token in _tokens(service))


def test_an_older_study_is_found_and_made_movable(tmp_path, manifest, two_systems):
    made(tmp_path / "one", manifest, two_systems)
    with open_service(tmp_path / "one" / "studies.db") as service, service.database.write() as connection:
        old = (tmp_path / "one" / "studies.media").resolve()
        connection.execute(text("UPDATE clip SET path = :old || '/' || path"), {"old": str(old)})
    shutil.move(tmp_path / "one", tmp_path / "two")
    assert files(tmp_path / "two") == [True] * 14
    data = json.loads(done("study", "relocate", "--db", tmp_path / "two" / "studies.db", "--json").stdout)
    assert data == {"found": 14, "changed": 14, "missing": []}
    shutil.rmtree(tmp_path / "two" / "studies.media" / "training")
    shutil.rmtree(tmp_path / "two" / "studies.media" / "clips")
    told = rushes("study", "relocate", "--db", tmp_path / "two" / "studies.db")
    assert told.exit_code == 1 and "14 missing" in told.stdout and "--media FOLDER" in told.stderr


@pytest.mark.parametrize("later", [False, True])
def test_an_own_training_pair_is_the_one_that_raters_see(service, clock, tmp_path, takes, later):
    rows = [f"s,T1,0,{system},{takes / f'{system}_T1_p00.mp4'},,," for system in ("alpha", "beta")]
    rows += [f"mine,T2,3,{s},{takes / f'{s}_T2_p03.mp4'},training,beta,My own words" for s in ("alpha", "beta")]
    path = tmp_path / "clips.csv"
    path.write_text("sample_id,task_id,prompt_id,system,path,kind,expected,prompt_text\n" + "\n".join(rows) + "\n")
    if later:
        service.create_study(StudyPlan(name="s"))
        service.import_csv("s", path)
    else:
        service.create_study(StudyPlan(name="s"), clips=from_csv(path))
    person = Person(service, clock, "s", service.invite("s")[0])
    assert service.training_task(person.session).prompt == "My own words"


def test_a_title_names_no_system(service, manifest, two_systems):
    clips = from_csv(manifest, clips=two_systems)
    with pytest.raises(StudyError, match="the title names a system .alpha."):
        service.create_study(StudyPlan(name="s", title="Alpha against beta"), clips=clips)
    assert service.create_study(StudyPlan(name="alpha-vs-beta"), clips=clips).title == "Video comparison"
    assert service.create_study(StudyPlan(name="spring"), clips=clips).title == "spring"


def test_without_its_clips_the_server_and_the_status_say_so(tmp_path, manifest, two_systems):
    here, there = tmp_path / "here", tmp_path / "there"
    made(here, manifest, two_systems)
    with open_service(here / "studies.db") as service:
        assert service.missing_clips() == ""
        service.create_study(StudyPlan(name="empty"), training=False)
    there.mkdir()
    shutil.copy(here / "studies.db", there)
    with open_service(there / "studies.db") as service:
        line = service.missing_clips().partition("; ")[0]
        assert line.startswith(f"14 of 14 clips are not in {there / 'studies.media'}, clips/")
        assert service.missing_clips("empty") == ""
    for words in ([], ["s"], ["s", "--json"]):
        shown = done("study", "status", *words, "--db", there / "studies.db")
        assert shown.stderr.startswith(line) and "that has them: --media" in shown.stderr and shown.stdout
    assert done("study", "status", "empty", "--db", there / "studies.db").stderr == ""
    moved = ("--db", there / "studies.db", "--media", here / "studies.media")
    assert done("study", "status", *moved).stderr == ""
    next((here / "studies.media" / "clips").rglob("*.mp4")).unlink()
    assert done("study", "status", "--db", here / "studies.db").stderr.startswith("1 of 14 clips are not in ")
