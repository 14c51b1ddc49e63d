"""What the reason tags say about a sample whose raters disagree.

The rubric ranks the reasons: adherence before temporal and identity stability, before edit precision, before realism;
a rubric of one's own ranks its tag groups in the order in which it lists them.
A winner's primary tag names what was wrong with the other clip, so the side whose raters name the more important
failure has the stronger case. It is a suggestion to the adjudicator, shown with its reason, never a decision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rushes.instruments.preference.rubric import RUBRIC, Rubric
from rushes.instruments.preference.votes import Vote, Winner

# Position of each tag group in the built-in rubric's priorities, which are not the order of its groups. Safety tasks
# exist for what the safety tags name: it ranks with adherence there.
_RANKS = {
    "Adherence / Semantics": 1,
    "Safety (for safety tasks)": 1,
    "Temporal / Identity": 2,
    "Edit tasks": 3,
    "Quality / Realism": 4,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """What the tags suggest, and why in one sentence."""

    winner: Winner | None
    """None when the tags weigh the same."""
    why: str


def tag_rank(tag: str, *, rubric: Rubric = RUBRIC) -> int:
    """1 for the most important kind of failure; larger is less important, and no tag of the rubric's is the largest.

    >>> tag_rank("Missed constraint"), tag_rank("Flicker / temporal jitter"), tag_rank("Artifacts / blur / distortion")
    (1, 2, 4)
    """
    for place, group in enumerate(rubric.tag_groups, 1):
        if tag in group.tags:
            return _RANKS[group.label] if rubric.version == RUBRIC.version else place
    return _last(rubric)


def _last(rubric: Rubric) -> int:
    """After every tag group."""
    return 1 + (max(_RANKS.values()) if rubric.version == RUBRIC.version else len(rubric.tag_groups))


def suggest(votes: Sequence[Vote], *, rubric: Rubric = RUBRIC) -> Suggestion:
    """The winner whose raters name the most important failure.

    Compared in this order: rank of the best primary tag, number of raters, rank of the best secondary tag. Equal in
    all three: no suggestion.
    """
    if not votes:
        return Suggestion(winner=None, why="no votes yet")
    cases: dict[Winner, tuple[int, int, int]] = {}
    for winner in ("a", "b", "tie"):
        backers = [vote for vote in votes if vote.winner == winner]
        if backers:
            cases[winner] = _case(backers, rubric)
    order = sorted(cases, key=lambda winner: cases[winner])
    if len(order) > 1 and cases[order[0]] == cases[order[1]]:
        return Suggestion(winner=None, why="the reason tags of both sides weigh the same")
    best = order[0]
    tag = min((v.primary_tag for v in votes if v.winner == best), key=lambda t: tag_rank(t, rubric=rubric))
    return Suggestion(winner=best, why=_sentence(cases, order, tag))


def _case(backers: Sequence[Vote], rubric: Rubric) -> tuple[int, int, int]:
    primary = min(tag_rank(vote.primary_tag, rubric=rubric) for vote in backers)
    secondary = [tag_rank(tag, rubric=rubric) for vote in backers for tag in vote.secondary_tags]
    return primary, -len(backers), min(secondary, default=_last(rubric))


def _sentence(cases: dict[Winner, tuple[int, int, int]], order: Sequence[Winner], tag: str) -> str:
    best, runner_up = cases[order[0]], cases[order[1]] if len(order) > 1 else None
    if runner_up is None:
        return "all raters agree"
    if best[0] < runner_up[0]:
        return f"“{tag}” outranks the other side's reasons in the rubric's priorities"
    if best[1] < runner_up[1]:
        return "the reasons rank the same and more raters chose it"
    return "the primary reasons rank the same and its secondary tags rank higher"
