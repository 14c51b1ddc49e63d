"""Where a study's clips are: below its media folder, wherever that lies now.

Paths are kept relative to the media folder, so that a database and its folder can be moved and restored together.
Studies of earlier versions have whole paths; their clips are found by the end of those below the folder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import Connection, Row, select

from rushes.core.words.options import option
from rushes.study.database.tables import clip
from rushes.study.database.tables import study as studies
from rushes.study.material.clips import ReadyClip
from rushes.study.queries import log, study_row

Key = TypeVar("Key")
_FOLDERS = ("clips", "training")
"""What the media folder holds."""


class Located(NamedTuple):
    """What a look for a database's clips found."""

    found: int
    changed: int
    """Clips whose path is relative to the media folder from now on."""
    missing: tuple[str, ...]


def portable(ready: Mapping[Key, ReadyClip], media: Path) -> dict[Key, ReadyClip]:
    """The clips with paths relative to the media folder where they lie below it."""
    return {key: replace(one, path=_below(one.path, media)) for key, one in ready.items()}


def _below(path: Path, media: Path) -> Path:
    root = media.resolve()
    return path.relative_to(root) if path != Path() and path.is_relative_to(root) else path


def located(path: str, media: Path) -> Path:
    """The file behind a kept path; where it is gone, the place where it was expected."""
    expected = media.resolve() / path  # a whole path stays as it is
    if expected.is_file():
        return expected
    parts = Path(path).parts
    starts = [at for at, part in enumerate(parts) if part in _FOLDERS]
    moved = (media.resolve().joinpath(*parts[at:]) for at in reversed(starts))
    return next((place for place in moved if place.is_file()), expected)


def missing_line(connection: Connection, study: str | None = None, *, media: Path) -> str:
    """One line where clips of a study, or of all, are not where they should be; "" where all are there."""
    paths = [row.path for row in _clips(connection, study)]
    gone = [path for path in paths if not located(path, media).is_file()]
    if not gone:
        return ""
    return (
        f"{len(gone)} of {len(paths)} clips are not in {media}, {gone[0]} first; put the media folder there, or name "
        f"the one that has them: {option('--media')}"
    )


def _clips(connection: Connection, study: str | None) -> Sequence[Row[Any, Any, Any]]:
    """Clips that have a file: id, path and study."""
    query = select(clip.c.id, clip.c.path, clip.c.study_id).where(clip.c.path != "").order_by(clip.c.id)
    if study is not None:
        query = query.where(clip.c.study_id == study_row(connection, study).id)
    return connection.execute(query).all()


def relocate(connection: Connection, now: int, study: str | None = None, *, media: Path) -> Located:
    """Look for every clip of the studies below `media`, and keep the paths of those found relative to it."""
    found, changed, missing = 0, 0, []
    for row in _clips(connection, study):
        place = located(row.path, media)
        if not place.is_file():
            missing.append(row.path)
            continue
        found += 1
        kept = str(_below(place, media))
        if kept != row.path:
            connection.execute(clip.update().where(clip.c.id == row.id).values(path=kept))
            changed += 1
    for study_id in connection.execute(select(studies.c.id)).scalars().all() if changed else ():
        log(connection, study_id=study_id, actor="admin", action="relocated", now=now, clips=changed)
    return Located(found, changed, tuple(missing))
