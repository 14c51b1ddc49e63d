"""Can these votes be ranked at all? Connection of the comparison graph, and whether strengths stay finite.

A ranking exists only when every system is linked to every other by votes (else two groups were never compared), and
when no group of systems won every vote against the rest (else its lead is unbounded).
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from rushes.core.errors import InputError
from rushes.stats.intervals import Floats, Whole
from rushes.stats.votes.tally import PairCounts

_NAMED = 6


class RankingError(InputError):
    """The votes cannot be ranked: collect the comparisons that the message names, or choose a labelled prior."""


def components(counts: PairCounts) -> list[list[str]]:
    """Groups of systems linked by votes, largest first; one group means that all can be ranked together.

    >>> components(PairCounts.of_wins(["a", "b", "c", "d"], [[0, 2, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0]]))
    [['a', 'b'], ['c', 'd']]
    """
    return _groups(counts, counts.first, counts.second, connection="weak")


def require_connected(counts: PairCounts) -> None:
    """`RankingError` naming the groups, where the comparison graph falls apart."""
    if len(counts.systems) < 2:
        raise RankingError(f"a ranking needs two systems; got {', '.join(counts.systems) or 'none'}")
    groups = components(counts)
    if len(groups) > 1:
        named = " and ".join("{" + _names(group) + "}" for group in groups[:_NAMED])
        more = f" and {len(groups) - _NAMED} more" if len(groups) > _NAMED else ""
        raise RankingError(
            f"no votes link {named}{more}: {len(groups)} separate groups of systems; "
            "add pairs across the groups or rank each on its own"
        )


def require_finite(counts: PairCounts, *, has_prior: bool = False) -> None:
    """`RankingError` where the likelihood has no maximum: some group won everything, or every vote is a tie.

    A prior on the strengths bounds the first case, not the second.

    Wins alone linking all systems both ways is enough. Where they do not, ties may still hold the strengths; a small
    linear programme looks for a direction in which the likelihood never falls (Albert & Anderson 1984).
    """
    wins, losses = counts.wins_first > 0, counts.wins_second > 0
    if not (wins.any() or losses.any()):
        raise RankingError("every vote is a tie: no system is ahead and their strengths are undefined")
    if not has_prior and is_one_sided(counts):
        raise RankingError(
            f"{never(counts)}, so its lead has no finite estimate; "
            "collect more votes or rank with a prior (it becomes part of the signature)"
        )


def is_one_sided(counts: PairCounts) -> bool:
    """Whether some group of systems won every vote against the rest, so that its lead has no finite estimate."""
    wins, losses = counts.wins_first > 0, counts.wins_second > 0
    source = np.concatenate([counts.first[wins], counts.second[losses]])
    target = np.concatenate([counts.second[wins], counts.first[losses]])
    groups = _groups(counts, source, target, connection="strong")
    return len(groups) > 1 and not (counts.ties.any() and not _has_escape(counts))


def never(counts: PairCounts) -> str:
    """Say who won everything, or lost everything, or which group did."""
    size = len(counts.systems)
    won, lost = np.zeros(size), np.zeros(size)
    np.add.at(won, counts.first, counts.wins_first)
    np.add.at(won, counts.second, counts.wins_second)
    np.add.at(lost, counts.first, counts.wins_second)
    np.add.at(lost, counts.second, counts.wins_first)
    never_lost = [name for name, w, bad in zip(counts.systems, won, lost, strict=True) if w and not bad]
    never_won = [name for name, w, bad in zip(counts.systems, won, lost, strict=True) if bad and not w]
    if never_lost:
        return f"{_names(never_lost)} never lost a vote"
    if never_won:
        return f"{_names(never_won)} never won a vote"
    return "one group of systems won every vote against the rest"


def _has_escape(counts: PairCounts) -> bool:
    """True when some direction (v, m) never lowers the likelihood: wins keep v_i − v_j ≥ m, ties |v_i − v_j| ≤ m.

    Holds for Davidson's and Rao–Kupper's model alike. `v` is bounded to [−1, 1], so that any escape shows as a
    positive sum of slacks.
    """
    from scipy.optimize import linprog  # slow to load, and most commands need no ranking

    size, rows = len(counts.systems), []
    for i, j, won, lost, tied in zip(
        counts.first, counts.second, counts.wins_first, counts.wins_second, counts.ties, strict=True
    ):
        ahead = _difference(size, int(i), int(j))
        for seen, direction in ((won, ahead), (lost, -ahead)):
            if seen:
                rows += [_with_margin(-direction, 1.0), _with_margin(-2.0 * direction, 0.0)]
        if tied:
            rows += [_with_margin(ahead, -1.0), _with_margin(-ahead, -1.0)]
    slack = np.array(rows)
    found = linprog(slack.sum(axis=0), A_ub=slack, b_ub=np.zeros(len(rows)), bounds=[(-1, 1)] * size + [(-4, 4)])
    return found.fun is not None and float(found.fun) < -1e-7


def _difference(size: int, i: int, j: int) -> Floats:
    row = np.zeros(size)
    row[i], row[j] = 1.0, -1.0
    return row


def _with_margin(row: Floats, margin: float) -> Floats:
    return np.append(row, margin)


def _groups(
    counts: PairCounts, source: Whole, target: Whole, *, connection: Literal["weak", "strong"]
) -> list[list[str]]:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    size = len(counts.systems)
    graph = coo_array((np.ones(len(source)), (source, target)), shape=(size, size))
    number, label = connected_components(graph, directed=True, connection=connection)
    groups = [[name for name, at in zip(counts.systems, label, strict=True) if at == g] for g in range(number)]
    return sorted(groups, key=lambda group: (-len(group), group))


def _names(group: list[str]) -> str:
    return ", ".join(group[:_NAMED]) + (f" and {len(group) - _NAMED} more" if len(group) > _NAMED else "")
