"""Which metric may say *better*, and about what: credentials held against the metrics of a board."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum

from rushes.compare.agreement.credential import Credential
from rushes.core import Definition
from rushes.core.measurement import At
from rushes.core.reading import Reading


class NoSay(StrEnum):
    """Why no credential lets a metric say which system is better; whoever shows it has the words."""

    NO_DIRECTION = "no-direction"
    """The metric's definition names no better side."""
    NO_CREDENTIAL = "no-credential"
    """Nobody held a metric of this name against people."""
    OTHER_SIGNATURE = "other-signature"
    """Only under another version or other parameters."""
    OTHER_KIND = "other-kind"
    """Only on another kind of video."""
    NOT_ABOVE_CHANCE = "not-above-chance"
    """It was, and its share of pairs right may be a coin's."""
    FOOLED = "fooled"
    """A degraded copy came out better than its source by it: a say would reward the fault."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EarnedSay:
    """What a metric may speak about, or why it may not."""

    credentials: tuple[Credential, ...] = ()
    """The best one of each question, by the lower end of its share of pairs; questions in text order. One earned in the
    same common form comes before one of another form."""
    why: NoSay | None = None
    """None where there is a credential."""
    nearest: Credential | None = None
    """The credential that fails by `why`; None where there is none of this metric."""


def earned_say(
    metric: Reading | Definition,
    credentials: Iterable[Credential],
    *,
    kind: str | None = None,
    at: At = (),
) -> EarnedSay:
    """Which credentials count for a metric.

    One counts where it is about the same signature and place, was earned on the same `kind` of video (None: not asked),
    its share of pairs right is above ½ with its whole interval, and no degraded copy beat its source by it. The first
    test that none passes is the reason.
    """
    definition, place = (metric.definition, metric.at) if isinstance(metric, Reading) else (metric, at)
    if definition.better == "neither":
        return EarnedSay(why=NoSay.NO_DIRECTION)
    left = [one for one in credentials if one.metric == definition.name]
    if not left:
        return EarnedSay(why=NoSay.NO_CREDENTIAL)
    tests: tuple[tuple[NoSay, Callable[[Credential], bool]], ...] = (
        (NoSay.OTHER_SIGNATURE, lambda one: one.is_about(definition, place)),
        (NoSay.OTHER_KIND, lambda one: kind is None or one.kind == kind),
        (NoSay.NOT_ABOVE_CHANCE, lambda one: one.above_chance),
        (NoSay.FOOLED, lambda one: not one.fooled_by),
    )
    for why, passes in tests:
        passed = [one for one in left if passes(one)]
        if not passed:
            return EarnedSay(why=why, nearest=max(left, key=_worth))
        left = passed
    best = {
        one.question: one for one in sorted(left, key=lambda one: (not one.is_in_other_form(definition), _worth(one)))
    }
    return EarnedSay(credentials=tuple(best[question] for question in sorted(best)))


def _worth(one: Credential) -> tuple[float, str]:
    """Most first; the text makes the choice between equals the same everywhere."""
    return one.pairs_right.low, one.toml()
