"""A backup beside a running server has every vote acknowledged before it, and every clip; it is restored whole."""

from __future__ import annotations

import json
import shutil
import stat
import threading
from pathlib import Path

import pytest
from sqlalchemy import text
from tests.study.conftest import Person, fresh_postgres
from tests.study.test_command import done, rushes

from rushes.core.errors import InputError
from rushes.study import open_service
from rushes.study.database.backup import back_up, check_backup, restore


def target(service) -> str:
    return service.database.url.render_as_string(hide_password=False)


def votes(service) -> list[tuple]:
    return [(vote.sample, vote.rater, vote.winner) for vote in service.votes("takes")]


def exported(folder: Path) -> list[tuple]:
    with open_service(folder / "studies.db", media=folder / "studies.media", migrate=False) as service:
        return votes(service)


def vote_through(service, clock, study: str, count: int) -> None:
    """So many raters vote on all they are given."""
    for invitation in service.invite(study, count=count):
        person = Person(service, clock, study, invitation)
        while (task := service.next_task(person.session)) is not None:
            person.vote(task)


def test_a_backup_has_every_vote_and_clip_and_can_be_served(service, clock, study, tmp_path):
    vote_through(service, clock, study, 2)
    made = back_up(target(service), tmp_path / "kept", media=tmp_path / "media")
    assert made.rows["vote"] == len(votes(service)) > 0 and not made.missing and made.files
    assert exported(tmp_path / "kept") == votes(service)
    assert {path.name for path in (tmp_path / "kept").iterdir()} == {"studies.db", "studies.media", "backup.json"}
    assert stat.S_IMODE((tmp_path / "kept" / "studies.db").stat().st_mode) == 0o600
    with open_service(tmp_path / "kept" / "studies.db", migrate=False) as copy:
        with copy.database.read() as connection:
            tokens = list(connection.execute(text("SELECT token FROM clip WHERE path != ''")).scalars())
        assert tokens and all(Path(copy.media(token).path).is_file() for token in tokens)
    with pytest.raises(InputError, match="expected a new or empty folder"):
        back_up(target(service), tmp_path / "kept", media=tmp_path / "media")


def test_votes_acknowledged_before_a_backup_begins_are_in_it_while_others_go_on(service, clock, study, tmp_path):
    first, second = (Person(service, clock, study, one) for one in service.invite(study, count=2))
    for _ in range(3):
        first.vote(first.task())
    acknowledged = set(votes(service))
    going = threading.Thread(target=lambda: [second.vote(second.task()) for _ in range(5)])
    going.start()
    back_up(target(service), tmp_path / "kept", media=tmp_path / "media")
    going.join()
    found = set(exported(tmp_path / "kept"))
    assert acknowledged <= found <= set(votes(service))


def test_a_backup_is_restored_and_work_goes_on(service, clock, study, tmp_path, request):
    vote_through(service, clock, study, 1)
    back_up(target(service), tmp_path / "kept", media=tmp_path / "media")
    places: list[str] = [str(tmp_path / "new" / "studies.db")]
    if service.database.kind == "postgresql":
        places.append(fresh_postgres(request.getfixturevalue("postgres_server")))
    for number, place in enumerate(places):
        media = tmp_path / f"media-{number}"
        done_ = restore(tmp_path / "kept", place, media=media)
        assert not done_.missing and done_.rows["vote"] == len(votes(service))
        with open_service(place, media=media, clock=clock, migrate=False) as restored:
            assert votes(restored) == votes(service)
            vote_through(restored, clock, study, 1)  # new rows take new ids
            assert len(votes(restored)) == 2 * len(votes(service))
        with pytest.raises(InputError, match=r"exists already|already contains studies"):
            restore(tmp_path / "kept", place, media=tmp_path / f"again-{number}")


@pytest.mark.parametrize("name", ["studies.db", "clip", "gone"])
def test_a_damaged_backup_is_refused(service, study, tmp_path, name):
    back_up(target(service), tmp_path / "kept", media=tmp_path / "media")
    clip = next(path for path in (tmp_path / "kept" / "studies.media").rglob("*.mp4"))
    file = tmp_path / "kept" / "studies.db" if name == "studies.db" else clip
    if name == "gone":
        file.unlink()
    else:
        data = bytearray(file.read_bytes())
        data[len(data) // 2] ^= 1
        file.write_bytes(bytes(data))
    with pytest.raises(InputError, match=f"{file.name}: (changed after|is missing)"):
        restore(tmp_path / "kept", tmp_path / "new.db", media=tmp_path / "new")
    assert not (tmp_path / "new.db").exists()
    with pytest.raises(InputError, match="expected a backup"):
        check_backup(tmp_path)


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)  # the commands take the same way
def test_the_commands(service, clock, study, tmp_path):
    vote_through(service, clock, study, 1)
    db = tmp_path / "studies.db"
    shutil.copytree(tmp_path / "media", tmp_path / "studies.media", dirs_exist_ok=True)
    told = done("study", "backup", "-o", tmp_path / "b", "--db", db).stdout
    assert told.startswith(f"{tmp_path / 'b'}: 1 studies, ") and " votes, " in told
    data = json.loads(done("study", "restore", tmp_path / "b", "--db", tmp_path / "c.db", "--json").stdout)
    assert data["rows"]["vote"] == len(votes(service)) and not data["missing"]
    again = rushes("study", "restore", tmp_path / "b", "--db", tmp_path / "c.db")
    assert again.exit_code == 1 and "Traceback" not in again.stderr
    audit = done("study", "audit", "takes", "--db", db).stdout
    assert "time (UTC)" in audit and "created" in audit and "+00:00" not in audit
    assert "raters: rater_01" in audit, "as on the page"
    assert json.loads(done("study", "audit", "takes", "--db", db, "--json", "--last", "1").stdout)[0]["actor"]
