"""Erase a rater who asks for it, as the study declared at its creation (`on_erase`).

Gone either way: the participant's id, the platform's session, sign-in sessions, invitation, drafts, the play ledger,
problem texts and the words of notes; and the rater's code becomes `erased_01`, also in the log.

keep     the votes stay, without the note, under the new code: rankings and agreement do not change
remove   the votes and the exclusions go too; pairs they were on look for other raters

How that goes together with append-only tables: a trigger refuses to change any row of `vote`, `play`, `exclusion` and
`audit`, always. Deleting is refused too, unless the row's rater has `rater.erasing`, which is set and unset inside this
one transaction and nowhere else. What stays is put back under its old id without the person. So there is one door, it
opens for one person's rows, and the log says that it was used (never for whom).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, select

from rushes.study.database.tables import (
    assignment,
    audit,
    exclusion,
    pair,
    play,
    problem,
    rater,
    rater_session,
    recruitment,
    vote,
)
from rushes.study.errors import StudyError
from rushes.study.queries import log, rater_row, set_rater, study_row
from rushes.study.raters.allocation import recount
from rushes.study.records import OnErase
from rushes.study.recruiting.platforms import kept_participant

_PERSONAL = {"note": "", "viewing": None}
"""What a vote loses that is kept: words, and the screen it was given on."""


def erase(
    connection: Connection, now: int, study: str, *, rater: str = "", participant: str = "", by: str = "admin"
) -> tuple[str, int]:
    """Erase a person as the study declared; returns their new code and the votes kept or removed."""
    row = study_row(connection, study, lock=True)
    person = rater_row(connection, row.id, rater or _code_of(connection, row.id, participant))
    if person.erased_ms is not None:
        raise StudyError(f"{person.code} is already erased")
    return erase_person(connection, now, row, person, votes=row.on_erase, by=by)


def erase_person(
    connection: Connection, now: int, row: Row[Any], person: Row[Any], *, votes: OnErase, by: str = "admin"
) -> tuple[str, int]:
    """Erase this rater of the study, with their `votes` or without; returns their new code and the votes concerned."""
    new = person.code if person.erased_ms is not None else _new_code(connection, row.id)
    set_rater(connection, person.id, erasing=True)
    _forget_log(connection, row.id, person.code, new)
    connection.execute(rater_session.delete().where(rater_session.c.rater_id == person.id))
    standing = _clear(connection, row, person, keep=votes == "keep")
    set_rater(connection, person.id, **_blank(new, votes, now))
    done = {"keep": "kept without the person", "remove": "removed"}[votes]
    told = {"rater": new, "votes": done, "count": standing}
    log(connection, study_id=row.id, actor=by, action="erased a rater", now=now, **told)
    return new, standing


def remove_work(connection: Connection, row: Row[Any], person: Row[Any]) -> None:
    """Delete what a rater of the study gave, and keep the rater."""
    set_rater(connection, person.id, erasing=True)
    _clear(connection, row, person, keep=False)
    set_rater(connection, person.id, erasing=False)


def _clear(connection: Connection, row: Row[Any], person: Row[Any], *, keep: bool) -> int:
    """Delete a rater's play records and words, and their votes unless they are to `keep`; returns the votes."""
    places = select(assignment.c.id, assignment.c.pair_id, assignment.c.vote_id, pair.c.kind).join(pair)
    mine = connection.execute(places.where(assignment.c.rater_id == person.id)).all()
    connection.execute(play.delete().where(play.c.assignment_id.in_([one.id for one in mine])))
    connection.execute(problem.update().where(problem.c.assignment_id.in_([one.id for one in mine])).values(text=""))
    votes = connection.execute(select(vote).where(vote.c.rater_id == person.id).order_by(vote.c.id)).all()
    connection.execute(vote.delete().where(vote.c.rater_id == person.id))
    if keep:
        _put_back(connection, person.id, votes)
    else:
        _remove_work(connection, person.id, mine)
    for pair_id, kind in sorted({(one.pair_id, one.kind) for one in mine}):
        recount(connection, pair_id, minimum=row.min_raters, kind=kind)
    return sum(one.id == assigned.vote_id for one in votes for assigned in mine)


def _code_of(connection: Connection, study_id: int, participant: str) -> str:
    """The rater behind a platform's id, which the study may keep as a hash only."""
    links = connection.execute(select(recruitment).where(recruitment.c.study_id == study_id)).all()
    kept = {kept_participant(link, participant) for link in links}
    found = connection.execute(select(rater.c.code).where(rater.c.study_id == study_id, rater.c.participant.in_(kept)))
    code = found.scalar()
    if code is None:
        raise StudyError("no rater of the study has this participant id; check it, or give the rater's code")
    return str(code)


def _new_code(connection: Connection, study_id: int) -> str:
    taken = set(connection.execute(select(rater.c.code).where(rater.c.study_id == study_id)).scalars())
    return next(name for n in range(1, len(taken) + 2) if (name := f"erased_{n:02d}") not in taken)


def _forget_log(connection: Connection, study_id: int, code: str, new: str) -> None:
    """Lines of the log that name the rater, put back with the new code at their old place."""
    for line in connection.execute(select(audit).where(audit.c.study_id == study_id)).all():
        values = dict(line._mapping) | {
            "actor": new if line.actor == code else line.actor,
            "detail": _renamed(line.detail, code, new),
        }
        if values != dict(line._mapping):
            connection.execute(audit.delete().where(audit.c.id == line.id))
            connection.execute(audit.insert().values(**values))


def _renamed(value: Any, code: str, new: str) -> Any:
    """
    >>> _renamed({"raters": ["r1", "r2"], "sample": "r1_x"}, "r1", "erased_01")
    {'raters': ['erased_01', 'r2'], 'sample': 'r1_x'}
    """
    if isinstance(value, dict):
        return {key: _renamed(one, code, new) for key, one in value.items()}
    if isinstance(value, list):
        return [_renamed(one, code, new) for one in value]
    return new if value == code else value


def _put_back(connection: Connection, rater_id: int, votes: Sequence[Row[Any]]) -> None:
    for row in votes:
        connection.execute(vote.insert().values(**(dict(row._mapping) | _PERSONAL)))
    mine = assignment.c.rater_id == rater_id
    connection.execute(assignment.update().where(mine).values(draft=None))
    connection.execute(assignment.update().where(mine, assignment.c.state == "open").values(state="released"))


def _remove_work(connection: Connection, rater_id: int, mine: Sequence[Row[*tuple[Any, ...]]]) -> None:
    connection.execute(exclusion.delete().where(exclusion.c.rater_id == rater_id))
    connection.execute(problem.delete().where(problem.c.assignment_id.in_([one.id for one in mine])))
    connection.execute(assignment.delete().where(assignment.c.rater_id == rater_id))


def _blank(new: str, on_erase: str, now: int) -> dict[str, object]:
    """The rater's row afterwards: a place in counts, and nobody's."""
    values: dict[str, object] = {
        "code": new,
        "invite_hash": None,
        "participant": None,
        "platform_session": None,
        "erased_ms": now,
        "erasing": False,
        "withdraw_key": None,
        "screen_found": None,
    }
    if on_erase == "remove":
        values |= {"active_ms": 0, "tasks": 0, "excluded": False, "seen_ms": None, "work_since_ms": None}
    return values
