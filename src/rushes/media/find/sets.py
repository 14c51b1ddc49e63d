"""Sets of clips: a folder, a glob, a list file, or one clip; videos and frame sequences, mixed as they come.

Clips are in natural order (`take2` before `take10`), except those of a list file, which keep the list's. Any of these
may be addresses (`s3://`, `gs://`); a list file may hold addresses among its paths.
"""

from __future__ import annotations

import glob
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path, PurePath, PurePosixPath
from typing import TypeAlias, TypeVar

from rushes.core.errors import InputError
from rushes.media.find.clips import natural_key
from rushes.media.find.datasets import dataset_clips, is_dataset
from rushes.media.find.endings import is_clip
from rushes.media.find.picture_names import FrameSequence, gaps_text, sequences
from rushes.media.find.walk import PassedOver, files_below, identity
from rushes.storage.remote.address import Place, RemoteFile, is_remote, joined
from rushes.storage.remote.store import list_objects
from rushes.storage.remote.transfer import local_copy

IMAGE_SUFFIXES = frozenset({".jpg", ".jpeg", ".png"})
LIST_SUFFIXES = frozenset({".txt", ".lst", ".list"})

_NAMED = 3
"""Sequences named in a remark; the others are counted."""
_Picture = TypeVar("_Picture", bound=PurePath)
Ignored: TypeAlias = tuple[str, str]
"""(name, why it is no part of the set)"""


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
    ignored: tuple[Ignored, ...] = ()
    remarks: tuple[str, ...] = ()
    """What a reader must know of the clips as they lie there: frame numbers that are missing."""


@dataclass(slots=True)
class _Found:
    """What a search has come by so far."""

    clips: list[Clip] = field(default_factory=list)
    ignored: list[Ignored] = field(default_factory=list)
    gaps: dict[tuple[Place, ...], str] = field(default_factory=dict)
    """Missing frame numbers, by the files of the sequence."""
    patterns: dict[tuple[Place, ...], str] = field(default_factory=dict)
    """A longer name of each sequence, for where its own is taken."""

    def __iadd__(self, other: _Found) -> _Found:
        self.clips += other.clips
        self.ignored += other.ignored
        self.gaps |= other.gaps
        self.patterns |= other.patterns
        return self

    def sort(self) -> _Found:
        self.clips.sort(key=lambda clip: natural_key(clip.name))
        return self


def read_set(given: str | Path) -> ClipSet:
    """The clips of a folder, glob, list file or single file; `InputError` where there are none.

    Which pictures are one sequence is told from the names of their folder (`picture_names`).

    Edge cases  a folder below the set's folder that holds one sequence gives it its name; a picture without a number is
                ignored, and named, as everything is that is no clip. Two pictures of one number are an `InputError`.
    """
    text = str(given)
    path = Path(text)
    if is_remote(given):
        found = _at_address(text)
    elif is_dataset(text):
        found = _Found(clips=[Clip(name, (file,)) for file, name in dataset_clips(text)])
    elif path.is_dir():
        found = _in_folder(path)
    elif path.is_file() and path.suffix.lower() in LIST_SUFFIXES:
        found = _in_list(text, path)
    elif path.is_file():
        found = _Found(clips=[Clip(path.name, (path,))])
    elif any(mark in text for mark in "*?["):
        found = _in_glob(text)
    else:
        raise InputError(f"{text}: expected a folder, a glob, a list file or a clip; found nothing")
    ignored = tuple(sorted(found.ignored, key=lambda item: natural_key(item[0])))
    if not found.clips:
        there = f"; there {'is' if len(ignored) == 1 else 'are'} {named_with_reasons(ignored)}" if ignored else ""
        raise InputError(f"{text}: expected clips or numbered pictures; found none{there}")
    clips = _with_own_names(found)
    return ClipSet(text, tuple(clips), ignored, tuple(_gap_remarks(clips, found.gaps)))


def named_with_reasons(items: Sequence[Ignored], *, most: int = _NAMED) -> str:
    """Names, each with its reason, as far as there is room.

    >>> named_with_reasons([("a.md", "no clip"), ("b", "hidden")]), named_with_reasons([("a", "x"), ("b", "y")], most=1)
    ('a.md (no clip), b (hidden)', 'a (x) and 1 more')
    """
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return ", ".join(f"{name} ({why})" for name, why in items[:most]) + more


def _with_own_names(found: _Found) -> list[Clip]:
    """Every clip under a name of its own: a sequence whose name another clip has is called by its pattern."""
    often = Counter(clip.name for clip in found.clips)
    return [
        replace(clip, name=found.patterns[clip.files])
        if often[clip.name] > 1 and clip.files in found.patterns
        else clip
        for clip in found.clips
    ]


def _gap_remarks(clips: Sequence[Clip], gaps: dict[tuple[Place, ...], str]) -> Iterable[str]:
    having = [(clip.name, gaps[clip.files]) for clip in clips if clip.files in gaps]
    if having:
        yield (
            f"frame numbers are missing in {len(having)} of {len(clips)} clips, whose frames were joined as they are: "
            f"{named_with_reasons(having)}"
        )


def _in_folder(root: Path) -> _Found:
    passed_over = PassedOver()
    found = _below_root({file: file for file in files_below(root, passed_over)}, root)
    found.ignored = [*((_below(path, root), why) for path, why in passed_over.named), *found.ignored]
    return _each_file_once(found).sort()


def _each_file_once(found: _Found) -> _Found:
    """A video that is there twice by a link to it counts once, under the name of the file itself."""
    videos = [(clip, clip.files[0]) for clip in found.clips if not clip.is_sequence]
    links = [(clip, path) for clip, path in videos if isinstance(path, Path) and path.is_symlink()]
    if not links:
        return found
    linked = {clip.name for clip, _ in links}
    real = {_identity(path): clip for clip, path in videos if clip.name not in linked}
    twice: set[str] = set()
    for clip, path in links:
        first = real.setdefault(_identity(path), clip)
        if first is not clip:
            twice.add(clip.name)
            found.ignored.append((clip.name, f"a link to {first.name}, which counts once"))
    found.clips = [clip for clip in found.clips if clip.name not in twice or clip.is_sequence]
    return found


def _identity(path: Place) -> tuple[int, int] | str:
    try:
        return identity(path) if isinstance(path, Path) else str(path)
    except OSError:
        return str(path)  # reading it will say why


def _below_root(places: Mapping[_Picture, Place], root: PurePath) -> _Found:
    """Clips of the files below a folder, each folder looked at by itself."""
    by_folder: dict[PurePath, dict[_Picture, Place]] = {}
    for path, place in places.items():
        by_folder.setdefault(path.parent, {})[path] = place
    found = _Found()
    for _, files in sorted(by_folder.items()):
        found += _of_files(files, root)
    return found


def _of_files(places: Mapping[_Picture, Place], root: PurePath) -> _Found:
    """Clips of one folder's files, and the places these stand for: each video, each sequence; the rest is named."""
    pictures = [path for path in places if path.suffix.lower() in IMAGE_SUFFIXES]
    found = _sequences(pictures, root, places)
    for path, place in places.items():
        if is_clip(path):
            found.clips.append(Clip(_below(path, root), (place,)))
        elif path.suffix.lower() not in IMAGE_SUFFIXES:
            found.ignored.append((_below(path, root), f"not a clip by its ending, {path.suffix or 'none'}"))
    return found


def _at_address(url: str) -> _Found:
    """Clips of a folder, a pattern, a list file or one object in a store, named as those of a folder here."""
    listing = list_objects(url)
    if listing.kind == "object" and listing.files[0].suffix.lower() in LIST_SUFFIXES:
        return _in_list(url, listing.files[0])
    if listing.kind == "object":
        return _Found(clips=[Clip(listing.files[0].name, listing.files)])
    return (_from_places(listing.files) if listing.kind == "pattern" else _in_listing(url, listing.files)).sort()


def _in_listing(url: str, files: Sequence[RemoteFile]) -> _Found:
    """A folder's objects."""
    return _below_root(_by_path(files), PurePosixPath(url.partition("://")[2]))


def _in_glob(pattern: str) -> _Found:
    paths = [Path(p) for p in glob.glob(pattern, recursive=True)]
    found = _from_paths(sorted(paths, key=lambda p: natural_key(str(p))))
    # `takes/**` matches a folder and all that is in it
    found.clips = list({str(clip.files[0]): clip for clip in reversed(found.clips)}.values())[::-1]
    return _each_file_once(found).sort()


def _in_list(path: str, place: Place) -> _Found:
    with local_copy(place) as copy:
        lines = [line.strip() for line in copy.path.read_text(encoding="utf-8-sig").splitlines()]
    named = [line for line in lines if line and not line.startswith("#")]
    if isinstance(place, RemoteFile) or any(is_remote(line) for line in named):
        found = _in_mixed_list(place, named)
    else:
        paths = [place.parent / line for line in named]
        missing = [p for p in paths if not p.exists()]
        if missing:
            raise InputError(f"{path}: lists {missing[0]}, which does not exist ({len(missing)} missing in all)")
        found = _from_paths(paths)
    twice = _first_repeated(named) or _first_repeated(str(clip.files[0]) for clip in found.clips)
    if twice:
        raise InputError(f"{path}: lists {twice} twice; remove one of the two")
    return found


def _in_mixed_list(place: Place, named: Sequence[str]) -> _Found:
    """A list with addresses in it, or one in a store, whose own lines are then below the list's folder."""
    found = _Found()
    for line in named:
        if isinstance(place, RemoteFile) and not is_remote(line):
            line = joined(place.url.rpartition("/")[0], line)
        found += _of_line(line) if is_remote(line) else _of_line(place.parent / line)  # type: ignore[union-attr]
    return found


def _of_line(named: Path | str) -> _Found:
    if isinstance(named, Path):
        if not named.exists():
            raise InputError(f"{named}: is listed, but does not exist")
        return _from_paths([named])
    listing = list_objects(named)
    if listing.kind != "folder":
        return _from_places(listing.files)
    return _within(_in_listing(named, listing.files), lambda name: joined(named, name))


def _from_places(files: Sequence[RemoteFile]) -> _Found:
    """Clips of objects named one by one: pictures are grouped, anything else is a video; each by its address."""
    by_path = _by_path(files)
    pictures = {path: file for path, file in by_path.items() if path.suffix.lower() in IMAGE_SUFFIXES}
    protocol = files[0].url.partition("://")[0] if files else ""
    found = _within(_sequences(list(pictures), None, pictures), lambda name: f"{protocol}://{name}")
    found.clips += [Clip(file.url, (file,)) for file in files if file.suffix.lower() not in IMAGE_SUFFIXES]
    return found


def _within(found: _Found, called: Callable[[str], str]) -> _Found:
    """The same under other names."""
    found.clips = [replace(clip, name=called(clip.name)) for clip in found.clips]
    found.ignored = [(called(name), why) for name, why in found.ignored]
    found.patterns = {files: called(name) for files, name in found.patterns.items()}
    return found


def _by_path(files: Sequence[RemoteFile]) -> dict[PurePosixPath, RemoteFile]:
    found: dict[PurePosixPath, RemoteFile] = {}
    for file in files:
        path = PurePosixPath(file.url.partition("://")[2])
        if path in found:
            raise InputError(f"{file} and {found[path]} differ only in their slashes; rename one")
        found[path] = file
    return found


def _from_paths(paths: Sequence[Path]) -> _Found:
    """Clips of explicit paths: a folder is a sequence (or a set), pictures are grouped, anything else is a video."""
    pictures = [p for p in paths if p.is_file() and p.suffix.lower() in IMAGE_SUFFIXES]
    found = _sequences(list(dict.fromkeys(pictures)), None, {path: path for path in pictures})
    waiting = dict(enumerate(found.clips))
    of_file = {file: number for number, clip in waiting.items() for file in clip.files}
    found.clips = []
    for path in paths:
        if path.is_dir():
            found += _within(_in_folder(path), partial(_below_listed, path))
        elif path in of_file:
            if (clip := waiting.pop(of_file[path], None)) is not None:
                found.clips.append(clip)
        elif path.suffix.lower() not in IMAGE_SUFFIXES:
            found.clips.append(Clip(str(path), (path,)))
    return found


def _below_listed(folder: Path, name: str) -> str:
    """A listed folder that is one sequence has its own name."""
    return str(folder) if name == folder.name else f"{folder}/{name}"


def _sequences(pictures: Sequence[_Picture], root: PurePath | None, places: Mapping[_Picture, Place]) -> _Found:
    """The sequences among pictures, folder by folder; pictures without a number are ignored."""
    by_folder: dict[PurePath, list[_Picture]] = {}
    for picture in pictures:
        by_folder.setdefault(picture.parent, []).append(picture)
    found = _Found()
    for folder, members in by_folder.items():
        made, unnumbered = sequences(members)
        found.ignored += [(_below(picture, root), "a picture without a number") for picture in unnumbered]
        for sequence in made:
            _refuse_repeated(sequence)
            files = tuple(places[picture] for picture in sequence.pictures)
            alone = len(made) == 1 and folder != root
            place = folder if alone else folder / (sequence.label or folder.name)
            found.clips.append(Clip(_below(place, root), files))
            found.patterns[files] = _below(folder / f"{sequence.pattern}{sequence.pictures[0].suffix}", root)
            if sequence.gaps:
                found.gaps[files] = gaps_text(sequence.gaps)
    return found


def _refuse_repeated(sequence: FrameSequence[_Picture]) -> None:
    if sequence.repeated is not None:
        one, other = sequence.repeated
        raise InputError(f"{one} and {other.name} have the same number; remove one of them")


def _below(path: PurePath, root: PurePath | None) -> str:
    return path.relative_to(root).as_posix() if root is not None and path != root else str(path)


def _first_repeated(names: Iterable[str]) -> str | None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None
