"""What raters said beyond the winner: 1–5 ratings per dimension, and how often each reason tag was given.

Means treat the 1–5 scale as equal steps; intervals are clustered by rater and prompt, cut to 1–5. A reason tag names
a failure, so it is counted against the clip that was not preferred; in a tie it counts against neither.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rushes.core import Estimate
from rushes.instruments.preference.rubric import RUBRIC, Rubric
from rushes.instruments.preference.votes import HIGHEST_RATING, LOWEST_RATING, Vote
from rushes.stats.clustered import clustered_mean
from rushes.stats.intervals import LEVEL


@dataclass(frozen=True, slots=True, kw_only=True)
class TagCount:
    """How often a tag was given, and to the disadvantage of which system."""

    tag: str
    primary: int
    secondary: int
    against: Mapping[str, int]
    """Per system: decided votes with this tag that the system lost; primary and secondary together."""

    @property
    def total(self) -> int:
        return self.primary + self.secondary


def dimension_means(
    votes: Iterable[Vote], *, rubric: Rubric = RUBRIC, confidence: float = LEVEL
) -> dict[tuple[str, str], Estimate]:
    """By dimension and system: the mean of all ratings that somebody gave, in the rubric's order.

    Formula     Σ ratings / their number, over raw votes
    Unit        1 to 5; higher is better
    Edge cases  no rating of a system on a dimension: no row. One rater: the mean stands, its interval is undefined.
    """
    given: dict[tuple[str, str], list[tuple[int, Vote]]] = defaultdict(list)
    for vote in votes:
        if vote.counts_in_results:
            for dimension, (for_a, for_b) in vote.ratings.items():
                for system, value in ((vote.system_a, for_a), (vote.system_b, for_b)):
                    if value is not None:
                        given[dimension, system].append((value, vote))
    order = {dimension.key: place for place, dimension in enumerate(rubric.dimensions)}
    keys = sorted(given, key=lambda key: (order.get(key[0], len(order)), key))
    return {key: _mean(given[key], confidence) for key in keys}


def _mean(given: list[tuple[int, Vote]], confidence: float) -> Estimate:
    values, votes = [float(value) for value, _ in given], [vote for _, vote in given]
    raters, prompts = [vote.rater for vote in votes], [vote.prompt_key for vote in votes]
    scale = {"lowest": LOWEST_RATING, "highest": HIGHEST_RATING, "step": 1.0}
    return clustered_mean(values, raters, prompts, confidence=confidence, **scale)


def tag_counts(votes: Iterable[Vote], *, rubric: Rubric = RUBRIC) -> tuple[TagCount, ...]:
    """Every tag that was given, in the rubric's order; tags of no rubric last, in text order."""
    primary: Counter[str] = Counter()
    secondary: Counter[str] = Counter()
    against: dict[str, Counter[str]] = defaultdict(Counter)
    for vote in votes:
        if not vote.counts_in_results:
            continue
        primary.update([vote.primary_tag] if vote.primary_tag else [])
        secondary.update(vote.secondary_tags)
        if vote.decided:
            loser = vote.system_b if vote.winner == "a" else vote.system_a
            for tag in {*vote.tags} - {""}:
                against[tag][loser] += 1
    place = {tag: number for number, tag in enumerate(rubric.tags)}
    tags = sorted(primary.keys() | secondary.keys(), key=lambda tag: (place.get(tag, len(place)), tag))
    return tuple(
        TagCount(tag=tag, primary=primary[tag], secondary=secondary[tag], against=dict(sorted(against[tag].items())))
        for tag in tags
    )
