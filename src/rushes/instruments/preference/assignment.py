"""How many raters a sample needs, and which pair a rater gets next.

A sample gets the minimum of raters (2 by the rubric). When their winners disagree it gets one more; when that leaves
no majority, an adjudicator decides. A rater never gets the same sample twice, except for a hidden repeat, which checks
the rater and does not count for the sample.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from rushes.core.errors import InputError
from rushes.instruments.preference.pairs import seeded_order
from rushes.instruments.preference.votes import Side, Winner

State: TypeAlias = Literal["open", "third", "agreed", "majority", "adjudicate", "retired"]
Purpose: TypeAlias = Literal["sample", "gold", "repeat"]
MINIMUM_RATERS = 2
REPEAT_DISTANCE = 3
"""A hidden repeat comes at least so many tasks after the first look."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where a sample stands after its votes so far."""

    state: State
    """open: fewer votes than the minimum · third: they disagree, one more is needed · agreed: all the same ·
    majority: more than half the same · adjudicate: one more did not settle it · retired: shown to nobody any more."""
    needed: int
    """Raters the sample needs in all, as things stand."""
    winner: Winner | None
    """The agreed or majority winner; None while there is none."""


def standing(winners: Sequence[Winner], *, minimum: int = MINIMUM_RATERS) -> Standing:
    """The state of a sample whose raters chose these winners.

    >>> [standing(w).state for w in ((), ("a",), ("a", "a"), ("a", "b"), ("a", "b", "a"), ("a", "b", "tie"))]
    ['open', 'open', 'agreed', 'third', 'majority', 'adjudicate']
    """
    if minimum < MINIMUM_RATERS:
        raise InputError(f"a sample needs at least {MINIMUM_RATERS} raters; got {minimum}")
    count = len(winners)
    if count < minimum:
        return Standing(state="open", needed=minimum, winner=None)
    (winner, most), *others = Counter(winners).most_common()
    if not others:
        return Standing(state="agreed", needed=count, winner=winner)
    if count == minimum:
        return Standing(state="third", needed=minimum + 1, winner=None)
    if 2 * most > count:
        return Standing(state="majority", needed=count, winner=winner)
    return Standing(state="adjudicate", needed=count, winner=None)


def retired(stands: Standing, *, votes: int) -> Standing:
    """The same of a sample that is shown to nobody any more: it waits for no rater; its votes stay as they are.

    >>> [retired(standing(w), votes=len(w)).state for w in ((), ("a",), ("a", "b"), ("a", "a"))]
    ['retired', 'retired', 'adjudicate', 'agreed']
    """
    if stands.state not in ("open", "third"):
        return stands
    return Standing(state="adjudicate" if stands.state == "third" else "retired", needed=votes, winner=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A pair with a place for another rater, as it stands."""

    pair: int
    taken: int
    """Votes and open assignments."""
    needed: int
    left: Side
    """Who would stand on the left."""
    lefts_a: int = 0
    """How many of those who have a place see system a on the left."""

    @property
    def free(self) -> int:
        return self.needed - self.taken


def choose(candidates: Iterable[Candidate], *, lefts_a: int, lefts_b: int, seed: int, rater: str) -> Candidate | None:
    """The pair this rater gets next among those the rater has not seen, or None.

    Never one without a free place. Third opinions come first, then pairs that others
    have begun (a finished sample says more than two half ones), then pairs whose side evens out what this rater has
    seen; the rest is a seeded order of the rater's own, so that raters do not all walk the same way.
    """
    wanted: Side | None = None if lefts_a == lefts_b else ("a" if lefts_a < lefts_b else "b")
    return min(
        (c for c in candidates if c.free > 0),
        key=lambda c: (-c.taken, wanted is not None and c.left != wanted, seeded_order(seed, "walk", rater, c.pair)),
        default=None,
    )


def purpose_at(number: int, *, gold_every: int, repeat_every: int, seed: int, rater: str) -> Purpose:
    """What a rater's task of this number is for.

    Each block of `gold_every` tasks holds one gold pair and each block of `repeat_every` one hidden repeat, at a
    seeded place nobody can guess; 0 turns either off. Where both fall together, gold it is.
    """
    if _falls_on(number, gold_every, seed, "gold", rater):
        return "gold"
    return "repeat" if _falls_on(number, repeat_every, seed, "repeat", rater) else "sample"


def _falls_on(number: int, every: int, seed: int, kind: str, rater: str) -> bool:
    if every <= 0:
        return False
    block, place = divmod(number - 1, every)
    return seeded_order(seed, kind, rater, block) % every == place
