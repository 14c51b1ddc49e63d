"""Can these votes be ranked at all? Connection of the comparison graph, and whether strengths stay finite.

A ranking exists only when every system is linked to every other by votes (else two groups were never compared), and
when no group of systems won every vote against the rest (else its lead is unbounded).
"""

from __future__ import annotations

import numpy as np

from rushes.core.errors import InputError
from rushes.stats.intervals import Whole
from rushes.stats.votes.tally import PairCounts

_NAMED = 6


class RankingError(InputError):
    """The votes cannot be ranked: collect the comparisons that the message names, or choose a labelled prior."""


def components(counts: PairCounts) -> list[list[str]]:
    """Groups of systems linked by votes, largest first; one group means that all can be ranked together.

    >>> components(PairCounts.of_wins(["a", "b", "c", "d"], [[0, 2, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0]]))
    [['a', 'b'], ['c', 'd']]
    """
    ends = np.concatenate([counts.first, counts.second])
    return _groups(counts, ends, np.roll(ends, len(counts.first)))


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

    Wins alone linking all systems both ways is enough. Where they do not, ties may still hold the strengths, unless
    there is a direction in which the likelihood never falls (Albert & Anderson 1984).
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
    groups = _groups(counts, source, target)
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
    """True when some direction (v, m) never lowers the likelihood: wins keep v_i − v_j ≥ m, 0, ties |v_i − v_j| ≤ m.

    Holds for Davidson's and Rao–Kupper's model alike. Directions can be scaled, so m is 0 or 1. With m = 0, ties hold
    their systems equal, and some win is between systems that nothing holds equal. With m = 1, shortest paths decide:
    v_j ≤ v_i − 1 for a win of i over j and v_j ≤ v_i + 1 for a tie have a solution unless the steps round some circle
    add up to less than 0.
    """
    first, second, size = counts.first, counts.second, len(counts.systems)
    won, lost, tied = counts.wins_first > 0, counts.wins_second > 0, counts.ties > 0
    better, worse = np.concatenate([first[won], second[lost]]), np.concatenate([second[won], first[lost]])
    source = np.concatenate([better, first[tied], second[tied]])
    target = np.concatenate([worse, second[tied], first[tied]])
    held = np.array(_mutual(size, source, target))
    if (held[better] != held[worse]).any():
        return True
    step = np.where(np.arange(len(source)) < len(better), -1, 1)
    v = np.zeros(size, dtype=np.int64)
    for _ in range(size):
        before = v.copy()
        np.minimum.at(v, target, before[source] + step)
        if (v == before).all():
            return True
    return False


def _groups(counts: PairCounts, source: Whole, target: Whole) -> list[list[str]]:
    """Systems that reach one another along the edges, the largest group first."""
    groups: dict[int, list[str]] = {}
    for name, first in zip(counts.systems, _mutual(len(counts.systems), source, target), strict=True):
        groups.setdefault(first, []).append(name)
    return sorted(groups.values(), key=lambda group: (-len(group), group))


def _mutual(size: int, source: Whole, target: Whole) -> list[int]:
    """Of each place, the first of those that it can reach, and be reached from, along the edges.

    >>> _mutual(4, np.array([0, 1, 2]), np.array([1, 0, 3]))
    [0, 0, 2, 3]
    """
    reached = np.eye(size, dtype=np.float32)
    reached[source, target] = 1.0
    for _ in range(size.bit_length()):  # paths of 1, 2, 4 … edges
        reached = (reached @ reached > 0).astype(np.float32)
    found: list[int] = (reached * reached.T).argmax(axis=1).tolist()
    return found


def _names(group: list[str]) -> str:
    return ", ".join(group[:_NAMED]) + (f" and {len(group) - _NAMED} more" if len(group) > _NAMED else "")
