"""A folder searched through: every file below it, linked folders too, and a count of what was passed over."""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

_ENDINGS_SHOWN = 4
_KINDS = {
    "hidden": "{} hidden",  # files and folders whose names begin with a dot
    "broken_links": "{} broken link{s}",
    "loops": "{} link{s} to a folder that was searched anyway",  # those that lead back up, or to one searched before
    "doubles": "{} clip{s} named twice",  # named, or found, a second time
    "folders": "{} folder{s} that a pattern matched",  # only a folder given by itself is searched
    "unreadable": "{} folder{s} that cannot be read",
    "misnamed": "{} whose name{s} {are} not UTF-8",
    "odd": "{} that {are} not a regular file",  # pipes, sockets and devices
}
_SEARCHED = "a link to a folder that is read anyway"


@dataclass(slots=True)
class PassedOver:
    """What a search came by and did not take; `str` says it in one line, "" where there was nothing."""

    others: Counter[str] = field(default_factory=Counter)
    """Files that are no clips, by ending."""
    counts: Counter[str] = field(default_factory=Counter)
    """Everything else, by its kind in `_KINDS`."""
    named: list[tuple[Path, str]] = field(default_factory=list)
    """Each of these that is no file with a wrong ending, and why it was passed over."""

    def __str__(self) -> str:
        return ", ".join(self._parts())

    def _parts(self) -> Iterable[str]:
        if self.others:
            names = sorted(self.others, key=lambda ending: (-self.others[ending], ending))
            shown = ", ".join(name or "no ending" for name in names[:_ENDINGS_SHOWN])
            more = ", …" if len(names) > _ENDINGS_SHOWN else ""
            files = sum(self.others.values())
            told = f"{files} non-video files" if files > 1 else "1 non-video file"
            yield f"{told} ({shown}{more})"
        for kind, words in _KINDS.items():
            if number := self.counts[kind]:
                yield words.format(number, s="s" * (number > 1), are="are" if number > 1 else "is")

    def add(self, kind: str, path: Path, why: str) -> None:
        """One more of a kind, and why it was passed over."""
        self.counts[kind] += 1
        self.named.append((path, why))


def files_below(root: Path, passed_over: PassedOver) -> list[Path]:
    """Every file below a folder, in no order; what is passed over is added to the count.

    Hidden names are passed over. The folder's own tree comes first and the folders that links in it lead to after it,
    so that a file is called by where it lies and not by a link to it. A link to a folder that contains it, or that was
    searched already, is not followed: no loop, and no folder twice.
    """
    files: list[Path] = []
    searched: set[tuple[int, int]] = set()
    waiting, linked = deque([root]), deque[Path]()
    while waiting or linked:
        folder = waiting.popleft() if waiting else linked.popleft()
        try:
            key = identity(folder)
            with os.scandir(folder) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            passed_over.add("unreadable", folder, f"a folder that cannot be listed ({error.strerror or error})")
            continue
        if key in searched:
            passed_over.add("loops", folder, _SEARCHED)
            continue
        searched.add(key)
        for entry in entries:
            path = folder / entry.name
            if entry.name.startswith("."):
                passed_over.add("hidden", path, "hidden: its name begins with a dot")
            elif not _is_text(entry.name):
                readable = os.fsencode(entry.name).decode(errors="replace")
                passed_over.add("misnamed", folder / readable, "a name that is not UTF-8; rename it")
            elif _leads_nowhere(entry):
                passed_over.add("broken_links", path, f"a link to {_target(path)}, which is broken")
            elif entry.is_dir(follow_symlinks=False):
                waiting.append(path)
            elif entry.is_dir():
                if _leads_up(path):
                    passed_over.add("loops", path, _SEARCHED)
                else:
                    linked.append(path)
            elif entry.is_file():
                files.append(path)
            elif entry.is_symlink() and not path.exists():
                passed_over.add("broken_links", path, f"a link to {_target(path)}, which does not exist")
            else:
                passed_over.add("odd", path, "no regular file")
    return files


def identity(folder: Path) -> tuple[int, int]:
    """What a file or folder is, whatever the path that leads to it."""
    found = folder.stat()
    return found.st_dev, found.st_ino


def _is_text(name: str) -> bool:
    """Whether a name can be stored; bytes that are no UTF-8 are read as halves of surrogates."""
    return not any("\ud800" <= character <= "\udfff" for character in name)


def _leads_nowhere(entry: os.DirEntry[str]) -> bool:
    """Whether it is a link to itself, by way of others or at once."""
    try:
        entry.is_dir()
    except OSError:
        return entry.is_symlink()
    return False


def _target(link: Path) -> str:
    try:
        return os.readlink(link)
    except OSError:
        return "a file that cannot be read"


def _leads_up(link: Path) -> bool:
    """Whether a link leads to a folder that it lies in: following it would search everything beside that folder."""
    target = os.path.realpath(link)
    return Path(os.path.realpath(link.parent)).is_relative_to(target)
