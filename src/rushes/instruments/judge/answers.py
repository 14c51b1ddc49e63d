"""What a judge's text means. An answer that is none is no number: it is a refusal, or it cannot be read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from rushes.instruments.judge.asking.requests import Reply
from rushes.instruments.judge.prompt_questions import MOST
from rushes.instruments.judge.questions import GRADES
from rushes.vision.judges.chat import without_fence

Problem: TypeAlias = Literal["", "refused", "unparsable", "failed", "unreadable"]
PROBLEMS: tuple[Problem, ...] = ("refused", "unparsable", "failed")
"""What may be wrong with a judge's answer; "unreadable" is about the clip."""
_REASON = 600
"""Letters of a reason that a run keeps."""
_REFUSAL = re.compile(
    r"\b(?:i['’]?m sorry|i am sorry|i can(?:no|['’])t|i cannot|i can not|i am unable|i['’]m unable|as an ai|"
    r"unable to (?:assist|help|judge|evaluate|answer)|i won['’]t|i must decline|not able to)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One answer: its value, or what was wrong with it."""

    value: float | None = None
    """A grade; 1 for yes and 0 for no; of two clips 1 for A, 0 for B, ½ for a tie."""
    reason: str = ""
    """The judge's; where there is no value, what happened."""
    problem: Problem = ""


def grade(reply: Reply) -> Answer:
    """A grade from 1 to 5."""
    return _read(reply, _as_grade)


def yes_no(reply: Reply) -> Answer:
    return _read(reply, {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}.get)


def choice(reply: Reply) -> Answer:
    return _read(reply, {"a": 1.0, "b": 0.0, "tie": 0.5}.get)


def _as_grade(word: str) -> float | None:
    found = re.fullmatch(r"([0-9]+)(?:\.0+)?", word)
    return float(found[1]) if found and 1 <= int(found[1][:6]) <= GRADES else None


def _read(reply: Reply, value_of: Callable[[str], float | None]) -> Answer:
    if reply.failed:
        return Answer(reason=reply.failed, problem="unreadable" if reply.unreadable else "failed")
    if reply.refusal:
        return Answer(reason=_short(reply.refusal), problem="refused")
    data = json_in(reply.text)
    given = data.get("answer") if data is not None else reply.text
    value = value_of(_word(given))
    if value is None:
        is_refusal = _REFUSAL.search(reply.text) is not None
        return Answer(reason=_short(reply.text) or "empty", problem="refused" if is_refusal else "unparsable")
    told = data.get("reason") if data is not None else ""
    return Answer(value=value, reason=_short(told) if isinstance(told, str) else "")


def _word(given: object) -> str:
    """An answer as one word: "Yes." is yes; a list, a sentence or nothing is no word."""
    if isinstance(given, bool):
        return str(given).casefold()
    text = str(given) if isinstance(given, (str, int, float)) else ""
    return text.strip().strip("\"'.").casefold()


def json_in(text: str) -> dict[str, Any] | None:
    """The JSON object that a text is, ends with, or has in a fence or between words; None where there is none."""
    bare = without_fence(text).strip()
    lines = [line for line in bare.splitlines() if line.strip()]
    inside = bare[bare.find("{") : bare.rfind("}") + 1]
    for candidate in (bare, lines[-1] if lines else "", inside):
        try:
            found = json.loads(candidate)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            return found
    return None


def made_questions(reply: Reply) -> tuple[tuple[tuple[str, str], ...], str]:
    """Questions with their negations that a judge made, and why there are none."""
    if reply.failed or reply.refusal:
        return (), reply.failed or reply.refusal
    data = json_in(reply.text)
    rows = data.get("questions") if data is not None else None
    found = [_made(row) for row in rows[:MOST]] if isinstance(rows, Sequence) and not isinstance(rows, str) else []
    kept = tuple(row for row in found if row is not None)
    return kept, "" if kept else f"the judge made no questions: {_short(reply.text)[:120]!r}"


def _made(row: object) -> tuple[str, str] | None:
    if isinstance(row, str):
        return (_short(row), "") if row.strip() else None
    if not isinstance(row, dict) or not isinstance(row.get("question"), str) or not row["question"].strip():
        return None
    negated = row.get("negated")
    return _short(row["question"]), _short(negated) if isinstance(negated, str) else ""


def _short(text: str) -> str:
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    return line if len(line) <= _REASON else line[: _REASON - 1] + "…"
