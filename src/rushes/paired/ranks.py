"""Which ranks a system may hold, given which others it is surely ahead of and surely behind."""

from __future__ import annotations

from collections.abc import Collection, Sequence


def possible_ranks(names: Sequence[str], better: Collection[tuple[str, str]]) -> dict[str, tuple[int, int]]:
    """Best and worst rank by system; `better` has (a, b) where a is surely better than b.

    Formula     best = 1 + #{systems surely better}; worst = n − #{systems surely worse}
    Unit        rank, 1 to n
    Edge cases  nothing sure: every system may hold every rank. Pairs that do not compare leave both ends open. Where
                all pairs hold together (Holm), so do all ranges together.
    Reference   Goldstein and Spiegelhalter 1996 on ranks with intervals; Al Mohamad et al. 2021 on joint ones

    >>> possible_ranks(["amber", "birch", "cedar"], [("amber", "cedar")])
    {'amber': (1, 2), 'birch': (1, 3), 'cedar': (2, 3)}
    """
    sure = set(better)
    return {
        name: (1 + sum((other, name) in sure for other in names), len(names) - sum((name, b) in sure for b in names))
        for name in names
    }
