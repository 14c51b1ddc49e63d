"""A study's life while raters work: paused, closed, opened again; pairs retired; reported problems resolved.

Nothing here takes a vote away. A paused or closed study gives out no new pair; a rater who has one on the screen can
still send it. A retired pair is shown to nobody any more, and the votes it has go on counting: leaving votes out after
they were seen would be a choice of result.
"""

from __future__ import annotations

from sqlalchemy import Connection, select

from rushes.study.database.tables import assignment, pair, problem
from rushes.study.errors import StudyError
from rushes.study.queries import SAMPLE_KINDS, acting, log, set_study, study_row
from rushes.study.raters.allocation import recount, withdraw_places
from rushes.study.records import LONGEST_NOTE, StudyState

_WORDS: dict[StudyState, str] = {"open": "opened again", "paused": "paused", "closed": "closed"}


def set_state(
    connection: Connection, now: int, study: str, state: StudyState, *, why: str = "", by: str = "admin"
) -> None:
    """Pause, close or open a study. A vote that is on a rater's screen is still taken."""
    row = study_row(connection, study, lock=True)
    if row.state == state:
        raise StudyError(f"study {study} is already {state}")
    set_study(connection, row.id, state=state)
    log(connection, study_id=row.id, actor=by, action=_WORDS[state], now=now, why=_note(why))


def retire_pair(connection: Connection, now: int, study: str, sample: str, *, why: str, by: str = "admin") -> int:
    """Show a pair to nobody any more; its votes stay and count. Returns how many it has."""
    row = study_row(connection, study, lock=True)
    kinds = (*SAMPLE_KINDS, "gold")
    query = select(pair).where(pair.c.study_id == row.id, pair.c.sample == sample, pair.c.kind.in_(kinds))
    place = connection.execute(query).first()
    if place is None:
        raise StudyError(f"study {study} has no pair {sample!r}; the export lists the samples")
    if place.retired:
        raise StudyError(f"pair {sample} is already retired")
    if not why.strip():
        raise StudyError("give a reason for retiring the pair; it goes into the log")
    withdraw_places(connection, place.id)
    connection.execute(pair.update().where(pair.c.id == place.id).values(retired=True))
    recount(connection, place.id, minimum=row.min_raters, kind=place.kind)
    log(connection, study_id=row.id, actor=by, action="retired a pair", now=now, sample=sample, why=_note(why))
    votes = select(assignment.c.id).where(assignment.c.pair_id == place.id, assignment.c.state == "voted")
    return len(connection.execute(votes).all())


def resolve_problem(connection: Connection, now: int, study: str, number: int, *, note: str, by: str = "admin") -> None:
    """Note what was done about a rater's report. A later note replaces an earlier one; the log keeps both."""
    row = study_row(connection, study)
    mine = problem.c.id == number, problem.c.study_id == row.id
    if connection.execute(select(problem.c.id).where(*mine)).first() is None:
        raise StudyError(f"study {study} has no problem {number}; `rushes study problems {study}` lists them")
    if not note.strip():
        raise StudyError("give a note saying what was done about the problem")
    values = {"resolution": _note(note), "resolved_by": (acting() if by == "admin" else by)[:80], "resolved_ms": now}
    connection.execute(problem.update().where(*mine).values(**values))
    log(connection, study_id=row.id, actor=by, action="resolved a problem", now=now, problem=number, note=_note(note))


def _note(text: str) -> str:
    return " ".join(text.split())[:LONGEST_NOTE]
