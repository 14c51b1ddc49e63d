"""Many tests at once: Holm's rule, and what the pairs that are told apart say of all systems together.

The chance of a single false alarm among all tests stays below the level (`holm`). Systems that share a letter cannot be
told apart: a letter stands for a largest possible set of systems of which no two are told apart, a maximal clique
(`letter_display`). Which ranks a system may hold follows from which others it is surely ahead of and behind
(`possible_ranks`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import combinations
from string import ascii_lowercase, ascii_uppercase

_ALPHABET = ascii_lowercase + ascii_uppercase
_MOST_SETS = 512
"""A relation of n systems may have 3^(n/3) maximal sets; beyond so many, only as many as the pairs need are made."""


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p of each test, in the order given: at most α of such families have a false alarm at p ≤ α.

    Formula     p sorted upwards: adjusted(k) = max over j ≤ k of min(1, (m − j + 1) · p(j)), m tests, k from 1
    Unit        probability, never below the p that went in; equal p stay equal
    Edge cases  no test: none. Holds for tests that depend on each other in any way.
    Reference   Holm 1979, "A simple sequentially rejective multiple test procedure"

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    adjusted, highest = [0.0] * len(p_values), 0.0
    for done, i in enumerate(order):
        highest = max(highest, min(1.0, (len(order) - done) * p_values[i]))
        adjusted[i] = highest
    return adjusted


def holm_families(
    families: Sequence[Sequence[float]], shares: Callable[[Sequence[int]], Mapping[int, float]]
) -> list[list[float]]:
    """Adjusted p of each test of several families: Holm inside each, at its share of α; an empty one passes its on.

    Formula     while tests are left: of every family the smallest p that is left, times its tests left, divided by its
                share; the least of these, and no less than the last one, is adjusted(p), and that test is done. At
                α, all adjusted p ≤ α are rejected
    Inputs      `shares` gives, for the families with tests left, their parts of α: they sum to 1, and none gets less
                when another is done. A family all of whose tests are rejected so passes its share to the others
    Validity    the shortcut of the closed test whose intersections are weighted Bonferroni tests, share / tests each:
                at most α of such boards have a false alarm in any family, however the tests depend on each other
    Edge cases  one family: `holm`. A family without tests has no share
    Reference   Bretz, Maurer, Brannath and Posch 2009, "A graphical approach to sequentially rejective multiple test
                procedures"; Burman, Sonesson and Guilbaud 2009 on recycling

    >>> even = lambda left: {family: 1 / len(left) for family in left}
    >>> holm_families([[0.01], [0.04, 0.03]], even)  # 0.01·1/½; then all of α: 0.03·2, 0.04·1 but no less
    [[0.02], [0.06, 0.06]]
    """
    queues = [sorted(range(len(tests)), key=tests.__getitem__, reverse=True) for tests in families]
    adjusted, highest = [[0.0] * len(tests) for tests in families], 0.0
    while left := [family for family, queue in enumerate(queues) if queue]:
        share = shares(left)
        costs = {f: families[f][queues[f][-1]] * len(queues[f]) / share[f] for f in left}
        first = min(left, key=costs.__getitem__)
        highest = max(highest, min(1.0, costs[first]))
        adjusted[first][queues[first].pop()] = highest
    return adjusted


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


def letter_display(order: Sequence[str], apart: Collection[tuple[str, str]]) -> dict[str, str]:
    """Letters by system, "a" first for the first of `order`, from the pairs that are told apart.

    Formula     insert and absorb: start with one set of all; each pair told apart splits every set that holds both
                into one without the first and one without the second, and sets inside others go. Then sweep: a set
                goes where each of its pairs shares another letter. Two systems share a letter if and only if they are
                not told apart, each set is maximal, and none can be spared.
    Edge cases  no system: {}. More than 52 letters: "a2", "b2" … A pair may be given in either order.
    Reference   Piepho 2004, "An algorithm for a letter-based representation of all-pairwise comparisons"; Gramm et al.
                2007 on why the sweep matters. Their sweep takes single letters away; ours whole sets, so that a
                letter keeps its meaning.

    >>> letter_display(["amber", "birch", "cedar"], [("amber", "cedar")])
    {'amber': 'a', 'birch': 'ab', 'cedar': 'b'}
    """
    place = {name: i for i, name in enumerate(order)}
    pairs = sorted({tuple(sorted((place[a], place[b]))) for a, b in apart})
    sets = maximal_sets(len(order), [(i, j) for i, j in pairs])
    if sets is None:
        sets = _covering_sets(len(order), {(i, j) for i, j in pairs})
    kept = _swept(sets)
    return {name: "".join(_letter(k) for k, members in enumerate(kept) if i in members) for name, i in place.items()}


def maximal_sets(n: int, apart: Sequence[tuple[int, int]]) -> list[frozenset[int]] | None:
    """Every maximal set of 0 … n − 1 without a pair told apart, by insert and absorb; None where they are too many."""
    sets = [frozenset(range(n))] if n else []
    for i, j in apart:
        split = [members for members in sets if i in members and j in members]
        whole = [members for members in sets if not (i in members and j in members)]
        for part in sorted({members - {k} for members in split for k in (i, j)}, key=lambda part: -len(part)):
            if not any(part <= other for other in whole):
                whole.append(part)
        if len(whole) > _MOST_SETS:
            return None
        sets = whole
    return sets


def _covering_sets(n: int, apart: Collection[tuple[int, int]]) -> list[frozenset[int]]:
    """Maximal sets, each grown from a pair (or a system alone) that no earlier one holds."""
    sets: list[frozenset[int]] = []
    seeds = [(i, j) for i, j in combinations(range(n), 2) if (i, j) not in apart] + [(i, i) for i in range(n)]
    for seed in seeds:
        if any(members.issuperset(seed) for members in sets):
            continue
        grown = set(seed)
        for k in range(n):
            if k not in grown and all((min(k, m), max(k, m)) not in apart for m in grown):
                grown.add(k)
        sets.append(frozenset(grown))
    return sets


def _swept(sets: Sequence[frozenset[int]]) -> list[frozenset[int]]:
    """Without the sets that can be spared, small ones first; those that are left in order of their first systems."""
    kept = sorted(sets, key=lambda members: (len(members), sorted(members)))
    shared = Counter(pair for members in kept for pair in _pairs(members))
    for members in list(kept):
        if all(shared[pair] > 1 for pair in _pairs(members)):
            kept.remove(members)
            shared.subtract(_pairs(members))
    return sorted(kept, key=sorted)


def _pairs(members: frozenset[int]) -> list[tuple[int, int]]:
    """Its pairs; of one alone, itself: it needs a letter too."""
    return list(combinations(sorted(members), 2)) or [(i, i) for i in members]


def _letter(k: int) -> str:
    again, at = divmod(k, len(_ALPHABET))
    return _ALPHABET[at] + (str(again + 1) if again else "")
