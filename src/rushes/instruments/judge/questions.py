"""Graded questions: a text and five anchors in words. The default set, or the user's own in TOML or CSV.

    [[question]]
    id = "hands"
    text = "Are hands and fingers drawn as a person's are?"
    prompt = false                     # true: the judge is also shown the prompt
    anchors = ["always wrong", "mostly wrong", "half and half", "mostly right", "always right, or no hands"]

A CSV file has the columns id, text, prompt and anchor_1 to anchor_5.
"""

from __future__ import annotations

import csv
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rushes.core.canonical import canonical_json
from rushes.core.errors import InputError
from rushes.core.machine.provenance import bytes_digest

GRADES = 5
_ID = re.compile(r"[a-z][a-z0-9_]*")
_KEYS = ("id", "text", "prompt", "anchors")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked about a clip, or about two."""

    id: str
    text: str
    about_prompt: bool
    """Whether the judge is shown the prompt with it."""
    anchors: tuple[str, ...] = ()
    """What 1, 2, 3, 4 and 5 mean; none for a question about two clips."""


def questions_digest(questions: Sequence[Question]) -> str:
    """Of everything that the judge reads of these questions: another set is another number."""
    rows = [[one.id, one.text, one.about_prompt, list(one.anchors)] for one in questions]
    return bytes_digest(canonical_json(rows).encode())[:12]


DEFAULT = (
    Question(
        id="follows_prompt",
        text="How well does the clip show what the prompt asks for?",
        about_prompt=True,
        anchors=(
            "shows something else",
            "shows little of it: the main subject or action is missing",
            "shows the main subject, but an action, place or attribute that was asked for is wrong or missing",
            "shows all of it but for a detail",
            "shows everything that was asked for",
        ),
    ),
    Question(
        id="temporal_quality",
        text="How well do things keep their shape and look from frame to frame, and how natural is their motion?",
        about_prompt=False,
        anchors=(
            "falls apart: things appear, vanish or change shape all the time",
            "often broken: jumps, flicker or impossible motion in most frames",
            "partly broken: jumps, flicker or impossible motion in some frames",
            "steady but for a small fault",
            "steady throughout, and moves as it would in reality",
        ),
    ),
    Question(
        id="visual_quality",
        text="How good is the picture: sharpness, noise, artefacts, anatomy?",
        about_prompt=False,
        anchors=(
            "cannot be made out",
            "poor: strong blur, noise or deformed things",
            "fair: visible blur, noise or deformations",
            "good: a small fault",
            "excellent: as a professional recording",
        ),
    ),
)
"""Used where no questions are given."""

PAIR = Question(
    id="preference",
    text="Which clip shows better what the prompt asks for, with the better picture and motion?",
    about_prompt=True,
)
PAIR_WITHOUT_PROMPT = Question(
    id="preference", text="Which clip has the better picture and motion?", about_prompt=False
)


def read_questions(path: Path | str, *, pairs: bool = False) -> tuple[Question, ...]:
    """The user's questions from TOML or CSV; for `pairs` anchors are left out. `InputError` says which one is wrong."""
    file = Path(path)
    rows = _toml(file) if file.suffix.lower() == ".toml" else _csv(file)
    found = tuple(_question(f"{file}, question {number}", row, pairs) for number, row in enumerate(rows, 1))
    if not found:
        raise InputError(f"{file}: expected questions; there are none")
    names = [one.id for one in found]
    if twice := [name for name in names if names.count(name) > 1]:
        raise InputError(f"{file}: the question {twice[0]} appears twice; give each its own id")
    return found


def _toml(file: Path) -> list[Any]:
    try:
        data = tomllib.loads(file.read_text("utf-8"))
    except OSError as error:
        raise InputError(f"{file}: cannot be read as questions ({error.strerror or error})") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(f"{file}: expected TOML; {error}") from None
    rows = data.get("question")
    if not isinstance(rows, list) or set(data) != {"question"}:
        raise InputError(f"{file}: expected tables [[question]] and nothing else")
    return rows


def _csv(file: Path) -> list[dict[str, Any]]:
    rows = read_rows(file, "questions")
    return [
        {
            "id": row.get("id", ""),
            "text": row.get("text", ""),
            "prompt": row.get("prompt", "").casefold() in ("true", "yes", "1"),
            "anchors": [row[key] for n in range(1, GRADES + 1) if row.get(key := f"anchor_{n}")],
        }
        for row in rows
    ]


def read_rows(file: Path, what: str) -> list[dict[str, str]]:
    """The rows of a CSV file, cells without spaces around them."""
    try:
        with file.open(encoding="utf-8-sig", newline="") as stream:
            rows = list(csv.DictReader(stream, strict=True))
    except OSError as error:
        raise InputError(f"{file}: cannot be read as {what} ({error.strerror or error})") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{file}: cannot be read as a CSV file of {what} ({error})") from None
    return [{str(key).strip(): (value or "").strip() for key, value in row.items() if key} for row in rows]


def _question(where: str, row: Any, pairs: bool) -> Question:
    if not isinstance(row, Mapping):
        raise InputError(f"{where}: expected a table with {', '.join(_KEYS)}; got {row!r}")
    if strange := sorted(set(row) - set(_KEYS)):
        raise InputError(f"{where}: expected the keys {', '.join(_KEYS)}; got {', '.join(strange)}")
    name, text, about = row.get("id", ""), row.get("text", ""), row.get("prompt", False)
    anchors = row.get("anchors", [])
    if not isinstance(name, str) or not _ID.fullmatch(name):
        raise InputError(f"{where}: id is lower-case letters, digits and _; got {name!r}")
    if not isinstance(text, str) or not text.strip() or not isinstance(about, bool):
        raise InputError(f"{where}: expected a text, and prompt = true or false")
    if not pairs and (not _is_texts(anchors) or len(anchors) != GRADES):
        raise InputError(f"{where}: expected {GRADES} anchors, texts that say what 1 to {GRADES} mean; got {anchors!r}")
    return Question(id=name, text=text.strip(), about_prompt=about, anchors=() if pairs else tuple(anchors))


def _is_texts(found: object) -> bool:
    return isinstance(found, Sequence) and not isinstance(found, str) and all(isinstance(one, str) for one in found)
