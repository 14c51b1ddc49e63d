"""Runs in shards: the same rows as in one piece, the same bytes whoever writes them, nothing lost on the way."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("pyarrow")

from tests.storage.runs.shard_material import entry, files, names, write_shards, write_whole

from rushes.core.errors import InputError, RunError
from rushes.storage.runs import RunWriter, open_run, pack, read_run
from rushes.storage.shards import build, reading, spool, writer
from rushes.storage.shards.build import build_shard
from rushes.storage.shards.index import Shard
from rushes.storage.shards.schedule import Schedule
from rushes.storage.shards.spool import Stored, keep
from rushes.storage.shards.writer import ShardedWriter, shard_size


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The same 11 clips in one piece and in shards of 4."""
    folder = tmp_path_factory.mktemp("both")
    return write_whole(folder / "whole", names(11)), write_shards(folder / "shards", names(11))


def test_a_run_in_shards_reads_back_as_in_one_piece(both: tuple[Path, Path]) -> None:
    whole, shards = map(read_run, both)
    assert (shards.info["format"], shards.status, shards.shards is not None) == (5, "complete", True)
    assert list(shards.subjects) == list(whole.subjects)
    assert dict(shards.measurements) == dict(whole.measurements)
    assert list(shards.entries) == list(whole.entries)
    assert shards.subjects[-1] == whole.subjects[-1]
    assert shards.subjects[2:5] == whole.subjects[2:5]
    assert shards.select("blur_score", subject="take0005") == whole.select("blur_score", subject="take0005")
    assert shards.select("blur_score", statistic="p10") == whole.select("blur_score", statistic="p10")
    assert repr(shards).endswith(": clip, 11 clips, 49 values, complete") and len(shards) == len(whole) == 11
    assert shards["take0005"] == whole["take0005"] and [e.id for e in shards.rejected] == [e.id for e in whole.rejected]
    for name in names(11):
        assert {k: v.tolist() for k, v in shards.series(name).items()} == {
            k: v.tolist() for k, v in whole.series(name).items()
        }
    assert shards.series_file("take9999") is None
    with pytest.raises(InputError, match="no clip is called 'nobody'"):
        shards.select("share", subject="nobody")


def test_both_formats_have_one_digest(both: tuple[Path, Path]) -> None:
    whole, shards = map(read_run, both)
    assert whole.digest == shards.digest == json.loads((both[1] / "run.json").read_text())["digest"]
    assert "digest" not in json.loads((both[0] / "run.json").read_text())  # small runs stay as they were


def test_the_layout(both: tuple[Path, Path]) -> None:
    found = sorted(p.relative_to(both[1]).as_posix() for p in both[1].rglob("*") if p.is_file())
    tables = [f"shards/{number:05d}.{ending}" for number in range(3) for ending in ("parquet", "series")]
    assert found == ["index.json", "inputs.jsonl", "run.json", *tables]
    info = json.loads((both[1] / "run.json").read_text())
    assert (info["shards"], info["subjects"], "inputs" in info) == ({"size": 4, "count": 3}, 11, False)
    index = json.loads((both[1] / "index.json").read_text())
    assert [(row["first"], row["rows"], row["low"], row["high"]) for row in index["shards"]] == [
        (0, 4, "take0000", "take0003"),
        (4, 4, "take0004", "take0007"),
        (8, 3, "take0008", "take0010"),
    ]


def test_one_clip_reads_its_shard_alone(both: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    open_table = reading.open_table
    monkeypatch.setattr(reading, "open_table", lambda place, name: opened.append(name) or open_table(place, name))
    run = read_run(both[1])
    assert opened == []
    run.one("frame_count", subject="take0009")
    assert set(opened) == {"shards/00002.parquet"}


@pytest.mark.parametrize("engines", [1, 2, 4])
def test_the_bytes_do_not_depend_on_the_writers(both: tuple[Path, Path], tmp_path: Path, engines: int) -> None:
    """Entries stored by several spools, shards made out of the driver: as by one process."""
    folder, ids = tmp_path / "run", names(11)
    with ShardedWriter(
        folder, size=4, instrument="clip", settings={}, inputs=[f"takes/{n}.mp4" for n in ids], asked=["x"]
    ) as run:
        wanted = run.plan(ids, ids)
        writers: list[dict[spool.SpoolPlace, spool.SpoolWriter | None]] = []
        for position, name in enumerate(reversed(ids)):
            if position < engines:
                spool._writers.clear()  # another process
                stored = keep(pack(entry(name)), run.place)
                writers.append(dict(spool._writers))
            else:
                spool._writers.update(writers[position % engines])
                stored = keep(pack(entry(name)), run.place)
            assert isinstance(stored, Stored)
            run.add(stored)
        assert len({span.spool for span in run._loose.values()}) == engines
        for each in writers:
            for one in each.values():
                assert one is not None
                one.close()
        for number in wanted[1:]:
            made = build_shard(run.job(number))
            assert isinstance(made, Shard)
            run.built(made)
        run.finish(ids)
    assert files(folder) == files(both[1])


def test_a_worker_that_does_not_see_the_folder_sends_the_entry(tmp_path: Path) -> None:
    with ShardedWriter(tmp_path / "run", size=4, instrument="clip", settings={}) as run:
        packed = pack(entry("a"))
        elsewhere = type(run.place)(str(tmp_path / "not-here"), 1, "token")
        assert keep(packed, elsewhere) is packed
        assert keep(packed, type(run.place)(run.place.folder, 1, "another run's token")) is packed
        assert build_shard(type(run.job(0))(str(tmp_path / "not-here"), 0)) is None


class Killed(BaseException):
    """The process is gone: nothing more of it runs."""


PHASES: dict[str, tuple[object, str]] = {
    "before the recipe": (writer.Recipe, "write"),
    "before a table": (build, "_write_table"),
    "before a marker": (build, "write_marker"),
    "before the folder is safe": (build, "_sync_folder"),
    "before the index": (writer.Index, "as_bytes"),
    "before run.json": (writer, "run_digest"),
    "while tidying": (writer.ShardedWriter, "_tidy"),
}


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("after", [0, 1])
def test_killed_in_each_phase_the_same_command_goes_on(
    both: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, phase: str, after: int
) -> None:
    owner, name = PHASES[phase]
    real, calls = getattr(owner, name), []

    def stop(*args: object, **kw: object) -> object:
        calls.append(1)
        if len(calls) > after:
            raise Killed
        return real(*args, **kw)

    folder = tmp_path / "run"
    with monkeypatch.context() as patched:
        patched.setattr(owner, name, stop)
        patched.setattr(ShardedWriter, "__exit__", lambda run, *error: (run._lock.close(), run._spool.close()) and None)
        with pytest.raises(Killed) if len(calls) <= after and not (after and name in _ONCE) else _nothing():
            write_shards(folder, names(11))
    if not (after and name in _ONCE):
        finished = {subject.id for subject in read_run(folder).subjects}
        assert finished == set(names(11)) if phase != "before the recipe" else len(finished) >= 4
    measured: list[str] = []
    with monkeypatch.context() as patched:
        add = ShardedWriter.add
        patched.setattr(ShardedWriter, "add", lambda self, e: (measured.append(e.subject.id), add(self, e))[1])
        write_shards(folder, names(11))
    assert files(folder) == files(both[1])
    assert phase == "before the recipe" or measured == []


_ONCE = {"as_bytes", "run_digest", "_tidy"}


class _nothing:
    def __enter__(self) -> None: ...
    def __exit__(self, *args: object) -> None: ...


def test_a_torn_spool_loses_its_last_clip_alone(both: tuple[Path, Path], tmp_path: Path) -> None:
    folder, ids = tmp_path / "run", names(11)
    with ShardedWriter(folder, size=4, instrument="clip", settings={}, asked=["x"]) as run:
        for name in ids[:6]:
            run.add(entry(name))
    spool = next((folder / "spool").glob("*.spool"))
    os.truncate(spool, spool.stat().st_size - 3)
    assert [subject.id for subject in read_run(folder).subjects] == ids[:5]
    write_shards(folder, ids)
    assert files(folder) == files(both[1])


def test_a_missing_or_cut_shard_is_one_line_and_made_again(both: tuple[Path, Path], tmp_path: Path) -> None:
    damages: list[tuple[Callable[[Path], object], str]] = [
        (lambda f: (f / "00001.parquet").unlink(), "00001.parquet: is missing; .* 4 clips again"),
        (lambda f: os.truncate(f / "00001.parquet", 100), r"truncated or changed \(100 bytes"),
        (lambda f: os.truncate(f / "00001.series", 10), "00001.series: is truncated"),
    ]
    folder = write_shards(tmp_path / "run", names(11))
    for damage, line in damages:
        damage(folder / "shards")
        with pytest.raises(RunError, match=line):
            read_run(folder)
        write_shards(folder, names(11))
        assert files(folder) == files(both[1])


def test_a_shard_of_the_right_length_and_wrong_content_is_one_line(tmp_path: Path) -> None:
    folder = write_shards(tmp_path / "run", names(4))
    table = folder / "shards/00000.parquet"
    table.write_bytes(b"x" * table.stat().st_size)
    with pytest.raises(RunError, match="00000.parquet: changed after it was written"):
        list(read_run(folder).subjects)


def test_new_clips_and_clips_measured_again(tmp_path: Path) -> None:
    """Other clips in front: every shard holds others than before. The result is that of a run made at once."""
    all_of_them = names(13)
    folder = write_shards(tmp_path / "run", all_of_them[3:])
    write_shards(folder, all_of_them)
    assert files(folder) == files(write_shards(tmp_path / "at-once", all_of_them))
    with ShardedWriter(folder, size=4, instrument="clip", settings={}, asked=["x"]) as run:
        run.plan(all_of_them, ["take0005"])
        assert run.finished("take0006") is not None
        run.add(entry("take0005", seed=1))
        run.finish(all_of_them)
    again = read_run(folder)
    assert again.measurements["take0005"] == entry("take0005", seed=1).measurements
    assert again.measurements["take0006"] == entry("take0006").measurements


def test_add_puts_the_new_behind_what_is_there(tmp_path: Path) -> None:
    folder = write_shards(tmp_path / "run", names(6, first=4))
    before = files(folder)
    write_shards(folder, names(3), add=True)
    assert [subject.id for subject in read_run(folder).subjects] == [*names(6, first=4), *names(3)]
    assert files(folder)["shards/00000.parquet"] == before["shards/00000.parquet"]


def test_a_full_disk_while_a_shard_is_made(
    both: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(RunError, match="the disk is full; free some space and run the same command again"):
            write_shards(tmp_path / "run", names(11))
    assert len(read_run(tmp_path / "run").subjects) == 11
    write_shards(tmp_path / "run", names(11))
    assert files(tmp_path / "run") == files(both[1])


def test_two_writers_of_one_folder(tmp_path: Path) -> None:
    with (
        ShardedWriter(tmp_path / "run", size=4, instrument="clip", settings={}),
        pytest.raises(RunError, match="another rushes process is writing this run"),
    ):
        ShardedWriter(tmp_path / "run", size=4, instrument="clip", settings={})


def test_a_run_stays_in_its_format(tmp_path: Path) -> None:
    whole, shards = write_whole(tmp_path / "whole", names(2)), write_shards(tmp_path / "shards", names(2))
    with open_run(whole, instrument="clip", settings={}, shards=4) as run:
        assert type(run) is RunWriter
    with open_run(shards, instrument="clip", settings={}, asked=["x"]) as run:
        assert isinstance(run, ShardedWriter)
        run.finish(names(2))
    with pytest.raises(RunError, match="contains a sharded run"):
        RunWriter(shards, instrument="clip", settings={}, asked=["x"])
    (shards / "triage.json").write_text("{}")
    with open_run(shards, instrument="clip", settings={}, overwrite=True) as run:
        run.finish([])
    left = sorted(path.name for path in shards.iterdir())
    assert left == ["measurements.jsonl", "run.json", "subjects.jsonl", "triage.json"]


def test_triage_alone_is_no_stranger(tmp_path: Path) -> None:
    (tmp_path / "triage.json").write_text("{}")
    write_whole(tmp_path, names(1))
    assert (tmp_path / "triage.json").read_text() == "{}"


def test_when_a_run_is_in_shards() -> None:
    assert [shard_size(n, None) for n in (9_999, 10_000)] == [0, 10_000]
    assert (shard_size(5, 2), shard_size(10**6, 0)) == (2, 0)


def test_the_schedule_puts_a_shard_well_behind_its_clips() -> None:
    """600 clips in shards of 200: shard 0 ends with clip 199, and 256 more are handed out before it is made."""
    tasks = Schedule([n // 200 for n in range(600)], [0, 1, 2], task=lambda n: n, job=lambda k: f"shard {k}")  # type: ignore[arg-type, return-value]
    order = list(tasks)
    assert [item for item in order if isinstance(item, int)] == list(range(600))
    assert order.index("shard 0") == 456  # type: ignore[arg-type]
    assert order[-2:] == ["shard 1", "shard 2"]
    assert list(Schedule([], [0, 4], task=lambda n: n, job=lambda k: k)) == [0, 4]  # type: ignore[arg-type, return-value]
