"""Prompts: a CSV file with a row per prompt."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rushes.core.errors import InputError

ID = "prompt_id"
_TEXTS = ("prompt_text", "prompt", "text")
_GROUPS = ("task_id", "group", "category")
_SCRIPTS = ("script", "transcript")


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What every system was asked for: one row of the matrix."""

    id: str
    text: str = ""
    group: str = ""
    """The task or category it belongs to; "" where there is none."""
    script: str = ""
    """The words that are to be spoken; "" where there are none."""


def read_prompts(path: Path | str) -> tuple[Prompt, ...]:
    """Prompts in the file's order.

    Inputs      a CSV file with the column prompt_id and, where there are any, prompt_text (or prompt, text), task_id
                (or group, category) and script (or transcript), the words that are to be spoken. A clip belongs to the
                prompt whose id is its path below its system's folder, without the ending. Other columns are left alone.
    Errors      `InputError` for a file that cannot be read, a missing column, an empty id, an id that comes twice
    """
    file = Path(path)
    try:
        with file.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.DictReader(stream, strict=True)
            names = [name.strip() for name in reader.fieldnames or ()]
            rows = [(reader.line_num, dict(zip(names, row.values(), strict=False))) for row in reader]
    except OSError as error:
        raise InputError(f"{file}: cannot be read as prompts ({error.strerror or error})") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{file}: cannot be read as a CSV file of prompts ({error})") from None
    if ID not in names:
        raise InputError(f"{file}: expected a column {ID}; got {', '.join(names) or 'no header'}")
    return _checked(file, rows)


def _checked(file: Path, rows: list[tuple[int, dict[str, str | None]]]) -> tuple[Prompt, ...]:
    found: dict[str, Prompt] = {}
    for line, row in rows:
        name = (row.get(ID) or "").strip()
        if not name:
            raise InputError(f"{file}, line {line}: expected a {ID}; it is empty")
        if name in found:
            raise InputError(f"{file}, line {line}: the prompt {name} appears twice; give each prompt one row")
        text, group, script = (_first(row, columns) for columns in (_TEXTS, _GROUPS, _SCRIPTS))
        found[name] = Prompt(id=name, text=text, group=group, script=script)
    if not found:
        raise InputError(f"{file}: expected a row per prompt; there is none below the header")
    return tuple(found.values())


def _first(row: Mapping[str, str | None], columns: tuple[str, ...]) -> str:
    return next((text for name in columns if (text := (row.get(name) or "").strip())), "")
