"""Answers of every method as files: everything a rater said, and the plain table that `rushes believe` reads."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from rushes.core.canonical import canonical_json
from rushes.instruments.preference.methods.judgements import Judgement
from rushes.instruments.preference.votes import Fault, Vote
from rushes.study.exchange.files import csv_text, write_file
from rushes.study.exchange.formats import ExportFormat, StudyVotes

_FIXED = ("sample", "family", "prompt", "systems", "rater", "is_gold", "is_repeat", "best", "worst", "shown")
_MORE = ("faults", "note", "clips", "watched", "viewing")
BEST_WORST = "best_worst"
"""The question that best–worst answers: 1 for the best clip, −1 for the worst, 0 for the others."""


def _questions(answers: Iterable[Judgement]) -> list[str]:
    return list(dict.fromkeys(key for one in answers for key in one.ratings))


def _faults(found: Iterable[Fault]) -> list[dict[str, object]]:
    return [{"system": one.clip, "ms": one.ms, "tag": one.tag} for one in found]


def write_answers(out: Path, answers: Sequence[Judgement]) -> None:
    """A CSV with a row per answer and everything that is known of it; lists are JSON."""
    questions = _questions(answers)
    rows = [_answer(one, questions) for one in answers]
    write_file(out, csv_text((*_FIXED, *(f"rating_{key}" for key in questions), *_MORE), rows))


def _answer(one: Judgement, questions: Sequence[str]) -> Mapping[str, object]:
    plain = {name: getattr(one, name) for name in (*_FIXED, "note")}
    lists = {name: ";".join(getattr(one, name)) for name in ("systems", "shown", "clips")}
    told = {
        "faults": json.dumps(_faults(one.faults), ensure_ascii=False) if one.faults else "",
        "watched": json.dumps([list(span) for span in one.watched], separators=(",", ":")),
        "viewing": canonical_json(dict(one.viewing)) if one.viewing else "",
    }
    return plain | lists | told | {f"rating_{key}": one.ratings.get(key) for key in questions}


def write_opinions(out: Path, answers: Sequence[Judgement]) -> None:
    """A CSV with a row per rater and clip and a column per question, without anchors and repeats."""
    counted = [one for one in answers if one.counts_in_results]
    questions = _questions(counted) or [BEST_WORST]
    rows = [
        {"prompt_id": one.prompt or one.sample, "system": system, "rater": one.rater, **scores_of(one, system)}
        for one in counted
        for system in one.systems
    ]
    write_file(out, csv_text(("prompt_id", "system", "rater", *questions), rows))


def scores_of(one: Judgement, system: str) -> Mapping[str, int]:
    """What an answer says of one system, by question."""
    return one.ratings or {BEST_WORST: (system == one.best) - (system == one.worst)}


def write_lines(out: Path, votes: Sequence[Vote | Judgement]) -> None:
    """JSON lines: one answer each, with every field that has a value."""
    lines = []
    for one in votes:
        data = asdict(one) | {"faults": _faults(one.faults), "watched": [list(span) for span in one.watched]}
        lines.append(canonical_json({key: value for key, value in data.items() if value not in (None, "", (), [], {})}))
    write_file(out, "".join(f"{line}\n" for line in lines))


def _lines(out: Path, study: StudyVotes) -> int:
    write_lines(out, study.judgements or study.votes)
    return 0


def _opinions(out: Path, study: StudyVotes) -> int:
    write_opinions(out, study.judgements)
    return sum(not one.counts_in_results for one in study.judgements)


def _answers(out: Path, study: StudyVotes) -> int:
    write_answers(out, study.judgements)
    return 0


LINES = ExportFormat(
    title="JSON lines",
    text="One answer per line with everything known of it, marked faults and their times included.",
    ending="jsonl",
    write=_lines,
    media_type="application/jsonl",
)
OPINIONS = ExportFormat(
    title="Ratings by clip",
    text="One row per rater and clip, one column per question: what rushes believe reads.",
    ending="csv",
    write=_opinions,
    left_out="anchors and hidden repeats",
    of="judgements",
)
ANSWERS = ExportFormat(
    title="Answers",
    text="One row per answer on single clips or sets, with everything known of it; csv is the same there.",
    ending="csv",
    write=_answers,
    of="judgements",
)
