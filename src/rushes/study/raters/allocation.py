"""Giving pairs to raters, and keeping each pair's count of votes and places true.

One rater's place on a pair is an assignment. It is held for `LEASE_MS` after the rater's last sign of life, then
released: the place is free for others, and the rater gets it back on return if nobody took it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Integer, Row, and_, bindparam, exists, func, select

from rushes.instruments.preference.assignment import (
    REPEAT_DISTANCE,
    Candidate,
    Purpose,
    choose,
    purpose_at,
    retired,
    standing,
)
from rushes.instruments.preference.methods.method import method
from rushes.instruments.preference.methods.trials import arranged
from rushes.instruments.preference.pairs import next_side, seeded_order
from rushes.instruments.preference.votes import Side
from rushes.study.database.tables import assignment, pair, rater, study, vote
from rushes.study.methods.assigning import next_trial, size_of, turn_of
from rushes.study.queries import PAIR, RATER, SAMPLE_KINDS, STILL_SHOWN, STOPPED, STUDY, VOTED
from rushes.study.raters.active_pairing import of_next_match_up
from rushes.study.tokens import new_token

LEASE_MS = 45 * 60_000
_CANDIDATES = 60
"""How many of the most wanted pairs a rater's next one is chosen from."""

_HELD_COLUMNS = ("id", "key", "pair_id", "state", "left", "arrangement", "token_a", "token_b")
_MINE = and_(assignment.c.rater_id == RATER, assignment.c.purpose != "training")
_HELD = (
    select(*(assignment.c[name] for name in _HELD_COLUMNS))
    .where(_MINE, assignment.c.state.in_(("open", "released")))
    .order_by(assignment.c.number)
)
_STALE = select(assignment.c.id, assignment.c.pair_id, assignment.c.left).where(
    assignment.c.study_id == STUDY,
    assignment.c.state == "open",
    assignment.c.touched_ms < bindparam("since"),
    assignment.c.purpose == "sample",
)
_TURN = (
    select(_STALE.exists().label("stale"))
    .select_from(study)
    .where(study.c.id == STUDY)
    .with_for_update(of=study, key_share=True)
)
"""Places of a study are given one rater at a time. Every row is locked with `key_share` (FOR NO KEY UPDATE): a plain
FOR UPDATE would also stop every insert that refers to the row, and a vote that holds its pair and refers to the study
would wait for a new task that holds the study and refers to the pair, each for the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """An open assignment of a rater."""

    key: str
    token_a: str
    token_b: str


def open_assignments(connection: Connection, who: Row[Any], *, count: int, now: int, show: bool = False) -> list[Held]:
    """The rater's open assignments, oldest first; new ones are given until there are `count`, if there are.

    `show`: a new one that comes first is shown at once.
    """
    if who.outcome == STOPPED or who.withdrawn_ms is not None:
        return []
    held = _open(connection.execute(_HELD, {"rater_wanted": who.id}).all())
    if len(held) >= count:
        return held
    keys = {"study_wanted": who.study_id, "since": now - LEASE_MS}
    if connection.execute(_TURN, keys).scalar_one():
        release_stale(connection, who, now=now)
    held = _open(_held_now(connection, who, now=now))
    while len(held) < count:
        given = _give(connection, who, now, show=show and not held)
        if given is None:
            break
        held.append(given)
    return held


def _open(rows: Sequence[Any]) -> list[Held]:
    return [Held(key=row.key, token_a=row.token_a, token_b=row.token_b) for row in rows if row.state == "open"]


def _held_now(connection: Connection, who: Row[Any], *, now: int) -> Sequence[Any]:
    """Read again once it is this rater's turn: a second tab may have got a pair; and what was released may return."""
    rows = connection.execute(_HELD, {"rater_wanted": who.id}).all()
    released = [row for row in rows if row.state == "released"]
    if any([take_back(connection, row, minimum=who.min_raters, now=now) for row in released]):
        rows = connection.execute(_HELD, {"rater_wanted": who.id}).all()
    return rows


def release_stale(connection: Connection, who: Row[Any], *, now: int) -> None:
    """Free the places of raters who went away from this rater's study.

    The next rater of such a pair sees it the other way round, so that there is a side left for the one who went away.
    """
    rows = connection.execute(_STALE, {"study_wanted": who.study_id, "since": now - LEASE_MS}).all()
    for row in rows:
        connection.execute(assignment.update().where(assignment.c.id == row.id).values(state="released"))
        other = "b" if row.left == "a" else "a"
        connection.execute(pair.update().where(pair.c.id == row.pair_id).values(first_left=other))
        recount(connection, row.pair_id, minimum=who.min_raters)


_PLACE = (
    select(pair.c.free, pair.c.live, pair.c.lefts_a, STILL_SHOWN.label("still_shown"))
    .where(pair.c.id == PAIR)
    .with_for_update(key_share=True)
)


def may_return(connection: Connection, row: Any) -> bool:
    """Whether a released assignment's pair still has a place, and one for its side of the screen."""
    place = connection.execute(_PLACE, {"pair_wanted": row.pair_id}).one()
    lefts_a = place.lefts_a + (row.left == "a")
    balanced = row.arrangement is not None or abs(2 * lefts_a - (place.live + 1)) <= 1
    return bool(place.still_shown and place.free > 0 and balanced)


def withdraw_places(connection: Connection, pair_id: int) -> None:
    """Take a pair off every table where it is not voted on, because it is retired or decided; then hold the pair.

    A form that is filled in already can still be sent: its vote is stored and counts. Places are taken before their
    pair, in the order in which a vote takes them, so that neither of the two waits for the other.
    """
    waiting = assignment.c.pair_id == pair_id, assignment.c.state.in_(("open", "released"))
    connection.execute(assignment.update().where(*waiting).values(state="retired"))
    connection.execute(_PLACE, {"pair_wanted": pair_id})


def take_back(connection: Connection, row: Any, *, minimum: int, now: int) -> bool:
    """Reopen a released assignment where it may return; False when others took its place."""
    if not may_return(connection, row):
        return False
    connection.execute(assignment.update().where(assignment.c.id == row.id).values(state="open", touched_ms=now))
    recount(connection, row.pair_id, minimum=minimum)
    return True


def give_up(connection: Connection, who: Row[Any]) -> None:
    """Free every place that a rater who stops has not voted on."""
    mine = _MINE, assignment.c.state == "open"
    for pair_id in (
        connection.execute(select(assignment.c.pair_id).where(*mine), {"rater_wanted": who.id}).scalars().all()
    ):
        waiting = assignment.update().where(*mine, assignment.c.pair_id == pair_id).values(state="retired")
        connection.execute(waiting, {"rater_wanted": who.id})
        recount(connection, pair_id, minimum=who.min_raters)


def _give(connection: Connection, who: Row[Any], now: int, *, show: bool) -> Held | None:
    """Give the rater one new assignment; None when there is nothing for them."""
    if who.study_state != "open" or who.excluded or _quota_reached(connection, who):
        return None
    while (picked := _pick_sample(connection, who)) is not None:
        chosen, number = picked
        purpose = purpose_at(
            number, gold_every=who.gold_every, repeat_every=who.repeat_every, seed=who.seed, rater=who.code
        )
        extra = _pick_extra(connection, who, purpose, number)
        if extra is not None or _take_place(connection, chosen):
            connection.execute(_COUNT_TASK, {"rater_wanted": who.id})
            pair_id, left, given_for = (chosen.pair, chosen.left, "sample") if extra is None else (*extra, purpose)
            return add_assignment(
                connection, who, pair_id=pair_id, left=left, purpose=given_for, number=number, now=now, show=show
            )
        # Somebody came back to that pair in this very moment: look again.
    return None


def _quota_reached(connection: Connection, who: Row[Any]) -> bool:
    return who.quota is not None and tasks_taken(connection, who.id) >= who.quota


def is_finished(connection: Connection, who: Row[Any]) -> bool:
    """Whether there is no pair on the rater's table and none to come, as things stand."""
    if who.trained_ms is None or _open(connection.execute(_HELD, {"rater_wanted": who.id}).all()):
        return False
    if _quota_reached(connection, who):
        return True
    query = select(pair.c.id).where(FREE_SAMPLE).limit(1)
    return connection.execute(query, {"rater_wanted": who.id, "study_wanted": who.study_id}).first() is None


_COUNT_TASK = rater.update().where(rater.c.id == RATER).values(tasks=rater.c.tasks + 1)
_TAKEN = select(func.count()).where(_MINE, assignment.c.state.in_(("open", "voted", "late")))
HAS_OPEN = exists().where(_MINE, assignment.c.state == "open")
"""Whether a rater has a pair on the table; wants `rater_wanted`."""
HAS_VOTED = exists().where(VOTED).correlate(None).label("has_voted")
"""Whether a rater has voted on a pair that counts; wants `rater_wanted`."""
_UNSEEN = and_(
    pair.c.study_id == STUDY,
    STILL_SHOWN,
    ~exists().where(assignment.c.pair_id == pair.c.id, assignment.c.rater_id == RATER),
)
FREE_SAMPLE = and_(_UNSEEN, pair.c.kind == "sample", pair.c.free > 0)
"""A pair with a place that this rater has not seen; wants `rater_wanted` and `study_wanted`."""
TASKS_EXPECTED = (
    _TAKEN.scalar_subquery() + select(func.count()).select_from(pair).where(FREE_SAMPLE).scalar_subquery()
).label("expected_tasks")
"""Tasks taken, and pairs with a place that this rater has not seen; wants `rater_wanted` and `study_wanted`."""
_LEFTS = select(func.count()).where(assignment.c.rater_id == RATER, assignment.c.purpose == "sample")
_MOST_WANTED = (
    select(
        *(pair.c[name] for name in ("id", "first_left", "live", "lefts_a", "needed")),
        _LEFTS.where(assignment.c.left == "a").scalar_subquery().label("mine_a"),
        _LEFTS.where(assignment.c.left == "b").scalar_subquery().label("mine_b"),
        select(rater.c.tasks).where(rater.c.id == RATER).scalar_subquery().label("tasks"),
    )
    .where(FREE_SAMPLE)
    .order_by(pair.c.live.desc(), pair.c.id)
    .limit(_CANDIDATES)
)
_GOLD = select(pair.c.id).where(_UNSEEN, pair.c.kind == "gold")
_TAKE_PLACE = (
    pair.update()
    .where(
        pair.c.id == PAIR,
        pair.c.free > 0,
        pair.c.live == bindparam("live_seen"),
        pair.c.lefts_a == bindparam("lefts_seen"),
    )
    .values(live=pair.c.live + 1, free=pair.c.free - 1, lefts_a=pair.c.lefts_a + bindparam("one_more_a", type_=Integer))
)


def tasks_taken(connection: Connection, rater_id: int) -> int:
    """Tasks that count towards the rater's quota: open or voted, not reported as a problem."""
    return int(connection.execute(_TAKEN, {"rater_wanted": rater_id}).scalar_one())


def _pick_sample(connection: Connection, who: Row[Any]) -> tuple[Candidate, int] | None:
    """A pair for the rater, and the number that their task of it would have."""
    keys = {"rater_wanted": who.id, "study_wanted": who.study_id}
    if not method(who.method).is_pairs:
        return next_trial(connection, who, FREE_SAMPLE)
    rows = connection.execute(_MOST_WANTED, keys).all()
    if who.pairing == "active" and rows and rows[0].live == 0:  # what is begun is finished first in any case
        rows = connection.execute(_MOST_WANTED.where(of_next_match_up(connection, FREE_SAMPLE, keys)), keys).all()
    candidates = [
        Candidate(
            pair=row.id,
            taken=row.live,
            needed=row.needed,
            left=next_side(row.first_left, shown_a=row.lefts_a, shown_b=row.live - row.lefts_a),
            lefts_a=row.lefts_a,
        )
        for row in rows
    ]
    mine = {"lefts_a": rows[0].mine_a, "lefts_b": rows[0].mine_b} if rows else {"lefts_a": 0, "lefts_b": 0}
    best = choose(candidates, **mine, seed=who.seed, rater=who.code)
    return None if best is None else (best, rows[0].tasks + 1)


def _take_place(connection: Connection, chosen: Candidate) -> bool:
    """Take a place on the pair; False when it no longer stands as it did when it was chosen.

    Other places are given one at a time, but a rater whose place was released takes it back with any sign of life, and
    a correction may make a third opinion needless.
    """
    values = {
        "pair_wanted": chosen.pair,
        "live_seen": chosen.taken,
        "lefts_seen": chosen.lefts_a,
        "one_more_a": int(chosen.left == "a"),
    }
    return connection.execute(_TAKE_PLACE, values).rowcount == 1


def _pick_extra(connection: Connection, who: Row[Any], purpose: Purpose, number: int) -> tuple[int, Side] | None:
    if purpose == "gold":
        return _pick_gold(connection, who, number)
    return _pick_repeat(connection, who, number) if purpose == "repeat" else None


def _pick_gold(connection: Connection, who: Row[Any], number: int) -> tuple[int, Side] | None:
    ids = list(connection.execute(_GOLD, {"rater_wanted": who.id, "study_wanted": who.study_id}).scalars())
    if not ids:
        return None
    left: Side = "a" if seeded_order(who.seed, "gold side", who.code, number) % 2 else "b"
    return min(ids, key=lambda pair_id: seeded_order(who.seed, "gold pair", who.code, pair_id)), left


def _pick_repeat(connection: Connection, who: Row[Any], number: int) -> tuple[int, Side] | None:
    """An earlier sample of this rater with the sides swapped."""
    first, second = assignment.alias(), assignment.alias()
    again = exists().where(second.c.rater_id == who.id, second.c.pair_id == first.c.pair_id, second.c.look == 2)
    query = select(first.c.pair_id, first.c.left).join(pair, pair.c.id == first.c.pair_id)
    query = query.where(
        STILL_SHOWN,
        first.c.rater_id == who.id,
        first.c.state == "voted",
        first.c.purpose == "sample",
        first.c.number <= number - REPEAT_DISTANCE,
        ~again,
    )
    rows = connection.execute(query).all()
    if not rows:
        return None
    row = min(rows, key=lambda r: seeded_order(who.seed, "repeat pair", who.code, r.pair_id))
    return row.pair_id, "b" if row.left == "a" else "a"


def add_assignment(
    connection: Connection,
    who: Row[Any],
    *,
    pair_id: int,
    left: Side,
    purpose: str,
    number: int,
    now: int,
    show: bool = False,
) -> Held:
    """A new open assignment."""
    asked, arrangement = method(who.method), None
    if not asked.is_pairs:
        size, turn = size_of(connection, pair_id), turn_of(connection, pair_id)
        arrangement = arranged(asked, size, seed=who.seed, trial=pair_id, turn=turn)
    new = Held(key=new_token(), token_a=new_token(), token_b=new_token())
    values = {
        "study_id": who.study_id,
        "pair_id": pair_id,
        "rater_id": who.id,
        "key": new.key,
        "purpose": purpose,
        "look": 2 if purpose == "repeat" else 1,
        "number": number,
        "left": left if arrangement is None else "a",
        "arrangement": arrangement,
        "token_a": new.token_a,
        "token_b": new.token_b,
        "state": "open",
        "assigned_ms": now,
        "shown_ms": now if show else None,
        "touched_ms": now,
    }
    connection.execute(_ADD, values)
    return new


_ADD = assignment.insert()
_LIVE = (
    select(assignment.c.state, assignment.c.left, vote.c.winner)
    .join(rater, rater.c.id == assignment.c.rater_id)
    .outerjoin(vote, vote.c.id == assignment.c.vote_id)
    .where(
        assignment.c.pair_id == PAIR,
        assignment.c.purpose == "sample",
        assignment.c.state.in_(("open", "voted")),
        rater.c.excluded.is_(False),
    )
    .order_by(assignment.c.vote_id)
)
_RETIRED = select(pair.c.retired).where(pair.c.id == PAIR)
_KEEP_COUNT = pair.update().where(pair.c.id == PAIR)


def recount(connection: Connection, pair_id: int, *, minimum: int, kind: str = "sample") -> None:
    """Derive a pair's counts and state anew from its assignments and standing votes, excluded raters left out."""
    if kind not in SAMPLE_KINDS:
        return
    live = connection.execute(_LIVE, {"pair_wanted": pair_id}).all()
    winners = [row.winner for row in live if row.state == "voted"]
    now_stands = standing(winners, minimum=minimum)
    if connection.execute(_RETIRED, {"pair_wanted": pair_id}).scalar_one():
        now_stands = retired(now_stands, votes=len(winners))
    values = {
        "pair_wanted": pair_id,
        "votes": len(winners),
        "live": len(live),
        "lefts_a": sum(row.left == "a" for row in live),
        "needed": now_stands.needed,
        "free": max(0, now_stands.needed - len(live)) if kind == "sample" else 0,
        "state": now_stands.state,
    }
    connection.execute(_KEEP_COUNT, values)
