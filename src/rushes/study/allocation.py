"""Giving pairs to raters, and keeping each pair's count of votes and places true.

One rater's place on a pair is an assignment. It is held for `LEASE_MS` after the rater's last sign of life, then
released: the place is free for others, and the rater gets it back on return if nobody took it.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Row, and_, exists, func, select

from rushes.preference.assignment import REPEAT_DISTANCE, Candidate, Purpose, choose, purpose_at, standing
from rushes.preference.pairs import next_side, seeded_order
from rushes.preference.votes import Side
from rushes.store.tables import assignment, pair, rater, study, vote
from rushes.study.errors import StudyError
from rushes.study.rows import SAMPLE_KINDS
from rushes.study.tokens import new_token

LEASE_MS = 45 * 60_000
_CANDIDATES = 100
"""How many of the most wanted pairs a rater's next one is chosen from."""


def open_assignments(connection: Connection, who: Row[Any], *, count: int, now: int) -> list[Row[Any]]:
    """The rater's open assignments, oldest first; new ones are given until there are `count`, while there are any."""
    held = _held(connection, who.id)
    if len(held) >= count:
        return held
    connection.execute(select(study.c.id).where(study.c.id == who.study_id).with_for_update())
    release_stale(connection, who.study_id, now=now)
    while len(held) < count and (_take_back(connection, who, now) or _give(connection, who, now)):
        held = _held(connection, who.id)
    return held


def _held(connection: Connection, rater_id: int) -> list[Row[Any]]:
    query = select(assignment).where(
        assignment.c.rater_id == rater_id, assignment.c.state == "open", assignment.c.purpose != "training"
    )
    return list(connection.execute(query.order_by(assignment.c.number)))


def release_stale(connection: Connection, study_id: int, *, now: int) -> None:
    """Free the places of raters who went away."""
    query = select(assignment.c.id, assignment.c.pair_id).where(
        assignment.c.study_id == study_id,
        assignment.c.state == "open",
        assignment.c.touched_ms < now - LEASE_MS,
        assignment.c.purpose == "sample",
    )
    for row in connection.execute(query).all():
        connection.execute(assignment.update().where(assignment.c.id == row.id).values(state="released"))
        recount(connection, row.pair_id)


def take_back(connection: Connection, row: Row[Any], *, now: int) -> bool:
    """Reopen a released assignment whose pair still has a place; False when others took it."""
    free = connection.execute(select(pair.c.free).where(pair.c.id == row.pair_id).with_for_update()).scalar_one()
    if free < 1:
        return False
    connection.execute(assignment.update().where(assignment.c.id == row.id).values(state="open", touched_ms=now))
    recount(connection, row.pair_id)
    return True


def _take_back(connection: Connection, who: Row[Any], now: int) -> bool:
    query = select(assignment).where(assignment.c.rater_id == who.id, assignment.c.state == "released")
    rows = connection.execute(query.order_by(assignment.c.number)).all()
    return any(take_back(connection, row, now=now) for row in rows)


def _give(connection: Connection, who: Row[Any], now: int) -> bool:
    """Give the rater one new assignment; False when there is nothing for them."""
    if who.excluded or quota_reached(connection, who):
        return False
    tasks = connection.execute(select(rater.c.tasks).where(rater.c.id == who.id)).scalar_one()
    number = tasks + 1
    chosen = _pick_sample(connection, who)
    if chosen is None:
        return False
    purpose = purpose_at(
        number, gold_every=who.gold_every, repeat_every=who.repeat_every, seed=who.seed, rater=who.code
    )
    extra = _pick_extra(connection, who, purpose, number)
    pair_id, left, given_for = (chosen.pair, chosen.left, "sample") if extra is None else (*extra, purpose)
    add_assignment(connection, who, pair_id=pair_id, left=left, purpose=given_for, number=number, now=now)
    connection.execute(rater.update().where(rater.c.id == who.id).values(tasks=number))
    if given_for == "sample":
        recount(connection, pair_id)
    return True


def quota_reached(connection: Connection, who: Row[Any]) -> bool:
    return who.quota is not None and tasks_taken(connection, who.id) >= who.quota


def tasks_taken(connection: Connection, rater_id: int) -> int:
    """Tasks that count towards the rater's quota: open or voted, not reported as a problem."""
    query = select(func.count()).where(
        assignment.c.rater_id == rater_id,
        assignment.c.state.in_(("open", "voted", "late")),
        assignment.c.purpose != "training",
    )
    return int(connection.execute(query).scalar_one())


def _unseen(who: Row[Any], kind: str) -> Any:
    seen = exists().where(assignment.c.pair_id == pair.c.id, assignment.c.rater_id == who.id)
    return and_(pair.c.study_id == who.study_id, pair.c.kind == kind, ~seen)


def samples_left(connection: Connection, who: Row[Any]) -> int:
    """Pairs with a place that this rater has not seen."""
    return int(connection.execute(select(func.count()).where(_unseen(who, "sample"), pair.c.free > 0)).scalar_one())


def _pick_sample(connection: Connection, who: Row[Any]) -> Candidate | None:
    query = (
        select(pair.c.id, pair.c.first_left, pair.c.live, pair.c.lefts_a, pair.c.needed)
        .where(_unseen(who, "sample"), pair.c.free > 0)
        .order_by(pair.c.live.desc(), pair.c.id)
        .limit(_CANDIDATES)
    )
    candidates = [
        Candidate(
            pair=row.id,
            taken=row.live,
            needed=row.needed,
            left=next_side(row.first_left, shown_a=row.lefts_a, shown_b=row.live - row.lefts_a),
        )
        for row in connection.execute(query)
    ]
    sides = (
        select(assignment.c.left, func.count())
        .where(assignment.c.rater_id == who.id, assignment.c.purpose == "sample")
        .group_by(assignment.c.left)
    )
    lefts = {left: count for left, count in connection.execute(sides)}
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
    ids = list(connection.execute(select(pair.c.id).where(_unseen(who, "gold"))).scalars())
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
) -> None:
    connection.execute(
        assignment.insert().values(
            study_id=who.study_id,
            pair_id=pair_id,
            rater_id=who.id,
            key=new_token(),
            purpose=purpose,
            look=2 if purpose == "repeat" else 1,
            number=number,
            left=left,
            token_a=new_token(),
            token_b=new_token(),
            state="open",
            assigned_ms=now,
            touched_ms=now,
        )
    )


_STANDING = (
    select(assignment.c.state, assignment.c.left, vote.c.winner, study.c.min_raters)
    .join(rater, rater.c.id == assignment.c.rater_id)
    .join(study, study.c.id == assignment.c.study_id)
    .outerjoin(vote, vote.c.id == assignment.c.vote_id)
    .where(
        assignment.c.purpose == "sample",
        assignment.c.state.in_(("open", "voted")),
        rater.c.excluded.is_(False),
    )
    .order_by(assignment.c.vote_id)
)


def recount(connection: Connection, pair_id: int) -> None:
    """Derive a pair's counts and state anew from its assignments and standing votes, excluded raters left out."""
    found = connection.execute(select(pair.c.kind, study.c.min_raters).join(study).where(pair.c.id == pair_id)).first()
    if found is None:
        raise StudyError(f"no pair has id {pair_id}")
    if found.kind not in SAMPLE_KINDS:
        return
    live = connection.execute(_STANDING.where(assignment.c.pair_id == pair_id)).all()
    winners = [row.winner for row in live if row.state == "voted"]
    now_stands = standing(winners, minimum=found.min_raters)
    connection.execute(
        pair.update()
        .where(pair.c.id == pair_id)
        .values(
            votes=len(winners),
            live=len(live),
            lefts_a=sum(row.left == "a" for row in live),
            needed=now_stands.needed,
            free=max(0, now_stands.needed - len(live)) if found.kind == "sample" else 0,
            state=now_stands.state,
        )
    )
