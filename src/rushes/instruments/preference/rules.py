"""The rubric's rules for one answer, whoever gave it where: what a page refuses, a file is refused for too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from rushes.instruments.preference.rubric import Rubric
from rushes.instruments.preference.votes import HIGHEST_RATING, LOWEST_RATING, Vote

RULES: Mapping[str, str] = MappingProxyType(
    {
        "primary-tag": "without a primary tag",
        "secondary-tags": "with too many secondary tags",
        "unknown-tag": "with a tag that the rubric does not have",
        "tag-of-other-task": "with a tag of another kind of task",
        "tag-twice": "with a tag given twice",
        "scale-of-other-task": "with a rating of another kind of task, such as edit precision outside edits",
        "rating-range": f"with a rating that is not {LOWEST_RATING} to {HIGHEST_RATING}, left out",
    }
)
"""The rules a vote can break, by name, each in words that follow a number of votes."""
OF_OTHER_TASKS = ("tag-of-other-task", "scale-of-other-task")
LENIENT = "-lenient"
"""What a rubric's version ends with in signatures where votes were taken that do not keep its rules."""


class Breach(NamedTuple):
    """One rule that an answer does not keep."""

    rule: str
    field: str
    """Where: "primary_tag", "secondary_tags" or a dimension's key."""
    message: str


def tag_breaches(primary: str, secondary: Sequence[str], *, family: str, tie: bool, book: Rubric) -> Iterator[Breach]:
    """What is wrong with the tags of an answer; "" is no primary tag."""
    if not primary:
        if book.needs_tag(tie=tie):
            yield Breach("primary-tag", "primary_tag", "Choose 1 primary reason tag.")
    else:
        yield from _strangers("primary_tag", [primary], family, book)
    if len(secondary) > book.most_secondary_tags:
        message = f"Choose 0–{book.most_secondary_tags} secondary tags; there are {len(secondary)}."
        yield Breach("secondary-tags", "secondary_tags", message)
    yield from _strangers("secondary_tags", secondary, family, book)
    chosen = [tag for tag in (primary, *secondary) if tag]
    if len(set(chosen)) < len(chosen):
        yield Breach("tag-twice", "secondary_tags", "Choose each tag once.")


def _strangers(field: str, tags: Sequence[str], family: str, book: Rubric) -> Iterator[Breach]:
    offered = book.tags_for(family)
    for tag in dict.fromkeys(tag for tag in tags if tag not in offered):
        rule = "tag-of-other-task" if tag in book.tags else "unknown-tag"
        yield Breach(rule, field, f"“{tag}” is not offered for this task.")


def scale_breaches(rated: Iterable[str], *, family: str, book: Rubric) -> Iterator[Breach]:
    """Scales that were rated and that this task does not have."""
    offered = {dimension.key for dimension in book.dimensions_for(family)}
    for key in sorted(set(rated) - offered):
        yield Breach("scale-of-other-task", key, f"“{key}” is not rated for this task.")


def vote_breaches(vote: Vote, book: Rubric) -> list[Breach]:
    """The rules of this rubric that a vote does not keep. A scale that was left out is none: files may lack ratings."""
    tags = tag_breaches(vote.primary_tag, vote.secondary_tags, family=vote.family, tie=not vote.decided, book=book)
    return [*tags, *scale_breaches({*vote.ratings, *vote.pair_ratings}, family=vote.family, book=book)]


def bent_counts(votes: Iterable[Vote]) -> dict[str, int]:
    """By rule, in the order of `RULES`: how many votes do not keep it."""
    counts = Counter(rule for vote in votes for rule in set(vote.bent))
    return {rule: counts[rule] for rule in RULES if counts[rule]}


def bent_text(counts: Mapping[str, int]) -> str:
    """
    >>> bent_text({"primary-tag": 12, "tag-twice": 1})
    '12 without a primary tag, 1 with a tag given twice'
    """
    return ", ".join(f"{number} {RULES[rule]}" for rule, number in counts.items())
