"""Votes of any file as counts: per question, prompt, rater and pair of systems, how many went where.

counts   `system_a, system_b, votes_a, votes_b`, `ties` (or `votes_tie`), `question`, `prompt_id`: counted before they
         were published. The prompt's column may have another name (`speaker`, `scene`) where it is the only one left
rows     a row per vote: `system_a, system_b` (or model_a, model_b), `winner`, and where known `question`, `prompt_id`
         and `rater`. The winner is a, b or tie, or the system's name
votes    arena files, the ratings CSV and the table of a study, as `Vote`s

Nobody is invented: a vote whose file names no rater, or no prompt, has "" there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from rushes.core.errors import InputError
from rushes.instruments.preference.votes import Vote
from rushes.study.exchange.arena import NUMBERED, UNNAMED, read_arena
from rushes.study.exchange.files import read_rows
from rushes.study.exchange.ratings_csv import COLUMNS as RATINGS_COLUMNS
from rushes.study.exchange.ratings_csv import read_ratings
from rushes.study.exchange.table import COLUMNS as TABLE_COLUMNS
from rushes.study.exchange.table import read_table

Rows: TypeAlias = Sequence[tuple[int, dict[str, str]]]

QUESTION = "question"
FAMILY = "family"
_PAIRS = (("system_a", "system_b"), ("model_a", "model_b"))
_NUMBERS = ("votes_a", "votes_b")
_TIES = ("ties", "votes_tie")
_PROMPTS = ("prompt_id", "prompt", "question_id", "sample_id")
_RATERS = ("rater", "rater_id", "judge", "annotator", "worker_id")
_WINNERS = {"a": 0, "system_a": 0, "model_a": 0, "b": 1, "system_b": 1, "model_b": 1, "tie": 2, "tie (bothbad)": 2}


@dataclass(frozen=True, slots=True)
class Counted:
    """Votes on one pair of systems: for the first, for the second, ties."""

    system_a: str
    system_b: str
    votes: tuple[int, int, int]
    question: str = ""
    prompt: str = ""
    """"" where it is not known."""
    rater: str = ""
    """"" where it is not known."""


def is_counted(columns: Iterable[str]) -> bool:
    return {*_PAIRS[0], *_NUMBERS} <= set(columns)


def read_counted(path: Path | str, *, by: str = "") -> list[Counted]:
    """The votes of a file. `by` is the column that separates questions; left out, `question` where there is one.

    Raises `InputError`, with the line, for a file that is none of them, a number that is no number of votes, a pair
    counted twice, an unknown winner, and a column that is not there.
    """
    suffix = Path(path).suffix.lower()
    if suffix in (".json", ".jsonl"):
        return of_votes(read_arena(path).votes, by=by, source=str(path))
    if suffix == ".parquet":
        return of_votes(read_table(path), by=by, source=str(path))
    rows = read_rows(path, needed=(), strip=True)
    if not rows:
        raise InputError(f"{path}: expected votes; the file has none")
    columns = list(rows[0][1])
    if set(TABLE_COLUMNS[:9]) <= set(columns):
        return of_votes(read_table(path), by=by, source=str(path))
    if set(RATINGS_COLUMNS) <= set(columns):
        return of_votes(read_ratings(path, lenient=True).votes, by=by, source=str(path))
    return of_rows(path, rows, by=by)


def of_votes(votes: Iterable[Vote], *, by: str = "", source: str = "the votes") -> list[Counted]:
    """Votes one by one; gold pairs, repeats and adjudications stay out. `by` may be the task family."""
    if by not in ("", FAMILY):
        raise InputError(f"{source}: votes one by one are separated by {FAMILY} or not at all; got {by!r}")
    place = {"a": (1, 0, 0), "b": (0, 1, 0), "tie": (0, 0, 1)}
    return [
        Counted(
            vote.system_a,
            vote.system_b,
            place[vote.winner],
            question=vote.family if by else "",
            prompt="" if not vote.prompt and vote.sample.startswith(NUMBERED) else vote.prompt_key,
            rater="" if vote.rater == UNNAMED else vote.rater,
        )
        for vote in votes
        if vote.counts_in_results
    ]


def of_rows(path: Path | str, rows: Rows, *, by: str = "") -> list[Counted]:
    """Rows of a CSV, counts or single votes."""
    columns = list(rows[0][1])
    pair = next((names for names in _PAIRS if set(names) <= set(columns)), None)
    counted = is_counted(columns)
    if pair is None or not (counted or "winner" in columns):
        raise InputError(
            f"{path}: expected system_a, system_b with votes_a, votes_b (and ties), or model_a, model_b, winner; "
            f"got {', '.join(columns)}"
        )
    if by and by not in columns:
        raise InputError(f"{path}: no column {by!r} to separate questions by; it has {', '.join(columns)}")
    asked = by or (QUESTION if QUESTION in columns else "")
    prompt = _prompt_column(path, columns, asked, counted)
    rater = "" if counted else next((name for name in _RATERS if name in columns and name != asked), "")
    found: list[Counted] = []
    seen: dict[tuple[str, ...], int] = {}
    for line, row in rows:
        a, b, name = row[pair[0]], row[pair[1]], row[prompt] if prompt else ""
        if not a or not b or a == b or (counted and prompt and not name):
            raise InputError(
                f"{path}, line {line}: expected two systems{' and a ' * bool(prompt)}{prompt}; got {a!r}, {b!r}"
            )
        question = row[asked] if asked else ""
        if counted:
            before = seen.setdefault((question, name, *sorted((a, b))), line)
            if before != line:
                raise InputError(
                    f"{path}, line {line}: {a} and {b} on {name or 'no prompt'} are already on line {before}"
                )
        votes = _counts(path, line, row) if counted else _one(path, line, row, a, b)
        found.append(Counted(a, b, votes, question=question, prompt=name, rater=row[rater] if rater else ""))
    return found


def _prompt_column(path: Path | str, columns: Sequence[str], asked: str, counted: bool) -> str:
    """The prompt's column; "" where there is none."""
    named = next((name for name in _PROMPTS if name in columns and name != asked), "")
    if named or not counted:
        return named
    known = {*_PAIRS[0], *_NUMBERS, *_TIES, QUESTION, asked}
    left = [name for name in columns if name not in known]
    if len(left) > 1:
        raise InputError(f"{path}: which column is the prompt? Name it prompt_id; got {', '.join(left)}")
    return left[0] if left else ""


def _counts(path: Path | str, line: int, row: Mapping[str, str]) -> tuple[int, int, int]:
    ties = next((name for name in _TIES if name in row), "")
    for_a, for_b, tied = (_count(path, line, row, name) if name else 0 for name in (*_NUMBERS, ties))
    return for_a, for_b, tied


def _count(path: Path | str, line: int, row: Mapping[str, str], name: str) -> int:
    text = row[name] or ("0" if name in _TIES else "")
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not (0 <= value < 1e15 and value.is_integer()):
        raise InputError(f"{path}, line {line}: {name} is a whole number of votes, 0 or more; got {text!r}")
    return int(value)


def _one(path: Path | str, line: int, row: Mapping[str, str], a: str, b: str) -> tuple[int, int, int]:
    winner = row["winner"]
    side, named = _WINNERS.get(winner.casefold()), {a: 0, b: 1}.get(winner)
    if side is not None and named is not None and side != named:
        raise InputError(
            f"{path}, line {line}: {winner!r} may be the side or the system of that name; write system_a or system_b"
        )
    place = named if side is None else side
    if place is None:
        raise InputError(f"{path}, line {line}: the winner is a, b, tie, {a} or {b}; got {winner!r}")
    return (int(place == 0), int(place == 1), int(place == 2))
