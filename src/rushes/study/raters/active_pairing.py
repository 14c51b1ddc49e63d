"""Which two systems to compare next: the match-up whose votes say most about the order of the systems.

The idea is active sampling for pairwise comparisons (Mikhailiuk et al., "Active sampling for pairwise comparisons via
approximate message passing and information gain maximization", ICPR 2020): keep a posterior of the systems' strengths
and ask for the vote with the greatest expected gain. Here the gain is counted in what a ranking is read for: how many
of every two systems stand in the wrong order.

Model      P(i over j) = 1 / (1 + exp(θ_j − θ_i)); a tie is half a win for both; prior θ ~ N(0, PRIOR_SD²)
Posterior  Laplace's approximation: Newton's method for the mode, the inverse Hessian as covariance S
Gain       of LOOKAHEAD votes on (i, j): they carry the information I = LOOKAHEAD · p(1 − p), p at the mean. Every
           difference d_kl ~ N(m, v) then has a new mean m' ~ N(m, s²), s² = c²I / (1 + I v_ij), c = cov(d_kl, d_ij),
           and the variance v − s². The likelier order of k and l is the wrong one with Φ(−|m|/√v) before and, on
           average, 2 T(m/√v, √(v − s²)/s) afterwards: the chance that m' and d_kl have different signs, T being Owen's
           function. Gain = what the sum over all k, l falls by, in pairs put right.
           One vote alone seldom turns an order; LOOKAHEAD is how far ahead the gain is looked for.

Votes that are on somebody's screen count as information that is on its way: they narrow the posterior and do not move
it, so that fifty raters at once are not all sent to one match-up. The same votes give the same choice.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Connection, and_, func, select

from rushes.instruments.preference.votes import points
from rushes.stats.special.normal import normal_cdf, owens_t
from rushes.study.database.tables import assignment, clip, pair, rater, vote
from rushes.study.queries import STILL_SHOWN, SYSTEMS, with_clips

if TYPE_CHECKING:
    from numpy.typing import NDArray

PRIOR_SD = 1.5
"""Of the strengths, in logits: two systems drawn from it differ by ±2.1, 89 to 11 in 100 votes."""
LOOKAHEAD = 20
_MOST_STEPS = 50
_LONGEST_STEP = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchUp:
    """What is known of two systems."""

    wins_a: float
    """Votes for the first, ties as a half."""
    wins_b: float
    pending: int = 0
    """Votes that raters are working on."""


def most_informative(
    known: Mapping[tuple[str, str], MatchUp], offered: Sequence[tuple[str, str]]
) -> list[tuple[str, str]]:
    """The offered match-ups, the most informative first; equal ones in the order of their names.

    >>> known = {("a", "b"): MatchUp(wins_a=9, wins_b=1), ("b", "c"): MatchUp(wins_a=1, wins_b=1)}
    >>> most_informative(known, [("a", "b"), ("b", "c")])
    [('b', 'c'), ('a', 'b')]
    """
    systems = sorted({name for pair in (*known, *offered) for name in pair})
    place = {name: number for number, name in enumerate(systems)}
    gains = order_gains(*_tables(known, place))
    rank = {pair: number for number, pair in enumerate(combinations(range(len(systems)), 2))}

    def gain(pair: tuple[str, str]) -> float:
        first, second = sorted(place[name] for name in pair)
        return round(float(gains[rank[first, second]]), 9)  # machines differ in the last digits; the choice must not

    return sorted(offered, key=lambda pair: (-gain(pair), pair))


def _tables(known: Mapping[tuple[str, str], MatchUp], place: Mapping[str, int]) -> tuple[NDArray[Any], NDArray[Any]]:
    import numpy as np

    wins, pending = np.zeros((len(place), len(place))), np.zeros((len(place), len(place)))
    for (first, second), one in known.items():
        a, b = place[first], place[second]
        wins[a, b] += one.wins_a
        wins[b, a] += one.wins_b
        pending[a, b] += one.pending
        pending[b, a] += one.pending
    return wins, pending


def posterior(wins: NDArray[Any], pending: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Mean and covariance of the strengths. `wins[i, j]`: how often i won against j."""
    import numpy as np

    votes, mean, ridge = wins + wins.T, np.zeros(len(wins)), 1 / PRIOR_SD**2
    for _ in range(_MOST_STEPS):
        share = 1 / (1 + np.exp(mean[None, :] - mean[:, None]))
        slope = (wins - votes * share).sum(axis=1) - ridge * mean
        step = np.linalg.solve(_precision(votes * share * (1 - share), ridge), slope)
        step *= min(1.0, _LONGEST_STEP / max(float(np.abs(step).max()), 1e-12))
        mean = mean + step
        if np.abs(step).max() < 1e-9:
            break
    share = 1 / (1 + np.exp(mean[None, :] - mean[:, None]))
    return mean, np.linalg.inv(_precision((votes + pending) * share * (1 - share), ridge))


def _precision(information: NDArray[Any], ridge: float) -> NDArray[Any]:
    import numpy as np

    return np.asarray(np.diag(information.sum(axis=1) + ridge) - information)


def order_gains(wins: NDArray[Any], pending: NDArray[Any]) -> NDArray[Any]:
    """The expected gain on each two systems, in pairs put right, in the order of `itertools.combinations`."""
    import numpy as np

    mean, covariance = posterior(wins, pending)
    first, second = np.triu_indices(len(mean), 1)
    contrast = np.zeros((len(first), len(mean)))
    contrast[np.arange(len(first)), first] = 1
    contrast[np.arange(len(first)), second] = -1
    gaps, shared = contrast @ mean, contrast @ covariance @ contrast.T
    spread = np.diag(shared)
    share = 1 / (1 + np.exp(-gaps / np.sqrt(1 + np.pi * spread / 8)))
    information = LOOKAHEAD * share * (1 - share)
    moved = shared**2 * (information / (1 + information * spread))[None, :]
    left = np.sqrt(np.maximum(spread[:, None] - moved, 0.0))
    heights = gaps / np.sqrt(spread)
    after = 2 * owens_t(heights[:, None], left / np.maximum(np.sqrt(moved), 1e-12))
    return np.asarray(normal_cdf(-np.abs(heights)).sum() - after.sum(axis=0))


# --- in a study -----------------------------------------------------------------------------------------------------
# A pair that is begun gets its raters first, so the rule of two raters and a third holds as ever; what is chosen here
# is which sample is begun next. Votes of excluded raters do not count. Places that are taken, and those that begun
# pairs still wait for, are votes on their way.


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
