"""Roles in one study: what an account may do there, where that differs from what it may do everywhere.

A server's owner is an owner of every study. Any other account has the role that a study gives it, and elsewhere its
own: a *member* has none of its own, and sees the studies that name it.
"""

from __future__ import annotations

from sqlalchemy import Connection, delete, select

from rushes.study.database.tables import study, study_role
from rushes.study.errors import StudyError
from rushes.study.owner import administrators
from rushes.study.queries import log, study_row
from rushes.study.records import STUDY_ROLES, AdminAccount

NONE = "none"


def set_role(connection: Connection, now: int, study: str, name: str, role: str) -> None:
    """Give an account a role in a study, or with "none" take it away; the log says who did."""
    row = study_row(connection, study)
    administrators.need(connection, name)
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
    there = {one.name for one in administrators.accounts(connection)}
    return tuple(AdminAccount(name=one.name, role=one.role) for one in found if one.name in there)


def roles_of(connection: Connection, name: str) -> dict[str, str]:
    """The studies that give this account a role, by the study's name."""
    query = select(study.c.name, study_role.c.role).join(study, study.c.id == study_role.c.study_id)
    found = connection.execute(query.where(study_role.c.name == name).order_by(study.c.name))
    return {row.name: row.role for row in found}
