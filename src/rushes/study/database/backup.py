"""Backups of studies: taken beside a running server, whole, and read back before they count.

A backup is a folder that can be served as it is:

    studies.db       every table, as SQLite, whatever the original is in: one consistent view
    studies.media/   every file of the media folder; clips are written once and never changed, so those that a view of
                     the tables knows are there when it is taken
    backup.json      rows of each table, and the sha256 of each file

A vote that was acknowledged before the backup began is in it. It holds what the database holds about raters: files are
readable by their owner alone.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, func, select

from rushes import __version__
from rushes.core.canonical import json_object
from rushes.core.errors import InputError
from rushes.core.machine.files import replacing
from rushes.core.machine.provenance import file_digest
from rushes.study.database.connection import Database, database_url, keep_private, upgraded
from rushes.study.database.tables import clip, metadata
from rushes.study.material.locating import located

DATABASE, MEDIA, LIST = "studies.db", "studies.media", "backup.json"
_BATCH = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup:
    """What a backup holds, or what was restored from one."""

    folder: Path
    rows: dict[str, int]
    """By table."""
    files: int
    missing: tuple[str, ...]
    """Clips that the tables know and that were not in the media folder."""

    @property
    def text(self) -> str:
        """One sentence."""
        lacking = f"; {len(self.missing)} clips are missing, the first is {self.missing[0]}" if self.missing else ""
        return f"{self.rows['study']} studies, {self.rows['vote']:,} votes, {self.files:,} media files{lacking}"


def back_up(target: Path | str, folder: Path, *, media: Path) -> Backup:
    """Write a backup of the database and the media folder into a folder that is not there yet, and read it back.

    `InputError` where the folder holds something, or what was written does not read back as it was.
    """
    _make_empty(folder)
    snapshot = folder / DATABASE
    keep_private(snapshot)
    url = database_url(target)
    if url.get_backend_name() == "sqlite":
        with Database(target, migrate=False):  # there, and of this version
            pass
        with closing(sqlite3.connect(str(url.database))) as source, closing(sqlite3.connect(snapshot)) as copy:
            source.backup(copy)
    else:
        with Database(target, migrate=False) as original, Database(snapshot) as made:
            _copy_rows(original, made)
    files = dict(_copied(media, folder / MEDIA))
    with Database(snapshot, migrate=False) as written, written.read() as connection:
        rows, missing = _rows(connection), _missing(connection, folder / MEDIA)
    _settle(snapshot)
    files[DATABASE] = file_digest(snapshot)
    facts = {"format": 1, "rushes": __version__, "rows": rows, "files": dict(sorted(files.items()))}
    with replacing(folder / LIST) as out:
        out.write(json.dumps(facts, indent=1) + "\n")
    check_backup(folder)
    return Backup(folder=folder, rows=rows, files=len(files) - 1, missing=missing)


def check_backup(folder: Path) -> dict[str, int]:
    """The rows of each table of a backup; `InputError` for the first file that is not as it was written."""
    facts = json_object((folder / LIST).read_bytes()) if (folder / LIST).is_file() else {}
    files, rows = facts.get("files"), facts.get("rows")
    if not isinstance(files, dict) or not isinstance(rows, dict):
        raise InputError(f"{folder}: expected a backup with {LIST}; make one with rushes study backup")
    for name, wanted in files.items():
        file = folder / name
        if not file.is_file():
            raise InputError(f"{file}: is missing from the backup")
        if file_digest(file) != wanted:
            raise InputError(f"{file}: changed after the backup was made; use another backup")
    return {str(name): int(count) for name, count in rows.items()}


def restore(folder: Path, target: Path | str, *, media: Path) -> Backup:
    """Put a backup where a server can use it: into a new SQLite file, or into an empty PostgreSQL database.

    Nothing is overwritten: `InputError` where the target holds studies, or the media folder holds files. A backup of an
    earlier version is brought up to date on the way.
    """
    rows = check_backup(folder)
    url = database_url(target)
    _make_empty(media)
    if url.get_backend_name() == "sqlite":
        file = Path(str(url.database))
        if file.exists():
            raise InputError(f"{file}: exists already; restore into a new file, or move this one away first")
        file.parent.mkdir(parents=True, exist_ok=True)
        keep_private(file)
        shutil.copyfile(folder / DATABASE, file)
        upgraded(file)
    else:
        _restore_rows(folder / DATABASE, target, media)
    files = dict(_copied(folder / MEDIA, media))
    with Database(target, migrate=False) as restored, restored.read() as connection:
        found, missing = _rows(connection), _missing(connection, media)
    if short := [name for name, count in rows.items() if found.get(name) != count]:
        raise InputError(f"{short[0]}: expected {rows[short[0]]} rows after restoring; got {found.get(short[0])}")
    return Backup(folder=folder, rows=found, files=len(files), missing=missing)


def _restore_rows(snapshot: Path, target: Path | str, media: Path) -> None:
    """Rows into PostgreSQL, by way of a copy that may be upgraded."""
    interim = media / f".{DATABASE}"
    keep_private(interim)
    shutil.copyfile(snapshot, interim)
    try:
        upgraded(interim)
        with Database(interim, migrate=False) as source, Database(target) as copy:
            with copy.read() as connection:
                if any(_rows(connection).values()):
                    raise InputError("the database already contains studies or accounts; restore into an empty one")
            _copy_rows(source, copy)
    finally:
        for file in media.glob(f".{DATABASE}*"):
            file.unlink()


def _make_empty(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    if strangers := sorted(path.name for path in folder.iterdir()):
        raise InputError(f"{folder}: expected a new or empty folder; it holds {strangers[0]}")


def _copied(source: Path, target: Path) -> Iterator[tuple[str, str]]:
    """Copy the finished files of a media folder; each one's name in the backup and digest."""
    target.mkdir(parents=True, exist_ok=True, mode=0o700)
    for file in sorted(source.rglob("*")) if source.is_dir() else ():
        if file.is_file() and not file.is_symlink() and file.suffix not in (".tmp", ".lock"):
            place = target / file.relative_to(source)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, place)
            yield f"{MEDIA}/{file.relative_to(source).as_posix()}", file_digest(place)


def _rows(connection: Connection) -> dict[str, int]:
    count = {table.name: select(func.count()).select_from(table) for table in metadata.sorted_tables}
    return {name: int(connection.execute(query).scalar_one()) for name, query in count.items()}


def _missing(connection: Connection, media: Path) -> tuple[str, ...]:
    paths = connection.execute(select(clip.c.path).where(clip.c.path != "").order_by(clip.c.id)).scalars()
    return tuple(path for path in paths if not located(path, media).is_file())


def _copy_rows(source: Database, copy: Database) -> None:
    """Every row of one view of a database into an empty one; ids stay as they are."""
    with source.snapshot() as reading, copy.write() as writing:
        for table in metadata.sorted_tables:
            rows = reading.execution_options(yield_per=_BATCH).execute(select(table).order_by(table.c.id))
            for part in rows.mappings().partitions(_BATCH):
                writing.execute(table.insert(), [dict(row) for row in part])
            if copy.kind == "postgresql":  # the next row made there must not take an id that is taken
                sequence = func.pg_get_serial_sequence(table.name, "id")
                writing.execute(select(func.setval(sequence, func.max(table.c.id))))


def _settle(snapshot: Path) -> None:
    """One file, without a write-ahead log beside it."""
    with closing(sqlite3.connect(snapshot)) as connection:
        found = connection.execute("PRAGMA integrity_check").fetchone()[0]
        if found != "ok":
            raise InputError(f"{snapshot}: cannot be read back ({found}); make the backup again")
        connection.execute("PRAGMA journal_mode=DELETE")
