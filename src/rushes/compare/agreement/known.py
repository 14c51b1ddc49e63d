"""How far a metric is known to agree with people, to be shown beside its numbers.

`earned_say` asks whether a metric may rank systems. This asks what is known at all: a credential that shows no better
than chance is known too, and so is what people prefer of a metric without a better side.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from rushes.compare.agreement.credential import Credential
from rushes.core import Definition
from rushes.core.measurement import At

NOT_KNOWN = "not known"
HEAD = "agrees with people"
"""What stands above the words."""
CHANCE = (
    "Agrees with people: in how many pairs of clips the metric prefers the one that people prefer, with a 95 % "
    "interval; a coin is right in 50 %."
)
_OF_MANY = ("aggregate", "over", "samples", "within")
"""What a mean over clips, or over samples of a prompt, adds to a signature."""


def known_agreement(
    metric: Definition, credentials: Iterable[Credential], *, kind: str = "", at: At = ()
) -> tuple[Credential, ...]:
    """The credentials about a metric of clips, or about a mean of it, the best of each question; () where none is.

    `kind` is the kind of video; credentials of another kind are left out, and "" leaves out none.
    """
    bare = replace(metric, params=tuple(one for one in metric.params if one[0] not in _OF_MANY))
    found = [one for one in credentials if one.is_about(bare, at) and (not kind or one.kind == kind)]
    order = sorted(found, key=lambda one: (not one.is_in_other_form(bare), one.pairs_right.low))
    best = {one.question: one for one in order}
    return tuple(best[question] for question in sorted(best))


def agreement_text(found: Sequence[Credential], *, kinds: bool = False) -> str:
    """For a cell: "lip 93 % (65–99 %)", of a metric without a better side "head 87 % with more (75–93 %)".

    With `kinds` the kind of video is named too, where whoever shows it does not know the kind of the clips.
    """
    return "; ".join(_words(one, kinds) for one in found) or NOT_KNOWN


def agreement_notes(found: Iterable[Sequence[Credential]]) -> list[str]:
    """What the words in a table rest on, once for all of its rows; nothing where nothing is known."""
    every = [one for each in found for one in each]
    if not every:
        return []
    sided = any(one.better == "neither" for one in every)
    more = " With more: how often people prefer the clip in which there is more of it." if sided else ""
    data = {f"{one.data.name}: {one.data.prompts} prompts, {len(one.data.systems)} systems" for one in every}
    seen = ", seen while the metrics were made" if all(one.seen == "yes" for one in every) else ""
    return [f"{CHANCE}{more} Known from {'; '.join(sorted(data))}{seen}."]


def _words(one: Credential, kinds: bool) -> str:
    pairs = one.pairs_right
    more = " with more" if one.better == "neither" else ""
    of = f", {one.kind}" if kinds and one.kind else ""
    return (
        f"{one.question.replace('_', ' ')} {100 * pairs.value:.0f} %{more} "
        f"({100 * pairs.low:.0f}–{100 * pairs.high:.0f} %{of})"
    )
