"""Which clips are used: a folder with a CLIPS.csv, a list, or any folder of clips.

A list is a CSV file whose paths are relative to it, with the columns
    path     the clip
    speech   "yes" where a face speaks to the camera and the sound is its own
    split    "tune" for clips that thresholds were fitted on, "check" for the others
    plant    "no" where the clip is judged as it is and nothing is planted in it
    faulty   "yes" where the clip is damaged as it is: it is no clean clip, and nothing is planted in it
    kind     film, face, speech, animation or screen
    source   where it is from
    name     what it is called: decides which samples it is in, and how noise is planted
    sha256   of the file; another file of that path is refused
All but `path` are optional. `verdict_clips.csv` beside this folder is the list behind the published rates, with paths
below a folder that has one folder per repository, OWNER/NAME.
`CLIPS.csv` of the reference folder has other columns (`file`, `note`, `repo`), which are read as they are.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from rushes.core.errors import InputError
from rushes.core.machine.provenance import file_digest
from rushes.media.find.clips import search_clips

KINDS = ("film", "face", "speech", "animation", "screen", "generated")


@dataclass(frozen=True, slots=True, kw_only=True)
class Clip:
    """One real clip, and what is known of it."""

    path: Path
    name: str
    """Unlike any other clip's; names its planted files."""
    source: str
    speech: bool
    split: str
    faulty: bool
    kind: str = "film"
    planted: bool = True
    """Whether faults are planted in it, or it is only judged as it is."""


def read_clips(given: Iterable[Path]) -> list[Clip]:
    """The clips of lists and folders, in order, each once."""
    found: dict[Path, Clip] = {}
    names: set[str] = set()
    for place in given:
        for clip in _clips_of(place):
            if clip.path.resolve() not in found:
                found[clip.path.resolve()] = one = _named_apart(clip, names)
                names.add(one.name)
    if not found:
        raise InputError(f"{', '.join(map(str, given))}: no clips there; give folders of clips or lists (CSV)")
    return list(found.values())


def _named_apart(clip: Clip, names: set[str]) -> Clip:
    """With its suffix or a number behind its name where another clip has that name: `test.mp4` and `test.avi`."""
    also = (f"{clip.name}-{end}" for end in (clip.path.suffix[1:], *range(2, len(names) + 3)))
    return clip if clip.name not in names else replace(clip, name=next(name for name in also if name not in names))


def _clips_of(place: Path) -> list[Clip]:
    if place.is_dir() and not (place / "CLIPS.csv").is_file():
        return [_clip(Path(str(path)), {}) for path in search_clips([place]).clips]
    table = place / "CLIPS.csv" if place.is_dir() else place
    try:
        with table.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{table}: cannot be read as a list of clips ({error})") from None
    return [_clip(_checked(table.parent / _path(row, table), row.get("sha256")), row) for row in rows]


def _checked(path: Path, sha256: str | None) -> Path:
    if sha256 and path.is_file() and file_digest(path) != sha256:
        raise InputError(
            f"{path}: expected the file with sha256 {sha256[:12]}…; take the version that the list was made of"
        )
    return path


def _path(row: dict[str, str], table: Path) -> str:
    path = row.get("file") or row.get("path")
    if not path:
        raise InputError(f"{table}: expected a column `path`; got {', '.join(row)}")
    return path


def _clip(path: Path, row: dict[str, str]) -> Clip:
    note = row.get("note") or ""
    return Clip(
        path=path,
        name=row.get("name") or f"{path.parent.name}-{path.stem}",
        source=row.get("source") or row.get("repo") or path.parent.name,
        speech=row["speech"] == "yes" if "speech" in row else "speech" in note,
        split=row.get("split") or "tune",
        faulty=row["faulty"] == "yes" if "faulty" in row else "corrupt" in note,
        planted=row.get("plant") != "no",
        kind=row.get("kind") if row.get("kind") in KINDS else "film",
    )
