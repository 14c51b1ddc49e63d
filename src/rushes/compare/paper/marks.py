"""Which value of a column is marked: the best and the second best, only where the board's tests say so.

Best        significantly better than every other system with a value
Second      significantly worse than the best, and significantly better than every other system
Reference   stands beside the systems and is never marked: it is what they are measured by
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from rushes.compare.paper.evaluation import Evaluation, Pick


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """Two systems by name, "" for none, and why a column has none."""

    best: str = ""
    second: str = ""
    why: str = ""


NO_MARKS = Marks()


def marks_of(evaluation: Evaluation, pick: Pick) -> Marks:
    """The marks of one column, from the board's verdicts; of strengths, from the ranks that the votes leave open."""
    if pick.strengths is not None:
        ranks = pick.strengths.ranks
        return Marks(best=_ranked(ranks.items(), (1, 1)), second=_ranked(ranks.items(), (2, 2)))
    verdict = evaluation.verdict(pick)
    if verdict is None:
        return Marks(why="not tested: it is not a column of the board")
    names = [
        name for name in evaluation.systems if (m := evaluation.whole(pick, name)) is not None and m.value is not None
    ]
    best, second = leaders(names, set(verdict.ranked))
    return Marks(best=best, second=second, why=verdict.why_not)


def leaders(names: Sequence[str], better: Collection[tuple[str, str]]) -> tuple[str, str]:
    """The system that is better than all others, then the one that is better than all but that; "" where none is.

    `better` holds (better, worse) of every two systems that differ significantly.

    >>> leaders("abc", {("a", "b"), ("a", "c")}), leaders("abc", {("a", "b"), ("a", "c"), ("c", "b")})
    (('a', ''), ('a', 'c'))
    >>> leaders("a", set())
    ('', '')
    """
    best = _leader(names, better)
    return best, _leader([name for name in names if name != best], better) if best else ""


def _leader(names: Sequence[str], better: Collection[tuple[str, str]]) -> str:
    if len(names) < 2:
        return ""
    return next((one for one in names if all((one, other) in better for other in names if other != one)), "")


def _ranked(ranks: Iterable[tuple[str, tuple[int, int]]], span: tuple[int, int]) -> str:
    return next((name for name, ends in ranks if ends == span), "")
