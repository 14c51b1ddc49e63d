"""What this server has sent of an assignment's clips, and clips that changed after they were imported.

The page says what was played; the server knows what it sent. A clip counts as watched only where all its bytes went
out under this assignment's own token, and play counts from the moment the first of them did. `assignment.sent` keeps,
for each side, the byte ranges sent so far and how long after the pair's showing the first byte went out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, bindparam, select

from rushes.study.database.tables import assignment, problem
from rushes.study.queries import KEEP, add_problem, log
from rushes.study.raters.play_credit import union
from rushes.study.raters.play_ledger import shown_since
from rushes.study.records import Media

CHANGED = "clip changed"
"""The kind of problem the server itself reports: a file is not the one that was imported."""
_PLACE = (
    select(assignment.c.sent, assignment.c.shown_ms, assignment.c.assigned_ms, assignment.c.touched_ms)
    .where(assignment.c.id == bindparam("wanted_id"))
    .with_for_update(key_share=True)
)


def record_sent(
    connection: Connection, now: int, media: Media, spans: Sequence[tuple[int, int]], *, ago_ms: int = 0
) -> None:
    """Note bytes [first, end) of a rater's clip as sent; play is credited for clips that were sent in full."""
    row: Any = connection.execute(_PLACE, {"wanted_id": media.assignment}).first()
    if row is None:
        return
    stored: dict[str, Any] = dict(row.sent or {})
    known = stored.get(media.side)
    shown = 0 if row.shown_ms is None else max(0, now - shown_since(row, now) - ago_ms)
    before = [(int(first), int(end)) for first, end in known["spans"]] if known else []
    late = known["late_ms"] if known else shown
    stored[media.side] = {"late_ms": late, "spans": [list(span) for span in union(before, spans)]}
    connection.execute(KEEP, {"wanted_id": media.assignment, "sent": stored})


def report_changed(connection: Connection, now: int, media: Media) -> None:
    """Tell the owner that a clip's file is no longer the one that was imported."""
    place = connection.execute(
        select(assignment.c.study_id).where(assignment.c.id == media.assignment).with_for_update(key_share=True)
    ).first()
    told = select(problem.c.id).where(problem.c.assignment_id == media.assignment, problem.c.kind == CHANGED)
    if place is None or media.assignment is None or connection.execute(told).first() is not None:
        return
    text = f"{media.path} is not the file that was imported; it is no longer shown. Put the old file back."
    study_id = place.study_id
    add_problem(connection, study_id=study_id, assignment_id=media.assignment, kind=CHANGED, text=text, now=now)
    log(connection, study_id=study_id, actor="server", action=CHANGED, now=now, file=media.path)
