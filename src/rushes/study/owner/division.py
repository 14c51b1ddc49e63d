"""How divided the raters of a sample are, and what in the votes contradicts an adjudicator's decision."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from rushes.study.status import Disagreement, Opinion


def most_divided_first(item: Disagreement) -> tuple[object, ...]:
    """The key by which disagreements are listed: what an adjudicator decided comes last."""
    share, outcomes, votes = division([opinion.winner for opinion in item.opinions])
    return item.state == "adjudicated", -share, -outcomes, -votes, item.family, item.sample


def division(winners: Sequence[str]) -> tuple[Fraction, int, int]:
    """How divided the raters of a sample are: the greater, the more.

    Formula     (1 − m / n, number of different winners, n), compared in this order; m votes for the most frequent
                winner of n votes, and a tie is a winner like A and B
    Range       the share is 0 where all agree, 1/2 at 1–1 and 2–2, and at most 2/3, at 1–1–1
    Edge cases  no votes: (0, 0, 0). Equal shares: a split in three before one in two, then more votes before fewer

    >>> order = sorted(["ab", "aab", "abt", "aabb", "aabt"], key=division, reverse=True)
    >>> order, str(division("abt")[0])
    (['abt', 'aabt', 'aabb', 'ab', 'aab'], '2/3')
    """
    counts = Counter(winners)
    votes = counts.total()
    share = Fraction(votes - max(counts.values()), votes) if votes else Fraction(0)
    return share, len(counts), votes


def contradiction(decision: str, opinions: Sequence[Opinion]) -> str:
    """What speaks against a decision in the votes, in words: those that came after it, and most of all votes."""
    later = [one for one in opinions if one.after_decision and one.winner != decision]
    said = [f"{one.rater} chose {one.winner} after the decision" for one in later]
    counts = Counter(one.winner for one in opinions)
    against = [name for name, votes in counts.items() if name != decision and 2 * votes > len(opinions)]
    said += [f"{counts[name]} of {len(opinions)} votes say {name}" for name in against]
    return "; ".join(said)
