"""Finding the rows every request begins with: the study by name, the rater behind a cookie, the log."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import fields
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import BindParameter, Connection, Row, Select, and_, bindparam, exists, select

from rushes.instruments.preference.families import FamilyKind
from rushes.instruments.preference.own_rubric import from_stored
from rushes.instruments.preference.rubric import Rubric, is_known, rubric
from rushes.study.database.tables import (
    adjudication,
    assignment,
    audit,
    clip,
    pair,
    problem,
    rater,
    rater_session,
    study,
)
from rushes.study.errors import NotAllowed, StudyError
from rushes.study.raters.play_credit import WatchRule
from rushes.study.records import ExclusionRule, Stage
from rushes.study.tokens import token_hash

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Record = TypeVar("Record", bound="DataclassInstance")
STOPPED = "stopped"
"""The outcome of a rater who chose to stop, or could not go on, after agreeing to take part."""
SAMPLE_KINDS = ("sample", "imported")
"""Pairs whose votes count: those shown here, and those whose votes came in a ratings file without clips."""
STILL_SHOWN = and_(pair.c.retired.is_(False), ~exists().where(adjudication.c.pair_id == pair.c.id))
"""A pair that raters may still be given: neither retired nor decided by an adjudicator. A decision is looked up in its
own table, so that it holds in a database of any version."""


CLIP_A, CLIP_B, CLIP_C, CLIP_D, CLIP_E = TRIAL = tuple(clip.alias(f"clip_{letter}") for letter in "abcde")
SYSTEMS = CLIP_A.c.system.label("system_a"), CLIP_B.c.system.label("system_b")
"""A pair's two systems, of a query `with_clips`."""


def with_clips(pairs: Select[Any]) -> Select[Any]:
    """A query of pairs, joined with the two clips of each."""
    return pairs.join(CLIP_A, CLIP_A.c.id == pair.c.clip_a_id).join(CLIP_B, CLIP_B.c.id == pair.c.clip_b_id)


def with_all_clips(pairs: Select[Any]) -> Select[Any]:
    """The same with the third to fifth clip, where a trial has them."""
    query = with_clips(pairs)
    for letter, table in zip("cde", (CLIP_C, CLIP_D, CLIP_E), strict=True):
        query = query.outerjoin(table, table.c.id == pair.c[f"clip_{letter}_id"])
    return query


def filled(kind: type[Record], row: Row[Any], **given: object) -> Record:
    """A record whose fields are the row's columns of the same names, but for those that are given."""
    own = {field.name: getattr(row, field.name) for field in fields(kind) if field.name in row._fields}
    return kind(**{**own, **given})


def study_row(connection: Connection, name: str, *, lock: bool = False) -> Row[Any]:
    """The study of this name; `StudyError` naming those there are."""
    query = select(study).where(study.c.name == name)
    row = connection.execute(query.with_for_update(key_share=True) if lock else query).first()
    if row is None:
        there = ", ".join(connection.execute(select(study.c.name).order_by(study.c.name)).scalars()) or "none yet"
        raise StudyError(f"no study is called {name!r}; there is {there}")
    know_rubric(connection, row.rubric)
    return row


def know_rubric(connection: Connection, version: str) -> None:
    """An own rubric lives in its study's row: read it once, and `rubric(version)` knows it from then on."""
    if not is_known(version):
        text = connection.execute(select(study.c.rubric_text).where(study.c.rubric == version)).scalar()
        from_stored(version, text or "{}")


def study_rubric(
    connection: Connection, study: str, *, families: Mapping[str, FamilyKind] = MappingProxyType({})
) -> Rubric:
    """What raters of the study are told and may answer: its rubric, with what its task families ask for, and these."""
    row = study_row(connection, study)
    return rubric(row.rubric, {**row.families, **families})


def set_study(connection: Connection, study_id: int, **values: object) -> None:
    connection.execute(study.update().where(study.c.id == study_id).values(**values))


def set_rater(connection: Connection, rater_id: int, **values: object) -> None:
    connection.execute(rater.update().where(rater.c.id == rater_id).values(**values))


def rater_row(connection: Connection, study_id: int, code: str) -> Row[Any]:
    row = connection.execute(select(rater).where(rater.c.study_id == study_id, rater.c.code == code)).first()
    if row is None:
        raise StudyError(f"the study has no rater {code!r}; `rushes study status` lists them")
    return row


WHO = (
    *rater.c,
    rater_session.c.expires_ms,
    rater_session.c.since_ms,
    *(study.c[name].label(f"study_{name}") for name in ("name", "title", "state")),
    *(study.c[name] for name in ("rubric", "seed", "min_raters", "quota", "gold_every", "repeat_every", "watch_rule")),
    *(study.c[name] for name in ("pairing", "training_tries", "audio_check", "families", "method", "reference")),
    *(study.c[name] for name in ("screens", "retain_until")),
)
"""A rater with the study's settings."""
SESSION: BindParameter[str] = bindparam("session_hash")
RATER: BindParameter[int] = bindparam("rater_wanted")
STUDY: BindParameter[int] = bindparam("study_wanted")
PAIR: BindParameter[int] = bindparam("pair_wanted")
VOTED = and_(
    assignment.c.rater_id == RATER, assignment.c.state.in_(("voted", "late")), assignment.c.purpose != "training"
)
"""A rater's places with a vote, training left out; wants `rater_wanted`."""
KEEP = assignment.update().where(assignment.c.id == bindparam("wanted_id"))
"""Keeps what else is given of the assignment `wanted_id`."""
_SIGNED_IN = (
    select(*WHO)
    .join(rater_session, rater_session.c.rater_id == rater.c.id)
    .join(study, study.c.id == rater.c.study_id)
    .where(rater_session.c.token_hash == SESSION)
)


def signed_in(connection: Connection, session: str, now: int) -> Row[Any]:
    """The rater behind a cookie, with the study's settings; `NotAllowed` when unknown or expired."""
    row = connection.execute(_SIGNED_IN, {"session_hash": token_hash(session)}).first()
    if row is None or row.expires_ms <= now:
        raise NotAllowed("your session has ended; open your link again or ask for a new invitation")
    know_rubric(connection, row.rubric)
    return row


def stage_of(row: Row[Any], *, tasks_done: bool = False) -> Stage:
    if row.consent_ms is None:
        return "consent"
    if row.trained_ms is None:
        return "training"
    over = tasks_done or row.excluded or row.outcome == STOPPED or row.withdrawn_ms is not None
    return "done" if over else "work"


def watch_rule(row: Row[Any]) -> WatchRule:
    return WatchRule(**row.watch_rule)


def exclusion_rule(row: Row[Any]) -> ExclusionRule:
    return ExclusionRule(**row.exclusion_rule)


def add_problem(connection: Connection, *, study_id: int, assignment_id: int, kind: str, text: str, now: int) -> None:
    """Tell the study's owner that something is wrong with a rater's place."""
    values = {"study_id": study_id, "assignment_id": assignment_id, "kind": kind, "text": text, "at_ms": now}
    connection.execute(problem.insert().values(**values))


_ACTOR: ContextVar[str] = ContextVar("rushes_actor", default="admin")


def act_as(name: str) -> None:
    """From here on, in this request or command, what an administrator does is logged under this account's name."""
    _ACTOR.set(name)


def acting() -> str:
    return _ACTOR.get()


def log(connection: Connection, *, study_id: int | None, actor: str, action: str, now: int, **detail: object) -> None:
    """One line of the audit log; "admin" stands for whichever administrator is at it."""
    who = acting() if actor == "admin" else actor
    line = audit.insert().values(study_id=study_id, actor=who, action=action, detail=detail, at_ms=now)
    connection.execute(line)
