"""Active pairing in a study: which two systems the next unbegun pair compares (`rushes.study.raters.active_pairing`).

A pair that is begun gets its raters first, so the rule of two raters and a third holds as ever; what is chosen here is
which sample is begun next. Votes of excluded raters do not count. Places that are taken, and those that begun pairs
still wait for, are votes on their way.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, func, select

from rushes.instruments.preference.votes import points
from rushes.study.database.tables import assignment, clip, pair, rater, vote
from rushes.study.queries import STILL_SHOWN, SYSTEMS, with_clips
from rushes.study.raters.active_pairing import MatchUp, most_informative


def of_next_match_up(connection: Connection, free: ColumnElement[bool], keys: dict[str, Any]) -> ColumnElement[bool]:
    """The condition that a pair is of the most informative match-up among those that `free` offers this rater."""
    query = with_clips(select(*SYSTEMS).select_from(pair)).where(free).distinct()
    offered = [(row.system_a, row.system_b) for row in connection.execute(query, keys)]
    first, second = most_informative(_known(connection, keys["study_wanted"]), offered)[0]
    return and_(pair.c.clip_a_id.in_(_clips(first, keys)), pair.c.clip_b_id.in_(_clips(second, keys)))


def _clips(system: str, keys: dict[str, Any]) -> Any:
    return select(clip.c.id).where(clip.c.study_id == keys["study_wanted"], clip.c.system == system)


def _known(connection: Connection, study_id: int) -> dict[tuple[str, str], MatchUp]:
    wins: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0.0, 0.0])
    votes = with_clips(
        select(*SYSTEMS, vote.c.winner, func.count().label("votes"))
        .join_from(vote, assignment, assignment.c.vote_id == vote.c.id)
        .join(rater, rater.c.id == vote.c.rater_id)
        .join(pair, pair.c.id == vote.c.pair_id)
        .where(vote.c.study_id == study_id, vote.c.purpose == "sample", rater.c.excluded.is_(False))
        .group_by(*SYSTEMS, vote.c.winner)
    )
    for row in connection.execute(votes):
        both = wins[row.system_a, row.system_b]
        both[0] += points(row.winner, "a", ties="half") * row.votes
        both[1] += points(row.winner, "b", ties="half") * row.votes
    pending = _pending(connection, study_id)
    return {
        systems: MatchUp(wins_a=wins[systems][0], wins_b=wins[systems][1], pending=pending.get(systems, 0))
        for systems in sorted({*wins, *pending})
    }


def _pending(connection: Connection, study_id: int) -> dict[tuple[str, str], int]:
    query = with_clips(
        select(*SYSTEMS, func.sum(pair.c.live + pair.c.free - pair.c.votes).label("votes"))
        .select_from(pair)
        .where(pair.c.study_id == study_id, pair.c.kind == "sample", pair.c.live > 0, STILL_SHOWN)
        .group_by(*SYSTEMS)
    )
    return {(row.system_a, row.system_b): int(row.votes) for row in connection.execute(query)}
