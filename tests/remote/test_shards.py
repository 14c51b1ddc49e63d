"""Runs in shards in a bucket: read by range, without a copy of everything."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("duckdb")

from tests.runs.shard_material import names, write_shards

import rushes
from rushes.errors import RunError
from rushes.remote import store
from rushes.runs import read_run

from .conftest import Bucket, left_behind


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
    with pytest.raises(RunError, match="do not fit together"):
        read_run(put[1])
