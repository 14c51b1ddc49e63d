"""Facts of the medium that two clips share or not: where they differ, a metric that depends on them says nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from rushes.core.definition import MEDIUM_FACTS, Definition
from rushes.media import VideoFacts
from rushes.stats.intervals import Whole
from rushes.storage.runs import Subject

_SLACK = 0.01
"""Rates and lengths agree to within 1 %: 29.97 and 30 frames a second do, 24 and 25 do not."""


class Fact(NamedTuple):
    """One fact of one clip; None where the run does not tell."""

    value: object
    text: str


class FactDifference(NamedTuple):
    """A fact that two clips differ in, and what each has."""

    fact: str
    """What it is, in words: "frame size"."""
    first: str
    second: str

    def text(self, names: tuple[str, str]) -> str:
        """ "frame size 640×360 in A, 320×180 in B", by what the two runs or systems are called."""
        return f"{self.fact} {self.first} in {names[0]}, {self.second} in {names[1]}"


_UNKNOWN = Fact(None, "unknown")


def fact_differences(definition: Definition, a: Subject, b: Subject) -> tuple[FactDifference, ...]:
    """The facts that the definition depends on and two clips differ in.

    What neither run tells is taken as equal; what one of them tells is not. Of two pairs, the references must be one.
    """
    if other := _other_reference(a, b):
        return other
    facts = ((name, medium_fact(a, name), medium_fact(b, name)) for name in definition.depends_on)
    return tuple(
        FactDifference(MEDIUM_FACTS[name], one.text, other.text)
        for name, one, other in facts
        if not facts_agree(one, other)
    )


class FactKinds:
    """The facts of many clips by kind: clips that share their facts, as those of a run in shards do, are read once."""

    def __init__(self, facts: Sequence[Mapping[str, object] | None]) -> None:
        places: dict[int, int] = {}
        self.codes: Whole = np.fromiter(
            (places.setdefault(id(one), len(places)) for one in facts), dtype=np.int64, count=len(facts)
        )
        """Which kind each clip is; of clips that are not there, one of its own."""
        known = {id(one): one for one in facts}
        self.clips: list[Subject | None] = [None if (one := known[mark]) is None else _of_facts(one) for mark in places]
        """A clip of each kind."""


def _of_facts(facts: Mapping[str, object]) -> Subject:
    return Subject(id="?", kind="clip", path="", sha256=None, facts=facts)


class MediaPairs:
    """The facts of the same clips in two runs. Most clips of a run are alike in them: each kind is looked at once."""

    def __init__(self, pairs: Sequence[tuple[Subject, Subject]]) -> None:
        known: dict[int, str] = {}
        places: dict[tuple[str, str], int] = {}
        seen: dict[tuple[int, int], int] = {}
        self._samples: list[tuple[Subject, Subject]] = []
        codes = np.empty(len(pairs), dtype=np.int64)
        for number, pair in enumerate(pairs):
            mark = id(pair[0].facts), id(pair[1].facts)
            if mark not in seen:
                key = _told(pair[0], known), _told(pair[1], known)
                if key not in places:
                    places[key] = len(self._samples)
                    self._samples.append(pair)
                seen[mark] = places[key]
            codes[number] = seen[mark]
        self._codes = codes
        self.places: Whole = np.arange(len(pairs))
        """Of every clip: 0, 1, 2 …"""
        self._found: dict[tuple[str, ...], list[tuple[FactDifference, ...]]] = {}

    def differences(self, definition: Definition) -> tuple[list[tuple[FactDifference, ...]], Whole]:
        """`fact_differences` of each kind of pair, and which kind each clip is."""
        if definition.depends_on not in self._found:
            found = [fact_differences(definition, one, other) for one, other in self._samples]
            self._found[definition.depends_on] = found
        return self._found[definition.depends_on], self._codes


def _told(subject: Subject, known: dict[int, str]) -> str:
    """What `fact_differences` goes by, as a text; clips that share their facts are looked at once."""
    facts = subject.facts
    if id(facts) not in known:
        known[id(facts)] = json.dumps([facts.get(key) for key in _TOLD], sort_keys=True, default=str)
    return known[id(facts)]


_TOLD = ("media", "canon", "luma_converted", "reference")


def differing_facts(definition: Definition, a: Subject, b: Subject, *, names: tuple[str, str] = ("A", "B")) -> str:
    """`fact_differences` in words; "" where there is none. `names` are what the two runs or systems are called."""
    return facts_text(fact_differences(definition, a, b), names)


def facts_text(differences: Iterable[FactDifference], names: tuple[str, str]) -> str:
    return "; ".join(one.text(names) for one in differences)


def _other_reference(a: Subject, b: Subject) -> tuple[FactDifference, ...]:
    """That two pairs were not held against the same thing; () where they were, or a subject is no pair."""
    one, other = (subject.facts.get("reference") for subject in (a, b))
    if not isinstance(one, Mapping) or not isinstance(other, Mapping) or one.get("sha256") == other.get("sha256"):
        return ()
    return (FactDifference("another reference:", str(one.get("path")), str(other.get("path"))),)


def medium_fact(subject: Subject, name: str) -> Fact:
    """One of `MEDIUM_FACTS` of a clip, as the form that was measured has it.

    The canonical form has one rate, but repeats or drops frames to get there, so its rate is the original's.
    """
    original, canon = subject.media, subject.canon
    measured = original if name == "fps" or canon is None else canon
    video = None if measured is None else measured.video
    if video is None:
        return _UNKNOWN
    read, text = _READERS[name]
    value = read(video, subject.facts)
    return _UNKNOWN if value is None else Fact(value, text(value))


def facts_agree(one: Fact, other: Fact) -> bool:
    """Whether two clips have the same fact: rates and lengths to within 1 %."""
    a, b = one.value, other.value
    if isinstance(a, float) and isinstance(b, float):
        return abs(a - b) <= _SLACK * max(abs(a), abs(b))
    return a == b


def _luma(video: VideoFacts, facts: Mapping[str, object]) -> str:
    if not facts.get("luma_converted"):
        return "as coded"
    from rushes.media.luma import luma_layout

    # Packed YUV is only taken apart: its values are the coded ones.
    return "computed from RGB" if luma_layout(str(video.pix_fmt), 0).how == "rgb" else "as coded"


def _float(value: float | Fraction | None) -> float | None:
    return None if value is None else float(value)


_READERS: Mapping[str, tuple[Callable[[VideoFacts, Mapping[str, object]], Any], Callable[[Any], str]]] = {
    "frame_size": (lambda video, _: video.upright, lambda size: f"{size[0]}×{size[1]}"),
    "fps": (lambda video, _: _float(video.fps), lambda rate: f"{rate:.4g} fps"),
    "duration": (lambda video, _: _float(video.duration_ms), lambda length: f"{length / 1000:.2f} s"),
    "range": (lambda video, _: video.color_range, str),
    "bit_depth": (lambda video, _: video.bits, lambda bits: f"{bits} bits"),
    "transfer": (lambda video, _: video.transfer, lambda curve: str(curve).upper()),
    "luma": (_luma, str),
}
"""How each of `MEDIUM_FACTS` is read, and its words."""
