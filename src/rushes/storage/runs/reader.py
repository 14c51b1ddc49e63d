"""Reading a run directory back into labelled measurements."""

from __future__ import annotations

import json
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from rushes.core import Definition, Measurement
from rushes.core.errors import RunError
from rushes.core.machine.provenance import bytes_digest
from rushes.storage.integrity.seal import broken, opens_damaged, require_sound
from rushes.storage.mirrors.pulling import listed, pull_run, read_info, run_address
from rushes.storage.numpy_files import reason
from rushes.storage.remote.address import is_remote, joined, safe_name
from rushes.storage.remote.errors import Vanished
from rushes.storage.remote.store import get_bytes, get_files
from rushes.storage.remote.transfer import errors_about
from rushes.storage.runs.disk import CORRUPT, misfits
from rushes.storage.runs.packing import subject_of
from rushes.storage.runs.run import Keeper, Run
from rushes.storage.runs.subjects import Subject
from rushes.storage.runs.writer import SHARDED, in_shards
from rushes.storage.shards import index as marks
from rushes.storage.shards.index import FOLDER, INDEX, Index, shard_fault
from rushes.storage.shards.reading import LazyItems, LazyMeasurements, ShardPlace, Shards, read_loose
from rushes.storage.shards.spool import FOLDER as SPOOL
from rushes.storage.shards.spool import Span


def read_run(path: Path | str, *, damaged: bool = False) -> Run:
    """Read a run directory, complete or not.

        run = rushes.read_run("runs/mine")
        run.summary, run.to_pandas()

    Args:
        path: the directory, or an address in a bucket (`s3://`, `gs://`), which gives the run as it is now.
        damaged: also open a run whose files changed since it was complete; its status is then "damaged".

    Returns:
        The `Run`. One that is still going, or that stopped half-way, has the clips finished so far.

    Raises:
        RunError: the folder is not a run, a newer version wrote it, or its files changed and `damaged` is not set.
    """
    return _read_remote(str(path), damaged) if is_remote(path) else _read(Path(path), damaged=damaged)


def opened_run(run: Run | Path | str) -> Run:
    """A run, read where it is not one yet."""
    return run if isinstance(run, Run) else read_run(run)


def _read_remote(given: str, damaged: bool) -> Run:
    url = run_address(given)
    home = Path(tempfile.mkdtemp(prefix="rushes-run-"))
    folder = home / safe_name(url)
    folder.mkdir()
    try:
        keeper = Keeper()
        run = replace(_read_at(url, folder, damaged), url=url, keeper=keeper)
    except BaseException:
        shutil.rmtree(home, ignore_errors=True)
        raise
    weakref.finalize(keeper, shutil.rmtree, home, ignore_errors=True)
    return run


def _read_at(url: str, folder: Path, damaged: bool) -> Run:
    """Of a run in shards nothing is brought here but what it says about itself; of another, all but its series."""
    try:
        (folder / "run.json").write_bytes(get_bytes(joined(url, "run.json")))
    except Vanished:
        pull_run(url, folder)  # a bucket that is not there, a run that has no run.json yet: told as ever
    with errors_about(folder, url):
        if not in_shards(read_info(folder)):
            pull_run(url, folder)
        return _read(folder, url, damaged=damaged)


def _read(folder: Path, url: str = "", *, damaged: bool = False) -> Run:
    try:
        info = json.loads((folder / "run.json").read_bytes())
    except FileNotFoundError:
        raise RunError(f"{folder}: expected a run directory with run.json; found none") from None
    except (OSError, ValueError, RecursionError) as error:
        raise RunError(f"{folder / 'run.json'}: cannot be read as a run ({reason(error)})") from None
    if not isinstance(info, dict) or not isinstance(info.get("format"), int):
        raise RunError(f"{folder / 'run.json'}: expected a run's JSON object; got something else")
    if info["format"] > SHARDED:
        raise RunError(
            f"{folder}: written by a newer rushes (format {info['format']}, this one reads {SHARDED}); upgrade rushes"
        )
    try:
        with misfits(f"{folder}: the run's files are inconsistent", "run the command again"):
            if in_shards(info):
                return _read_shards(ShardPlace(folder, url), info, damaged)
            return _assemble(folder, info, damaged)
    except OSError as error:
        raise RunError(f"{folder}: cannot be read ({error})") from None


def _assemble(folder: Path, info: dict[str, Any], damaged: bool) -> Run:
    if not all(isinstance(info[key], str) for key in ("instrument", "status")):
        raise TypeError("instrument and status are words")
    damage: tuple[str, ...] = ()
    facts = info["definitions"]
    if (folder / "journal.jsonl").exists():
        records = _rows((folder / "journal.jsonl").read_bytes())
        latest = {record["subject"]["id"]: record for record in records if "subject" in record}
        subject_rows = [record["subject"] for record in latest.values()]
        rows = [row for record in latest.values() for row in record["measurements"]]
        journalled = [record["definition"] for record in records if "definition" in record]
        facts = facts | {definition["signature"]: definition for definition in journalled}
    else:
        files = {name: _bytes(folder / name) for name in ("subjects.jsonl", "measurements.jsonl")}
        found = {name: None if data is None else bytes_digest(data) for name, data in files.items()}
        damage = require_sound(list(broken(str(folder), info, found)), damaged=damaged)
        subject_rows, rows = (_rows(data or b"", skip=bool(damage)) for data in files.values())
    definitions = {signature: Definition.from_dict(fact) for signature, fact in facts.items()}
    measurements: dict[str, list[Measurement]] = {}

    def add_number(row: Any) -> None:
        number = Measurement.from_dict(row, definitions[row["signature"]])
        measurements.setdefault(row["subject"], []).append(number)

    subjects: dict[str, Subject] = {}

    def add_subject(row: Any) -> None:
        subjects[row["id"]] = Subject.from_row(row)

    _each(rows, add_number, skip=bool(damage))
    _each(subject_rows, add_subject, skip=bool(damage))
    numbers = {key: tuple(value) for key, value in measurements.items()}
    return Run(folder, info, tuple(subjects.values()), numbers, damage=damage)


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


def _rows(data: bytes, *, skip: bool = False) -> list[Any]:
    """Lines that are whole; with `skip`, without those that are no JSON."""
    lines = data.split(b"\n")[:-1]
    if not skip:  # one text for all takes a third of the time
        rows: list[Any] = json.loads(b"[" + b",".join(lines) + b"]")
        return rows
    found: list[Any] = []
    _each(lines, lambda line: found.append(json.loads(line)), skip=True)
    return found


def _each(rows: Iterable[Any], take: Callable[[Any], None], *, skip: bool) -> None:
    """Take each row; with `skip`, leave out those of a damaged run that cannot be read."""
    for row in rows:
        try:
            take(row)
        except CORRUPT:
            if not skip:
                raise


def _read_shards(place: ShardPlace, info: Mapping[str, Any], damaged: bool) -> Run:
    """A run in shards; `RunError` where one of them is missing or cut in a folder here.

    Of an address nothing is copied but the index; of a run under way, markers and spools.
    """
    marks.require_pyarrow()
    loose: dict[str, Span] = {}
    data = _index_bytes(place)
    damage = list(broken(str(place), info, {INDEX: None if data is None else bytes_digest(data)}))
    if data is None:
        if info["status"] == "complete" and not damage:
            damage.append(f"{place}/{INDEX}: is missing")
        require_sound(damage, damaged=damaged)
        index, loose = _under_way(place)
    else:
        require_sound(damage, damaged=damaged)
        index = marks.read_index(data, info["definitions"])
        if not place.url and not opens_damaged(damaged):
            marks.require_whole(place.folder, index.shards)
        elif not place.url:
            damage += [wrong for shard in index.shards if (wrong := shard_fault(place.folder, shard))]
    checked = not (damage or place.url or loose)
    shards = Shards(place, index, loose, checked=checked)
    items, numbers = LazyItems(shards, subject_of), LazyMeasurements(shards)
    return Run(place.folder, info, items, numbers, shards=shards, damage=tuple(damage))


def _index_bytes(place: ShardPlace) -> bytes | None:
    try:
        return place.read(INDEX)
    except (FileNotFoundError, Vanished):
        return None


def _under_way(place: ShardPlace) -> tuple[Index, dict[str, Span]]:
    """The shards that are made so far, and the clips that are finished and in none of them."""
    if place.url:
        names = [name for name in listed(place.url) if name.startswith((f"{SPOOL}/", f"{FOLDER}/"))]
        small = [name for name in names if not name.endswith((".parquet", ".series"))]
        get_files([(joined(place.url, name), place.folder / name) for name in small])
    inside = Shards(place, marks.read_markers(place.folder, (lambda shard: "") if place.url else None))
    loose, definitions = read_loose(place.folder, inside)
    return Index(inside.index.shards, {**inside.index.definitions, **definitions}), loose
