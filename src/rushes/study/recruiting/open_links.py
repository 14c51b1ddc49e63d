"""Raters from a recruiting platform: one open link, the participant's id in, a completion code and a way back out.

The platform sends people to `/join/TOKEN?PROLIFIC_PID=…`. Each becomes a rater of the study, once: the same id comes
back to the same rater, whichever browser it uses. Ids are kept as an HMAC (`ids="hashed"`, the default) or as they came
(`"plain"`); the key of the HMAC lies in the database, so a hashed id is a pseudonym, not an anonymous record.

A place counts against the link's quota while its rater works, or has voted. Who never voted and was not seen for
`HOLD_MS`, was screened out or said no leaves the place to another.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast
from urllib.parse import quote

from sqlalchemy import Connection, Row, and_, func, or_, select

from rushes.study.database.tables import assignment, pair, rater, recruitment, study
from rushes.study.errors import NotAllowed, StudyError
from rushes.study.queries import STILL_SHOWN, STOPPED, VOTED, filled, log, set_rater, signed_in, study_row
from rushes.study.raters.accounts import add_rater, has_training, next_codes, open_session, session_of
from rushes.study.raters.allocation import give_up, is_finished
from rushes.study.raters.time import count_time
from rushes.study.records import RaterSession, StudyState
from rushes.study.recruiting.platforms import (
    PARTICIPANT,
    PLATFORMS,
    Ids,
    Platform,
    RecruitmentPlan,
    check_participant,
    check_recruitment,
    kept_participant,
)
from rushes.study.tokens import new_token, token_hash

Outcome: TypeAlias = Literal["completed", "stopped", "screened out", "full"]
HOLD_MS = 2 * 3_600_000
HOLD_UNDECIDED_MS = 10 * 60_000
"""Who has not agreed to take part holds a place no longer: made-up ids must not fill a study."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenRecruitment:
    """A study's open link as its owner sees it; the token itself was shown once."""

    platform: Platform
    quota: int
    joined: int
    """Places taken."""
    ids: Ids
    codes: dict[str, str]
    return_url: str
    participant_form: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkFacts:
    """What the page behind an open link needs to know before anybody has joined."""

    platform: Platform
    state: StudyState
    language: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How it ended for a participant, for their last page."""

    outcome: Outcome | None
    """None while there is work left."""
    code: str = ""
    return_url: str = ""
    votes: int = 0
    minutes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """What became of somebody who followed the open link: a session, a friendly end, or neither while it is paused."""

    session: RaterSession | None = None
    ending: Ending | None = None


def open_link(connection: Connection, now: int, study: str, plan: RecruitmentPlan) -> str:
    """Make the study's open link and return its token, which is shown this once; an earlier link ends."""
    check_recruitment(plan)
    row = study_row(connection, study, lock=True)
    before = connection.execute(select(recruitment.c.secret).where(recruitment.c.study_id == row.id)).scalar()
    close_link(connection, row, now=now)
    token = new_token()
    codes = {"completed": plan.completion_code, "screened out": plan.screened_out_code, "full": plan.full_code}
    codes |= {"stopped": plan.partial_code}
    values = {
        "study_id": row.id,
        "token_hash": token_hash(token),
        "platform": plan.platform,
        "quota": plan.quota,
        "ids": plan.ids,
        "participant_form": plan.participant_form,
        "secret": before or new_token(),  # one for the study: an id must hash to the same rater through every link
        "codes": codes,
        "return_url": plan.return_url or PLATFORMS[plan.platform].return_url,
        "opened_ms": now,
    }
    connection.execute(recruitment.insert().values(**values))
    facts = {"platform": plan.platform, "quota": plan.quota, "ids": plan.ids}
    log(connection, study_id=row.id, actor="admin", action="opened link", now=now, **facts)
    return token


def close_link(connection: Connection, row: Row[Any], *, now: int) -> None:
    """No new rater comes through the study's link; those who have joined go on."""
    still = recruitment.c.study_id == row.id, recruitment.c.closed_ms.is_(None)
    connection.execute(recruitment.update().where(*still).values(closed_ms=now))


def current(connection: Connection, now: int, study: str) -> OpenRecruitment | None:
    """The study's open link and how many have come; None where there is none."""
    row = study_row(connection, study)
    still = recruitment.c.study_id == row.id, recruitment.c.closed_ms.is_(None)
    link = connection.execute(select(recruitment).where(*still)).first()
    if link is None:
        return None
    return filled(OpenRecruitment, link, joined=_taken(connection, row.id, now=now))


_HAS_VOTED = (
    select(assignment.c.id).where(assignment.c.rater_id == rater.c.id, assignment.c.state.in_(("voted", "late")))
).exists()


def _taken(connection: Connection, study_id: int, *, now: int) -> int:
    """Places of all the study's links that are in use."""
    seen = func.coalesce(rater.c.seen_ms, rater.c.joined_ms)
    query = select(func.count()).where(
        rater.c.study_id == study_id,
        rater.c.recruitment_id.is_not(None),
        or_(rater.c.outcome.is_(None), rater.c.outcome == "completed", _HAS_VOTED),
        or_(
            _HAS_VOTED,
            and_(rater.c.consent_ms.is_not(None), seen > now - HOLD_MS),
            seen > now - HOLD_UNDECIDED_MS,
            rater.c.erased_ms.is_not(None),
        ),
    )
    return int(connection.execute(query).scalar_one())


def link_behind(connection: Connection, token: str) -> Row[Any]:
    """The open link with its study; `NotAllowed` for an unknown token or one that was replaced."""
    query = (
        select(recruitment, study.c.name.label("study_name"), study.c.title, study.c.state, study.c.language)
        .join(study, study.c.id == recruitment.c.study_id)
        .where(recruitment.c.token_hash == token_hash(token), recruitment.c.closed_ms.is_(None))
    )
    row = connection.execute(query).first()
    if row is None:
        raise NotAllowed("this link is unknown or was replaced; ask for the new one")
    return row


def link_facts(connection: Connection, token: str) -> LinkFacts:
    """Which platform a link is for, its study's language and whether it is open; `NotAllowed` if unknown."""
    return filled(LinkFacts, link_behind(connection, token))


def join(connection: Connection, now: int, token: str, *, participant: str, session: str = "") -> Joined:
    """Let a participant in, or back to their own work. Call it from a POST: a look at a link uses nothing up."""
    link = link_behind(connection, token)
    check_participant(link, participant)
    kept = kept_participant(link, participant)
    study_row(connection, link.study_name, lock=True)  # two at once do not both get the last place
    mine = rater.c.study_id == link.study_id, rater.c.participant == kept
    person = connection.execute(select(rater).where(*mine)).first()
    visit = session if PARTICIPANT.fullmatch(session) else None
    gone = person is not None and person.outcome in ("screened out", "full") and not person.excluded
    if person is None or gone:  # who said no, or found no pair, may change their mind while there is a place
        if link.state == "paused":
            return Joined()
        full = _taken(connection, link.study_id, now=now) >= link.quota
        if full or link.state == "closed" or not _any_work(connection, link.study_id):
            return Joined(ending=_ended(link, None, "full"))
    if person is not None:
        kept_outcome = None if gone else person.outcome
        values = {"platform_session": visit, "outcome": kept_outcome, "joined_ms": now if gone else person.joined_ms}
        set_rater(connection, person.id, **values)
        return Joined(session=_sign_in(connection, person.id, now=now))
    new = _new_rater(connection, link, participant=kept, session=visit, now=now)
    return Joined(session=_sign_in(connection, new, now=now))


def decline(connection: Connection, token: str) -> Ending:
    """The code and the way back for somebody who says no on the first page; nothing is stored."""
    return _ended(link_behind(connection, token), None, "screened out")


def _any_work(connection: Connection, study_id: int) -> bool:
    query = select(pair.c.id).where(pair.c.study_id == study_id, pair.c.kind == "sample", pair.c.free > 0, STILL_SHOWN)
    return connection.execute(query.limit(1)).first() is not None


def _new_rater(connection: Connection, link: Row[Any], *, participant: str, session: str | None, now: int) -> int:
    taken = set(connection.execute(select(rater.c.code).where(rater.c.study_id == link.study_id)).scalars())
    code, trained = next_codes(taken, 1)[0], None if has_training(connection, link.study_id) else now
    known = {"recruitment_id": link.id, "participant": participant, "platform_session": session}
    made = add_rater(connection, link.study_id, code, trained_ms=trained, joined_ms=now, **known)
    log(connection, study_id=link.study_id, actor=code, action="joined", now=now, platform=link.platform)
    return made


def _sign_in(connection: Connection, rater_id: int, *, now: int) -> RaterSession:
    """A fresh session, which goes on with the work and sees no vote from before it.

    Whoever knows a participant's id can open one: it neither shows nor changes what that person voted, and ends no
    other session of theirs.
    """
    token = open_session(connection, now, rater_id, since_ms=now)
    who = signed_in(connection, token, now)
    count_time(connection, who, now=now)
    return session_of(who, token=token)


def ending(connection: Connection, now: int, session: str) -> Ending:
    """How it ended for a rater, with code and return address; `outcome` None while there is work left."""
    who = signed_in(connection, session, now)
    outcome = outcome_of(connection, who)
    votes, minutes = votes_of(connection, who.id) + who.withdrawn_votes, round(who.active_ms / 60_000)
    if outcome is None:
        return Ending(outcome=None, votes=votes, minutes=minutes)
    if who.outcome != outcome:
        set_rater(connection, who.id, outcome=outcome)
        log(connection, study_id=who.study_id, actor=who.code, action=outcome, now=now, votes=votes)
    link = connection.execute(select(recruitment).where(recruitment.c.id == who.recruitment_id)).first()
    return _ended(link, who, outcome, votes=votes, minutes=minutes)


def votes_of(connection: Connection, rater_id: int) -> int:
    """Pairs that a rater has voted on, training left out."""
    return int(connection.execute(select(func.count()).where(VOTED), {"rater_wanted": rater_id}).scalar_one())


def outcome_of(connection: Connection, who: Row[Any]) -> Outcome | None:
    """Finished is: the quota is reached, no pair is left, or the study was closed; with a vote, that is completed.

    Completed and stopped stay so, whatever comes later. Who found no pair at first and then worked is not "full" any
    more. An excluded rater who has not finished has stopped: exclusion ends the work, and pay is for what was done.
    """
    if who.outcome in ("completed", STOPPED) or (who.outcome is not None and who.consent_ms is None):
        return cast(Outcome, who.outcome)
    if who.excluded:
        return "completed" if _quota_done(connection, who) else "stopped"
    if who.study_state != "closed" and not is_finished(connection, who):
        return None
    return "completed" if votes_of(connection, who.id) else "full"


def _quota_done(connection: Connection, who: Row[Any]) -> bool:
    return who.quota is not None and votes_of(connection, who.id) >= who.quota


def stop(connection: Connection, now: int, session: str) -> Ending:
    """A rater's own way out, at any moment after agreeing: their votes stay, and their code is for what they did."""
    who = signed_in(connection, session, now)
    if who.consent_ms is None:
        return refuse(connection, now, session)
    count_time(connection, who, now=now)
    if outcome_of(connection, who) is None:
        give_up(connection, who)
        set_rater(connection, who.id, outcome=STOPPED)
        log(connection, study_id=who.study_id, actor=who.code, action=STOPPED, now=now)
    return ending(connection, now, session)


def refuse(connection: Connection, now: int, session: str) -> Ending:
    """The same for somebody who joined and does not agree to take part; their place goes to another."""
    who = signed_in(connection, session, now)
    if who.consent_ms is not None:
        raise StudyError("you have agreed to take part; to stop, close the page or write to the study's owner")
    set_rater(connection, who.id, outcome="screened out")
    log(connection, study_id=who.study_id, actor=who.code, action="declined", now=now)
    link = connection.execute(select(recruitment).where(recruitment.c.id == who.recruitment_id)).first()
    return _ended(link, who, "screened out")


def _ended(
    link: Row[Any] | None, who: Row[Any] | None, outcome: Outcome, *, votes: int = 0, minutes: int = 0
) -> Ending:
    if link is None:
        return Ending(outcome=outcome, votes=votes, minutes=minutes)
    code, address = code_for(link, who, outcome), ""
    if link.return_url and (code or "{code}" not in link.return_url):
        values = {
            "code": code,
            "participant": who.participant if who is not None else "",
            "session": who.platform_session if who is not None else "",
        }
        address = link.return_url
        for name, value in values.items():
            address = address.replace(f"{{{name}}}", quote(value or "", safe=""))
    return Ending(outcome=outcome, code=code, return_url=address, votes=votes, minutes=minutes)


def code_for(link: Row[Any], who: Row[Any] | None, outcome: str) -> str:
    """The code of a participant's last page: the link's own for this outcome, else the rater's own."""
    code = str(link.codes.get(outcome, ""))
    return code or (completion_code(link.secret, who.id, outcome) if who is not None else "")


def completion_code(secret: str, rater_id: int, outcome: str = "completed") -> str:
    """The rater's own code where the study has none for all: nobody can guess it, and it is the same every time.

    >>> completion_code("secret", 7) == completion_code("secret", 7), len(completion_code("secret", 7))
    (True, 10)
    """
    digest = hmac.new(secret.encode(), f"{outcome} {rater_id}".encode(), hashlib.sha256).digest()
    return base64.b32encode(digest).decode()[:10]
