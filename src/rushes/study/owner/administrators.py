"""Administrators: named accounts with roles, everywhere and in single studies; passwords, sessions, known browsers.

An account's newest row in `admin` stands: setting a password adds one, closing the account adds one without a hash. So
the log and the table both say who could do what, and when. A server's owner is an owner of every study. Any other
account has the role that a study gives it, and elsewhere its own: a *member* has none of its own, and sees the studies
that name it.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from sqlalchemy import Connection, Row, delete, func, select

from rushes.study.database.tables import admin, admin_device, admin_session, study, study_role
from rushes.study.errors import NotAllowed, StudyError
from rushes.study.queries import log, study_row
from rushes.study.tokens import new_token, token_hash

FIRST = "admin"
"""The account that the first password makes, an owner."""
SESSION_MS = 12 * 3_600_000
SHORTEST_PASSWORD = 10
AT_ONCE, WAITING = 2, 8
"""Passwords hashed at the same time, and callers that may wait for their turn: each hash takes 64 MiB by design."""
_NAME = re.compile(r"[a-z0-9][a-z0-9_.@+-]{0,39}")
_HASHER = PasswordHasher()
ROLES = ("owner", "adjudicator", "viewer", "member")
"""What an account may do everywhere: everything; decide disputed samples, blind; look; nothing but what a study's own
role gives it."""
STUDY_ROLES = ("owner", "adjudicator", "viewer")
"""What an account may do in one study."""
NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminSession:
    """A signed-in administrator."""

    token: str
    expires_ms: int
    name: str = "admin"
    role: str = "owner"


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminAccount:
    """An account that can sign in."""

    name: str
    role: str


class Turns:
    """Lets a few in, a few more wait, and sends the rest away at once (`StudyError`): neither memory nor threads run
    out."""

    def __init__(self, at_once: int, waiting: int) -> None:
        self._working = threading.BoundedSemaphore(at_once)
        self._inside = threading.BoundedSemaphore(at_once + waiting)

    @contextmanager
    def turn(self) -> Iterator[None]:
        if not self._inside.acquire(blocking=False):
            raise StudyError("too many sign-ins at once; try again in a moment")
        try:
            with self._working:
                yield
        finally:
            self._inside.release()


_TURNS = Turns(AT_ONCE, WAITING)


@cache
def _no_password() -> str:
    """Checked against where there is no such account, so that the answer takes as long as any other."""
    return _HASHER.hash(new_token())


def hash_password(password: str) -> str:
    if len(password) < SHORTEST_PASSWORD:
        raise StudyError(f"a password needs at least {SHORTEST_PASSWORD} characters; got {len(password)}")
    with _TURNS.turn():
        return _HASHER.hash(password)


def check_password(stored: str | None, password: str) -> None:
    """`NotAllowed` unless the password is the stored one."""
    with _TURNS.turn():
        try:
            _HASHER.verify(stored or _no_password(), password)
        except (VerificationError, InvalidHashError):
            raise NotAllowed("wrong account or password") from None


def exists(connection: Connection) -> bool:
    """Whether there was ever an owner; until then only the page that sets the first password may open."""
    return connection.execute(select(admin.c.id).where(admin.c.role == "owner")).first() is not None


def account(connection: Connection, name: str) -> Row[Any] | None:
    """The open account of this name."""
    row = connection.execute(select(admin).where(admin.c.name == name).order_by(admin.c.id.desc())).first()
    return row if row is not None and row.password_hash else None


def accounts(connection: Connection) -> tuple[AdminAccount, ...]:
    """The open accounts, by name."""
    newest = select(func.max(admin.c.id)).group_by(admin.c.name)
    rows = connection.execute(select(admin).where(admin.c.id.in_(newest)).order_by(admin.c.name))
    return tuple(AdminAccount(name=row.name, role=row.role) for row in rows if row.password_hash)


def set_password(connection: Connection, name: str, hashed: str, *, action: str, role: str = "", now: int) -> None:
    """Store an account's new hash and end its sessions; browsers it was used from are forgotten with them."""
    known = account(connection, name)
    values = {"name": name, "role": role or (known.role if known is not None else "owner"), "password_hash": hashed}
    connection.execute(admin.insert().values(**values, set_ms=now))
    connection.execute(admin_session.delete().where(admin_session.c.name == name))
    connection.execute(admin_device.delete().where(admin_device.c.name == name))
    log(connection, study_id=None, actor=FIRST, action=action, now=now, account=name, role=values["role"])


def set_first(connection: Connection, hashed: str, *, now: int) -> None:
    if exists(connection):
        raise NotAllowed("the administrator's password is already set; sign in with it")
    set_password(connection, FIRST, hashed, action="password set", role="owner", now=now)


def add(connection: Connection, name: str, role: str, hashed: str, *, now: int) -> AdminAccount:
    if not _NAME.fullmatch(name):
        raise StudyError(f"an account's name is 1–40 lower-case letters, digits and '._-@+'; got {name!r}")
    if role not in ROLES:
        raise StudyError(f"a role is {', '.join(ROLES)}; got {role!r}")
    if account(connection, name) is not None:
        raise StudyError(f"an account {name!r} already exists; choose another name, or set its password")
    set_password(connection, name, hashed, action="account added", role=role, now=now)
    return AdminAccount(name=name, role=role)


def need(connection: Connection, name: str) -> Row[Any]:
    row = account(connection, name)
    if row is None:
        there = ", ".join(one.name for one in accounts(connection)) or "none yet"
        raise StudyError(f"there is no account {name!r}; there is {there}")
    return row


def close(connection: Connection, now: int, name: str) -> None:
    """End an account; what it did stays in the log. `StudyError` for the last owner."""
    need(connection, name)
    if not any(one.role == "owner" and one.name != name for one in accounts(connection)):
        raise StudyError(f"{name} is the last owner; add another owner first")
    set_password(connection, name, "", action="account closed", now=now)


def open_session(connection: Connection, name: str, *, device: str, now: int) -> AdminSession:
    """Sign in, and remember the browser: wrong tries from elsewhere do not lock it out."""
    row = need(connection, name)
    token, expires = new_token(), now + SESSION_MS
    connection.execute(admin_session.delete().where(admin_session.c.expires_ms <= now))
    connection.execute(admin_session.insert().values(token_hash=token_hash(token), expires_ms=expires, name=name))
    if device and not knows_device(connection, name, device):
        connection.execute(admin_device.insert().values(name=name, device_hash=token_hash(device), at_ms=now))
    log(connection, study_id=None, actor=name, action="signed in", now=now)
    return AdminSession(token=token, expires_ms=expires, name=name, role=row.role)


def knows_device(connection: Connection, name: str, device: str) -> bool:
    """Whether this account was signed in from this browser since its password was set."""
    known = select(admin_device.c.id).where(
        admin_device.c.name == name, admin_device.c.device_hash == token_hash(device)
    )
    return connection.execute(known).first() is not None


_SESSION = (
    select(admin_session.c.expires_ms, admin_session.c.name, admin.c.role, admin.c.password_hash)
    .join(admin, admin.c.name == admin_session.c.name)
    .order_by(admin.c.id.desc())
)


def read_session(connection: Connection, now: int, token: str) -> AdminSession:
    """The session of this cookie; `NotAllowed` when unknown or expired."""
    row = connection.execute(_SESSION.where(admin_session.c.token_hash == token_hash(token))).first()
    if row is None or row.expires_ms <= now or not row.password_hash:
        raise NotAllowed("sign in as an administrator first")
    return AdminSession(  # a session read back has no token  # nosec B106
        token="", expires_ms=row.expires_ms, name=row.name, role=row.role
    )


def at_proxy(connection: Connection, name: str) -> AdminSession:
    """The account of somebody whom a trusted proxy has signed in; `NotAllowed` where there is none."""
    row = account(connection, name)
    if row is None:
        raise NotAllowed(f"{name} has no account here; an owner adds it: rushes study account add {name} --no-password")
    return AdminSession(token="", expires_ms=0, name=name, role=row.role)  # no token to steal  # nosec B106


def close_session(connection: Connection, token: str) -> None:
    """End an administrator's session."""
    connection.execute(admin_session.delete().where(admin_session.c.token_hash == token_hash(token)))


def set_role(connection: Connection, now: int, study: str, name: str, role: str) -> None:
    """Give an account a role in a study, or with "none" take it away; the log says who did."""
    row = study_row(connection, study)
    need(connection, name)
    if role not in (*STUDY_ROLES, NONE):
        raise StudyError(f"a role in a study is {', '.join(STUDY_ROLES)} or {NONE}; got {role!r}")
    mine = study_role.c.study_id == row.id, study_role.c.name == name
    connection.execute(delete(study_role).where(*mine))
    if role != NONE:
        connection.execute(study_role.insert().values(study_id=row.id, name=name, role=role, at_ms=now))
    log(connection, study_id=row.id, actor="admin", action="role given", now=now, account=name, role=role)


def roles(connection: Connection, study: str) -> tuple[AdminAccount, ...]:
    """The accounts that have a role in this study, by name; closed ones are left out."""
    row = study_row(connection, study)
    found = connection.execute(select(study_role).where(study_role.c.study_id == row.id).order_by(study_role.c.name))
    there = {one.name for one in accounts(connection)}
    return tuple(AdminAccount(name=one.name, role=one.role) for one in found if one.name in there)


def roles_of(connection: Connection, name: str) -> dict[str, str]:
    """The studies that give this account a role, by the study's name."""
    query = select(study.c.name, study_role.c.role).join(study, study.c.id == study_role.c.study_id)
    found = connection.execute(query.where(study_role.c.name == name).order_by(study.c.name))
    return {row.name: row.role for row in found}
