"""The training pairs: what their answers teach, and when a rater may go on to the work.

A study's own pairs are shown one after the other; the built-in one where it has none. A pair is repeated, each time
with feedback, until its answer is right: the expected winner, and the expected tag among the reasons where one was
declared. A problem report does not stand in for it. After the declared number of wrong answers the owner is told, once;
the rater may go on trying.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Row, and_, func, select

from rushes.instruments.preference.methods.method import Method, method
from rushes.study.database.tables import assignment, pair, vote
from rushes.study.queries import KEEP, add_problem, log, set_rater
from rushes.study.raters.screen import letters, order_of
from rushes.study.records import Feedback, Remark, VoteForm

BUILT_IN = "training"
"""The sample of the training pair that a study has unless it brings its own (`material.training_clips`)."""
STUCK = "training"
"""The kind of problem the server reports for a rater who does not get the training pair right."""


def training_pairs(connection: Connection, who: Row[Any]) -> list[Row[Any]]:
    """The pairs a rater is trained on, in order: id, `key` of the rater's place or None, and whether it is `learnt`."""
    mine = and_(assignment.c.pair_id == pair.c.id, assignment.c.rater_id == who.id, assignment.c.purpose == "training")
    query = (
        select(pair.c.id, pair.c.sample, assignment.c.key, (assignment.c.state == LEARNT).label("learnt"))
        .outerjoin(assignment, mine)
        .where(pair.c.study_id == who.study_id, pair.c.kind == "training", pair.c.retired.is_(False))
        .order_by(pair.c.id)
    )
    rows = connection.execute(query).all()
    return [row for row in rows if row.sample != BUILT_IN] or list(rows)


LEARNT = "learnt"
"""The state of a training place whose answer was right."""


def feedback(who: Row[Any], row: Row[Any], form: VoteForm) -> Feedback | None:
    """What a training answer is told; None for any other pair."""
    if row.purpose != "training" or row.expected is None:
        return None
    asked = method(who.method)
    if not asked.is_pairs:
        return _of_method(asked, row, form)
    expected = letters(order_of(row))[row.expected]
    named = row.expected_tag is None or row.expected_tag in (form.primary_tag, *form.secondary_tags)
    return Feedback(
        right=form.winner == expected and named,
        expected=expected,
        expected_tag=row.expected_tag,
        text=row.feedback,
        remark=_remark(form, expected, named),
    )


def _of_method(asked: Method, row: Row[Any], form: VoteForm) -> Feedback:
    """Right is a score in the expected half of the scale, on the first question; or the expected best and worst."""
    if asked.rates:
        expected = row.expected
        given = form.ratings_b if asked.rated_side == "B" else form.ratings_a
        right = asked.right(expected, asked.main(given))
    else:
        best, worst = (letters(order_of(row))[clip] for clip in row.expected.split(">"))
        expected, right = f"{best}>{worst}", (form.best, form.worst) == (best, worst)
    return Feedback(right=right, expected=expected, expected_tag=None, text=row.feedback)


def _remark(form: VoteForm, expected: str, named: bool) -> Remark:
    """What a look at the answer adds to the pair's own words; the page says it in the rater's language."""
    if form.winner != expected:
        return ""
    if not named:
        return "reason"
    a, b = sum(form.ratings_a.values()), sum(form.ratings_b.values())
    if not form.ratings_a and not form.ratings_b:
        return ""
    agrees = {"A": a > b, "B": b > a, "Tie": True}[expected]
    return "" if agrees else "ratings"


def finish_training(connection: Connection, who: Row[Any], row: Row[Any], *, right: bool, now: int) -> None:
    """Let the rater go on after a right answer; tell the owner after the declared number of wrong ones."""
    if who.trained_ms is not None:
        return
    if right:
        connection.execute(KEEP, {"wanted_id": row.id, "state": LEARNT})
        if all(one.learnt for one in training_pairs(connection, who)):
            set_rater(connection, who.id, trained_ms=now)
        return
    tries = connection.execute(select(func.count()).where(vote.c.assignment_id == row.id)).scalar_one()
    if tries != who.training_tries:
        return
    text = f"{tries} wrong answers to the training pair; write to the rater, or look at the pair"
    add_problem(connection, study_id=who.study_id, assignment_id=row.id, kind=STUCK, text=text, now=now)
    log(connection, study_id=who.study_id, actor=who.code, action="training not passed", now=now, tries=tries)
