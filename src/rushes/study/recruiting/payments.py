"""The payments list: who did what, their code, and what the declared rate suggests.

One row for each rater who joined or signed in. Money is in the declared currency; a study without a declared rate has
an empty `suggested_pay`. Whether somebody is paid is for people to decide: exclusion is about data, not about pay.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from decimal import Decimal
from statistics import median_low
from typing import Any

from sqlalchemy import Connection, Row, select

from rushes.study.database.tables import rater, recruitment
from rushes.study.database.tables import study as studies
from rushes.study.exchange.files import csv_text
from rushes.study.queries import study_row
from rushes.study.recruiting.open_links import code_for, outcome_of
from rushes.study.recruiting.pay import read_rate
from rushes.study.recruiting.platforms import kept_participant
from rushes.study.results import rater_table


@dataclass(frozen=True, slots=True, kw_only=True)
class Payment:
    """One rater's line."""

    rater: str
    participant: str
    """The platform's id; "hashed:…" where the study keeps hashes and no list of ids was given to match them."""
    platform: str
    session: str
    outcome: str
    """completed, stopped, screened out, full; "" while they work."""
    finished: bool
    code: str
    """The code their last page shows."""
    votes: int
    gold_right: int
    gold_total: int
    minutes: float
    """From the first page on, breaks left out."""
    paid_minutes: float
    """The same, and at least what so many votes take the typical rater."""
    work_share: float
    """Of the work of somebody who completes the study: by votes or by time, whichever is more."""
    excluded: bool
    pay_rate: str
    suggested_pay: Decimal | None
    currency: str


def payments(connection: Connection, study: str, *, participants: Sequence[str] = ()) -> tuple[Payment, ...]:
    """Who did what, their code, and what the declared rate suggests."""
    found = study_row(connection, study)
    links = {one.id: one for one in connection.execute(select(recruitment).where(recruitment.c.study_id == found.id))}
    known = {kept_participant(link, one): one.strip() for one in participants for link in links.values()}
    query = select(rater, studies.c.quota, studies.c.state.label("study_state"))
    query = query.join(studies, studies.c.id == rater.c.study_id)
    rows = {person.code: person for person in connection.execute(query.where(studies.c.id == found.id)).all()}
    rate = read_rate(found.pay) if found.pay else None
    made, lines = [], rater_table(connection, found)
    whole = found.quota or max((line.votes for line in lines), default=0)
    typical = _typical([(rows[line.rater].active_ms, line.votes) for line in lines if line.votes])
    for line in lines:
        person = rows[line.rater]
        if not (person.joined_ms or person.seen_ms or line.votes):
            continue
        outcome, link = outcome_of(connection, person) or "", links.get(person.recruitment_id)
        finished = outcome == "completed"
        votes = line.votes + person.withdrawn_votes  # who takes votes back is paid for them all the same
        paid_ms = max(person.active_ms, round(votes * typical))
        share = 1.0 if finished else _share(votes, person.active_ms, whole, typical)
        done = {"paid_ms": paid_ms, "votes": votes, "share": share}
        made.append(
            Payment(
                rater=line.rater,
                participant=_shown(person, link, known),
                platform=link.platform if link is not None else "",
                session=person.platform_session or "",
                outcome=outcome,
                finished=finished,
                code=code_for(link, person, outcome) if link is not None and outcome else "",
                votes=votes,
                gold_right=line.gold_right,
                gold_total=line.gold_total,
                minutes=round(person.active_ms / 60_000, 2),
                paid_minutes=round(paid_ms / 60_000, 2),
                work_share=share,
                excluded=person.excluded,
                pay_rate=found.pay,
                suggested_pay=None if rate is None else rate.suggested(**done),
                currency="" if rate is None else rate.currency,
            )
        )
    return tuple(made)


def _typical(done: Sequence[tuple[int, int]]) -> float:
    """Milliseconds that a vote takes: the median over raters, the lower of two; 0 where nobody has voted."""
    return median_low(active / votes for active, votes in done) if done else 0.0


def _share(votes: int, active_ms: int, whole: int, typical: float) -> float:
    """How much of the whole work somebody did, by votes or by time, whichever is more."""
    by_votes = votes / whole if whole else 0.0
    by_time = active_ms / (whole * typical) if whole and typical else 0.0
    return round(min(1.0, max(by_votes, by_time)), 4)


def _shown(person: Row[Any], link: Row[Any] | None, known: dict[str, str]) -> str:
    if person.participant is None or link is None:
        return ""
    if person.participant in known:
        return known[person.participant]
    return str(person.participant) if link.ids == "plain" else f"hashed:{person.participant[:12]}"


def payments_csv(lines: Iterable[Payment]) -> str:
    """The list as a CSV; no cell is a formula to a spreadsheet."""
    return csv_text([field.name for field in fields(Payment)], map(asdict, lines))
