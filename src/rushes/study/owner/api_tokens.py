"""Tokens with which programs ask the server: made once, shown once, stored as hashes, revoked by name.

A token has one or more scopes, may be for one study alone, and may run out. It never signs anybody in to pages that
change accounts, and `Authorization: Bearer …` is the only place where it is looked for: no address or log has it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, select

from rushes.study.database.tables import api_token
from rushes.study.errors import NotAllowed, StudyError
from rushes.study.queries import acting, filled, log, study_row
from rushes.study.tokens import new_token, token_hash

PREFIX = "rushes_"
"""By which a token that lies about can be recognised."""
MOST_DAYS = 3650
_DAY_MS = 86_400_000
_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,39}")
TOKEN_SCOPES = ("read", "import", "export")
"""What a program's token may do: look; make studies; download votes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiToken:
    """A program's token, without its secret."""

    name: str
    scopes: tuple[str, ...]
    study: str
    """The one study it is for; empty for all."""
    made_by: str
    made_ms: int
    expires_ms: int | None = None
    revoked_ms: int | None = None


def make(
    connection: Connection, now: int, name: str, scopes: Sequence[str], *, study: str = "", days: int | None = None
) -> str:
    """A new token's secret, which is in this answer only."""
    if not _NAME.fullmatch(name):
        raise StudyError(f"a token's name is 1–40 lower-case letters, digits, '.', '_' and '-'; got {name!r}")
    if not scopes or not set(scopes) <= set(TOKEN_SCOPES):
        raise StudyError(f"a token's scopes are one or more of {', '.join(TOKEN_SCOPES)}; got {', '.join(scopes)!r}")
    if study and "import" in scopes:
        raise StudyError("import makes new studies, so a token with it is for all of them; leave the study out")
    if days is not None and not 1 <= days <= MOST_DAYS:
        raise StudyError(f"a token is good for 1 to {MOST_DAYS} days; got {days}")
    if connection.execute(select(api_token.c.id).where(api_token.c.name == name)).first():
        raise StudyError(f"there is or was a token {name!r}; choose another name, so that the log stays clear")
    study_id = study_row(connection, study).id if study else None
    secret, kept = PREFIX + new_token(), [scope for scope in TOKEN_SCOPES if scope in scopes]
    expires = None if days is None else now + days * _DAY_MS
    values = {"name": name, "scopes": kept, "study": study, "made_by": acting(), "made_ms": now, "expires_ms": expires}
    connection.execute(api_token.insert().values(token_hash=token_hash(secret), **values))
    log(connection, study_id=study_id, actor="admin", action="token made", now=now, token=name, scopes=kept)
    return secret


def listing(connection: Connection) -> tuple[ApiToken, ...]:
    """Every token there is or was, by name."""
    rows = connection.execute(select(api_token).order_by(api_token.c.name))
    return tuple(filled(ApiToken, row, scopes=tuple(row.scopes)) for row in rows)


def revoke(connection: Connection, now: int, name: str) -> None:
    """End a token at once."""
    changed = connection.execute(
        api_token.update().where(api_token.c.name == name, api_token.c.revoked_ms.is_(None)).values(revoked_ms=now)
    )
    if not changed.rowcount:
        there = ", ".join(one.name for one in listing(connection) if one.revoked_ms is None) or "none"
        raise StudyError(f"there is no token {name!r} to revoke; there is {there}")
    log(connection, study_id=None, actor="admin", action="token revoked", now=now, token=name)


def read(connection: Connection, now: int, secret: str) -> ApiToken:
    """The token behind a secret; `NotAllowed` when unknown, revoked or past its time."""
    row = connection.execute(select(api_token).where(api_token.c.token_hash == token_hash(secret))).first()
    if row is None or row.revoked_ms is not None or (row.expires_ms is not None and row.expires_ms <= now):
        raise NotAllowed("this token is unknown, revoked or past its time; make a new one with rushes study token make")
    return filled(ApiToken, row, scopes=tuple(row.scopes))
