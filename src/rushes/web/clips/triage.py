"""Stars, tags and comments on clips: a reviewer's own marks, in `triage.json` beside the run's files.

The file belongs to the people who look, not to the run: no number, digest or byte of the run depends on it, and a
reader or writer of runs leaves it alone. It is canonical (sorted, one mark a line) and written by replacing.

Two tabs, or two people, do not lose each other's marks: a change names one clip and one thing. Stars and tags are set
or taken away on what the file says at that moment; a comment is written only over the comment its writer saw.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from rushes.core.canonical import canonical_json
from rushes.core.errors import InputError, RunError
from rushes.core.machine.files import exclusive_lock, replacing
from rushes.storage.remote.address import is_remote

FILE = "triage.json"
LONGEST_TAG = 40
MOST_TAGS = 20
LONGEST_COMMENT = 2000
_FORMAT = 1
_writing = threading.Lock()


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """What a reviewer noted on one clip."""

    star: bool = False
    tags: tuple[str, ...] = ()
    """Sorted, each once."""
    comment: str = ""

    def fits(self, starred: bool, tags: Sequence[str]) -> bool:
        """Whether it has the star, where that is asked for, and all of these tags."""
        return (self.star or not starred) and set(tags) <= set(self.tags)

    def as_dict(self) -> dict[str, object]:
        return {"star": self.star, "tags": list(self.tags), "comment": self.comment}


NOTHING = Mark()


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """Every mark of a run, by the clip's id; `problem` says why the file cannot be used."""

    marks: Mapping[str, Mark] = field(default_factory=dict)
    problem: str = ""

    @property
    def tags(self) -> dict[str, int]:
        """Every tag in use with its count, in order."""
        return dict(sorted(Counter(tag for mark in self.marks.values() for tag in mark.tags).items()))

    @property
    def starred(self) -> int:
        return sum(mark.star for mark in self.marks.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change to one clip's mark; None leaves a thing as it is."""

    star: bool | None = None
    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    comment: str | None = None
    seen: str = ""
    """The comment that was there when the new one was written."""


class CommentChanged(RunError):
    """Someone else changed this clip's comment meanwhile; `mark` is what the file has now."""

    def __init__(self, mark: Mark) -> None:
        super().__init__("Another tab or person changed this comment meanwhile; both texts are kept for you to join.")
        self.mark = mark


def read_marks(folder: Path) -> Marks:
    """The marks beside a run; none where there is no file. A damaged file is said, and never written over."""
    target = folder / FILE
    try:
        data = json.loads(target.read_bytes())
        return Marks(marks={str(name): _mark(facts) for name, facts in data["marks"].items()})
    except FileNotFoundError:
        return Marks()
    except OSError as error:
        return Marks(problem=f"{target}: cannot be read ({error.strerror or error})")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return Marks(problem=f"{target}: expected the stars and tags of this run; got something else; fix or remove it")


def _mark(facts: Mapping[str, object]) -> Mark:
    star, tags, comment = facts.get("star", False), facts.get("tags", []), facts.get("comment", "")
    if not isinstance(star, bool) or not isinstance(tags, list) or not isinstance(comment, str):
        raise TypeError("not a mark")
    return Mark(star=star, tags=tuple(sorted({str(tag) for tag in tags})), comment=comment)


def change_mark(folder: Path, clip: str, change: Change) -> Mark:
    """Apply a change to what the file says now, and write it; the mark as it is then.

    Raises `CommentChanged` where the comment is not the one that was seen, `InputError` for a tag or comment that is
    too long, `RunError` where the folder cannot be written or its file is damaged.
    """
    if is_remote(str(folder)):
        raise RunError(f"{folder}: marks are kept in a run's folder on this machine; copy the run here to mark clips")
    _check(clip, change)
    with _alone(folder):
        known = read_marks(folder)
        if known.problem:
            raise RunError(known.problem)
        before = known.marks.get(clip, NOTHING)
        if change.comment is not None and before.comment not in (change.seen, change.comment):
            raise CommentChanged(before)
        after = _changed(before, change)
        if after != before:
            _write(folder, {**known.marks, clip: after})
        return after


def _check(clip: str, change: Change) -> None:
    for text in (clip, *change.add, change.comment or ""):
        try:
            text.encode()
        except UnicodeEncodeError:
            raise InputError(f"marks: expected text that a file can hold (UTF-8); got {ascii(text)[:60]}") from None
    for tag in change.add:
        if not 0 < len(tag) <= LONGEST_TAG or tag != " ".join(tag.split()) or "," in tag:
            raise InputError(f"tag: expected 1 to {LONGEST_TAG} characters without a comma; got {tag[:60]!r}")
    if change.comment is not None and len(change.comment) > LONGEST_COMMENT:
        raise InputError(f"comment: expected at most {LONGEST_COMMENT} characters; got {len(change.comment)}")


def _changed(before: Mark, change: Change) -> Mark:
    tags = tuple(sorted((set(before.tags) - set(change.remove)) | set(change.add)))
    if len(tags) > MOST_TAGS:
        raise InputError(f"tags: expected at most {MOST_TAGS} on a clip; got {len(tags)}")
    star = before.star if change.star is None else change.star
    comment = before.comment if change.comment is None else change.comment.strip()
    return replace(before, star=star, tags=tags, comment=comment)


def _write(folder: Path, marks: Mapping[str, Mark]) -> None:
    """One clip a line, in order of its id; a clip without a mark has no line."""
    lines = [
        f"{canonical_json(name)}: {canonical_json(mark.as_dict())}"
        for name, mark in sorted(marks.items())
        if mark != NOTHING
    ]
    with replacing(folder / FILE) as out:
        out.write(f'{{"format": {_FORMAT}, "marks": {{\n' + ",\n".join(lines) + "\n}}\n")


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Nobody else changes marks of this run meanwhile, in this process or another; a writer of the run may go on."""
    try:
        with _writing, exclusive_lock(folder / ".triage.lock"):
            yield
    except OSError as error:
        raise RunError(
            f"{folder / FILE}: the mark cannot be saved ({error.strerror or error}); "
            "make the folder writable, or copy the run"
        ) from None
