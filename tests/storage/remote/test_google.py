"""Google Cloud Storage through gcsfs, against an emulator on this machine."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import rushes
from rushes.core.errors import RunError
from rushes.storage.remote import store as remote
from rushes.storage.remote.errors import Exists, Unreachable, Vanished, in_words
from rushes.storage.remote.store import list_objects, stat
from rushes.storage.runs import open_run, read_run

from .conftest import left_behind


@pytest.fixture
def google(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[dict[str, str]]:
    """An emulator with the bucket `takes`, and the environment that leads there."""
    for package in ("gcp_storage_emulator", "gcsfs", "fsspec"):
        pytest.importorskip(package, reason=f"gs:// is tested against an emulator, which needs {package}")
    from gcp_storage_emulator.server import create_server

    logging.getLogger("gcp_storage_emulator").setLevel(logging.ERROR)
    server = create_server("127.0.0.1", 0, in_memory=True, default_bucket="takes")
    server.start()
    (tmp_path / "tmp").mkdir()
    settings = {
        "STORAGE_EMULATOR_HOST": f"http://127.0.0.1:{server._api._httpd.server_address[1]}",
        "TMPDIR": str(tmp_path / "tmp"),
        "RUSHES_STAGING": str(tmp_path / "staging"),
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("tempfile.tempdir", None)
    remote._client.cache_clear()
    yield settings
    remote._client.cache_clear()
    server.stop()


def test_clips_in_and_a_run_out(
    google: dict[str, str], takes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "rushes.instruments.clip.evaluate.run_tasks",
        lambda work, tasks, **options: enumerate(work(task) for task in tasks),
    )
    for name in ("take2.mkv", "more/take10.mkv"):
        remote.put_file(takes / name, f"gs://takes/monday/{name}")
        (tmp_path / "monday" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(takes / name, tmp_path / "monday" / name)
    files = list_objects("gs://takes/monday/").files
    assert [file.url for file in files] == ["gs://takes/monday/more/take10.mkv", "gs://takes/monday/take2.mkv"]
    assert files[1] == stat("gs://takes/monday/take2.mkv") == list_objects("gs://takes/monday/*.mkv").files[0]
    near = rushes.evaluate_clips(tmp_path / "monday", run=tmp_path / "near")
    far = rushes.evaluate_clips(["gs://takes/monday/"], run="gs://takes/runs/monday")
    names = {file.url.removeprefix("gs://takes/runs/monday/") for file in list_objects("gs://takes/runs/monday/").files}
    assert names == {path.relative_to(near.path).as_posix() for path in near.path.rglob("*") if path.is_file()}
    assert (far.path / "measurements.jsonl").read_bytes() == (near.path / "measurements.jsonl").read_bytes()
    assert far.place == "gs://takes/runs/monday" and far.subjects[0].facts["remote"] == files[0].facts()
    del far
    assert left_behind(google) == []


def test_what_is_not_there(google: dict[str, str]) -> None:
    with pytest.raises(Vanished, match="no such object"):
        stat("gs://takes/none.mp4")
    with pytest.raises(Vanished, match="no bucket 'nobody-has-this'"):
        list_objects("gs://nobody-has-this/takes/")
    with pytest.raises(RunError, match="expected a run directory with run.json; found none"):
        read_run("gs://takes/none")
    assert list_objects("gcs://takes/none/").files == ()


def test_a_second_writer_is_refused(google: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    with open_run("gs://takes/run", instrument="clip", settings={}) as run:
        monkeypatch.setenv("RUSHES_STAGING", google["RUSHES_STAGING"] + "-other")
        with pytest.raises(RunError, match="another rushes process is writing it"):
            open_run("gs://takes/run", instrument="clip", settings={})
        run.finish([])
    assert read_run("gs://takes/run").status == "complete"


def test_how_googles_client_says_no() -> None:
    """Its errors are told apart by their words and codes; 412 is how it says that an object is there already."""
    anonymous = in_words("gs://takes/a", OSError("Forbidden: x\nAnonymous caller does not have access"))
    assert "no credentials were found; set GOOGLE_APPLICATION_CREDENTIALS" in str(anonymous)
    assert "no credentials were found; set GOOGLE" in str(in_words("gcs://a/b", OSError("Anonymous caller")))
    denied = in_words("gs://takes/a", OSError("Forbidden: x\nno storage.objects.get access"))
    assert "access is denied" in str(denied)
    assert isinstance(in_words("gs://takes/a", FileExistsError("x")), Exists)
    assert isinstance(in_words("gs://takes/a", OSError("502")), Unreachable)
