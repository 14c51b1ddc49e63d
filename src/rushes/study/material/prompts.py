"""A prompt manifest: a CSV with a row per prompt, and which row a clip belongs to."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from rushes.study.errors import StudyError

MANIFEST = ("prompt_id", "prompt_text")
"""Columns that a manifest must have; `task_id` is its task family, where there are any."""


@dataclass(frozen=True, slots=True)
class PromptRow:
    """One prompt."""

    family: str
    prompt: str
    text: str


@dataclass(frozen=True, slots=True)
class PromptBook:
    """The prompts of a manifest, found by task and id, by id alone, or by a clip's name that ends in both."""

    source: str = ""
    """The file, for messages."""
    _exact: dict[tuple[str, str], PromptRow] = field(default_factory=dict)
    _ids: dict[str, list[PromptRow]] = field(default_factory=lambda: defaultdict(list))

    def __bool__(self) -> bool:
        return bool(self._exact)

    @property
    def first(self) -> str:
        """The first prompt, as a clip would be named by it: "T2_p09"."""
        row = next(iter(self._exact.values()), PromptRow("T2", "p09", ""))
        return "_".join(filter(None, (row.family, row.prompt)))

    @classmethod
    def of(cls, rows: Iterable[PromptRow], source: str = "") -> PromptBook:
        """`StudyError` for a prompt that has two rows."""
        book = cls(source)
        for row in rows:
            if book._exact.setdefault((row.family, _bare(row.prompt)), row) is not row:
                raise StudyError(f"{source}: prompt {row.prompt} {f'of {row.family} ' * bool(row.family)}has two rows")
            book._ids[_bare(row.prompt)].append(row)
        return book

    def find(self, name: str, *, family: str = "", prompt: str = "") -> PromptRow | None:
        """The prompt of a clip called `name` whose source may say more; None where the manifest has none for it.

        By task and id first; then by the id alone, where one task has it; then by a name that ends in `TASK_ID`.

        >>> book = PromptBook.of([PromptRow("kinetic_motions", "p001", "a horse race"), PromptRow("T10", "p1", "rain")])
        >>> [getattr(book.find(name), "text", None) for name in ("amber_kinetic_motions_p001", "T10_p01", "p002")]
        ['a horse race', 'rain', None]
        """
        if (family or prompt) and (row := self._exact.get((family, _bare(prompt)))):
            return row
        alone = self._ids.get(_bare(prompt or name), []) if not family else []
        return alone[0] if len(alone) == 1 else self.at_end(name)

    def at_end(self, name: str) -> PromptRow | None:
        """The prompt whose task and id end the name; of several, the one with the longest task."""
        head, _, last = name.rpartition("_")
        whole = [row for row in self._exact.values() if f"_{name}".endswith(f"_{row.family}_{row.prompt}")]
        loose = [row for row in self._ids.get(_bare(last), []) if f"_{head}".endswith(f"_{row.family}")]
        return max((row for row in (*whole, *loose) if row.family), key=lambda row: len(row.family), default=None)


def read_manifest(path: Path | None) -> PromptBook:
    """The prompts of a CSV file, none without one; `StudyError` for columns that are missing."""
    if path is None:
        return PromptBook()
    rows, header = read_table(path)
    if not all(column in header for column in MANIFEST):
        raise StudyError(
            f"{path}: expected the columns {','.join(MANIFEST)} and, for task families, task_id; "
            f"got {','.join(header) or 'none'}"
        )
    return PromptBook.of(
        (PromptRow(row.get("task_id", ""), row["prompt_id"], row["prompt_text"]) for row in rows), str(path)
    )


def read_table(path: Path) -> tuple[list[dict[str, str]], list[str]]:
    """Rows and header of a CSV file; `StudyError` for one that cannot be read."""
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            reader.fieldnames = [name.strip() for name in reader.fieldnames or ()]
            rows = [{str(k): (v or "").strip() for k, v in row.items() if isinstance(v, str | None)} for row in reader]
            return rows, list(reader.fieldnames)
    except FileNotFoundError:
        raise StudyError(f"{path}: expected a CSV file; it does not exist") from None
    except (OSError, ValueError, csv.Error) as error:
        raise StudyError(f"{path}: cannot be read as CSV in UTF-8 ({error})") from None


def _bare(prompt: str) -> str:
    """ "p09", "09" and "9" are one prompt."""
    digits = prompt.removeprefix("p").removeprefix("P")
    return digits.lstrip("0") or "0" if digits.isdecimal() else prompt
