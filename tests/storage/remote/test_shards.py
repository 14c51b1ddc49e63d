"""Runs in shards in a bucket: read by range, without a copy of everything."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("duckdb")

from tests.storage.runs.shard_material import entry, files, names, write_shards

import rushes
from rushes.core.errors import RunError
from rushes.storage.mirrors import staging
from rushes.storage.remote import store
from rushes.storage.remote.errors import RemoteError
from rushes.storage.runs import open_run, read_run
from rushes.storage.shards.writer import ShardedWriter

from .conftest import Bucket, left_behind


def opened(url: str) -> ShardedWriter:
    inputs = [f"takes/{name}.mp4" for name in names(11)]
    run = open_run(url, instrument="clip", settings={}, inputs=inputs, asked=["x"], shards=4)
    assert isinstance(run, ShardedWriter)
    return run


def write(url: str, *, most: int = 99) -> list[str]:
    """Measure what is not finished, some clips at most; the clips that were measured."""
    with opened(url) as run:
        ids = names(11)
        todo = [name for name in ids if run.finished(name) is None]
        run.plan(ids, todo)
        for name in todo[:most]:
            run.add(entry(name))
        if most < len(todo):
            raise KeyboardInterrupt
        run.finish(ids)
    return todo


def objects(bucket: Bucket) -> dict[str, bytes]:
    return {name: data for name, data in bucket.tree("runs/week/").items() if name != "run.json"}


@pytest.fixture
def put(bucket: Bucket, tmp_path: Path) -> tuple[Path, str]:
    folder = write_shards(tmp_path / "run", names(11))
    return folder, bucket.put_folder("runs/week", folder)


def test_a_run_is_read_by_range(put: tuple[Path, str], monkeypatch: pytest.MonkeyPatch) -> None:
    here, there = read_run(put[0]), read_run(put[1])
    asked: list[str] = []
    real = store.get_files
    monkeypatch.setattr(store, "get_files", lambda files: asked.append("files") or real(files))
    assert there.digest == here.digest and there.place == put[1].rstrip("/")
    assert list(there.entries) == list(here.entries)
    assert there.series("take0002")["luma"].tolist() == here.series("take0002")["luma"].tolist()
    sql = "select id, blur_score from clips where badge = 'pass' order by number"
    assert rushes.query(put[1], sql).to_pylist() == rushes.query(put[0], sql).to_pylist()
    assert asked == [], "no file was copied"


def test_nothing_stays_here(put: tuple[Path, str], settings: dict[str, str]) -> None:
    run = read_run(put[1])
    assert run.series("take0002")
    assert [path.name for path in run.path.iterdir()] == ["run.json"]
    del run
    assert left_behind(settings) == []


def test_a_shard_that_is_gone_is_one_line(bucket: Bucket, put: tuple[Path, str]) -> None:
    bucket.delete("runs/week/shards/00001.parquet")
    run = read_run(put[1])
    assert run.measurements["take0000"]
    with pytest.raises(RunError, match="runs/week/shards/00001.parquet: cannot be read"):
        list(run.subjects)
    bucket.put("runs/week/index.json", b"{}")
    with pytest.raises(RunError, match="index.json: changed after the run was complete"):
        read_run(put[1])


@pytest.fixture
def url(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("RUSHES_PUSH_SECONDS", "3600")
    return bucket.url("runs/week")


@pytest.fixture
def wanted(tmp_path: Path) -> dict[str, bytes]:
    return files(write_shards(tmp_path / "here", names(11)))


def staged(settings: dict[str, str]) -> list[str]:
    found = Path(settings["RUSHES_STAGING"]).rglob("*")
    return [path.name for path in found if path.is_file() and path.suffix != ".guard"]


def test_a_run_written_to_a_store(bucket: Bucket, url: str, wanted: dict[str, bytes], settings: dict[str, str]) -> None:
    assert write(url) == names(11)
    assert objects(bucket) == wanted
    assert read_run(url).status == "complete" and staged(settings) == []
    assert write(url) == [], "nothing is measured again, and no shard is made again"
    assert objects(bucket) == wanted


def test_another_machine_continues(
    bucket: Bucket, url: str, wanted: dict[str, bytes], settings: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seven clips: a shard of four and a spool of three. The other machine has no folder of its own."""
    with pytest.raises(KeyboardInterrupt):
        write(url, most=7)
    half = read_run(url)
    assert half.status == "interrupted" and [subject.id for subject in half.subjects] == names(7)
    assert rushes.query(half, "select count(*) as n from clips").to_pylist() == [{"n": 7}]
    assert staged(settings) == []
    fetched: list[str] = []
    real = staging.get_files
    monkeypatch.setattr(staging, "get_files", lambda f: (fetched.extend(a for a, _ in f), real(f))[1])
    assert write(url) == names(4, first=7)
    assert objects(bucket) == wanted
    assert not [name for name in fetched if name.endswith((".parquet", ".series"))], "shards stay where they are"


def test_a_bucket_that_denies_writes_at_the_end(
    bucket: Bucket, url: str, wanted: dict[str, bytes], settings: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(pairs: object) -> None:
        raise RemoteError(f"{url}: access is denied; check the credentials and the bucket's policy")

    with monkeypatch.context() as patched, opened(url) as run:
        ids = names(11)
        run.plan(ids, ids)
        for name in ids:
            run.add(entry(name))
        patched.setattr(staging, "put_files", denied)
        with pytest.raises(RunError, match="is complete, but could not be uploaded .*access is denied.* kept in"):
            run.finish(ids)
    assert "index.json" in staged(settings)
    assert write(url) == [], "the same command uploads it"
    assert objects(bucket) == wanted and staged(settings) == []


def test_a_run_that_is_there_stays_what_it_is(bucket: Bucket, url: str) -> None:
    with open_run(url, instrument="clip", settings={}, asked=["x"]) as run:
        run.finish([])
    with open_run(url, instrument="clip", settings={}, asked=["x"], shards=4) as run:
        assert not isinstance(run, ShardedWriter)
        run.finish([])
    with open_run(url, instrument="clip", settings={}, asked=["x"], shards=4, overwrite=True) as run:
        run.add(entry("a"))
        run.finish(["a"])
    assert sorted(objects(bucket)) == ["index.json", "inputs.jsonl", *sorted(objects(bucket))[2:]]
    assert [subject.id for subject in read_run(url).subjects] == ["a"]
