"""One request to a judge and its reply; the digest by which an answer is found again.

The digest covers everything that can change the answer: who judges, the texts, the clips by content, how frames are
taken, temperature and which repeat it is. It does not cover where the clips or the endpoint lie.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

from rushes.core.canonical import canonical_json
from rushes.core.machine.provenance import bytes_digest
from rushes.vision.judges.pictures import JPEG_QUALITY, LONGEST_SIDE


@dataclass(frozen=True, slots=True)
class View:
    """A clip as the judge sees it: its frames, as they are or with a planted degradation."""

    path: str
    sha256: str
    plant: str = ""
    """"blur-mild"; see `asking/plants.py`."""


Part: TypeAlias = str | View
Key: TypeAlias = tuple[str, ...]
"""What a request is about, for whoever planned it: ("answer", clip, question, repeat)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """What all requests of a run have in common. Each field is in every signature."""

    system: str
    """The judge's instructions."""
    frames: int = 8
    side: int = LONGEST_SIDE
    quality: int = JPEG_QUALITY
    temperature: float = 0.0

    @property
    def params(self) -> dict[str, str | int | float]:
        """As signatures have it; the instructions are in the template's digest."""
        return {
            "frames": self.frames,
            "sampling": "middles of equal stretches",
            "side": self.side,
            "encoding": f"jpeg-{self.quality}",
            "temperature": self.temperature,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One request: texts and clips in the order in which the judge sees them."""

    key: Key
    parts: tuple[Part, ...]
    repeat: int = 1

    @property
    def views(self) -> tuple[View, ...]:
        return tuple(part for part in self.parts if isinstance(part, View))

    @property
    def letters(self) -> int:
        """Length of its texts."""
        return sum(len(part) for part in self.parts if isinstance(part, str))

    def digest(self, judge: Mapping[str, object], method: Method) -> str:
        seen = [part if isinstance(part, str) else [part.sha256, part.plant] for part in self.parts]
        return bytes_digest(canonical_json([judge, asdict(method), seen, self.repeat]).encode())


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What came back: the judge's text, or why there is none."""

    text: str = ""
    model: str = ""
    """Who answered, as the endpoint says."""
    fingerprint: str = ""
    refusal: str = ""
    failed: str = ""
    """Why there is no answer, where the judge gave none."""
    unreadable: bool = False
    """Whether it failed because of the clip, and not of the judge."""
    tokens_in: int | None = None
    tokens_out: int | None = None

    @property
    def version(self) -> str:
        """Model and fingerprint in one; "" where the judge says neither."""
        return f"{self.model}@{self.fingerprint}" if self.fingerprint else self.model

    def row(self) -> dict[str, object]:
        return {name: value for name in _FIELDS if (value := getattr(self, name)) not in ("", None, False)}

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Reply:
        """`TypeError` for a row that is none."""
        for name, kind in _FIELDS.items():
            if name in row and type(row[name]) is not kind:
                raise TypeError(f"a reply's {name} is {row[name]!r}")
        return cls(**{name: row[name] for name in _FIELDS if name in row})


_FIELDS: Mapping[str, type] = {
    **dict.fromkeys(("text", "model", "fingerprint", "refusal", "failed"), str),
    "unreadable": bool,
    **dict.fromkeys(("tokens_in", "tokens_out"), int),
}


class Replies:
    """Requests with their replies, by what they are about: role and subject come first in every key."""

    def __init__(self, found: Mapping[Key, Reply]) -> None:
        self.found = dict(found)
        self._by: dict[Key, dict[Key, Reply]] = {}
        for key, reply in self.found.items():
            for start in (key[:1], key[:2]):
                self._by.setdefault(start, {})[key] = reply

    def under(self, role: str, subject: str | None = None) -> dict[Key, Reply]:
        """Those of a role, or of a role and a subject, in the order of the plan."""
        return self._by.get((role,) if subject is None else (role, subject), {})
