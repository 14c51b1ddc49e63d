"""The conditions that every number of a study states, and the step from an estimate to labelled measurements."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias
from urllib.parse import unquote

from rushes.core import Definition, Measurement
from rushes.core.definition import Setting
from rushes.preference.rubric import rubric
from rushes.preference.statistics.intervals import CONFIDENCE, Estimate, Interval, check_confidence
from rushes.preference.votes import Vote

Labels: TypeAlias = Literal["raw", "adjudicated"]
NO_RULE = "none"
ALL_FAMILIES = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """Under which rubric, from how many raters, after which exclusions, from which labels."""

    rubric_version: str
    exclusion_rule: str
    raters: int
    labels: Labels = "raw"
    confidence: float = CONFIDENCE
    simulated: bool = False
    """True when the raters are a program; every signature then says so."""

    def __post_init__(self) -> None:
        rubric(self.rubric_version)
        check_confidence(self.confidence)

    def settle(self, definition: Definition, **settings: Setting) -> Definition:
        """The definition with these conditions and settings written into its signature."""
        return definition.add_params(
            rubric=self.rubric_version,
            exclusion=signature_text(self.exclusion_rule),
            raters=f"{self.raters} simulated" if self.simulated else self.raters,
            labels=self.labels,
            **{key: signature_text(value) if isinstance(value, str) else value for key, value in settings.items()},
        )


def counted_votes(votes: Iterable[Vote], *, excluded: Collection[str] = ()) -> tuple[Vote, ...]:
    """The raw votes that results rest on: no gold pairs, repeats, adjudicator's labels or excluded raters."""
    left_out = frozenset(excluded)
    return tuple(vote for vote in votes if vote.counts_in_results and vote.rater not in left_out)


def signature_text(text: str) -> str:
    """Any text, a system's name for one, as a signature can hold it.

    >>> signature_text("a|b"), signature_text("100%"), signature_text("")
    ('a%7Cb', '100%25', '%')
    """
    kept = "".join(c if c.isprintable() and c not in "%|" else _escaped(c) for c in text)
    return kept or "%"


def plain_text(setting: str) -> str:
    """The text that `signature_text` was given.

    >>> plain_text(signature_text("a|b 100%"))
    'a|b 100%'
    """
    return "" if setting == "%" else unquote(setting)


def _escaped(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "surrogatepass"))


def measured(definition: Definition, estimate: Estimate, conditions: Conditions, **settings: Setting) -> Measurement:
    """An estimate without an interval."""
    settled = conditions.settle(definition, **settings)
    if estimate.value is None:
        return Measurement.missing(settled, estimate.reason, count=estimate.count)
    return Measurement(definition=settled, value=estimate.value, count=estimate.count, note=estimate.reason)


def bounded(
    definition: Definition, estimate: Estimate, conditions: Conditions, *, interval: str, **settings: Setting
) -> tuple[Measurement, ...]:
    """Estimate, lower and upper bound as three measurements; the bounds also name interval kind and confidence."""
    point = measured(definition, estimate, conditions, bound="estimate", **settings)
    found = estimate.interval or Interval.undefined(estimate.reason or "no interval")
    ends = []
    for bound, value in (("lower", found.lower), ("upper", found.upper)):
        settled = conditions.settle(
            definition, bound=bound, interval=interval, confidence=conditions.confidence, **settings
        )
        note = found.reason or estimate.reason
        if value is None:
            ends.append(Measurement.missing(settled, note, count=estimate.count))
        else:
            ends.append(Measurement(definition=settled, value=value, count=estimate.count, note=note))
    return (point, *ends)
