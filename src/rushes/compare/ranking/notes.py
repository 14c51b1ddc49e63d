"""What to know before quoting a ranking: what its intervals cover, and what its votes lack."""

from __future__ import annotations

from collections.abc import Iterator

from rushes.stats.clustered import BY_PROMPT, ONE_WAY, IntervalKind
from rushes.stats.votes.connection import never
from rushes.stats.votes.tally import PairCounts, Tally


def notes_of(votes: Tally, counts: PairCounts, kind: IntervalKind, *, one_sided: bool, named: float) -> tuple[str, ...]:
    """One sentence for each thing; `named` is the share of votes that name a rater."""
    return tuple(_notes(votes, counts, kind, one_sided, named))


def _notes(votes: Tally, counts: PairCounts, kind: IntervalKind, one_sided: bool, named: float) -> Iterator[str]:
    if 0 < named < 1:
        yield f"{1 - named:.0%} of the votes name no rater: raters are taken as unknown."
    if kind == BY_PROMPT and votes.knows_raters:
        yield "One rater: intervals cover other prompts, not other raters."
    elif kind == BY_PROMPT:
        yield (
            "Raters are unknown, so intervals cover other prompts, not other raters: other raters may differ by more "
            "than the intervals say."
        )
    elif kind == ONE_WAY:
        yield f"{_lacking(votes)}, so intervals cover other raters, not other prompts."
    elif kind == "fisher":
        yield (
            f"{_lacking(votes)} and raters are unknown, so intervals take votes as independent, which is too narrow: "
            "votes of one person, and on one prompt, resemble each other."
        )
    systems = len(votes.systems)
    few = [f"{n} {what}" for n, what, known in _sizes(votes) if known and 1 < n < systems]
    if few and kind != "fisher":
        yield f"Only {' and '.join(few)} for {systems} systems: intervals may be too narrow."
    if one_sided:
        yield (
            f"{never(counts)}: its strength has no finite estimate. A weak prior (normal, precision 0.25) bounds it; "
            "its rank counts, not its distance."
        )


def _lacking(votes: Tally) -> str:
    return "There is one prompt" if votes.knows_prompts else "Prompts are unknown"


def _sizes(votes: Tally) -> tuple[tuple[int, str, bool], ...]:
    return (
        (len(votes.raters), "raters", votes.knows_raters),
        (len(votes.prompts), "prompts", votes.knows_prompts),
    )
