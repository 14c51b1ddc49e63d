"""What the user named, as a list of clips: files, folders and globs, here or in a store, and the sound of each."""

from __future__ import annotations

import glob
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TypeAlias

from rushes.errors import InputError
from rushes.remote.address import Place, RemoteFile, is_remote
from rushes.remote.store import list_objects

VIDEO_SUFFIXES = frozenset(
    ".3g2 .3gp .apng .asf .avi .dv .f4v .flv .gif .h264 .hevc .ivf .m2ts .m2v .m4v .mjpeg .mjpg .mkv .mov .mp4 .mpeg "
    ".mpg .mts .mxf .nut .obu .ogg .ogv .qt .rm .rmvb .ts .vob .webm .webp .wmv .y4m".split()
)
"""What a folder is searched for; a file named by itself is always taken."""
AUDIO_SUFFIXES = frozenset(".aac .ac3 .aiff .flac .m4a .mka .mp2 .mp3 .oga .ogg .opus .wav .wma".split())

Paths: TypeAlias = "str | Path | Iterable[str | Path]"
"""One path, or several."""


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


def is_clip(path: PurePath | RemoteFile | str) -> bool:
    """Whether a file is called as a video is.

    >>> is_clip("takes/A.MP4"), is_clip("notes.txt")
    (True, False)
    """
    return (PurePath(path) if isinstance(path, str) else path).suffix.lower() in VIDEO_SUFFIXES


def one_or_several(paths: Paths) -> list[str | Path]:
    """The paths as a list; one path alone is one path, never its letters.

    >>> one_or_several("takes"), one_or_several(["a.mp4", "b.mp4"])
    (['takes'], ['a.mp4', 'b.mp4'])
    """
    return [paths] if isinstance(paths, str | Path) else list(paths)


def find_clips(paths: Paths) -> list[Place]:
    """Every clip the arguments name, in their order; folders are searched through and sorted; a file counts once.

    Raises `InputError` for a path that does not exist, a glob that matches nothing, and a folder without a clip.
    """
    found: dict[Place, Place] = {}
    for named in one_or_several(paths):
        for clip in _remote_clips_of(str(named)) if is_remote(named) else _clips_of(str(named)):
            found.setdefault(clip.resolve() if isinstance(clip, Path) else clip, clip)
    if not found:
        raise InputError("expected at least one clip, folder or glob; got none")
    return list(found.values())


def candidates(path: str | Path, *, beside: Path) -> tuple[Path, ...]:
    """Where a clip of a run may lie now, the likeliest place first; `beside` is the run directory.

    Relative paths were relative to where the run was made. A run that moved together with its clips, or is looked at
    from another folder, is found as well: its own folder and those above it are tried, nearest first.
    """
    folders = (Path(), beside, beside.parent, *beside.resolve().parents)
    return tuple(dict.fromkeys(folder / path for folder in folders))


def relocate(path: str | Path, *, beside: Path) -> Path | None:
    """The first of `candidates` that is a file; None when the clip is gone."""
    for place in candidates(path, beside=beside):
        try:
            if place.is_file():
                return place
        except (OSError, ValueError):
            continue  # a name this system cannot have
    return None


def _clips_of(named: str) -> list[Path]:
    path = Path(named)
    if path.is_dir():
        files = (p for p in path.rglob("*") if is_clip(p) and not is_hidden(p, path))
        clips = [file for file in files if file.is_file() and not _is_sound(file)]
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
    clips = [f for f in listing.files if listing.kind == "pattern" or (is_clip(f) and f.suffix.lower() != ".ogg")]
    if not clips and listing.kind == "pattern":
        raise InputError(f"{url}: the pattern matches no object")
    if not clips:
        raise InputError(f"{url}: expected clips below this address; found none among {len(listing.files)} objects")
    return sorted(clips, key=lambda file: natural_key(file.url))


def is_hidden(path: Path, below: Path) -> bool:
    """Whether the file, or a folder on the way to it, begins with a dot."""
    return any(part.startswith(".") for part in path.relative_to(below).parts)


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
