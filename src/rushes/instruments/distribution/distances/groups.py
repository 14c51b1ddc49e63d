"""Which class each clip of a set belongs to: from a CSV file, or from the first folder below the set."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from rushes.core.errors import InputError
from rushes.core.words.options import option
from rushes.instruments.distribution.features.rows import FeatureSet
from rushes.instruments.distribution.protocols import Side

FOLDERS = "folders"
_NAMES, _SETS = ("name", "clip"), {"gen": "gen", "generated": "gen", "gt": "gt", "ground_truth": "gt", "": ""}
_WORDS: dict[Side, str] = {"gen": "generated", "gt": "ground-truth"}


@dataclass(frozen=True, kw_only=True)
class Groups:
    """Clips to classes."""

    source: str
    """The CSV file, or "folders"."""
    classes: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """Class by (side, name); the side is "" where the file does not name one."""

    def class_of(self, name: str, side: Side) -> str | None:
        """A clip's class; None where it has none.

        >>> Groups(source="folders").class_of("cats/a.mp4", "gen"), Groups(source="folders").class_of("a.mp4", "gen")
        ('cats', None)
        """
        path = PurePosixPath(name)
        if self.source == FOLDERS:
            return path.parts[0] if len(path.parts) > 1 else None
        for key in (name, str(path.with_suffix("")), path.name, path.stem):
            for whose in (side, ""):
                if (whose, key) in self.classes:
                    return self.classes[whose, key]
        return None

    def split(self, feature_set: FeatureSet, side: Side) -> dict[str, set[str]]:
        """The names of each class's clips."""
        found: dict[str, set[str]] = {}
        for name in feature_set.videos:
            if (chosen := self.class_of(name, side)) is not None:
                found.setdefault(chosen, set()).add(name)
        return found

    def lacking(self, names: Iterable[str], side: Side) -> str:
        """How many clips of a side have no class, in words; "" where all have one."""
        without = [name for name in names if self.class_of(name, side) is None]
        if not without:
            return ""
        where = "lie in no folder of the set" if self.source == FOLDERS else f"have no class in {self.source}"
        return f"{len(without)} clips of the {_WORDS[side]} set {where}, {without[0]} among them"

    def require_some(self, names: Iterable[str], side: Side) -> None:
        """`InputError` where not one clip of a side has a class: the names cannot be meant."""
        given = list(names)
        if given and all(self.class_of(name, side) is None for name in given):
            how = "lies in a folder below the set" if self.source == FOLDERS else f"is named in {self.source}"
            raise InputError(
                f"{option('--groups')}: no clip of the {_WORDS[side]} set {how}; its clips are such as {given[0]!r}"
            )


def read_groups(given: str | Path) -> Groups:
    """Classes from a CSV file with the columns `name` (or `clip`) and `class`, or "folders".

    A name is a clip's path below its set's folder, with or without its ending; its file name alone will do. A column
    `set` (gen or gt) tells two clips of one name apart.

    Edge cases  no such column, an empty class, a name with two classes: `InputError` with the line.
    """
    if str(given) == FOLDERS:
        return Groups(source=FOLDERS)
    path = Path(given)
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{path}: cannot be read as classes ({why}); expected a CSV file or 'folders'") from None
    heads = set(rows[0]) if rows else set()
    column = next((name for name in _NAMES if name in heads), None)
    if column is None or "class" not in heads:
        shown = ", ".join(sorted(str(head) for head in heads)) or "no rows"
        raise InputError(f"{path}: expected the columns name (or clip) and class; got {shown}")
    classes: dict[tuple[str, str], str] = {}
    for line, row in enumerate(rows, 2):
        name, chosen, whose = ((row.get(key) or "").strip() for key in (column, "class", "set"))
        if not name or not chosen or whose not in _SETS:
            raise InputError(f"{path}: line {line}: expected a name, a class and, optionally, a set (gen or gt)")
        if classes.setdefault((_SETS[whose], name), chosen) != chosen:
            raise InputError(f"{path}: line {line}: {name} has two classes, {classes[_SETS[whose], name]} and {chosen}")
    return Groups(source=str(given), classes=classes)
