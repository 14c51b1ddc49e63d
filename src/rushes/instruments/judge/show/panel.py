"""What was asked about one clip and answered, for its page: every answer and reason, and those of the control.

Prompts, answers and reasons are other people's texts: they are handed on as they are, and the page escapes them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from rushes.core import Measurement
from rushes.core.grouping import grouped
from rushes.core.words.definition_text import value_text
from rushes.instruments.judge.show.words import answer_text, judge_of, judge_words
from rushes.storage.runs import Entry, Run

_Row = Mapping[str, Any]


def asked(run: Run, entry: Entry) -> dict[str, object] | None:
    """The panel of a clip or a pair; None for the judge itself.

    {"prompt": …, "worth": what the judge is worth, "shows": which clip of a pair is played,
     "questions": [{"question", "value", "signature", "answers": [{"of", "answer", "reason"}], "planted": likewise}]}
    """
    facts: Any = entry.subject.facts
    if "answers" not in facts:
        return None
    judge = judge_of(run)
    words = judge_words(judge) if judge else ()
    return {
        "prompt": str(facts.get("prompt", "")),
        "worth": words[0] if words else "",
        "worth_signature": _control(judge),
        "shows": _shows(facts),
        "questions": [*_own(run, entry, judge), *_others(run, entry)],
    }


def _control(judge: Entry | None) -> str:
    """Of the number that the first sentence about the judge has; "" where it has none."""
    numbers = judge.measurements if judge else ()
    return next((m.signature for m in numbers if m.name == "judge_control_wins"), "")


def _shows(facts: _Row) -> str:
    if "second" not in facts:
        return ""
    first, second = facts["systems"]
    return f"The player shows the clip of {first}. That of {second} is {facts['second']['path']}."


def _own(run: Run, entry: Entry, judge: Entry | None) -> Iterator[dict[str, object]]:
    """Every question about this clip: its answers, then its control and its negation; apart, its planted copies."""
    facts: Any = entry.subject.facts
    texts: Any = judge.subject.facts.get("questions", {}) if judge else {}
    numbers = {m.definition.param("question"): m for m in entry.measurements}
    rows = grouped((str(row["question"]), row) for row in facts["answers"] if not _is_other(row))
    for name, mine in rows.items():
        plain = [row for row in mine if row["role"] == "answer"]
        text = next((row["text"] for row in plain if "text" in row), texts.get(name, name.replace("_", " ")))
        beside = [_beside(row, run) for row in mine if row["role"] in ("control", "negated")]
        yield {
            "question": str(text),
            **_value(numbers.get(name)),
            "answers": [*_repeats(plain, facts), *beside],
            "planted": [_beside(row, run) for row in mine if row["role"] == "plant"],
        }


def _value(m: Measurement | None) -> dict[str, str]:
    """The number of a question; of a pair, with the system that it speaks for."""
    if m is None:
        return {"value": "", "signature": ""}
    return {"value": " ".join(filter(None, (m.place.get("first"), value_text(m)))), "signature": m.signature}


def _is_other(row: _Row) -> bool:
    """Whether a row is about another prompt's own question."""
    return row["role"] == "control" and "text" in row


def _repeats(rows: Sequence[_Row], facts: _Row) -> Iterator[dict[str, str]]:
    """The answers in their order; equal ones with equal reasons in one line."""
    told = [
        (_order(row, facts), answer_text(row, facts.get("systems", ())), str(row.get("reason", ""))) for row in rows
    ]
    for (order, answer, reason), same in groupby(sorted(told, key=lambda one: one[0])):
        times = len(list(same))
        of = order or "Answer"
        yield {"of": f"{of} ({times} times)" if times > 1 else of, "answer": answer, "reason": reason}


def _order(row: _Row, facts: _Row) -> str:
    if "order" not in row:
        return ""
    first, second = facts["systems"] if row["order"] == "ab" else reversed(facts["systems"])
    return f"{first} shown before {second}"


def _beside(row: _Row, run: Run) -> dict[str, str]:
    if row["role"] == "control":
        of = f"Control, with another clip's prompt: “{_prompt(run, row['prompt_id'])}”"
    elif row["role"] == "negated":
        of = f"Negated: “{row['text']}”"
    else:
        kind, _, level = str(row["plant"]).partition("-")
        of = f"{kind}, {level}"
    return {"of": of, "answer": answer_text(row), "reason": str(row.get("reason", ""))}


def _prompt(run: Run, name: str) -> str:
    """The text of a prompt of this run; its id where no clip of the run has it."""
    found = (one.facts for one in run.subjects if one.facts.get("prompt_id") == name)
    return str(next(found, {}).get("prompt", name))


def _others(run: Run, entry: Entry) -> Iterator[dict[str, object]]:
    """The control of questions made from prompts: those of another prompt, asked about this clip."""
    facts: Any = entry.subject.facts
    rows = [row for row in facts["answers"] if _is_other(row)]
    if rows:
        name = str(rows[0]["question"]).rpartition("-")[0]
        answers = [
            {"of": f"“{row['text']}”", "answer": answer_text(row), "reason": str(row.get("reason", ""))} for row in rows
        ]
        yield {
            "question": f"Control, questions of another clip's prompt: “{_prompt(run, name)}”",
            **_value(None),
            "answers": answers,
            "planted": [],
        }
