"""One metric over the subjects of one run: what runs, boards, gates, tables and trackers compare and show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from rushes.core.definition import Definition
from rushes.core.measurement import At, Measurement
from rushes.core.words.notebook_repr import brief

Same: TypeAlias = tuple[str, At]
"""What makes two readings one: signature and place."""
ReadingKey: TypeAlias = str
"""A reading's signature and what it is about, in one text: its name on a board."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Numbers that were measured alike (one signature) and are about the same thing (one place), a value per subject.

    Two readings are the same where signature and `at` are: `Reading.same` of the one is that of the other.
    """

    __repr__ = brief

    definition: Definition
    at: At = ()
    """What its numbers are about, beside their subject: (("joint", "left_wrist"),)."""
    label: str = ""
    """What people call it: the head of its column."""
    instrument: str = ""
    values: Mapping[str, Measurement] = field(default_factory=dict, hash=False)
    """By subject id, in the run's order; one that could not be measured is a Measurement without a value."""
    references: Mapping[str, str] = field(default_factory=dict, hash=False)
    """By subject id: digest of what it was held against, where there is such a thing."""
    minor: bool = False
    """Shown only where it tells subjects apart: a count of damage that no clip has is no column."""
    lane: str = ""
    """The lane of the subject's timeline that its values come from; "" where it has none."""
    per_prompt: bool = False
    """On a board: whether there is one value per clip, which pairs by prompt; else one per system (FVD, Elo, ESI)."""

    @property
    def name(self) -> str:
        """The metric's name."""
        return self.definition.name

    @property
    def same(self) -> Same:
        return self.definition.signature, self.at

    @property
    def key(self) -> ReadingKey:
        places = ",".join(f"{name}={value}" for name, value in self.at)
        return f"{self.definition.signature} @ {places}" if places else self.definition.signature

    def shares(self, other: Reading) -> bool:
        """Whether some subject is in both."""
        return not self.values.keys().isdisjoint(other.values)


def group_readings(numbers: Iterable[tuple[str, Measurement]]) -> list[Reading]:
    """Numbers, each with its subject's id, as readings in order of first appearance.

    Where a subject has two numbers of one signature and place, the later one stands.
    """
    found: dict[Same, tuple[Definition, dict[str, Measurement]]] = {}
    for subject, m in numbers:
        key = m.definition.signature, m.at
        if key not in found:
            found[key] = m.definition, {}
        found[key][1][subject] = m
    return [Reading(definition=definition, at=at, values=values) for (_, at), (definition, values) in found.items()]
