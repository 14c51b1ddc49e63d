"""What the user named, as a list of clips: files, folders and globs, and the sound that goes with each."""

from __future__ import annotations

import glob
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rushes.errors import InputError

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


def natural_key(text: str) -> list[tuple[int, int, str]]:
    """Sort key under which take2 comes before take10.

    >>> sorted(["take10.mp4", "Take2.mp4", "take1.mp4"], key=natural_key)
    ['take1.mp4', 'Take2.mp4', 'take10.mp4']
    """
    pieces = re.split(r"(\d+)", text)
    return [(0, int(p), p) if p.isdecimal() else (1, 0, p.casefold()) for p in pieces if p] + [(2, 0, text)]


def find_clips(paths: Iterable[Path | str]) -> list[Path]:
    """Every clip the arguments name, in their order; folders are searched through and sorted; a file counts once.

    Raises `InputError` for a path that does not exist, a glob that matches nothing, and a folder without a clip.
    """
    found: dict[Path, Path] = {}
    for named in paths:
        for clip in _clips_of(str(named)):
            found.setdefault(clip.resolve(), clip)
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


def _hidden(path: Path, below: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(below).parts)


def match_audio(clips: Sequence[Path], audio: Path | str | None) -> list[Sound]:
    """The sound of each clip: its own track, one file for all, or the file of its stem in a folder.

    A clip without a file in the folder is not given its own track in silence: its sound is missing, and says so.
    """
    if audio is None:
        return [Sound()] * len(clips)
    source = Path(audio)
    if source.is_file():
        return [Sound(str(source))] * len(clips)
    if not source.is_dir():
        raise InputError(f"{audio}: expected a sound file or a folder of them; there is no such thing")
    by_stem: dict[str, Path] = {}
    for file in sorted(source.iterdir()):
        if file.suffix.lower() in AUDIO_SUFFIXES | VIDEO_SUFFIXES:
            if file.stem in by_stem:
                both = f"{by_stem[file.stem].name} and {file.name}"
                raise InputError(f"{source}: {both} both fit clip {file.stem!r}; keep one")
            by_stem[file.stem] = file
    return [_sound_of(clip, by_stem.get(clip.stem), source) for clip in clips]


def _sound_of(clip: Path, file: Path | None, source: Path) -> Sound:
    return Sound(missing=f"no sound for {clip.stem!r} in {source}") if file is None else Sound(str(file))
