"""Votes that were given elsewhere and come in a file: kept beside the study's own, in the same tables.

Their raters are raters of the study without an invitation. A sample the study does not have is added without clips:
it counts in every result and is never shown to anybody.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, Row, select

from rushes.instruments.preference.families import FamilyKind
from rushes.instruments.preference.rubric import Rubric, rubric
from rushes.instruments.preference.rules import bent_counts, vote_breaches
from rushes.instruments.preference.votes import Vote
from rushes.study.database.tables import assignment, pair, rater, vote
from rushes.study.errors import StudyError
from rushes.study.material.clips import ReadyClip
from rushes.study.material.families import UNDECLARED, settle
from rushes.study.material.importing import add_clip, add_pair
from rushes.study.queries import SAMPLE_KINDS, SYSTEMS, log, study_row, with_clips
from rushes.study.raters.accounts import add_rater
from rushes.study.raters.allocation import recount
from rushes.study.tokens import new_token


def store(
    connection: Connection,
    now: int,
    study: str,
    votes: Sequence[Vote],
    *,
    families: Mapping[str, FamilyKind] = UNDECLARED,
) -> int:
    """Votes given elsewhere, from `rushes.study.exchange.read_ratings`; returns how many were added.

    A vote on a sample of this study joins it; one on an unknown sample makes the sample, without clips. `families` says
    what task families ask for, as in `StudyPlan`. A vote that does not keep the rubric's rules is marked (`Vote.bent`),
    and every number that rests on it says `rubric:0.1-lenient`; `read_ratings` refuses such votes unless it is told to
    be lenient. Imported votes say so in the log: nobody verified that their raters watched anything.
    """
    found = study_row(connection, study, lock=True)
    if found.method.partition("-")[0] != "pairs":
        raise StudyError(f"study {study} asks by {found.method}; a ratings CSV has votes on pairs")
    if not votes:
        raise StudyError("the file has no filled-in vote; nothing was imported")
    settled = settle(connection, found, {one.family for one in votes}, declared=families)
    book = rubric(found.rubric, settled.kinds)
    votes = [_marked(one, book) for one in votes]
    places, people = _known_pairs(connection, found.id), _known_raters(connection, found.id)
    done = _voted(connection, found.id)
    for one in votes:
        if one.sample not in places:
            places[one.sample] = _add_pair(connection, found, one)
        if one.rater not in people:
            people[one.rater] = add_rater(connection, found.id, one.rater, trained_ms=now)
        place, rater_id = places[one.sample], people[one.rater]
        _check(one, place, (place[0], rater_id) in done)
        done.add((place[0], rater_id))
        _add_vote(connection, found.id, place[0], rater_id, one, now)
    kinds = select(pair.c.id, pair.c.kind).where(pair.c.study_id == found.id)
    touched = {places[one.sample][0] for one in votes}
    for pair_id, kind in connection.execute(kinds).all():
        if pair_id in touched:
            recount(connection, pair_id, minimum=found.min_raters, kind=kind)
    told = {"votes": len(votes), "raters": sorted({one.rater for one in votes}), "watched": "not verified"}
    about = {"bent": bent_counts(votes), **settled._asdict()}
    log(connection, study_id=found.id, actor="admin", action="imported ratings", now=now, **told, **about)
    return len(votes)


def _marked(one: Vote, book: Rubric) -> Vote:
    return replace(one, bent=tuple(dict.fromkeys((*one.bent, *(breach.rule for breach in vote_breaches(one, book))))))


def _known_pairs(connection: Connection, study_id: int) -> dict[str, tuple[int, str, str]]:
    query = with_clips(
        select(pair.c.sample, pair.c.id, *SYSTEMS).where(pair.c.study_id == study_id, pair.c.kind.in_(SAMPLE_KINDS))
    )
    return {sample: (pair_id, a, b) for sample, pair_id, a, b in connection.execute(query)}


def _known_raters(connection: Connection, study_id: int) -> dict[str, int]:
    query = select(rater.c.code, rater.c.id).where(rater.c.study_id == study_id)
    return {code: rater_id for code, rater_id in connection.execute(query)}


def _voted(connection: Connection, study_id: int) -> set[tuple[int, int]]:
    query = select(assignment.c.pair_id, assignment.c.rater_id).where(assignment.c.study_id == study_id)
    return {(pair_id, rater_id) for pair_id, rater_id in connection.execute(query)}


def _check(one: Vote, place: tuple[int, str, str], again: bool) -> None:
    if (one.system_a, one.system_b) != place[1:]:
        raise StudyError(
            f"sample {one.sample} compares {place[1]} and {place[2]} in this study, "
            f"{one.system_a} and {one.system_b} in the file; nothing was imported"
        )
    if again:
        raise StudyError(f"sample {one.sample}: {one.rater} has already voted on this pair; nothing was imported")


def _add_pair(connection: Connection, found: Row[Any], one: Vote) -> tuple[int, str, str]:
    nothing, words = ReadyClip(sha256=""), {"name": "", "source": ""}
    first, second = (
        add_clip(connection, found.id, nothing, system=system, **words) for system in (one.system_a, one.system_b)
    )
    more = {"first_left": "a", "prompt_text": "", "feedback": ""}
    return add_pair(connection, found, one, "imported", (first, second), **more), one.system_a, one.system_b


def _add_vote(connection: Connection, study_id: int, pair_id: int, rater_id: int, one: Vote, now: int) -> None:
    shared = {"study_id": study_id, "pair_id": pair_id, "rater_id": rater_id, "purpose": "sample"}
    place = {
        "key": new_token(),
        "look": 1,
        "number": 0,
        "left": one.shown_left or "a",
        "token_a": new_token(),
        "token_b": new_token(),
        "state": "voted",
        "assigned_ms": now,
        "touched_ms": now,
    }
    insert = assignment.insert().values(**shared, **place).returning(assignment.c.id)
    assignment_id = connection.execute(insert).scalar_one()
    answer = {
        "assignment_id": assignment_id,
        "key": "imported",
        "winner": one.winner,
        "left": one.shown_left,
        "primary_tag": one.primary_tag,
        "secondary_tags": list(one.secondary_tags),
        "ratings": {name: list(both) for name, both in one.ratings.items()},
        "pair_ratings": dict(one.pair_ratings),
        "note": one.note,
        "watched": [],
        "bent": list(one.bent),
        "at_ms": now,
    }
    vote_id = connection.execute(vote.insert().values(**shared, **answer).returning(vote.c.id)).scalar_one()
    connection.execute(assignment.update().where(assignment.c.id == assignment_id).values(vote_id=vote_id))
