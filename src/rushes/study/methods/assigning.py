"""Which trial a rater gets next where trials are single clips or sets: balanced, seeded, and mixed.

Every trial gets its raters equally often, so the one with the fewest comes first. Among those, a rater gets the systems
they have seen least, and no prompt twice in a row where that can be helped (ITU-T P.910 asks for both); the rest is a
seeded order of the rater's own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, func, select

from rushes.instruments.preference.assignment import Candidate
from rushes.instruments.preference.pairs import seeded_order
from rushes.study.database.tables import assignment, pair, rater
from rushes.study.queries import PAIR, RATER, TRIAL, with_all_clips

_CANDIDATES = 200
"""So many of the trials with the fewest raters are looked at. A study of 40 prompts has more than that with 6 systems,
and any of them will do: those left out are as wanted as those looked at."""
_SYSTEMS = tuple(table.c.system.label(f"system_{place}") for place, table in enumerate(TRIAL))
_SEEN = (
    with_all_clips(
        select(assignment.c.number, pair.c.family, pair.c.prompt, *_SYSTEMS)
        .select_from(assignment)
        .join(pair, pair.c.id == assignment.c.pair_id)
    )
    .where(assignment.c.rater_id == RATER, assignment.c.purpose == "sample")
    .order_by(assignment.c.number.desc())
)
_TASKS = select(rater.c.tasks).where(rater.c.id == RATER)
_TRIAL = select(*(pair.c[name] for name in ("clip_a_id", "clip_b_id", "clip_c_id", "clip_d_id", "clip_e_id")))
_GIVEN = select(func.count()).where(assignment.c.pair_id == PAIR)


def next_trial(connection: Connection, who: Row[Any], free: ColumnElement[bool]) -> tuple[Candidate, int] | None:
    """The trial for this rater among those that are `free`, and their task's number; None for none."""
    keys = {"rater_wanted": who.id, "study_wanted": who.study_id}
    columns = (pair.c.id, pair.c.live, pair.c.lefts_a, pair.c.needed, pair.c.family, pair.c.prompt, *_SYSTEMS)
    wanted = with_all_clips(select(*columns).select_from(pair)).where(free).order_by(pair.c.live, pair.c.id)
    fewest = select(func.min(pair.c.live)).select_from(pair).where(free)
    least = connection.execute(fewest, keys).scalar()
    if least is None:
        return None
    rows = connection.execute(wanted.where(pair.c.live == least), keys).all()
    if len(rows) > _CANDIDATES:
        rows = sorted(rows, key=lambda row: seeded_order(who.seed, "walk", who.code, row.id))[:_CANDIDATES]
    best = _best(rows, connection.execute(_SEEN, keys).all(), who)
    number = int(connection.execute(_TASKS, keys).scalar_one()) + 1
    return Candidate(pair=best.id, taken=best.live, needed=best.needed, left="a", lefts_a=best.lefts_a), number


def _best(rows: Sequence[Row[Any]], seen: Sequence[Row[Any]], who: Row[Any]) -> Row[Any]:
    often = Counter(name for row in seen for name in _systems(row, who.reference))
    last = (seen[0].family, seen[0].prompt) if seen else None

    def rank(row: Row[Any]) -> tuple[int, bool, int]:
        met = sum(often[name] for name in _systems(row, who.reference))
        return met, (row.family, row.prompt) == last, seeded_order(who.seed, "walk", who.code, row.id)

    return min(rows, key=rank)


def _systems(row: Row[Any], reference: str) -> set[str]:
    """A trial's systems; the reference counts only where it is what is rated."""
    found = {name for place in range(len(TRIAL)) if (name := getattr(row, f"system_{place}"))}
    return found - {reference} if len(found) > 1 else found


def size_of(connection: Connection, pair_id: int) -> int:
    """How many clips a trial shows."""
    return len({clip for clip in connection.execute(_TRIAL.where(pair.c.id == pair_id)).one() if clip is not None})


def turn_of(connection: Connection, pair_id: int) -> int:
    """How many raters were given the trial before."""
    return int(connection.execute(_GIVEN, {"pair_wanted": pair_id}).scalar_one())
