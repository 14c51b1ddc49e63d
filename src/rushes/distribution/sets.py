"""Sets of clips: a folder, a glob, a list file, or one clip; videos and frame sequences, mixed as they come.

Clips are in natural order (`take2` before `take10`), except those of a list file, which keep the list's. Saved
statistics (`.npz`) are a set too; `rushes.distribution.feature_set` reads them. Any of these may be addresses
(`s3://`, `gs://`); a list file may hold addresses among its paths.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath, PurePosixPath
from typing import TypeVar

from rushes.errors import InputError
from rushes.media.endings import is_clip
from rushes.media.find import natural_key
from rushes.media.walk import PassedOver, files_below
from rushes.remote.address import Place, RemoteFile, is_remote, joined
from rushes.remote.store import list_objects
from rushes.remote.transfer import local_copy

IMAGE_SUFFIXES = frozenset({".jpg", ".jpeg", ".png"})
LIST_SUFFIXES = frozenset({".txt", ".lst", ".list"})
STATS_SUFFIX = ".npz"

_NUMBERED = re.compile(r"(.*?)(\d+)\D*$", re.DOTALL)
_Picture = TypeVar("_Picture", bound=PurePath)


@dataclass(frozen=True, slots=True)
class Clip:
    """One video: a file, or the pictures of a frame sequence in order."""

    name: str
    """How reports call it: its path below the set's folder."""
    files: tuple[Place, ...]

    @property
    def is_sequence(self) -> bool:
        return self.files[0].suffix.lower() in IMAGE_SUFFIXES


@dataclass(frozen=True, slots=True)
class ClipSet:
    """Clips in order, and what lay among them that is no clip."""

    given: str
    clips: tuple[Clip, ...]
    ignored: tuple[str, ...] = ()


def is_statistics(given: str | Path) -> bool:
    """Whether this names saved statistics, or a glob of nothing else."""
    return str(given).lower().endswith(STATS_SUFFIX)


def read_set(given: str | Path) -> ClipSet:
    """The clips of a folder, glob, list file or single file; `InputError` where there are none.

    Edge cases  a folder below the set's folder that holds numbered pictures is one sequence; pictures lying flat are
                grouped by what stands before their number; a picture without a number is ignored, and named.
    """
    text = str(given)
    path = Path(text)
    if is_remote(given):
        found = _at_address(text)
    elif path.is_dir():
        found = _in_folder(path)
    elif path.is_file() and path.suffix.lower() in LIST_SUFFIXES:
        found = _in_list(text, path)
    elif path.is_file():
        found = [Clip(path.name, (path,))], []
    elif any(mark in text for mark in "*?["):
        found = _in_glob(text)
    else:
        raise InputError(
            f"{text}: expected a folder, a glob, a list file, a clip or saved statistics; nothing is there"
        )
    clips, ignored = found
    if not clips:
        raise InputError(f"{text}: expected clips or numbered pictures; found none")
    return ClipSet(text, tuple(clips), tuple(sorted(ignored, key=natural_key)))


def _in_folder(root: Path) -> tuple[list[Clip], list[str]]:
    clips: list[Clip] = []
    ignored: list[str] = []
    by_folder: dict[Path, list[Path]] = {}
    for file in files_below(root, PassedOver()):
        by_folder.setdefault(file.parent, []).append(file)
    for _, files in sorted(by_folder.items()):
        found, left = _of_files(files, root)
        clips += [Clip(name, paths) for name, paths in found]
        ignored += left
    return sorted(clips, key=lambda clip: natural_key(clip.name)), ignored


def _of_files(files: Sequence[_Picture], root: PurePath) -> tuple[list[tuple[str, tuple[_Picture, ...]]], list[str]]:
    """Clips of one folder's files: each video, each sequence; and the names of what is neither."""
    clips = [(_below(p, root), (p,)) for p in files if is_clip(p)]
    sequences, left = _sequences([p for p in files if p.suffix.lower() in IMAGE_SUFFIXES], root)
    others = [p for p in files if not is_clip(p) and p.suffix.lower() not in IMAGE_SUFFIXES]
    return clips + sequences, [_below(p, root) for p in (*left, *others)]


def _at_address(url: str) -> tuple[list[Clip], list[str]]:
    """Clips of a folder, a pattern, a list file or one object in a store, named as those of a folder here."""
    listing = list_objects(url)
    if listing.kind == "object" and listing.files[0].suffix.lower() in LIST_SUFFIXES:
        return _in_list(url, listing.files[0])
    if listing.kind == "object":
        return [Clip(listing.files[0].name, listing.files)], []
    if listing.kind == "pattern":
        clips, ignored = _from_places(listing.files)
    else:
        clips, ignored = _in_listing(url, listing.files)
    return sorted(clips, key=lambda clip: natural_key(clip.name)), ignored


def _in_listing(url: str, files: Sequence[RemoteFile]) -> tuple[list[Clip], list[str]]:
    """A folder's objects, each folder below it looked at by itself."""
    root = PurePosixPath(url.partition("://")[2])
    by_path = _by_path(files)
    clips: list[Clip] = []
    ignored: list[str] = []
    for folder in sorted({path.parent for path in by_path}):
        found, left = _of_files([path for path in by_path if path.parent == folder], root)
        clips += [Clip(name, tuple(by_path[path] for path in paths)) for name, paths in found]
        ignored += left
    return clips, ignored


def _in_glob(pattern: str) -> tuple[list[Clip], list[str]]:
    paths = [Path(p) for p in glob.glob(pattern, recursive=True)]
    clips, ignored = _from_paths(sorted(paths, key=lambda p: natural_key(str(p))))
    return sorted(clips, key=lambda clip: natural_key(clip.name)), ignored


def _in_list(path: str, place: Place) -> tuple[list[Clip], list[str]]:
    with local_copy(place) as copy:
        lines = [line.strip() for line in copy.path.read_text(encoding="utf-8-sig").splitlines()]
    named = [line for line in lines if line and not line.startswith("#")]
    if isinstance(place, RemoteFile) or any(is_remote(line) for line in named):
        clips, ignored = _in_mixed_list(place, named)
    else:
        paths = [place.parent / line for line in named]
        missing = [p for p in paths if not p.exists()]
        if missing:
            raise InputError(f"{path}: lists {missing[0]}, which is not there ({len(missing)} missing in all)")
        clips, ignored = _from_paths(paths)
    twice = _first_repeated(clip.name for clip in clips)
    if twice:
        raise InputError(f"{path}: lists {twice} twice; a clip counts once")
    return clips, ignored


def _in_mixed_list(place: Place, named: Sequence[str]) -> tuple[list[Clip], list[str]]:
    """A list with addresses in it, or one in a store, whose own lines are then below the list's folder."""
    clips: list[Clip] = []
    ignored: list[str] = []
    for line in named:
        if isinstance(place, RemoteFile) and not is_remote(line):
            line = joined(place.url.rpartition("/")[0], line)
        found, more = _of_line(line) if is_remote(line) else _of_line(place.parent / line)  # type: ignore[union-attr]
        clips += found
        ignored += more
    return clips, ignored


def _of_line(named: Path | str) -> tuple[list[Clip], list[str]]:
    if isinstance(named, Path):
        if not named.exists():
            raise InputError(f"{named}: is listed, but not there")
        return _from_paths([named])
    listing = list_objects(named)
    if listing.kind == "folder":
        inside, ignored = _in_listing(named, listing.files)
        return [Clip(joined(named, clip.name), clip.files) for clip in inside], ignored
    return _from_places(listing.files)


def _from_places(files: Sequence[RemoteFile]) -> tuple[list[Clip], list[str]]:
    """Clips of objects named one by one: pictures are grouped, anything else is a video; each by its address."""
    by_path = _by_path(files)
    grouped, left = _sequences([path for path in by_path if path.suffix.lower() in IMAGE_SUFFIXES], None)
    clips = [Clip(file.url, (file,)) for file in files if file.suffix.lower() not in IMAGE_SUFFIXES]
    for name, paths in grouped:
        protocol = by_path[paths[0]].url.partition("://")[0]
        clips.append(Clip(f"{protocol}://{name}", tuple(by_path[path] for path in paths)))
    return clips, [by_path[path].url for path in left]


def _by_path(files: Sequence[RemoteFile]) -> dict[PurePosixPath, RemoteFile]:
    found: dict[PurePosixPath, RemoteFile] = {}
    for file in files:
        path = PurePosixPath(file.url.partition("://")[2])
        if path in found:
            raise InputError(f"{file} and {found[path]} differ only in their slashes; rename one")
        found[path] = file
    return found


def _from_paths(paths: Sequence[Path]) -> tuple[list[Clip], list[str]]:
    """Clips of explicit paths: a folder is a sequence (or a set), pictures are grouped, anything else is a video."""
    clips: list[Clip] = []
    ignored: list[str] = []
    pictures = [p for p in paths if p.is_file() and p.suffix.lower() in IMAGE_SUFFIXES]
    grouped, left = _sequences(pictures, None)
    ignored += [str(p) for p in left]
    by_first = {files[0]: Clip(name, files) for name, files in grouped}
    for path in paths:
        if path.is_dir():
            inside, more = _in_folder(path)
            clips += [Clip(f"{path}/{c.name}" if c.name != path.name else str(path), c.files) for c in inside]
            ignored += more
        elif path in by_first:
            clips.append(by_first[path])
        elif path.suffix.lower() not in IMAGE_SUFFIXES:
            clips.append(Clip(str(path), (path,)))
    return clips, ignored


def _sequences(
    pictures: Sequence[_Picture], root: PurePath | None
) -> tuple[list[tuple[str, tuple[_Picture, ...]]], list[_Picture]]:
    """Pictures grouped by folder, what stands before the number, and suffix; and those without a number."""
    groups: dict[tuple[PurePath, str, str], list[tuple[int, _Picture]]] = {}
    left = []
    for picture in pictures:
        match = _NUMBERED.fullmatch(picture.stem)
        if match is None:
            left.append(picture)
            continue
        key = (picture.parent, match[1], picture.suffix.lower())
        groups.setdefault(key, []).append((int(match[2]), picture))
    alone = {folder for folder, _, _ in groups if sum(key[0] == folder for key in groups) == 1}
    clips = []
    for (folder, prefix, _), numbered in groups.items():
        files = tuple(p for _, p in sorted(numbered, key=lambda item: (item[0], item[1].name)))
        place = folder if folder in alone and folder != root else folder / (prefix.rstrip("_-. ") or folder.name)
        clips.append((_below(place, root), files))
    return clips, left


def _below(path: PurePath, root: PurePath | None) -> str:
    return path.relative_to(root).as_posix() if root is not None and path != root else str(path)


def _first_repeated(names: Iterable[str]) -> str | None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None
