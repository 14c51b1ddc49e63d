"""A damaged run is refused with the file's name, opened where that is asked for, and never read in silence."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.storage.runs.shard_material import entry, names, write_shards

from rushes.core.canonical import canonical_json
from rushes.core.errors import InputError, RunError, RushesError
from rushes.storage.integrity.seal import _are_sealed, allow_damaged, definitions_digest
from rushes.storage.integrity.verify import content_digest, require_digest, verify_run
from rushes.storage.query.sql import query
from rushes.storage.runs import RunWriter, read_run
from rushes.storage.runs.export import export_run

COUNT = 8


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    with RunWriter(tmp_path / "whole", instrument="clip", settings={}) as run:
        for name in names(COUNT):
            run.add(entry(name))
        run.finish(names(COUNT))
    return tmp_path / "whole"


@pytest.fixture
def sharded(tmp_path: Path) -> Path:
    return write_shards(tmp_path / "sharded", names(COUNT))


def lines(path: Path, change: Callable[[list[str]], list[str]]) -> None:
    path.write_text("".join(change(path.read_text().splitlines(keepends=True))))


def edit_info(folder: Path, change: Callable[[dict], None]) -> None:
    info = json.loads((folder / "run.json").read_text())
    change(info)
    (folder / "run.json").write_text(json.dumps(info))


def flip_better(info: dict) -> None:
    for facts in info["definitions"].values():
        facts["better"] = "higher"


DAMAGE: dict[str, tuple[str, Callable[[Path], object]]] = {
    "a value edited": (
        "measurements.jsonl",
        lambda f: lines(f / "measurements.jsonl", lambda rows: [rows[0].replace('"count":', '"count":1'), *rows[1:]]),
    ),
    "a number dropped": ("measurements.jsonl", lambda f: lines(f / "measurements.jsonl", lambda rows: rows[1:])),
    "a subject dropped": ("subjects.jsonl", lambda f: lines(f / "subjects.jsonl", lambda rows: rows[1:])),
    "a signal changed": (
        "subjects.jsonl",
        lambda f: lines(f / "subjects.jsonl", lambda rows: [row.replace('"badge":"', '"badge":"x') for row in rows]),
    ),
    "numbers emptied": ("measurements.jsonl", lambda f: (f / "measurements.jsonl").write_bytes(b"")),
    "numbers halved": (
        "measurements.jsonl",
        lambda f: (f / "measurements.jsonl").write_bytes((f / "measurements.jsonl").read_bytes()[:700]),
    ),
    "numbers all NUL": (
        "measurements.jsonl",
        lambda f: (f / "measurements.jsonl").write_bytes(bytes((f / "measurements.jsonl").stat().st_size)),
    ),
    "subjects deleted": ("subjects.jsonl", lambda f: (f / "subjects.jsonl").unlink()),
    "a direction flipped": ("run.json", lambda f: edit_info(f, flip_better)),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_run_is_refused_with_the_file_and_opened_on_request(whole: Path, kind: str) -> None:
    name, damage = DAMAGE[kind]
    damage(whole)
    with pytest.raises(RunError, match=rf"{name}: .*rushes --damaged COMMAND"):
        read_run(whole)
    found = verify_run(whole)
    assert found.sealed and not found.sound and name in found.damage[0]
    run = read_run(whole, damaged=True)
    assert run.status == "damaged" and name in run.damage[0]
    with pytest.raises(RunError, match=rf"{name}: .*--overwrite"):
        RunWriter(whole, instrument="clip", settings={})


def test_a_sound_run_opens_and_is_continued(whole: Path, sharded: Path) -> None:
    for folder in (whole, sharded):
        assert read_run(folder).status == "complete"
        found = verify_run(folder)
        assert found.sound and found.sealed and found.subjects == COUNT
        assert found.series == sum(read_run(folder).series_file(name) is not None for name in names(COUNT))
    with RunWriter(whole, instrument="clip", settings={}) as run:
        run.finish(names(COUNT))
    assert verify_run(whole).sound


def test_the_digest_does_not_depend_on_how_a_run_is_stored(whole: Path, sharded: Path, tmp_path: Path) -> None:
    copy = export_run(sharded, tmp_path / "copy")
    assert content_digest(whole) == content_digest(sharded) == content_digest(copy)
    assert verify_run(copy).sound
    require_digest(read_run(whole), content_digest(sharded)[:12])
    with pytest.raises(InputError, match="expected the run with digest"):
        require_digest(read_run(whole), "0" * 64)
    with pytest.raises(InputError, match="12 characters or more"):
        require_digest(read_run(whole), "abc")
    edit_info(whole, flip_better)
    assert content_digest(read_run(whole, damaged=True)) != content_digest(sharded)


def test_a_complete_run_in_shards_without_its_index_is_refused(sharded: Path) -> None:
    (sharded / "index.json").unlink()
    with pytest.raises(RunError, match="index.json: is missing"):
        read_run(sharded)


def test_no_flipped_bit_of_a_shard_changes_an_answer(sharded: Path) -> None:
    """The flips of which one in ten was silent before; the original bytes are put back after each."""
    table = sharded / "shards" / "00000.parquet"
    good = table.read_bytes()
    ask = "select * from clips order by number"
    rng = random.Random(5)
    refused = 0
    for _ in range(40):
        place = rng.randrange(len(good))
        table.write_bytes(good[:place] + bytes([good[place] ^ 1 << rng.randrange(8)]) + good[place + 1 :])
        with pytest.raises(RushesError, match="00000.parquet"):
            list(read_run(sharded).subjects)
        with pytest.raises(RushesError, match="00000.parquet"):
            query(read_run(sharded), ask)
        refused += 1
    table.write_bytes(good)
    assert refused == 40 and query(read_run(sharded), ask).num_rows == COUNT and verify_run(sharded).sound


def test_pages_of_a_large_run_have_checksums_of_their_own(sharded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond `CHECKED_BYTES` a table is not read whole: a flip inside a page that is read is still told."""
    monkeypatch.setattr("rushes.storage.shards.reading.CHECKED_BYTES", 0)
    import pyarrow.parquet as pq

    table = sharded / "shards" / "00000.parquet"
    good = table.read_bytes()
    column = pq.read_metadata(table).row_group(0).column(pq.read_schema(table).names.index("line"))
    place = column.data_page_offset + column.total_compressed_size - 5  # inside its last page
    table.write_bytes(good[:place] + bytes([good[place] ^ 4]) + good[place + 1 :])
    with pytest.raises(RunError, match="00000.parquet: cannot be read"):
        list(read_run(sharded).subjects)
    found = verify_run(sharded)
    assert not found.sound and "00000.parquet" in found.damage[0]


def test_a_run_of_before_seals_opens_and_verify_says_so(whole: Path) -> None:
    edit_info(whole, lambda info: info.pop("seal"))
    assert read_run(whole).status == "complete"
    found = verify_run(whole)
    assert found.sound and not found.sealed


def test_the_option_holds_for_every_run_that_is_opened(whole: Path) -> None:
    DAMAGE["a number dropped"][1](whole)
    allow_damaged(True)
    try:
        assert read_run(whole).status == "damaged"
    finally:
        allow_damaged(False)


def test_damaged_series_are_told(whole: Path) -> None:
    name = next(name for name in names(COUNT) if read_run(whole).series_file(name))
    file = whole / "series" / f"{name}.npz"
    data = bytearray(file.read_bytes())
    data[60] ^= 1
    file.write_bytes(bytes(data))
    found = verify_run(whole)
    assert any(f"series of {name}" in line for line in found.damage)


def test_series_that_are_gone_are_told(whole: Path) -> None:
    kept = sorted((whole / "series").glob("*.npz"))
    kept[0].unlink()
    assert verify_run(whole).damage == (f"{whole}/series: 1 of {len(kept)} files are missing",)
    kept[1].write_bytes(b"")
    assert len(verify_run(whole).damage) == 2  # one is missing, one cannot be read
    edit_info(whole, lambda info: info["seal"].pop("series"))  # of a seal of before 0.4
    assert len(verify_run(whole).damage) == 1


def test_no_flipped_bit_of_a_series_ends_the_check(whole: Path) -> None:
    """Every bit of the first file: some are told by zip, some by zlib, and those of times and names by nobody."""
    file = sorted((whole / "series").glob("*.npz"))[0]
    data = file.read_bytes()
    for place in range(0, len(data), 7):
        file.write_bytes(data[:place] + bytes([data[place] ^ 1 << place % 8]) + data[place + 1 :])
        verify_run(whole)


@pytest.mark.parametrize("data", [b"", b'"take0000"\n', bytes(40), b"\xff\xfe\n"])
def test_damaged_inputs_of_a_run_in_shards_are_not_exported(sharded: Path, tmp_path: Path, data: bytes) -> None:
    (sharded / "inputs.jsonl").write_bytes(data)
    with pytest.raises(RunError, match=r"inputs\.jsonl: changed after the run was complete"):
        export_run(sharded, tmp_path / "copy")
    allow_damaged(True)
    try:
        if data in (b"", b'"take0000"\n'):
            assert read_run(export_run(sharded, tmp_path / "damaged")).subjects
        else:
            with pytest.raises(RunError, match=r"inputs\.jsonl: cannot be read"):
                export_run(sharded, tmp_path / "damaged")
    finally:
        allow_damaged(False)


@pytest.mark.parametrize("bound", [1.0, 1 / 3, 1e-12, -0.0, 100, None, "é"])
def test_definitions_have_their_digest_however_they_are_read_back(bound: object) -> None:
    """As they are in memory, and with as many decimals as canonical JSON keeps."""
    given = {"blur_score|v:1": {"highest": bound, "name": "blur_score"}}
    sealed = definitions_digest(given)
    assert _are_sealed(given, sealed) and _are_sealed(json.loads(canonical_json(given)), sealed)
    assert not _are_sealed({"blur_score|v:1": {"highest": bound, "name": "blur"}}, sealed)


@pytest.mark.parametrize("bound", [float("inf"), float("nan"), "\ud800", None])
def test_what_no_run_can_hold_has_no_digest(bound: object) -> None:
    assert not _are_sealed(bound and {"highest": bound}, definitions_digest({"highest": 1}))
