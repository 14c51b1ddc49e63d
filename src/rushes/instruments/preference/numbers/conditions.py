"""The conditions that every number of a study states, and the step from an estimate to a labelled measurement."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal, TypeAlias

from rushes.core import Definition, Estimate, Measurement, Why
from rushes.core.definition import Setting
from rushes.instruments.preference.rubric import rubric
from rushes.instruments.preference.rules import LENIENT
from rushes.instruments.preference.votes import Vote
from rushes.stats.intervals import LEVEL, check_confidence

Labels: TypeAlias = Literal["raw", "adjudicated"]
NO_RULE = "none"
NO_RUBRIC = "none"
"""Of votes that were gathered elsewhere, by rules that we do not know."""
ALL_FAMILIES = "all"
ALL_VOTES = "every vote of a sample counts: nobody recorded who was asked first"
"""Note of an agreement that rests on all votes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """Under which rubric, from whose votes, after which exclusions, from which labels."""

    rubric_version: str
    exclusion_rule: str
    labels: Labels = "raw"
    lenient: bool = False
    """True when some of the votes do not keep the rubric's rules (`Vote.bent`); every signature then says so."""
    confidence: float = LEVEL
    simulated: bool = False
    """True when the raters are a program; every signature then says so."""
    raters_known: bool = True
    """False where votes do not say who gave them, as in published counts; every signature then says so."""
    pairing: str = "round-robin"
    """How pairs were given out; every signature says so when it is "active": systems then met unequally often."""
    method: str = "pairs"
    """How raters were asked (`preference.methods`); every signature says so when it is not plain pairs."""

    def __post_init__(self) -> None:
        if self.rubric_version != NO_RUBRIC:
            rubric(self.rubric_version)
        check_confidence(self.confidence)

    def bind(self, definition: Definition, **params: Setting) -> Definition:
        """The definition with these conditions and choices written into its signature."""
        if "method" in definition.open_params:
            params["method"] = self.method
        bound = definition.with_params(
            rubric=f"{self.rubric_version}{LENIENT}" if self.lenient else self.rubric_version,
            exclusion=rule_text(self.exclusion_rule),
            raters="simulated" if self.simulated else "people" if self.raters_known else "unknown",
            labels=self.labels,
            **params,
        )
        if self.pairing != "round-robin":
            bound = bound.add_params(pairing=self.pairing)
        return bound if self.method == "pairs" or "method" in params else bound.add_params(method=self.method)


def counted_votes(votes: Iterable[Vote], *, excluded: Collection[str] = ()) -> tuple[Vote, ...]:
    """The raw votes that results rest on: no gold pairs, repeats, adjudicator's labels or excluded raters."""
    left_out = frozenset(excluded)
    return tuple(vote for vote in votes if vote.counts_in_results and vote.rater not in left_out)


def some_bent(votes: Iterable[Vote]) -> bool:
    """Whether some of the votes do not keep the rubric's rules."""
    return any(vote.bent for vote in votes)


def rule_text(rule: str) -> str:
    """An exclusion rule as signatures and tables spell it: one line, a broken bar for `|`; "none" for no rule.

    A rule is a method, in whatever words a study declared it, so it is the one free text of a signature.

    >>> rule_text("side_bias>0.35"), rule_text(" bias | speed\\n"), rule_text("")
    ('side_bias>0.35', 'bias ¦ speed', 'none')
    """
    printable = "".join(c if c.isprintable() else " " for c in rule.replace("|", "¦"))
    return " ".join(printable.split()) or NO_RULE


def family_place(family: str) -> str:
    """A task family as `at` names it, apart from the word for all of them.

    >>> family_place("T2"), family_place(""), family_place("all")
    ('T2', 'unnamed', '“all”')
    """
    return f"“{family}”" if family == ALL_FAMILIES else family or "unnamed"


ORDER_ONLY = ("bt_elo", "jod", "bt_rank", "win_share", "head_to_head", "cmos", "dimension_mean")
"""Numbers that active pairing bends: a match-up that looks decided early is not asked again, so an early extreme stays.
Measured: intervals of strengths covered 0.79 of 0.95 between equal systems, and strengths were 1.4 times too large. The
first two have no value then; the others have no interval."""


def _order_only(estimate: Estimate, *, has_value: bool) -> Estimate:
    if estimate.value is None:
        return estimate
    return replace(estimate, value=estimate.value if has_value else None, interval=None, why=Why.CHOSEN_BY_VOTES)


def measured(
    definition: Definition,
    estimate: Estimate,
    conditions: Conditions,
    at: Mapping[str, str] = MappingProxyType({}),
    /,
    *,
    note: str = "",
    **params: Setting,
) -> Measurement:
    """An estimate with its definition and what it is about.

    Why a number has no interval, or what to know about the one it has, follows the `note`; of a missing value the
    `note` alone says why, where there is one.
    """
    if conditions.pairing == "active" and definition.name in ORDER_ONLY:
        estimate = _order_only(estimate, has_value=definition.name not in ORDER_ONLY[:2])
    words = "" if estimate.why is None or (note and estimate.value is None) else estimate.why.text
    note = "; ".join(filter(None, (note, words)))
    return Measurement.of(conditions.bind(definition, **params), estimate, at=at, note=note)
