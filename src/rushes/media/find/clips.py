"""What the user named, as a list of clips: files, folders and globs, here or in a store, and the sound of each."""

from __future__ import annotations

import glob
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from rushes.core.errors import InputError
from rushes.core.machine.files import Paths
from rushes.media.find.datasets import dataset_clips, is_dataset
from rushes.media.find.endings import AUDIO_SUFFIXES, TEXT_SUFFIXES, VIDEO_SUFFIXES, is_clip
from rushes.media.find.walk import PassedOver, files_below
from rushes.storage.remote.address import Place, RemoteFile, is_remote
from rushes.storage.remote.store import list_objects


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundClips:
    """The clips that paths name, what each is called, and what was passed over on the way."""

    clips: tuple[Place, ...]
    names: tuple[str, ...]
    """Of each clip: its path below the folder, or the fixed part of the pattern, that it was found in, without its
    ending: "p1/out". A file given by itself is its stem."""
    passed_over: PassedOver = field(default_factory=PassedOver)


@dataclass(frozen=True, slots=True)
class Sound:
    """The sound file for a clip (None: its own track), or why the one asked for is missing."""

    path: str | None = None
    missing: str = ""
    remote: RemoteFile | None = None
    """The same file, where `path` is an address."""


def natural_key(text: str) -> tuple[tuple[int, int, str], ...]:
    """Sort key under which numbers compare as numbers: take2 comes before take10.

    >>> sorted(["take10.mp4", "Take2.mp4", "take1.mp4"], key=natural_key)
    ['take1.mp4', 'Take2.mp4', 'take10.mp4']
    """
    parts = re.split(r"(\d+)", text.casefold())
    return tuple((0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts) + ((2, 0, text),)


def one_or_several(paths: Paths) -> list[str | Path]:
    """The paths as a list; one path alone is one path, never its letters.

    >>> one_or_several("takes"), one_or_several(["a.mp4", "b.mp4"])
    (['takes'], ['a.mp4', 'b.mp4'])
    """
    return [paths] if isinstance(paths, str | Path) else list(paths)


def search_clips(paths: Paths) -> FoundClips:
    """Every clip the arguments name, in their order, each once, with names and a count of what was passed over.

    Folders are searched through and sorted, with the folders that links in them lead to; hidden files and folders are
    passed over. Raises `InputError` for an empty path, one that does not exist, a glob that matches nothing, and a
    folder without a clip.
    """
    passed_over = PassedOver()
    found: dict[Place, tuple[Place, str]] = {}
    for named in one_or_several(paths):
        if str(named) == "":
            raise InputError("expected a clip, a folder or a glob; got an empty path (a variable that is not set?)")
        searched = _remote_clips_of if is_remote(named) else _clips_of
        for clip, name in searched(str(named), passed_over):
            key = Path(os.path.realpath(clip)) if isinstance(clip, Path) else clip  # a link to itself is no error here
            passed_over.counts["doubles"] += key in found
            found.setdefault(key, (clip, name))
    if not found:
        raise InputError("expected at least one clip, folder or glob; got none")
    clips, names = zip(*found.values(), strict=True)
    return FoundClips(clips=clips, names=names, passed_over=passed_over)


def _clips_of(named: str, passed_over: PassedOver) -> Iterator[tuple[Path, str]]:
    path = Path(named)
    if is_dataset(named):
        yield from dataset_clips(named)
    elif path.is_dir():
        clips = []
        for file in files_below(path, passed_over):
            if is_clip(file) and not _is_sound(file):
                clips.append(file)
            else:
                passed_over.others[file.suffix.lower()] += 1
        if not clips:
            there = f"; there are {passed_over}" if str(passed_over) else ""
            raise InputError(
                f"{named}: expected clips in this folder; found none{there} (endings such as .mp4 are looked for)"
            )
        yield from _named(sorted(clips, key=lambda p: natural_key(p.as_posix())), path)
    elif path.exists() or path.is_symlink():
        if path.suffix.lower() in TEXT_SUFFIXES:
            raise InputError(f"{named}: expected a clip, a folder or a glob; this is a {path.suffix.lower()} file")
        yield path, path.stem
    elif glob.has_magic(named):
        matches = [Path(match) for match in sorted(glob.glob(named, recursive=True), key=natural_key)]
        if not matches:
            raise InputError(f"{named}: the pattern matches no file")
        files = [match for match in matches if not match.is_dir()]
        passed_over.counts["folders"] += len(matches) - len(files)
        yield from _named(files, _fixed_part(named))
    else:
        raise InputError(f"{named}: no such file or folder")


def _named(clips: Iterable[Path], root: Path) -> Iterator[tuple[Path, str]]:
    for clip in clips:
        yield clip, clip.relative_to(root).with_suffix("").as_posix() if clip.is_relative_to(root) else clip.stem


def _fixed_part(pattern: str) -> Path:
    """The folder that a pattern starts from.

    >>> _fixed_part("out/**/*.mp4").as_posix(), _fixed_part("*.mp4").as_posix()
    ('out', '.')
    """
    fixed: list[str] = []
    for part in Path(pattern).parts[:-1]:
        if glob.has_magic(part):
            break
        fixed.append(part)
    return Path(*fixed)


def _remote_clips_of(url: str, passed_over: PassedOver) -> Iterator[tuple[RemoteFile, str]]:
    listing = list_objects(url)
    if listing.kind == "object":
        yield from ((file, file.stem) for file in listing.files)
        return
    clips = [f for f in listing.files if listing.kind == "pattern" or (is_clip(f) and f.suffix.lower() != ".ogg")]
    passed_over.others.update(f.suffix.lower() for f in listing.files if f not in set(clips))
    if not clips and listing.kind == "pattern":
        raise InputError(f"{url}: the pattern matches no object")
    if not clips:
        raise InputError(f"{url}: expected clips below this address; found none among {len(listing.files)} objects")
    root = url[: found.start()].rpartition("/")[0] if (found := re.search(r"[*?\[]", url)) else url.rstrip("/")
    for file in sorted(clips, key=lambda file: natural_key(file.url)):
        yield file, PurePosixPath(_below(file, root)).with_suffix("").as_posix()


def _below(file: RemoteFile, root: str) -> str:
    return file.url.removeprefix(root).lstrip("/") if file.url.startswith(f"{root}/") else file.name


def _is_sound(path: Path) -> bool:
    """Whether a file of an ending that sound and video share holds sound alone: Ogg names its codecs at its start."""
    if path.suffix.lower() != ".ogg":
        return False
    try:
        with open(path, "rb") as file:
            start = file.read(4096)
    except OSError:
        return False  # reading it as a clip will say why
    return start.startswith(b"OggS") and not any(codec in start for codec in (b"theora", b"BBCD", b"OVP80", b"video"))


def match_audio(clips: Sequence[Place], audio: Path | str | None, *, names: Sequence[str] = ()) -> list[Sound]:
    """The sound of each clip: its own track, one file for all, or its own file in a folder.

    A clip that is called `p1/out` (`names`, as `search_clips` gives them; the stem where left out) goes with
    `p1/out.wav` of the folder, or with its `out.wav` where no other clip has that stem. A clip without a file in the
    folder is not given its own track in silence: its sound is missing, and says so.
    """
    if audio is None:
        return [Sound()] * len(clips)
    if str(audio) == "":
        raise InputError("expected a sound file or a folder of them; got an empty path (a variable that is not set?)")
    if is_remote(audio):
        listing = list_objects(str(audio))
        if listing.kind == "object":
            return [_sound(listing.files[0])] * len(clips)
        root = str(audio).rstrip("/")
        below: list[tuple[str, Place]] = [(_below(file, root), file) for file in listing.files]
    else:
        folder = Path(audio)
        if folder.is_file():
            return [Sound(str(folder))] * len(clips)
        if not folder.is_dir():
            raise InputError(f"{audio}: expected a sound file or a folder of them; found neither")
        files = sorted(files_below(folder, PassedOver()))
        below = [(file.relative_to(folder).as_posix(), file) for file in files]
    by_name = _by_name(str(audio), below)
    called = names or [clip.stem for clip in clips]
    stems = Counter(clip.stem for clip in clips)
    return [
        _sound_of(clip, name, by_name, str(audio), alone=stems[clip.stem] == 1)
        for clip, name in zip(clips, called, strict=True)
    ]


def _by_name(source: str, below: Iterable[tuple[str, Place]]) -> dict[str, Place]:
    """Sound files by path below their folder, without ending; refuses two that fit one clip."""
    found: dict[str, Place] = {}
    for path, file in below:
        if file.suffix.lower() in AUDIO_SUFFIXES | VIDEO_SUFFIXES:
            name = PurePosixPath(path).with_suffix("").as_posix()
            if name in found:
                raise InputError(f"{source}: {found[name].name} and {file.name} both fit clip {name!r}; keep one")
            found[name] = file
    return found


def _sound_of(clip: Place, name: str, by_name: dict[str, Place], source: str, *, alone: bool) -> Sound:
    file = by_name.get(name) or (by_name.get(clip.stem) if alone else None)
    if file is not None:
        return _sound(file)
    if clip.stem in by_name:
        return Sound(missing=f"no sound for {name!r} in {source}: several clips are called {clip.stem!r}")
    return Sound(missing=f"no sound for {clip.stem!r} in {source}")


def _sound(file: Place) -> Sound:
    return Sound(str(file), remote=file if isinstance(file, RemoteFile) else None)
