"""Arena battles: `model_a,model_b,winner` with winner model_a, model_b or tie, as arena rankers read them.

`model_a` is the system on the left where the side is known, so that position effects can be studied there too.

Read, a file may be CSV, a JSON list or one JSON object a line, with the winner also spelt "tie (bothbad)" and, where
there are any, `judge`, `question_id` and `anony`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from rushes.core.errors import InputError
from rushes.instruments.preference.votes import UNNAMED as UNNAMED
from rushes.instruments.preference.votes import Screen, Vote
from rushes.study.exchange.files import csv_text, read_rows, write_file
from rushes.study.exchange.formats import ExportFormat, keeps_all

COLUMNS = ("model_a", "model_b", "winner", "judge", "question_id")

_NEEDED = ("model_a", "model_b", "winner")
_CHOICES: Mapping[str, Screen] = {"model_a": "left", "model_b": "right", "tie": "tie", "tie (bothbad)": "tie"}
BOTH_BAD = "both bad"
"""Note of a vote whose judge found neither good: a tie to a ranking, but not the same to a reader."""
NUMBERED = "battle-"
"""What the samples of battles without a question are called by, and their number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArenaFile:
    """What a file of battles holds."""

    votes: tuple[Vote, ...]
    against_itself: int
    """Battles of one system against itself, which say nothing about systems: left out."""


def read_arena(path: Path | str, *, anonymous: bool | None = None) -> ArenaFile:
    """Battles as votes, the sides as named; `anonymous` keeps those whose `anony` is so.

    Edge cases  no `question_id`: each battle is a sample of its own, `battle-1`, and has no prompt. No `judge`: all are
                of one rater, "unnamed", so no interval over raters. "tie (bothbad)" is a tie whose note says so
    Raises      `InputError` with the place for a file that is none, and for another winner
    """
    kept = [one for one in _records(path) if anonymous is None or _flag(one[1].get("anony")) is anonymous]
    apart = [(place, record) for place, record in kept if record["model_a"] != record["model_b"]]
    return ArenaFile(
        votes=tuple(_vote(path, place, record) for place, record in apart), against_itself=len(kept) - len(apart)
    )


def _records(path: Path | str) -> list[tuple[int, Mapping[str, object]]]:
    if Path(path).suffix.lower() not in (".json", ".jsonl"):
        return [(line, row) for line, row in read_rows(path, needed=_NEEDED, strip=True)]
    try:
        text = Path(path).read_text("utf-8-sig")
        if text.lstrip().startswith("["):
            found = json.loads(text)
        else:
            found = [json.loads(line) for line in text.splitlines() if line.strip()]
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: cannot be read as JSON battles ({error})") from None
    for number, record in enumerate(found, 1):
        lacking = [name for name in _NEEDED if name not in record] if isinstance(record, Mapping) else list(_NEEDED)
        if lacking:
            raise InputError(f"{path}, battle {number}: expected model_a, model_b and winner; it has no {lacking[0]}")
    return list(enumerate(found, 1))


def _flag(value: object) -> bool:
    return value is True or str(value).lower() == "true"


def _vote(path: Path | str, place: int, record: Mapping[str, object]) -> Vote:
    winner, left, right = (str(record[name]) for name in ("winner", "model_a", "model_b"))
    if winner not in _CHOICES:
        raise InputError(f"{path}, battle at {place}: the winner is model_a, model_b or tie; got {winner!r}")
    if not left or not right:
        raise InputError(f"{path}, battle at {place}: expected two systems; got {left!r} and {right!r}")
    prompt = str(record.get("question_id") or "")
    return Vote.seen(
        sample=prompt or f"{NUMBERED}{place}",
        left=left,
        right=right,
        choice=_CHOICES[winner],
        rater=str(record.get("judge") or UNNAMED),
        side_known=False,
        prompt=prompt,
        note=BOTH_BAD if winner == "tie (bothbad)" else "",
    )


def write_arena(path: Path | str, votes: Iterable[Vote]) -> Path:
    """Write raw votes, one battle a row; gold pairs, repeats and adjudicator's labels stay out."""
    return write_file(path, csv_text(COLUMNS, (_row(vote) for vote in votes if vote.counts_in_results)))


def _row(vote: Vote) -> dict[str, object]:
    swapped = vote.shown_left == "b"
    names = {"a": "model_b", "b": "model_a"} if swapped else {"a": "model_a", "b": "model_b"}
    return {
        "model_a": vote.system_b if swapped else vote.system_a,
        "model_b": vote.system_a if swapped else vote.system_b,
        "winner": names.get(vote.winner, "tie"),
        "judge": vote.rater,
        "question_id": vote.prompt_key,
    }


FORMAT = ExportFormat(
    title="Arena",
    text="model_a, model_b, winner: for tools that rank chat models.",
    ending="csv",
    write=keeps_all(write_arena),
)
