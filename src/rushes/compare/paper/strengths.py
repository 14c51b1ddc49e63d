"""Strengths of systems from a suite's votes, question by question: `rushes rank` on the file that the suite names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from rushes.compare.ranking.rank import rank_votes
from rushes.compare.ranking.result import VoteRanking
from rushes.core import Measurement
from rushes.core.errors import InputError
from rushes.storage.runs.relocation import relocate
from rushes.suite.folder import SuiteRun

_UNKNOWN = "raters are unknown: the interval covers other prompts, not other raters"


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
        raise InputError(f"{suite.suite.votes}: the file of votes is no longer where the suite found it")
    ranked = rank_votes(place)
    return {question: _strengths(ranked.of(question)) for question in ranked.questions}


def _strengths(one: VoteRanking) -> Strengths:
    note = "" if one.raters is not None else _UNKNOWN
    elo = {name: replace(m, note="; ".join(filter(None, (note, m.note)))) for name, m in sorted(one.elo.items())}
    ends = {name: m.interval for name, m in one.rank.items() if m.interval is not None}
    return Strengths(
        question=one.question,
        elo=elo,
        ranks={name: (round(interval.low), round(interval.high)) for name, interval in ends.items()},
    )
