"""A rater takes back what they gave: their votes, notes and play records are deleted, at once and for good.

Their platform id and the time they worked stay, for pay alone: withdrawing costs nobody their money. The study's owner
sees how many withdrew and how many votes went. The key of the personal link is made when a rater agrees and shown to
the session in which they did: whoever only knows a participant's id must not be able to delete that person's votes.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Row, select

from rushes.study.database.tables import rater
from rushes.study.database.tables import study as studies
from rushes.study.errors import NotAllowed
from rushes.study.owner.erasing import remove_work
from rushes.study.queries import STOPPED, log, set_rater, signed_in
from rushes.study.recruiting.open_links import votes_of
from rushes.study.tokens import new_token

WITHDREW = "withdrew"


def withdrawal_key(connection: Connection, now: int, session: str) -> str:
    """The key of the rater's own link; "" before they agree, after they withdrew, and for a session that an id alone
    opened after the votes were given."""
    who = signed_in(connection, session, now)
    if who.consent_ms is None or who.withdrawn_ms is not None or who.since_ms > who.consent_ms:
        return ""
    if who.withdraw_key is None:
        key = new_token()
        set_rater(connection, who.id, withdraw_key=key)
        return key
    return str(who.withdraw_key)


def withdrawal(connection: Connection, key: str) -> int | None:
    """How many votes a key would take back; None where they have been. `NotAllowed` for an unknown key."""
    person = _behind(connection, key)
    return None if person.withdrawn_ms is not None else votes_of(connection, person.id)


def withdraw(connection: Connection, now: int, key: str) -> int:
    """Delete the rater's votes and all that goes with them; returns how many votes that was. Again: 0."""
    person = _behind(connection, key)
    if person.withdrawn_ms is not None:
        return 0
    row = connection.execute(select(studies).where(studies.c.id == person.study_id)).one()
    votes = votes_of(connection, person.id)  # without training, which is no work of the study's
    remove_work(connection, row, person)
    outcome = "completed" if person.outcome == "completed" else STOPPED
    set_rater(connection, person.id, withdrawn_ms=now, withdrawn_votes=votes, outcome=outcome, screen_found=None)
    log(connection, study_id=row.id, actor=person.code, action=WITHDREW, now=now, votes=votes)
    return votes


def _behind(connection: Connection, key: str) -> Row[Any]:
    found = connection.execute(select(rater).where(rater.c.withdraw_key == key)).first() if key else None
    if found is None:
        raise NotAllowed("this link is unknown; ask the study's owner")
    return found
