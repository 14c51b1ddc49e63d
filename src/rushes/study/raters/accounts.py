"""Raters: one-time invitations, sessions, consent."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from unicodedata import normalize

from sqlalchemy import Connection, Row, func, select

from rushes.study.database.tables import pair, rater, rater_session
from rushes.study.errors import NotAllowed, StudyError
from rushes.study.queries import log, rater_row, set_rater, signed_in, stage_of, study_row
from rushes.study.raters.time import count_time
from rushes.study.records import Invitation, RaterSession
from rushes.study.tokens import new_token, token_hash

RATER_SESSION_MS = 14 * 24 * 3_600_000
_CODE = re.compile(r"[^\W_][\w.-]{0,39}")


def invite(
    connection: Connection, now: int, study: str, *, count: int = 1, names: Sequence[str] = ()
) -> tuple[Invitation, ...]:
    """New raters, `names` or the next `count` codes (rater_01, …), each with a one-time link's token."""
    row = study_row(connection, study, lock=True)
    taken = set(connection.execute(select(rater.c.code).where(rater.c.study_id == row.id)).scalars())
    # One spelling of a letter with its mark: "Ä" may be typed as one character or as two.
    codes = [normalize("NFC", name) for name in names] if names else next_codes(taken, count)
    _check_codes(codes, taken)
    trained = None if has_training(connection, row.id) else now
    invitations = tuple(Invitation(rater=code, token=new_token()) for code in codes)
    for one in invitations:
        add_rater(connection, row.id, one.rater, invite_hash=token_hash(one.token), trained_ms=trained)
    log(connection, study_id=row.id, actor="admin", action="invited", now=now, raters=codes)
    return invitations


def add_rater(connection: Connection, study_id: int, code: str, **more: object) -> int:
    """A rater's row, who has done nothing yet; returns its id."""
    values = {"study_id": study_id, "code": code, "active_ms": 0, "tasks": 0, "excluded": False, **more}
    return int(connection.execute(rater.insert().values(**values).returning(rater.c.id)).scalar_one())


def next_codes(taken: set[str], count: int) -> list[str]:
    if not 1 <= count <= 10_000:
        raise StudyError(f"invite between 1 and 10000 raters at a time; got {count}")
    numbers = (f"rater_{number:02d}" for number in range(1, len(taken) + count + 1))
    return [code for code in numbers if code not in taken][:count]


def _check_codes(codes: Sequence[str], taken: set[str]) -> None:
    for code in codes:
        if not _CODE.fullmatch(code):
            raise StudyError(
                "a rater's name is 1–40 letters (of any alphabet), digits, '.', '_' and '-', a letter or digit first; "
                f"got {code!r}"
            )
        if code in taken or codes.count(code) > 1:
            raise StudyError(f"rater {code!r} already exists; use another name, or invite them again")


def has_training(connection: Connection, study_id: int) -> bool:
    query = select(func.count()).where(pair.c.study_id == study_id, pair.c.kind == "training")
    return bool(connection.execute(query).scalar())


def invite_again(connection: Connection, now: int, study: str, rater: str) -> Invitation:
    """A fresh link for a rater whose session is lost; earlier links and sessions of theirs stop working."""
    row = study_row(connection, study)
    person = rater_row(connection, row.id, rater)
    token = new_token()
    connection.execute(rater_session.delete().where(rater_session.c.rater_id == person.id))
    set_rater(connection, person.id, invite_hash=token_hash(token))
    log(connection, study_id=row.id, actor="admin", action="invited again", now=now, rater=rater)
    return Invitation(rater=rater, token=token)


def accept_invite(connection: Connection, now: int, token: str) -> RaterSession:
    """Use up the link and sign in. Call it from a POST: mail scanners follow GET links."""
    # Two clicks at once: the update that finds the hash wins, the other is told.
    hashed = token_hash(token)
    person = connection.execute(select(rater).where(rater.c.invite_hash == hashed)).first()
    used = rater.update().where(rater.c.invite_hash == hashed).values(invite_hash=None)
    if person is None or connection.execute(used).rowcount != 1:
        raise NotAllowed("this invitation is unknown or was already used; ask for a new one")
    session = open_session(connection, now, person.id)
    count_time(connection, person, now=now)
    log(connection, study_id=person.study_id, actor=person.code, action="signed in", now=now)
    return session_of(signed_in(connection, session, now), token=session)


def open_session(connection: Connection, now: int, rater_id: int, *, since_ms: int = 0) -> str:
    """The secret of a new session; votes from before `since_ms` are closed to it."""
    token = new_token()
    values = {"token_hash": token_hash(token), "rater_id": rater_id, "expires_ms": now + RATER_SESSION_MS}
    values |= {"since_ms": since_ms}
    connection.execute(rater_session.insert().values(**values))
    return token


def read_session(connection: Connection, now: int, session: str) -> RaterSession:
    """Who this cookie belongs to and where they stand."""
    return session_of(signed_in(connection, session, now))


def session_of(row: Row[Any], *, token: str = "") -> RaterSession:
    """The session of a rater who is signed in; read back, it has no token."""
    return RaterSession(
        token=token,
        study=row.study_name,
        study_title=row.study_title,
        rater=row.code,
        stage=stage_of(row, tasks_done=row.quota is not None and row.tasks >= row.quota),
        expires_ms=row.expires_ms,
        study_state=row.study_state,
    )


def close_session(connection: Connection, session: str) -> None:
    """End a rater's session."""
    connection.execute(rater_session.delete().where(rater_session.c.token_hash == token_hash(session)))


def give_consent(connection: Connection, now: int, session: str) -> RaterSession:
    """Record the rater's agreement, with its time; the next stage is training."""
    row = signed_in(connection, session, now)
    count_time(connection, row, now=now)
    if row.consent_ms is None:
        set_rater(connection, row.id, consent_ms=now)
        log(connection, study_id=row.study_id, actor=row.code, action="consented", now=now)
    return read_session(connection, now, session)
