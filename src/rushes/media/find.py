"""What the user named, as a list of clips: files, folders and globs, here or in a store, and the sound of each."""

from __future__ import annotations

import glob
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rushes.errors import InputError
from rushes.remote.address import Place, RemoteFile, is_remote
from rushes.remote.store import list_objects

VIDEO_SUFFIXES = frozenset(
    ".3gp .apng .avi .flv .gif .m2ts .m4v .mjpeg .mkv .mov .mp4 .mpeg .mpg .mts .mxf .ogv .ts .webm .wmv .y4m".split()
)
"""What a folder is searched for; a file named by itself is always taken."""
AUDIO_SUFFIXES = frozenset(".aac .ac3 .aiff .flac .m4a .mka .mp2 .mp3 .oga .ogg .opus .wav .wma".split())


@dataclass(frozen=True, slots=True)
class Sound:
    """The sound file for a clip (None: its own track), or why the one asked for is missing."""

    path: str | None = None
    missing: str = ""
    remote: RemoteFile | None = None
    """The same file, where `path` is an address."""


def natural_key(text: str) -> list[tuple[int, int, str]]:
    """Sort key under which take2 comes before take10.

    >>> sorted(["take10.mp4", "Take2.mp4", "take1.mp4"], key=natural_key)
    ['take1.mp4', 'Take2.mp4', 'take10.mp4']
    """
    pieces = re.split(r"(\d+)", text)
    return [(0, int(p), p) if p.isdecimal() else (1, 0, p.casefold()) for p in pieces if p] + [(2, 0, text)]


def find_clips(paths: Iterable[Path | str]) -> list[Place]:
    """Every clip the arguments name, in their order; folders are searched through and sorted; a file counts once.

    Raises `InputError` for a path that does not exist, a glob that matches nothing, and a folder without a clip.
    """
    found: dict[Place, Place] = {}
    for named in paths:
        for clip in _remote_clips_of(str(named)) if is_remote(named) else _clips_of(str(named)):
            found.setdefault(clip.resolve() if isinstance(clip, Path) else clip, clip)
    if not found:
        raise InputError("expected at least one clip, folder or glob; got none")
    return list(found.values())


def _clips_of(named: str) -> list[Path]:
    path = Path(named)
    if path.is_dir():
        files = (p for p in path.rglob("*") if p.suffix.lower() in VIDEO_SUFFIXES and not _hidden(p, path))
        clips = [file for file in files if file.is_file()]
        if not clips:
            wanted = " ".join(sorted(VIDEO_SUFFIXES))
            raise InputError(f"{named}: expected clips in this folder; found none (looked for {wanted})")
        return sorted(clips, key=lambda p: natural_key(p.as_posix()))
    if path.exists() or path.is_symlink():
        return [path]
    if glob.has_magic(named):
        matches = sorted(glob.glob(named, recursive=True), key=natural_key)
        if not matches:
            raise InputError(f"{named}: the pattern matches no file")
        return [Path(match) for match in matches if not Path(match).is_dir()]
    raise InputError(f"{named}: no such file or folder")


def _remote_clips_of(url: str) -> list[RemoteFile]:
    listing = list_objects(url)
    if listing.kind == "object":
        return list(listing.files)
    clips = [f for f in listing.files if listing.kind == "pattern" or f.suffix.lower() in VIDEO_SUFFIXES]
    if not clips and listing.kind == "pattern":
        raise InputError(f"{url}: the pattern matches no object")
    if not clips:
        raise InputError(f"{url}: expected clips below this address; found none among {len(listing.files)} objects")
    return sorted(clips, key=lambda file: natural_key(file.url))


def _hidden(path: Path, below: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(below).parts)


def match_audio(clips: Sequence[Place], audio: Path | str | None) -> list[Sound]:
    """The sound of each clip: its own track, one file for all, or the file of its stem in a folder.

    A clip without a file in the folder is not given its own track in silence: its sound is missing, and says so.
    """
    if audio is None:
        return [Sound()] * len(clips)
    files: list[Place]
    if is_remote(audio):
        listing = list_objects(str(audio))
        if listing.kind == "object":
            return [_sound(listing.files[0])] * len(clips)
        source, files = str(audio), list(listing.files)
    else:
        folder = Path(audio)
        if folder.is_file():
            return [Sound(str(folder))] * len(clips)
        if not folder.is_dir():
            raise InputError(f"{audio}: expected a sound file or a folder of them; there is no such thing")
        source, files = str(folder), [*sorted(folder.iterdir())]
    by_stem: dict[str, Place] = {}
    for file in files:
        if file.suffix.lower() in AUDIO_SUFFIXES | VIDEO_SUFFIXES:
            if file.stem in by_stem:
                both = f"{by_stem[file.stem].name} and {file.name}"
                raise InputError(f"{source}: {both} both fit clip {file.stem!r}; keep one")
            by_stem[file.stem] = file
    return [_sound_of(clip, by_stem.get(clip.stem), source) for clip in clips]


def _sound_of(clip: Place, file: Place | None, source: str) -> Sound:
    return Sound(missing=f"no sound for {clip.stem!r} in {source}") if file is None else _sound(file)


def _sound(file: Place) -> Sound:
    return Sound(str(file), remote=file if isinstance(file, RemoteFile) else None)
