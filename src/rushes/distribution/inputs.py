"""Sets of clips: a folder, a glob, a list file, or one clip; videos and frame sequences, mixed as they come.

Clips are in natural order (`take2` before `take10`), except those of a list file, which keep the list's. Saved
statistics (`.npz`) are a set too; `rushes.distribution.stats_file` reads them.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rushes.errors import InputError

VIDEO_SUFFIXES = frozenset(
    ".3g2 .3gp .apng .asf .avi .dv .f4v .flv .gif .h264 .hevc .ivf .m2ts .m2v .m4v .mjpeg .mjpg .mkv .mov .mp4 .mpeg "
    ".mpg .mts .mxf .nut .obu .ogg .ogv .qt .rm .rmvb .ts .vob .webm .webp .wmv .y4m".split()
)
IMAGE_SUFFIXES = frozenset({".jpg", ".jpeg", ".png"})
LIST_SUFFIXES = frozenset({".txt", ".lst", ".list"})
STATS_SUFFIX = ".npz"

_NUMBERED = re.compile(r"(.*?)(\d+)\D*$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Clip:
    """One video: a file, or the pictures of a frame sequence in order."""

    name: str
    """How reports call it: its path below the set's folder."""
    files: tuple[Path, ...]

    @property
    def is_sequence(self) -> bool:
        return self.files[0].suffix.lower() in IMAGE_SUFFIXES


@dataclass(frozen=True, slots=True)
class ClipSet:
    """Clips in order, and what lay among them that is no clip."""

    given: str
    clips: tuple[Clip, ...]
    ignored: tuple[str, ...] = ()


def natural_key(text: str) -> tuple[tuple[int, int, str], ...]:
    """Sort key under which numbers compare as numbers.

    >>> sorted(["take10", "take2", "Take1"], key=natural_key)
    ['Take1', 'take2', 'take10']
    """
    parts = re.split(r"(\d+)", text.casefold())
    return tuple((0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts) + ((2, 0, text),)


def is_statistics(given: str | Path) -> bool:
    """Whether this names saved statistics, or a glob of nothing else."""
    return str(given).lower().endswith(STATS_SUFFIX)


def find_clips(given: str | Path) -> ClipSet:
    """The clips of a folder, glob, list file or single file; `InputError` where there are none.

    Edge cases  a folder below the set's folder that holds numbered pictures is one sequence; pictures lying flat are
                grouped by what stands before their number; a picture without a number is ignored, and named.
    """
    text = str(given)
    path = Path(text)
    if path.is_dir():
        found = _in_folder(path)
    elif path.is_file() and path.suffix.lower() in LIST_SUFFIXES:
        found = _in_list(path)
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
    for folder in sorted([root, *(p for p in root.rglob("*") if p.is_dir())]):
        if any(part.startswith(".") for part in folder.relative_to(root).parts):
            continue
        files = [p for p in folder.iterdir() if p.is_file() and not p.name.startswith(".")]
        clips += [Clip(_below(p, root), (p,)) for p in files if p.suffix.lower() in VIDEO_SUFFIXES]
        sequences, left = _sequences([p for p in files if p.suffix.lower() in IMAGE_SUFFIXES], root)
        clips += sequences
        known = VIDEO_SUFFIXES | IMAGE_SUFFIXES
        ignored += [_below(p, root) for p in left] + [_below(p, root) for p in files if p.suffix.lower() not in known]
    return sorted(clips, key=lambda clip: natural_key(clip.name)), ignored


def _in_glob(pattern: str) -> tuple[list[Clip], list[str]]:
    paths = [Path(p) for p in glob.glob(pattern, recursive=True)]
    clips, ignored = _from_paths(sorted(paths, key=lambda p: natural_key(str(p))))
    return sorted(clips, key=lambda clip: natural_key(clip.name)), ignored


def _in_list(path: Path) -> tuple[list[Clip], list[str]]:
    lines = [line.strip() for line in path.read_text(encoding="utf-8-sig").splitlines()]
    paths = [path.parent / line for line in lines if line and not line.startswith("#")]
    missing = [p for p in paths if not p.exists()]
    if missing:
        raise InputError(f"{path}: lists {missing[0]}, which is not there ({len(missing)} missing in all)")
    clips, ignored = _from_paths(paths)
    twice = _first_repeated(clip.name for clip in clips)
    if twice:
        raise InputError(f"{path}: lists {twice} twice; a clip counts once")
    return clips, ignored


def _from_paths(paths: Sequence[Path]) -> tuple[list[Clip], list[str]]:
    """Clips of explicit paths: a folder is a sequence (or a set), pictures are grouped, anything else is a video."""
    clips: list[Clip] = []
    ignored: list[str] = []
    pictures = [p for p in paths if p.is_file() and p.suffix.lower() in IMAGE_SUFFIXES]
    grouped, left = _sequences(pictures, None)
    ignored += [str(p) for p in left]
    by_first = {clip.files[0]: clip for clip in grouped}
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


def _sequences(pictures: Sequence[Path], root: Path | None) -> tuple[list[Clip], list[Path]]:
    """Pictures grouped by folder, what stands before the number, and suffix; and those without a number."""
    groups: dict[tuple[Path, str, str], list[tuple[int, Path]]] = {}
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
        clips.append(Clip(_below(place, root), files))
    return clips, left


def _below(path: Path, root: Path | None) -> str:
    return path.relative_to(root).as_posix() if root is not None and path != root else str(path)


def _first_repeated(names: Iterable[str]) -> str | None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None
