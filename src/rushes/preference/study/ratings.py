"""Votes that were given elsewhere and come in a file: kept beside the study's own, in the same tables.

Their raters are raters of the study without an invitation. A sample the study does not have is added without clips:
it counts in every result and is never shown to anybody.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, select

from rushes.preference.study.allocation import recount
from rushes.preference.study.database.tables import assignment, clip, pair, rater, vote
from rushes.preference.study.errors import StudyError
from rushes.preference.study.queries import SAMPLE_KINDS, log, study_row
from rushes.preference.study.tokens import new_token
from rushes.preference.votes import Vote

_NO_CLIP = {
    "name": "",
    "source": "",
    "path": "",
    "sha256": "",
    "duration_ms": 0,
    "fps": 0.0,
    "width": 0,
    "height": 0,
    "has_audio": False,
    "content_type": "",
    "size": 0,
}


def store(connection: Connection, study_name: str, votes: Sequence[Vote], *, now: int) -> int:
    """Add the votes; all or none. `StudyError` for a rater who voted on the sample already."""
    found = study_row(connection, study_name, lock=True)
    if not votes:
        raise StudyError("the file holds no filled-in vote; nothing was imported")
    places, people = _known_pairs(connection, found.id), _known_raters(connection, found.id)
    done = _voted(connection, found.id)
    for one in votes:
        if one.sample not in places:
            places[one.sample] = _add_pair(connection, found, one)
        if one.rater not in people:
            people[one.rater] = _add_rater(connection, found.id, one.rater, now)
        place, rater_id = places[one.sample], people[one.rater]
        _check(one, place, (place[0], rater_id) in done)
        done.add((place[0], rater_id))
        _add_vote(connection, found.id, place[0], rater_id, one, now)
    kinds = select(pair.c.id, pair.c.kind).where(pair.c.study_id == found.id)
    touched = {places[one.sample][0] for one in votes}
    for pair_id, kind in connection.execute(kinds).all():
        if pair_id in touched:
            recount(connection, pair_id, minimum=found.min_raters, kind=kind)
    raters = sorted({one.rater for one in votes})
    log(
        connection,
        study_id=found.id,
        actor="admin",
        action="imported ratings",
        now=now,
        votes=len(votes),
        raters=raters,
        watched="not verified",
    )
    return len(votes)


def _known_pairs(connection: Connection, study_id: int) -> dict[str, tuple[int, str, str]]:
    one, other = clip.alias(), clip.alias()
    query = (
        select(pair.c.sample, pair.c.id, one.c.system, other.c.system)
        .join(one, one.c.id == pair.c.clip_a_id)
        .join(other, other.c.id == pair.c.clip_b_id)
        .where(pair.c.study_id == study_id, pair.c.kind.in_(SAMPLE_KINDS))
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
        raise StudyError(f"sample {one.sample}: {one.rater} has had this pair already; nothing was imported")


def _add_pair(connection: Connection, found: Row[Any], one: Vote) -> tuple[int, str, str]:
    ids = []
    for system in (one.system_a, one.system_b):
        values = _NO_CLIP | {"study_id": found.id, "system": system, "token": new_token()}
        ids.append(connection.execute(clip.insert().values(**values).returning(clip.c.id)).scalar_one())
    values = {
        "study_id": found.id,
        "kind": "imported",
        "sample": one.sample,
        "family": one.family,
        "prompt": one.prompt,
        "prompt_text": "",
        "clip_a_id": ids[0],
        "clip_b_id": ids[1],
        "feedback": "",
        "first_left": "a",
        "votes": 0,
        "live": 0,
        "lefts_a": 0,
        "needed": found.min_raters,
        "free": 0,
        "state": "open",
    }
    pair_id = connection.execute(pair.insert().values(**values).returning(pair.c.id)).scalar_one()
    return int(pair_id), one.system_a, one.system_b


def _add_rater(connection: Connection, study_id: int, code: str, now: int) -> int:
    values = {"study_id": study_id, "code": code, "active_ms": 0, "tasks": 0, "excluded": False, "trained_ms": now}
    return int(connection.execute(rater.insert().values(**values).returning(rater.c.id)).scalar_one())


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
        "at_ms": now,
    }
    vote_id = connection.execute(vote.insert().values(**shared, **answer).returning(vote.c.id)).scalar_one()
    connection.execute(assignment.update().where(assignment.c.id == assignment_id).values(vote_id=vote_id))
