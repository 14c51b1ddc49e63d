"""The clips that were ticked, or all that match, for other tools: a list of paths, a CSV, a folder of links."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from rushes.core.errors import InputError
from rushes.core.table import csv_text
from rushes.storage.runs import Run, Subject
from rushes.storage.runs.relocation import relocate
from rushes.web.clips.triage import NOTHING, Mark
from rushes.web.runs.query import RunQuery
from rushes.web.runs.run_rows import ClipPath, RunRows


def selected_ids(rows: RunRows, query: RunQuery, *, ticked: Sequence[str] = (), chosen: str = "") -> list[str]:
    """The ticked clips, in the order they were ticked; all that match, in the page's order, where none is ticked.

    `chosen` is a JSON list of ids, as the page's script sends many at once. Raises `InputError` for an id that is not
    in the run.
    """
    if chosen:
        try:
            listed = json.loads(chosen)
        except (ValueError, RecursionError):
            listed = None
        if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
            raise InputError(f"chosen: expected a JSON list of clip ids; got {chosen[:40]!r}")
        ticked = listed
    if not ticked:
        return rows.ids(query)
    for one in ticked:
        if not rows.has(one):
            raise InputError(f"this run has no clip {one[:80]!r}")
    return list(dict.fromkeys(ticked))


def path_list(run: Run, subjects: Iterable[Subject | ClipPath]) -> str:
    """Where the clips lie now, one a line; as the run has it where a clip is gone."""
    paths = [_place(run, subject) for subject in subjects]
    for path in paths:
        if "\n" in path:
            raise InputError(f"{path!r}: this path has a line break, which a list of paths cannot hold; use the CSV")
    return "".join(f"{path}\n" for path in paths)


def _place(run: Run, subject: Subject | ClipPath) -> str:
    found = relocate(subject.path, beside=run.path)
    return subject.path if found is None else os.path.abspath(found)


def selection_csv(rows: RunRows, ids: Sequence[str], keys: Sequence[str], marks: Mapping[str, Mark]) -> str:
    """One row per clip: id, path, review signal, reasons, marks, then the chosen metrics as stored.

    The second row has the signature of each metric: a number is nothing without its definition. Readers skip it
    (`pandas.read_csv(…, skiprows=[1])`).
    """
    head = ("id", "path", "review_signal", "reasons", "star", "tags", "comment")
    names = [rows.readings[key].label for key in keys]
    signatures = ["signature", *[""] * (len(head) - 1), *(rows.readings[key].definition.signature for key in keys)]
    lines: list[Sequence[object]] = [signatures]
    for row in rows.rows(ids):
        subject, mark = row.entry.subject, marks.get(row.entry.subject.id, NOTHING)
        told = (subject.id, subject.path, subject.badge or "", "; ".join(subject.reasons))
        values = [m.stored_value if (m := row.values.get(key)) is not None else None for key in keys]
        lines.append((*told, mark.star, "; ".join(mark.tags), mark.comment, *values))
    return csv_text((*head, *names), lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class LinksMade:
    """A folder of links, and the clips that are not where the run found them."""

    folder: Path
    made: int
    gone: tuple[str, ...]


def make_links(run: Run, subjects: Sequence[Subject | ClipPath], folder: str) -> LinksMade:
    """A new folder with a symbolic link to each clip, named after it. Nothing is written over.

    Raises `InputError` where the folder is there already, is not named in full, or cannot be made; then nothing is left
    behind: the links are made in a folder beside it, which is put in place as a whole.
    """
    target = Path(folder.strip()).expanduser()
    if not folder.strip() or not target.is_absolute():
        raise InputError(f"folder: expected a whole path such as /home/me/look; got {folder.strip()[:80]!r}")
    if target.exists() or target.is_symlink():
        raise InputError(f"{target}: already exists and was left alone; name a new folder")
    if not target.parent.is_dir():
        raise InputError(f"{target}: its parent folder does not exist; make it first")
    places = [(subject, relocate(subject.path, beside=run.path)) for subject in subjects]
    found = [(subject, place) for subject, place in places if place is not None]
    if not found:
        raise InputError("none of these clips is where the run found it, so there is nothing to link to")
    try:
        part = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
        try:
            names: set[str] = set()
            for subject, place in found:
                os.symlink(os.path.abspath(place), part / _free(_file_name(subject.id, place), names))
            part.chmod(0o755)
            os.rename(part, target)
        finally:
            with suppress(OSError):
                shutil.rmtree(part)
    except OSError as error:
        raise InputError(f"{target}: the links cannot be made ({error.strerror or error})") from None
    return LinksMade(
        folder=target, made=len(found), gone=tuple(subject.id for subject, place in places if place is None)
    )


def _file_name(subject_id: str, place: Path) -> str:
    """The id as a file's name; a folder in it becomes part of the name.

    >>> _file_name("p1/out", Path("takes/p1/out.mp4")), _file_name("..", Path("a.webm"))
    ('p1_out.mp4', 'clip.webm')
    """
    name = re.sub(r"[/\\\0]+", "_", subject_id).strip("._ ")[:200]
    return f"{name or 'clip'}{place.suffix}"


def _free(name: str, taken: set[str]) -> str:
    """The name, or with a number where another clip has it."""
    stem, suffix = os.path.splitext(name)
    number = 1
    while name.casefold() in taken:
        number += 1
        name = f"{stem}-{number}{suffix}"
    taken.add(name.casefold())
    return name
