"""Strengths of systems from a suite's votes, question by question, on the Elo scale.

Where single raters are known, intervals cluster by rater and prompt, as in a study. Where a file has counts alone, they
cluster by prompt: how far other raters would differ stays unknown, and the number's note says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from rushes.compare.agreement.human_scores import PREFERENCE
from rushes.compare.agreement.vote_counts import is_counted, win_shares
from rushes.compare.definitions.ratings import QUESTION_ELO
from rushes.core import Interval, Measurement, Why
from rushes.core.errors import InputError
from rushes.instruments.preference.tallies import tally
from rushes.instruments.preference.votes import Vote
from rushes.stats.clustered import ONE_WAY, TWO_WAY
from rushes.stats.votes.connection import RankingError
from rushes.stats.votes.ranking import ELO_CENTRE, ELO_PER_LOGIT, rank
from rushes.stats.votes.tally import TIE, WIN_A, WIN_B, Tally
from rushes.stats.votes.uncertainty import rank_ranges, strength_estimates, uncertainty
from rushes.storage.runs.relocation import relocate
from rushes.study.exchange.arena import read_arena
from rushes.study.exchange.files import read_rows
from rushes.study.exchange.table import COLUMNS as TABLE_COLUMNS
from rushes.study.exchange.table import read_table
from rushes.suite.folder import SuiteRun

_BY_PROMPT = "prompt-clustered"
_UNKNOWN = "raters are not known: the interval says how prompts differ, not how other raters would"


@dataclass(frozen=True, slots=True, kw_only=True)
class Strengths:
    """Systems on one question."""

    question: str
    elo: Mapping[str, Measurement]
    """By system, in text order."""
    ranks: Mapping[str, tuple[int, int]]
    """By system: its best and its worst rank; {} where the votes give no ranking."""


def question_strengths(suite: SuiteRun) -> dict[str, Strengths]:
    """By question, in the file's order; {} for a suite without votes. `InputError` for a file that cannot be read."""
    if not suite.suite.votes:
        return {}
    place = relocate(suite.suite.votes, beside=suite.path)
    if place is None:
        raise InputError(f"{suite.suite.votes}: the file of votes is not where the suite found it")
    if place.suffix.lower() not in (".json", ".jsonl", ".parquet"):
        rows = read_rows(place, needed=(), strip=True)
        columns = list(rows[0][1]) if rows else []
        if is_counted(columns):
            win_shares(place, rows, columns, unnamed=PREFERENCE)  # checks every row
            return {question: _strengths(votes, question, counted=True) for question, votes in _tallies(rows).items()}
        votes = read_table(place) if set(TABLE_COLUMNS) <= set(columns) else read_arena(place).votes
    else:
        votes = read_table(place) if place.suffix.lower() == ".parquet" else read_arena(place).votes
    return {PREFERENCE: _strengths(_of_votes(votes), PREFERENCE, counted=False)}


def _of_votes(votes: Iterable[Vote]) -> Tally:
    return tally(vote for vote in votes if vote.counts_in_results)


def _tallies(rows: Iterable[tuple[int, Mapping[str, str]]]) -> dict[str, Tally]:
    """Counts as tallies whose clusters are prompts: they stand where raters stand otherwise."""
    every = [row for _, row in rows]
    prompt = next(
        key for key in ("prompt_id", "prompt", *every[0]) if key in every[0] and key not in ("question", *_COUNTED)
    )
    found = {}
    for question in dict.fromkeys(row.get("question", "") or PREFERENCE for row in every):
        own = [row for row in every if (row.get("question", "") or PREFERENCE) == question]
        found[question] = _counted(own, prompt)
    return found


_COUNTED = ("system_a", "system_b", "votes_a", "votes_b", "votes_tie")


def _counted(rows: list[Mapping[str, str]], prompt: str) -> Tally:
    systems = sorted({row[side] for row in rows for side in ("system_a", "system_b")})
    prompts = sorted({row[prompt] for row in rows})
    cells = []
    for row in rows:
        a, b = systems.index(row["system_a"]), systems.index(row["system_b"])
        for won, key in ((WIN_A, "votes_a"), (WIN_B, "votes_b"), (TIE, "votes_tie")):
            if votes := int(float(row.get(key) or 0)):
                turned = won if a < b or won == TIE else 1 - won
                cells.append((prompts.index(row[prompt]), min(a, b), max(a, b), turned, votes))
    columns = (np.array(column, dtype=np.int64) for column in zip(*sorted(cells), strict=True))
    who, first, second, outcome, count = columns
    return Tally(
        systems=tuple(systems),
        raters=tuple(prompts),
        rater=who,
        first=first,
        second=second,
        outcome=outcome,
        count=count,
        prompt=np.zeros_like(who),
        prompts=("",),
    )


def _strengths(votes: Tally, question: str, *, counted: bool) -> Strengths:
    clusters = "prompt" if counted else "rater+prompt"
    definition = QUESTION_ELO.with_params(question=" ".join(question.replace("|", "/").split()), clusters=clusters)
    try:
        ranking = rank(votes)
    except RankingError as error:
        missing = {name: Measurement.missing(definition, str(error), at={"system": name}) for name in votes.systems}
        return Strengths(question=question, elo=missing, ranks={})
    spread = uncertainty(ranking, votes, kind=ONE_WAY if counted else TWO_WAY)
    elo = {
        name: Measurement(
            definition=definition,
            value=ELO_CENTRE + ELO_PER_LOGIT * float(one.value or 0),
            count=votes.votes,
            interval=_scaled(one.interval, _BY_PROMPT if counted else ""),
            note="; ".join(filter(None, (_UNKNOWN if counted else "", one.why.text if one.why else ""))),
            at={"system": name},
        )
        for name, one in zip(ranking.systems, strength_estimates(ranking, spread), strict=True)
    }
    ranks = (
        {} if isinstance(spread, Why) else {one.system: (one.best, one.worst) for one in rank_ranges(ranking, spread)}
    )
    return Strengths(question=question, elo=elo, ranks=ranks)


def _scaled(interval: Interval | None, method: str) -> Interval | None:
    if interval is None:
        return None
    low, high = (ELO_CENTRE + ELO_PER_LOGIT * end for end in (interval.low, interval.high))
    return replace(interval, low=low, high=high, method=method or interval.method)
