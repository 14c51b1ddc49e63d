"""Votes as the statistics take them: counts, units by category, sides.

`stats` knows no `Vote`. Here is the step from votes to tables, and which votes a number may rest on.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from rushes.instruments.preference.votes import HIGHEST_RATING, LOWEST_RATING, UNNAMED, Vote
from rushes.stats.agreement import UnitTable, unit_table
from rushes.stats.votes.side_effect import SidedVotes
from rushes.stats.votes.tally import OUTCOMES, Tally, tally_arrays

WINNER_CATEGORIES = ("a", "tie", "b")
"""In this order, a tie between the two, for the ordinal and interval levels."""


def tally(votes: Iterable[Vote], *, systems: Collection[str] = ()) -> Tally:
    """Count votes. `systems` adds names that nobody voted on yet.

    >>> t = tally([Vote(sample="s", system_a="x", system_b="y", winner="tie", rater="r")])
    >>> t.systems, t.votes, t.ties
    (('x', 'y'), 1, 1)
    """
    given = tuple(votes)
    first, second, people, prompt = (
        [vote.system_a for vote in given],
        [vote.system_b for vote in given],
        [vote.rater for vote in given],
        [vote.prompt_key for vote in given],
    )
    names, raters = sorted({*first, *second, *systems}), sorted(set(people))
    prompts = sorted(set(prompt))
    place, person, words = ({name: i for i, name in enumerate(each)} for each in (names, raters, prompts))
    counted = tally_arrays(
        names,
        [place[name] for name in first],
        [place[name] for name in second],
        [OUTCOMES[vote.winner] for vote in given],
        rater=[person[name] for name in people],
        prompt=[words[name] for name in prompt],
    )
    return replace(counted, raters=tuple(raters), prompts=tuple(prompts))


def votes_by_sample(votes: Iterable[Vote]) -> dict[str, list[Vote]]:
    """Raw votes of each sample in the order they came (`Vote.turn`; the given order where nobody recorded it).

    A rater who voted twice counts once, with the last vote, in the place of the first; the unnamed are many.
    """
    found: dict[str, dict[tuple[str, int], Vote]] = defaultdict(dict)
    for vote in votes:
        if vote.counts_in_results:
            many = len(found[vote.sample]) if vote.rater == UNNAMED else 0
            found[vote.sample][vote.rater, many] = vote
    return {sample: sorted(by_rater.values(), key=lambda vote: vote.turn) for sample, by_rater in found.items()}


def first_votes(votes: Iterable[Vote], first: int) -> list[Vote]:
    """The raw votes of every sample that agreement may rest on; see `agreement_votes`."""
    return agreement_votes(votes, first)[0]


def agreement_votes(votes: Iterable[Vote], first: int) -> tuple[list[Vote], str]:
    """The raw votes that agreement rests on, and which they are as signatures spell it. The order of rows is no matter.

    first-N     the first so many of every sample. A sample gets one more rater only when its first raters disagree.
                Counting that vote would call disputes half agreed and leave the rest as it is: raters who toss coins
                would seem to agree two times in three
    first-N     too, where nobody recorded the order and votes look like that design: samples of N agree, those of
                N + 1 do not. So the first N of the latter disagreed: one vote of their most frequent winner is left out
    all         nobody recorded the order and votes are of another design: every vote of a sample counts

    >>> fifteen = [Vote(sample="s", system_a="x", system_b="y", winner="b", rater=f"r{k}") for k in range(15)]
    >>> [agreement_votes(votes, 2)[1] for votes in (fifteen, fifteen[:2])]
    ['all', 'first-2']
    """
    samples = votes_by_sample(votes)
    open_order = [given for given in samples.values() if len(given) > first and not all(vote.turn for vote in given)]
    if open_order and not all(_on_dispute(given, first) for given in samples.values()):
        return [vote for given in samples.values() for vote in given], "all"
    kept = (given if all(vote.turn for vote in given) else _disputed(given, first) for given in samples.values())
    return [vote for given in kept for vote in given[:first]], f"first-{first}"


def _on_dispute(given: Sequence[Vote], first: int) -> bool:
    """Whether a sample's votes may come of one more rater who was asked because the first ones disagreed."""
    divided = len({vote.winner for vote in given}) > 1
    return len(given) < first or len(given) == first + divided


def _disputed(given: Sequence[Vote], first: int) -> Sequence[Vote]:
    """Without one vote of the most frequent winner, where there is one vote too many."""
    if len(given) <= first:
        return given
    often = Counter(vote.winner for vote in given)
    spare = max(given, key=lambda vote: (often[vote.winner], vote.winner, vote.rater))
    return [vote for vote in given if vote is not spare]


def winner_table(votes: Iterable[Vote]) -> UnitTable:
    """Samples × winners, over raw votes; give it `first_votes` where a third rater depends on the first two."""
    samples = votes_by_sample(votes)
    return unit_table(
        ([vote.winner for vote in samples[sample]] for sample in sorted(samples)), categories=WINNER_CATEGORIES
    )


def rating_table(votes: Iterable[Vote], dimension: str) -> UnitTable:
    """Clips × ratings 1–5 of one dimension, over raw votes; a unit is one clip of one sample."""
    samples, units = votes_by_sample(votes), []
    for sample in sorted(samples):
        both = [vote.ratings[dimension] for vote in samples[sample] if dimension in vote.ratings]
        units += [[one for one, _ in both], [other for _, other in both]]
    return unit_table(units, categories=range(LOWEST_RATING, HIGHEST_RATING + 1))


def winners_by_rater(votes: Iterable[Vote]) -> list[dict[str, str]]:
    """Per sample, the winner that each rater chose: samples in text order."""
    samples = votes_by_sample(votes)
    return [{vote.rater: vote.winner for vote in samples[sample]} for sample in sorted(samples)]


def sided_votes(votes: Iterable[Vote], *, ties: bool = True) -> SidedVotes:
    """Raw votes whose side is known; without `ties`, those that were decided."""
    known = [
        vote for vote in votes if vote.counts_in_results and vote.shown_left is not None and (ties or vote.decided)
    ]
    return SidedVotes(
        first=[vote.system_a for vote in known],
        second=[vote.system_b for vote in known],
        outcome=[OUTCOMES[vote.winner] for vote in known],
        first_left=[vote.shown_left == "a" for vote in known],
        raters=[vote.rater for vote in known],
        prompts=[vote.prompt_key for vote in known],
    )
