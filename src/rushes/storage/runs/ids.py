"""Ids of subjects: safe as file names, unique, and the same whatever else is in the run, as far as that goes.

A clip is called by its path below the folder it was asked for in: `p1/out.mp4` of `takes/` is `p1__out`, and a clip of
a flat folder is its stem. So two runs over folders of the same layout pair clip by clip. A clip that a run has already
keeps the id it has there.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from rushes.core.machine.provenance import bytes_digest
from rushes.storage.remote.address import is_remote

_JOINT = "__"
"""Between the folders of a path: what was a slash."""
_LENGTH, _BYTES = 80, 220
"""Of an id at most; file systems allow 255 bytes, ending and temporary name included."""
_DIGITS = 8


def identity(path: str) -> str:
    """What tells whether two paths are one file: where the path leads, seen from here; an address is its own.

    >>> identity("takes/./a.mp4") == identity("takes/a.mp4"), identity("s3://takes/a.mp4")
    (True, 's3://takes/a.mp4')
    """
    try:
        return path if is_remote(path) else os.path.realpath(path)
    except ValueError:  # a name that no file system has, from a file of somebody else's making
        return path


class Identities:
    """`identity` of many paths: each folder is followed once.

    >>> Identities()("takes/a.mp4") == identity("takes/a.mp4"), Identities()("s3://takes/a.mp4")
    (True, 's3://takes/a.mp4')
    """

    def __init__(self) -> None:
        self._folders: dict[str, str] = {}

    def __call__(self, path: str) -> str:
        if is_remote(path):
            return path
        folder, name = os.path.split(path)
        if name in ("", ".", "..") or "\0" in path or os.path.islink(path):
            return identity(path)
        if folder not in self._folders:
            self._folders[folder] = os.path.realpath(folder)
        return os.path.join(self._folders[folder], name)


def subject_ids(stems: Sequence[str]) -> list[str]:
    """Ids for these names in the given order; of equals, the second is `name-2`.

    >>> subject_ids(["take 1", "take 1", "Café", "../x"])
    ['take_1', 'take_1-2', 'Café', 'x']
    """
    used: dict[str, str] = {}
    reached: dict[str, int] = {}
    return [_numbered(_safe([stem]), stem, used, reached) for stem in stems]


def clip_ids(paths: Sequence[str], names: Sequence[str], *, known: Mapping[str, str] | None = None) -> list[str]:
    """An id per clip; `names` are their paths below what was asked for, without ending (`FoundClips.names`).

    `known` are the ids that a run has, with the path of each: a clip among them keeps its id, and no other gets it.
    Clips that would share an id are told apart by their endings where they lie side by side (`c.avi`, `c.mkv`), else by
    the folders further up (`a__x`, `b__x`); at last by a number.

    >>> clip_ids(["A/p1/out.mp4", "A/p2/out.mp4", "A/x.mp4"], ["p1/out", "p2/out", "x"])
    ['p1__out', 'p2__out', 'x']
    >>> clip_ids(["c.avi", "c.mkv"], ["c", "c"]), clip_ids(["a/x.mp4", "b/x.mp4"], ["x", "x"])
    (['c.avi', 'c.mkv'], ['a__x', 'b__x'])
    >>> clip_ids(["b/x.mp4"], ["x"], known={"x": "a/x.mp4"})
    ['b__x']
    """
    identities = Identities()
    has = {identities(path): name for name, path in (known or {}).items()}
    used = {name.casefold(): path for name, path in (known or {}).items()}
    plain = [_safe(PurePosixPath(name).parts) for name in names]
    keys = [name.casefold() for name in plain]
    often = {key for key, count in Counter(keys).items() if count > 1}
    rivals: dict[str, list[_Clip]] = {}
    for key, path, name in zip(keys, paths, names, strict=True):
        if key in often:
            rivals.setdefault(key, []).append(_Clip(path, name))
    apart = {key: _told_apart(group) for key, group in rivals.items()}
    reached: dict[str, int] = {}
    ids = []
    for key, path, name, candidate in zip(keys, paths, names, plain, strict=True):
        if has and (kept := has.get(identities(path))) is not None:
            ids.append(kept)
        elif key not in often and key not in used:  # nearly every clip: nothing to tell it apart from
            used[key] = path
            ids.append(candidate)
        else:
            ids.append(_free(_Clip(path, name), apart.get(key, (0, False)), used, reached))
    return ids


class _Clip:
    """The ids that a clip could have."""

    def __init__(self, path: str, name: str) -> None:
        self.path = path
        self._name = PurePosixPath(name).parts
        whole = PurePosixPath(path.partition("://")[2] if is_remote(path) else PurePosixPath(path).as_posix())
        self.beside = whole.with_suffix("") if whole.name else whole
        self._ending = whole.suffix
        self._above = [part for part in whole.parts[: -len(self._name)] if part.strip("./\\")]
        self.parents = len(self._above)

    def id(self, *, parents: int = 0, ending: bool = False) -> str:
        """With this many folders above its name in front, and its ending."""
        above = self._above[-parents:] if parents else []
        return _safe([*above, *self._name], self._ending if ending else "")


def _told_apart(rivals: Sequence[_Clip]) -> tuple[int, bool] | None:
    """How many folders, and whether the ending, it takes to tell these clips apart; None where nothing does."""
    ending = len({clip.beside for clip in rivals}) < len(rivals)
    deepest = max(clip.parents for clip in rivals)
    for parents in range(deepest + 1):
        if len({clip.id(parents=parents, ending=ending).casefold() for clip in rivals}) == len(rivals):
            return parents, ending
    return None


def _free(clip: _Clip, apart: tuple[int, bool] | None, used: dict[str, str], reached: dict[str, int]) -> str:
    """The first id of this clip that no other has; marked as used."""
    if apart is None:
        return _numbered(clip.id(), clip.path, used, reached)
    parents, ending = apart
    for above in range(parents, max(parents, clip.parents) + 1):
        candidate = clip.id(parents=above, ending=ending)
        holder = used.get(candidate.casefold())
        if holder is not None and not ending and _Clip(holder, "").beside == clip.beside:
            ending = True
            candidate = clip.id(parents=above, ending=True)
        if candidate.casefold() not in used:
            used[candidate.casefold()] = clip.path
            return candidate
    return _numbered(clip.id(parents=parents, ending=ending), clip.path, used, reached)


def _numbered(name: str, path: str, used: dict[str, str], reached: dict[str, int]) -> str:
    """This name, or the first `name-2`, `name-3` … that is free; marked as used."""
    candidate, number = name, reached.get(name.casefold(), 1)  # where it stopped: thousands may share one name
    while candidate.casefold() in used:
        number += 1
        candidate = f"{name}-{number}"
    reached[name.casefold()] = number
    used[candidate.casefold()] = path
    return candidate


def _safe(parts: Sequence[str], ending: str = "") -> str:
    """Parts of a path as one file name; what would be too long ends in a digest of the whole."""
    clean = (re.sub(r"[^\w.-]+", "_", part).strip("._-") for part in parts)
    name = (_JOINT.join(part for part in clean if part) or "clip") + re.sub(r"[^\w.-]+", "_", ending).rstrip("._-")
    if len(name) <= _LENGTH and len(name.encode()) <= _BYTES:
        return name
    room = name.encode()[: _BYTES - _DIGITS - 1].decode(errors="ignore")[: _LENGTH - _DIGITS - 1]
    return f"{room}-{bytes_digest(name.encode())[:_DIGITS]}"
