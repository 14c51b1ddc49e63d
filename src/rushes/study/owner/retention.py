"""How long raters' data are kept: a day declared with the study, and what is done when it has come.

Purging removes every vote, play record, note, id and session of the study's raters, as `erasing` does for one who asks.
Results and anonymous votes are copied out before (`rushes study purge`); the pairs and the log's counts stay.
"""

from __future__ import annotations

import datetime

from sqlalchemy import Connection, select

from rushes.study.database.tables import rater
from rushes.study.errors import StudyError
from rushes.study.queries import log, set_study, study_row

PURGED = "purged"


def check_date(text: str) -> None:
    """`StudyError` for anything but a day as YYYY-MM-DD, or "" for none."""
    if not text:
        return
    try:
        datetime.date.fromisoformat(text)
        if len(text) != 10:
            raise ValueError
    except ValueError:
        raise StudyError(f"raters' data are kept until a day such as 2027-06-30; got {text!r}") from None


def is_due(retain_until: str, now: int) -> bool:
    """Whether the declared day is over, in UTC.

    >>> is_due("2024-01-31", 1_706_659_200_000), is_due("2024-01-30", 1_706_659_200_000), is_due("", 0)
    (False, True, False)
    """
    today = datetime.datetime.fromtimestamp(now / 1000, datetime.UTC).date().isoformat()
    return bool(retain_until) and today > retain_until


def check_purge(connection: Connection, now: int, study: str, *, early: bool = False) -> None:
    """`StudyError` before the declared day is over, unless it is to be `early`."""
    row = study_row(connection, study)
    if not early and not is_due(row.retain_until, now):
        until = f"until {row.retain_until}" if row.retain_until else "without an end"
        raise StudyError(f"study {study} keeps raters' data {until}; --now purges them before that")


def purge(connection: Connection, now: int, study: str, *, early: bool = False, by: str = "admin") -> int:
    """Remove all that raters gave and are; returns how many votes that was. `StudyError` before the declared day."""
    from rushes.study.owner.erasing import erase_person

    row = study_row(connection, study, lock=True)
    check_purge(connection, now, study, early=early)
    people = connection.execute(select(rater).where(rater.c.study_id == row.id).order_by(rater.c.id)).all()
    votes = sum(erase_person(connection, now, row, person, votes="remove")[1] for person in people)
    set_study(connection, row.id, state="closed")
    log(connection, study_id=row.id, actor=by, action=PURGED, now=now, raters=len(people), votes=votes)
    return votes
