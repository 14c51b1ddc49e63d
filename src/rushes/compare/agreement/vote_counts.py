"""Votes that were counted before they came: a row per question, prompt and pair of systems.

`question, prompt_id, system_a, system_b, votes_a, votes_b`, and `votes_tie` where ties were allowed. Single raters are
not known. The prompt's column may have another name (`speaker`, `scene`) where it is the only one left.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from rushes.core.errors import InputError

NEEDED = ("system_a", "system_b", "votes_a", "votes_b")
_TIES = "votes_tie"
_QUESTION = "question"
Shares = dict[str, dict[tuple[str, str], float]]
"""By question, then by system and prompt."""


def is_counted(columns: Sequence[str]) -> bool:
    return set(NEEDED) <= set(columns)


def win_shares(
    path: Path | str, rows: Sequence[tuple[int, dict[str, str]]], columns: Sequence[str], *, unnamed: str
) -> Shares:
    """Each clip's share of the votes on it, ties as half a win; `unnamed` is the question of a table without one."""
    prompt = _prompt_column(path, columns)
    won: dict[str, dict[tuple[str, str], list[float]]] = {}
    seen: dict[tuple[str, ...], int] = {}
    for line, row in rows:
        a, b, name = row["system_a"], row["system_b"], row[prompt]
        if not a or not b or not name or a == b:
            raise InputError(f"{path}, line {line}: expected a {prompt} and two systems; got {name!r}, {a!r} and {b!r}")
        question = row.get(_QUESTION, "") or unnamed
        before = seen.setdefault((question, name, *sorted((a, b))), line)
        if before != line:
            raise InputError(f"{path}, line {line}: {a} and {b} on {name} came on line {before} already; keep one")
        for_a, for_b, ties = (_count(path, line, row, key) for key in ("votes_a", "votes_b", _TIES))
        for system, points in ((a, for_a + ties / 2), (b, for_b + ties / 2)):
            tally = won.setdefault(question, {}).setdefault((system, name), [0.0, 0.0])
            tally[0] += points
            tally[1] += for_a + for_b + ties
    return {
        question: {key: points / votes for key, (points, votes) in row.items() if votes}
        for question, row in won.items()
    }


def _prompt_column(path: Path | str, columns: Sequence[str]) -> str:
    left = [column for column in columns if column not in (*NEEDED, _TIES, _QUESTION)]
    named = [column for column in left if column in ("prompt_id", "prompt")] or left
    if len(named) != 1:
        raise InputError(f"{path}: expected a column prompt_id beside {', '.join(NEEDED)}; got {', '.join(columns)}")
    return named[0]


def _count(path: Path | str, line: int, row: Mapping[str, str], key: str) -> float:
    text = row.get(key, "") or ("0" if key == _TIES else "")
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value >= 0 and value.is_integer()):
        raise InputError(f"{path}, line {line}: {key} is a number of votes; got {text!r}")
    return value
