"""What a run is about: one `Subject` per clip, pair, set, sweep, pose file or study, and the `Entry` that holds it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from rushes.core import Measurement
from rushes.core.errors import DefinitionError
from rushes.core.reason import Reason, severity_of
from rushes.core.selection import Numbers
from rushes.core.words.notebook_repr import brief
from rushes.storage.runs.old_reasons import read_reason

if TYPE_CHECKING:
    import numpy as np

    from rushes.core.media_facts import MediaFacts

_WORDS = ("id", "kind", "path", "sha256", "facts", "badge")
REMARKS = "remarks"
"""Among a subject's facts: what is said beside its review signal, as reasons are stored."""
Kind: TypeAlias = Literal["clip", "set", "pair", "pose", "sweep", "study"]


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class Subject:
    """One line of `subjects.jsonl`. `reasons` may be given as texts, where an instrument has nothing else."""

    __repr__ = brief

    id: str
    kind: Kind
    path: str
    """As the user gave it: relative paths stay relative, so that a run's bytes do not depend on the machine."""
    sha256: str | None
    facts: Mapping[str, object]
    """Plain data about the subject: media facts, counts, names. Never a clock or a host."""
    badge: str | None
    why: tuple[Reason, ...]
    """The reasons of the review signal: what was judged, by which rule, where."""

    def __init__(
        self,
        *,
        id: str,
        kind: Kind,
        path: str,
        sha256: str | None,
        facts: Mapping[str, object] | None = None,
        badge: str | None = None,
        why: Iterable[Reason] = (),
        reasons: Iterable[str] | None = None,
    ) -> None:
        told = tuple(why) if reasons is None else tuple(read_reason(text, signal=badge) for text in reasons)
        values = (id, kind, path, sha256, {} if facts is None else facts, badge, told)
        for name, value in zip(self.__slots__, values, strict=True):
            object.__setattr__(self, name, value)

    @property
    def reasons(self) -> tuple[str, ...]:
        """The same in words: "frozen 1.0–2.4 s (longest_freeze_ms=1400 > 450)"."""
        return tuple(reason.text for reason in self.why)

    @property
    def remarks(self) -> tuple[Reason, ...]:
        """What is said of it and changes no review signal: "silent sound, from beginning to end"."""
        found = self.facts.get(REMARKS)
        return tuple(map(Reason.from_row, found)) if isinstance(found, list) else ()

    @property
    def media(self) -> MediaFacts | None:
        """What the run recorded of the file: container, picture, sound; None where it recorded nothing."""
        return _media(self.facts, "media")

    @property
    def canon(self) -> MediaFacts | None:
        """The same of the canonical form, where that was measured."""
        return _media(self.facts, "canon")

    def row(self) -> dict[str, object]:
        return {word: getattr(self, word) for word in _WORDS} | {
            "facts": dict(self.facts),
            "reasons": [reason.as_row() for reason in self.why],
        }

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Subject:
        """A subject from its line; `TypeError` where it is not one."""
        kinds = {"id": str, "kind": str, "facts": dict, "reasons": list}
        wrong = [key for key, kind in kinds.items() if not isinstance(row[key], kind)]
        if wrong:
            raise TypeError(f"a subject's {wrong[0]} is {row[wrong[0]]!r}")
        return cls(**{word: row[word] for word in _WORDS}, why=reasons_of(row))


def _media(facts: Mapping[str, object], name: str) -> MediaFacts | None:
    from rushes.core.media_facts import MediaFacts

    return MediaFacts.in_facts(facts, name)


def reasons_of(row: Mapping[str, Any]) -> list[Reason]:
    """The reasons in a subject's line, of which each is a text or an object."""
    return [
        read_reason(reason, signal=row["badge"]) if isinstance(reason, str) else Reason.from_row(reason)
        for reason in row["reasons"]
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry(Numbers):
    """One clip of a run: `clip["sharpness"]` is one number, `clip.select("pck", joint="nose")` all that match."""

    __repr__ = brief

    subject: Subject
    measurements: tuple[Measurement, ...]
    series: Mapping[str, np.ndarray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for measurement in self.measurements:
            if not isinstance(measurement, Measurement):
                raise DefinitionError(f"a run holds measurements only; {self.subject.id} was given {measurement!r}")

    @property
    def id(self) -> str:
        return self.subject.id

    @property
    def path(self) -> str:
        return self.subject.path

    @property
    def review_signal(self) -> str | None:
        """ "reject", "flagged" or "pass"; None where there is none."""
        return self.subject.badge

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it is flagged or rejected, in words."""
        return tuple(self.subject.reasons)

    @property
    def severity(self) -> float:
        """How many times its threshold the worst value is; 0 where no rule fired."""
        return severity_of(self.subject.why)

    def rows(self) -> list[dict[str, object]]:
        """The lines of `measurements.jsonl`: the subject's id, then the number."""
        return [{"subject": self.subject.id} | m.as_dict() for m in self.measurements]
