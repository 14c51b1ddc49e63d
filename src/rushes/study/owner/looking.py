"""Looking at results before the study is done, without giving up what its intervals promise.

Who looks at results while votes come in, and stops when they please, finds a winner where there is none: 17 % of the
time at nominal 5 %, with a look every 20 votes. So every look at new votes is logged, and spends a share of the error
rate α = 1 − confidence (3.5 % of 1,500 simulated studies without a difference then find one, at 20 looks each):

    a look at a study that is done, with none before it: α
    the k-th look before it is done: α / (2 k (k + 1)), all of them together at most α / 2
    a look at a study that is done, after earlier ones: α / 2

By the union bound the chance of any false statement at any look stays below α, however often anybody looks and whatever
makes them stop. A study is done when it is closed or every pair has its raters. Votes that are added after a look at
the full α void the promise, and the results say so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, bindparam, func, select

from rushes.study.database.tables import audit, pair
from rushes.study.queries import STILL_SHOWN, log, study_row

LOOKED = "looked at results"


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """One look at a study's results."""

    done: bool
    """Whether the study was closed, or every pair had its raters."""
    number: int = 0
    """Which early look it is, from 1; 0 for one at a study that is done."""
    earlier: int = 0
    """Looks at fewer votes before this one."""
    share: float = 1.0
    """Of the error rate: what this look spends."""
    void: bool = False
    """True where votes were added after a look that had spent the whole error rate."""

    def level(self, confidence: float) -> float:
        """The level of this look's intervals, so that all looks together keep `confidence`.

        >>> round(Look(done=False, number=1, share=1 / 4).level(0.95), 4)
        0.9875
        """
        return confidence if self.share == 1.0 else 1.0 - (1.0 - confidence) * self.share

    def text(self, confidence: float) -> str:
        """What stands before the numbers; "" for a look that needs no word."""
        if self.void:
            return (
                "Votes were added after the results had been read as final: the intervals no longer keep "
                f"{_percent(confidence)}. Treat this as exploratory."
            )
        if self.share == 1.0:
            return ""
        level = _percent(self.level(confidence))
        if self.done:
            return f"The results were read {_times(self.earlier)} before the end, so intervals are at {level}."
        return (
            f"The study isn't done. This is look {self.number} before the end; intervals are at {level}, so that the "
            f"study as a whole keeps {_percent(confidence)} however often you look."
        )


def _percent(share: float) -> str:
    return f"{100 * share:.4g} %"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def look(connection: Connection, now: int, study: str) -> Look:
    """Note a look at the study's results; the same votes again are the same look. Simulated raters need none."""
    row = study_row(connection, study)
    if row.simulated:
        return Look(done=True)
    votes = int(connection.execute(_VOTES, {"study_wanted": row.id}).scalar_one())
    if not votes:
        return Look(done=True)
    found = _this_look(connection, row, votes)
    known = [(entry["votes"], entry["share"]) for entry in _entries(connection, row.id)]
    if (votes, found.share) not in known:
        detail = {"votes": votes, "share": found.share, "done": found.done}
        log(connection, study_id=row.id, actor="admin", action=LOOKED, now=now, **detail)
    return found


def _this_look(connection: Connection, row: Row[Any], votes: int) -> Look:
    entries = _entries(connection, row.id)
    early = sorted({entry["votes"] for entry in entries if not entry["done"]})
    void = any(entry["share"] == 1.0 and entry["votes"] < votes for entry in entries)
    if row.state == "closed" or _is_done(connection, row.id):
        before = [count for count in early if count <= votes]
        return Look(done=True, earlier=len(before), share=0.5 if before or void else 1.0, void=void)
    number = early.index(votes) + 1 if votes in early else len(early) + 1
    return Look(done=False, number=number, earlier=number - 1, share=0.5 / (number * (number + 1)), void=void)


def _entries(connection: Connection, study_id: int) -> list[dict[str, Any]]:
    query = select(audit.c.detail).where(audit.c.study_id == study_id, audit.c.action == LOOKED).order_by(audit.c.id)
    return [dict(detail) for detail in connection.execute(query).scalars()]


def _is_done(connection: Connection, study_id: int) -> bool:
    waiting = pair.c.kind == "sample", pair.c.state.in_(("open", "third")), STILL_SHOWN
    query = select(pair.c.id).where(pair.c.study_id == study_id, *waiting).limit(1)
    return connection.execute(query).first() is None


_VOTES = select(func.coalesce(func.sum(pair.c.votes), 0)).where(pair.c.study_id == bindparam("study_wanted"))
