"""What a run is about: one `Subject` per clip, pair, set, sweep, pose file or study, and the `Entry` that holds it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from rushes.core import Measurement
from rushes.core.showing import brief
from rushes.errors import DefinitionError

if TYPE_CHECKING:
    import numpy as np

Kind: TypeAlias = Literal["clip", "set", "pair", "pose", "sweep", "study"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """One line of `subjects.jsonl`."""

    __repr__ = brief

    id: str
    kind: Kind
    path: str
    """As the user gave it: relative paths stay relative, so that a run's bytes do not depend on the machine."""
    sha256: str | None
    facts: Mapping[str, object] = field(default_factory=dict)
    """Plain data about the subject: media facts, counts, names. Never a clock or a host."""
    badge: str | None = None
    reasons: tuple[str, ...] = ()

    def row(self) -> dict[str, object]:
        return {
            "id": self.id,
            "kind": self.kind,
            "path": self.path,
            "sha256": self.sha256,
            "facts": dict(self.facts),
            "badge": self.badge,
            "reasons": list(self.reasons),
        }

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Subject:
        """A subject from its line; `TypeError` where it is not one."""
        kinds = {"id": str, "kind": str, "facts": dict, "reasons": list}
        wrong = [key for key, kind in kinds.items() if not isinstance(row[key], kind)]
        if wrong:
            raise TypeError(f"a subject's {wrong[0]} is {row[wrong[0]]!r}")
        words = ("id", "kind", "path", "sha256", "facts", "badge")
        return cls(**{word: row[word] for word in words}, reasons=tuple(row["reasons"]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A subject with its measurements and, where there is a timeline, its per-frame series."""

    __repr__ = brief

    subject: Subject
    measurements: tuple[Measurement, ...]
    series: Mapping[str, np.ndarray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for measurement in self.measurements:
            if not isinstance(measurement, Measurement):
                raise DefinitionError(f"a run stores measurements only; {self.subject.id} was given {measurement!r}")

    def rows(self) -> list[dict[str, object]]:
        """The lines of `measurements.jsonl`: the subject's id, then the number."""
        return [{"subject": self.subject.id} | m.as_dict() for m in self.measurements]
