"""The vote: checked against the rubric and the watch ledger, stored once, never changed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, Row, bindparam, select

from rushes.instruments.preference.methods.method import method
from rushes.instruments.preference.rubric import rubric
from rushes.study.database.tables import pair, vote
from rushes.study.errors import StudyError
from rushes.study.methods.answers import form_missing
from rushes.study.queries import KEEP, PAIR, log, watch_rule
from rushes.study.raters.allocation import may_return, recount
from rushes.study.raters.play_credit import WatchRule
from rushes.study.raters.play_ledger import durations, ledgers, loaded
from rushes.study.raters.screen import answer_behind, form_of, on_screen, order_of, ratings_by_system, winner_behind
from rushes.study.raters.sound_check import still_to_pass
from rushes.study.raters.time import count_time
from rushes.study.raters.training import feedback, finish_training
from rushes.study.raters.work import LAST_VOTE, at_work
from rushes.study.records import Accepted, Missing, VoteForm, VoteRefusal
from rushes.study.recruiting.screening import screen_to_pass

LONGEST_KEY = 64


def submit(
    connection: Connection,
    now: int,
    session: str,
    assignment: str,
    form: VoteForm,
    *,
    key: str,
    correction: bool = False,
) -> Accepted | VoteRefusal:
    """Store a vote, once per idempotency `key` (any text the page made for this form, at most 64 characters).

    Refused with everything that is missing: two full passes of both clips, winner, one primary tag, at most three
    others, 1–5 for every dimension of both clips. A second vote on the same assignment is refused unless
    `correction`, which adds a row that supersedes the first; nothing is ever overwritten.
    """
    if not 1 <= len(key) <= LONGEST_KEY:
        raise StudyError(f"an idempotency key has 1 to {LONGEST_KEY} characters; got {len(key)}")
    who, row = at_work(connection, session, assignment, now)
    if row.vote_id is not None:
        known = connection.execute(select(vote).where(vote.c.assignment_id == row.id, vote.c.key == key)).first()
        if known is not None and _same(form_of(known), form):
            return Accepted(vote=known.id, repeated=True, feedback=feedback(who, row, form_of(known)))
        standing = form_of(connection.execute(select(vote).where(vote.c.id == row.vote_id)).one())
        correction = correction and connection.execute(_AT, {"vote_wanted": row.vote_id}).scalar_one() >= who.since_ms
        if why := _stands(connection, row, standing, correction=correction, sent_before=known is not None):
            return VoteRefusal(missing=(Missing(field="assignment", message=why),), stored=standing)
    missing = (
        *_unheard(connection, who),
        *_reported(row),
        *_watch_missing(row, watch_rule(who)),
        *form_missing(
            form,
            row.family,
            rubric(who.rubric, who.families),
            method(who.method),
            shown={str(side): length for side, length in durations(row).items()},
            refused=_refused_sides(row),
        ),
    )
    if missing:
        return VoteRefusal(missing=missing)
    count_time(connection, who, now=now)  # the rater's row before the pair's: an exclusion takes them in that order
    stored = _store(connection, who, row, form, key=key, now=now)
    lesson = feedback(who, row, form)
    if row.purpose == "training":
        finish_training(connection, who, row, right=lesson is None or lesson.right, now=now)
    return Accepted(vote=stored, repeated=False, feedback=lesson)


def _same(stored: VoteForm, sent: VoteForm) -> bool:
    """Whether a form that comes again is the one that was stored, whatever the order of its tags."""
    return replace(stored, secondary_tags=tuple(sorted(stored.secondary_tags))) == replace(
        sent,
        secondary_tags=tuple(sorted(sent.secondary_tags)),
        ratings_a=dict(sent.ratings_a),
        ratings_b=dict(sent.ratings_b),
    )


def _stands(connection: Connection, row: Row[Any], stored: VoteForm, *, correction: bool, sent_before: bool) -> str:
    """Why the vote that is stored for this place stands; "" where another may be added."""
    if row.purpose == "training" and not sent_before:
        return ""
    if sent_before or not correction:
        told = f": {stored.winner}, “{stored.primary_tag}”" if stored.winner else ""
        said = f"You have already voted on this pair{told}. That vote counts."
        return f"{said} On the next page you can change your last vote."
    last = connection.execute(LAST_VOTE, {"rater_wanted": row.rater_id}).first()
    return "" if last is not None and last.assignment_id == row.id else "Only your last vote can be changed."


def _reported(row: Row[Any]) -> list[Missing]:
    if row.state != "problem":
        return []
    return [Missing(field="assignment", message="You reported a problem with this pair; go on to the next one.")]


def _unheard(connection: Connection, who: Row[Any]) -> list[Missing]:
    """The pages lead to the checks; this is for whoever posts without them."""
    if screen_to_pass(who):
        return [Missing(field="screen", message="Let the page check your screen first: open /rate/screen.")]
    if not still_to_pass(connection, who):
        return []
    return [Missing(field="sound", message="Answer the sound check first: open /rate/sound, then send this again.")]


def _watch_missing(row: Row[Any], rule: WatchRule) -> list[Missing]:
    lengths, found = durations(row), []
    for side, book in ledgers(row).items():
        done = book.passes(lengths[side], rule)
        if done < rule.passes or not loaded(row, side):
            message = f"Watch clip {side} fully {rule.passes} times; so far {done} of {rule.passes}."
            if done >= rule.passes:
                message = f"Clip {side} was not loaded in full here. Reload the page, then play it to its end."
            found.append(Missing(field=f"watch_{side.lower()}", message=message))
    return found


def _refused_sides(row: Row[Any]) -> tuple[str, ...]:
    """Sides of the screen without a clip: the system refused, so there is nothing to rate."""
    return tuple(side.lower() for side, clip in on_screen(order_of(row)).items() if getattr(row, f"{clip}_refused"))


_AT = select(vote.c.at_ms).where(vote.c.id == bindparam("vote_wanted"))
_HOLD = select(pair.c.id).where(pair.c.id == PAIR).with_for_update(key_share=True)
_ADD = vote.insert().returning(vote.c.id)


def _store(connection: Connection, who: Row[Any], row: Row[Any], form: VoteForm, *, key: str, now: int) -> int:
    connection.execute(_HOLD, {"pair_wanted": row.pair_id})
    late = row.state == "late" or (row.state == "released" and not may_return(connection, row))
    values = {
        "study_id": who.study_id,
        "assignment_id": row.id,
        "pair_id": row.pair_id,
        "rater_id": who.id,
        "purpose": "late" if late else row.purpose,
        "key": key,
        "winner": winner_behind(form.winner, order_of(row)),
        "left": row.left,
        "arrangement": row.arrangement,
        "answer": answer_behind(form, order_of(row)),
        "primary_tag": form.primary_tag or "",
        "secondary_tags": list(form.secondary_tags),
        "ratings": ratings_by_system(form, order_of(row)),
        "pair_ratings": {},
        "note": form.note,
        "watched": _watched(row),
        "supersedes": row.vote_id,
        "at_ms": now,
        "viewing": None if form.viewing is None else dict(form.viewing),
    }
    stored = connection.execute(_ADD, values).scalar_one()
    state = "late" if late else "voted"
    done = {"vote_id": stored, "state": state, "draft": None, "touched_ms": now}
    connection.execute(KEEP, {"wanted_id": row.id, **done})
    recount(connection, row.pair_id, minimum=who.min_raters, kind=row.kind)
    action = "voted" if row.vote_id is None else "corrected a vote"
    log(connection, study_id=who.study_id, actor=who.code, action=action, now=now, sample=row.sample, vote=stored)
    return int(stored)


def _watched(row: Row[Any]) -> list[list[object]]:
    """The ledger with true systems: [clip, pass, start, end]."""
    books = ledgers(row)
    return [list(span) for side, clip in on_screen(order_of(row)).items() for span in books[side].spans(clip)]
