"""Questions made from a prompt: yes is the answer where the clip shows what was asked for, and no to their negations.

They are a table that people can read and correct, a row per question:

    prompt_id,question,negated
    p1,Is there a dog?,Is there no dog?

The digest of the table is in every signature: other questions are another number.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rushes.core.canonical import canonical_json
from rushes.core.errors import InputError
from rushes.core.machine.files import replacing
from rushes.core.machine.provenance import bytes_digest
from rushes.core.prompts import Prompt
from rushes.instruments.judge.questions import read_rows

COLUMNS = ("prompt_id", "question", "negated")
MOST = 20
"""Questions per prompt that are taken of what a judge makes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptQuestion:
    """One yes/no question about the clips of a prompt."""

    id: str
    """`p1-3`: the prompt's id and a number."""
    prompt_id: str
    text: str
    negated: str
    """The same question the other way round, whose right answer is no."""


PromptQuestions = Mapping[str, tuple[PromptQuestion, ...]]
"""By prompt id, in the order of the prompts."""


def made_negation(question: str) -> str:
    """The negation of a question that came without one.

    >>> made_negation("Is there a dog?")
    'Would "no" be the right answer to this question: "Is there a dog?"'
    """
    return f'Would "no" be the right answer to this question: "{question}"'


def numbered(prompt_id: str, rows: Sequence[tuple[str, str]]) -> tuple[PromptQuestion, ...]:
    """Questions with their negations ("" for one to be made), with ids."""
    return tuple(
        PromptQuestion(
            id=f"{prompt_id}-{number}", prompt_id=prompt_id, text=text, negated=negated or made_negation(text)
        )
        for number, (text, negated) in enumerate(rows, 1)
    )


def read_prompt_questions(path: Path | str, prompts: Sequence[Prompt]) -> PromptQuestions:
    """The table of a file; `InputError` for a prompt that it does not have."""
    file = Path(path)
    found: dict[str, list[tuple[str, str]]] = {}
    rows = read_rows(file, "questions")
    if rows and not {"prompt_id", "question"} <= set(rows[0]):
        raise InputError(f"{file}: expected the columns {', '.join(COLUMNS)}; got {', '.join(rows[0])}")
    for line, row in enumerate(rows, 2):
        if not row["prompt_id"] or not row["question"]:
            raise InputError(f"{file}, line {line}: expected a prompt_id and a question; one is empty")
        found.setdefault(row["prompt_id"], []).append((row["question"], row.get("negated", "")))
    lacking = [prompt.id for prompt in prompts if prompt.id not in found]
    if lacking:
        more = f" and {len(lacking) - 3} more" if len(lacking) > 3 else ""
        raise InputError(f"{file}: no question for {', '.join(lacking[:3])}{more}; every prompt needs one")
    return {prompt.id: numbered(prompt.id, found[prompt.id]) for prompt in prompts}


def write_prompt_questions(path: Path, questions: PromptQuestions) -> None:
    """The table, to be read, corrected and given back with --questions."""
    with replacing(path) as out:
        table = csv.writer(out, lineterminator="\n")
        table.writerow(COLUMNS)
        table.writerows((one.prompt_id, one.text, one.negated) for row in questions.values() for one in row)


def table_digest(questions: PromptQuestions) -> str:
    """Of the whole table."""
    rows = [[one.prompt_id, one.text, one.negated] for row in questions.values() for one in row]
    return bytes_digest(canonical_json(rows).encode())[:12]
