"""Giving pairs to raters, and keeping each pair's count of votes and places true.

One rater's place on a pair is an assignment. It is held for `LEASE_MS` after the rater's last sign of life, then
released: the place is free for others, and the rater gets it back on return if nobody took it.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import BindParameter, Connection, Row, and_, bindparam, exists, func, select

from rushes.preference.assignment import REPEAT_DISTANCE, Candidate, Purpose, choose, purpose_at, standing
from rushes.preference.pairs import next_side, seeded_order
from rushes.preference.votes import Side
from rushes.store.tables import assignment, pair, rater, study, vote
from rushes.study.rows import SAMPLE_KINDS
from rushes.study.tokens import new_token

LEASE_MS = 45 * 60_000
_CANDIDATES = 60
"""How many of the most wanted pairs a rater's next one is chosen from."""


_RATER: BindParameter[int] = bindparam("rater_wanted")
_STUDY: BindParameter[int] = bindparam("study_wanted")
_PAIR: BindParameter[int] = bindparam("pair_wanted")
_HELD = (
    select(assignment.c.id, assignment.c.key, assignment.c.pair_id, assignment.c.state, assignment.c.left)
    .where(
        assignment.c.rater_id == _RATER,
        assignment.c.state.in_(("open", "released")),
        assignment.c.purpose != "training",
    )
    .order_by(assignment.c.number)
)
_STALE = select(assignment.c.id, assignment.c.pair_id, assignment.c.left).where(
    assignment.c.study_id == _STUDY,
    assignment.c.state == "open",
    assignment.c.touched_ms < bindparam("since"),
    assignment.c.purpose == "sample",
)


def open_assignments(connection: Connection, who: Row[Any], *, count: int, now: int) -> list[str]:
    """Keys of the rater's open assignments, oldest first; new ones are given until there are `count`, if there are."""
    held = _held(connection, who)
    if len(held) >= count:
        return held
    if connection.dialect.name != "sqlite":  # there, a write transaction has the whole file to itself
        connection.execute(select(study.c.id).where(study.c.id == who.study_id).with_for_update())
    release_stale(connection, who, now=now)
    if _take_back_all(connection, who, now):
        held = _held(connection, who)
    while len(held) < count:
        key = _give(connection, who, now)
        if key is None:
            break
        held.append(key)
    return held


def _held(connection: Connection, who: Row[Any]) -> list[str]:
    return [row.key for row in connection.execute(_HELD, {"rater_wanted": who.id}) if row.state == "open"]


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


def may_return(connection: Connection, row: Any) -> bool:
    """Whether a released assignment's pair still has a place, and one for its side of the screen."""
    query = select(pair.c.free, pair.c.live, pair.c.lefts_a).where(pair.c.id == row.pair_id).with_for_update()
    place = connection.execute(query).one()
    lefts_a = place.lefts_a + (row.left == "a")
    return bool(place.free > 0 and abs(2 * lefts_a - (place.live + 1)) <= 1)


def take_back(connection: Connection, row: Any, *, minimum: int, now: int) -> bool:
    """Reopen a released assignment where it may return; False when others took its place."""
    if not may_return(connection, row):
        return False
    connection.execute(assignment.update().where(assignment.c.id == row.id).values(state="open", touched_ms=now))
    recount(connection, row.pair_id, minimum=minimum)
    return True


def _take_back_all(connection: Connection, who: Row[Any], now: int) -> bool:
    rows = connection.execute(_HELD, {"rater_wanted": who.id}).all()
    released = [row for row in rows if row.state == "released"]
    return any([take_back(connection, row, minimum=who.min_raters, now=now) for row in released])


def _give(connection: Connection, who: Row[Any], now: int) -> str | None:
    """Give the rater one new assignment; None when there is nothing for them."""
    if who.excluded or (who.quota is not None and tasks_taken(connection, who.id) >= who.quota):
        return None
    chosen = _pick_sample(connection, who)
    if chosen is None:
        return None
    number = connection.execute(_NEXT_NUMBER, {"rater_wanted": who.id}).scalar_one()
    purpose = purpose_at(
        number, gold_every=who.gold_every, repeat_every=who.repeat_every, seed=who.seed, rater=who.code
    )
    extra = _pick_extra(connection, who, purpose, number)
    pair_id, left, given_for = (chosen.pair, chosen.left, "sample") if extra is None else (*extra, purpose)
    key = add_assignment(connection, who, pair_id=pair_id, left=left, purpose=given_for, number=number, now=now)
    if given_for == "sample":
        recount(connection, pair_id, minimum=who.min_raters)
    return key


_NEXT_NUMBER = rater.update().where(rater.c.id == _RATER).values(tasks=rater.c.tasks + 1).returning(rater.c.tasks)
_TAKEN = select(func.count()).where(
    assignment.c.rater_id == _RATER,
    assignment.c.state.in_(("open", "voted", "late")),
    assignment.c.purpose != "training",
)
_UNSEEN = and_(
    pair.c.study_id == _STUDY, ~exists().where(assignment.c.pair_id == pair.c.id, assignment.c.rater_id == _RATER)
)
_FREE_SAMPLE = and_(_UNSEEN, pair.c.kind == "sample", pair.c.free > 0)
_EXPECTED = select(
    _TAKEN.scalar_subquery() + select(func.count()).select_from(pair).where(_FREE_SAMPLE).scalar_subquery()
)
_MOST_WANTED = (
    select(pair.c.id, pair.c.first_left, pair.c.live, pair.c.lefts_a, pair.c.needed)
    .where(_FREE_SAMPLE)
    .order_by(pair.c.live.desc(), pair.c.id)
    .limit(_CANDIDATES)
)
_GOLD = select(pair.c.id).where(_UNSEEN, pair.c.kind == "gold")
_LEFTS = (
    select(assignment.c.left, func.count())
    .where(assignment.c.rater_id == _RATER, assignment.c.purpose == "sample")
    .group_by(assignment.c.left)
)


def tasks_taken(connection: Connection, rater_id: int) -> int:
    """Tasks that count towards the rater's quota: open or voted, not reported as a problem."""
    return int(connection.execute(_TAKEN, {"rater_wanted": rater_id}).scalar_one())


def tasks_expected(connection: Connection, who: Row[Any]) -> int:
    """Tasks taken, and pairs with a place that this rater has not seen; at most the quota."""
    keys = {"rater_wanted": who.id, "study_wanted": who.study_id}
    expected = int(connection.execute(_EXPECTED, keys).scalar_one())
    return expected if who.quota is None else min(expected, who.quota)


def _pick_sample(connection: Connection, who: Row[Any]) -> Candidate | None:
    keys = {"rater_wanted": who.id, "study_wanted": who.study_id}
    candidates = [
        Candidate(
            pair=row.id,
            taken=row.live,
            needed=row.needed,
            left=next_side(row.first_left, shown_a=row.lefts_a, shown_b=row.live - row.lefts_a),
        )
        for row in connection.execute(_MOST_WANTED, keys)
    ]
    lefts = {left: count for left, count in connection.execute(_LEFTS, {"rater_wanted": who.id})}
    return choose(
        candidates,
        seen=frozenset(),
        lefts_a=lefts.get("a", 0),
        lefts_b=lefts.get("b", 0),
        seed=who.seed,
        rater=who.code,
    )


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
    query = select(first.c.pair_id, first.c.left).where(
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
    connection: Connection, who: Row[Any], *, pair_id: int, left: Side, purpose: str, number: int, now: int
) -> str:
    """A new open assignment; returns its key."""
    values = {
        "study_id": who.study_id,
        "pair_id": pair_id,
        "rater_id": who.id,
        "key": new_token(),
        "purpose": purpose,
        "look": 2 if purpose == "repeat" else 1,
        "number": number,
        "left": left,
        "token_a": new_token(),
        "token_b": new_token(),
        "state": "open",
        "assigned_ms": now,
        "touched_ms": now,
    }
    connection.execute(_ADD, values)
    return str(values["key"])


_ADD = assignment.insert()
_LIVE = (
    select(assignment.c.state, assignment.c.left, vote.c.winner)
    .join(rater, rater.c.id == assignment.c.rater_id)
    .outerjoin(vote, vote.c.id == assignment.c.vote_id)
    .where(
        assignment.c.pair_id == _PAIR,
        assignment.c.purpose == "sample",
        assignment.c.state.in_(("open", "voted")),
        rater.c.excluded.is_(False),
    )
    .order_by(assignment.c.vote_id)
)
_KEEP_COUNT = pair.update().where(pair.c.id == _PAIR)


def recount(connection: Connection, pair_id: int, *, minimum: int, kind: str = "sample") -> None:
    """Derive a pair's counts and state anew from its assignments and standing votes, excluded raters left out."""
    if kind not in SAMPLE_KINDS:
        return
    live = connection.execute(_LIVE, {"pair_wanted": pair_id}).all()
    winners = [row.winner for row in live if row.state == "voted"]
    now_stands = standing(winners, minimum=minimum)
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
