"""Why a clip has a review signal: what was judged, by which rule, with which value, and where in the clip.

A run stores these facts. Sentences are made here and nowhere else, where they are shown: terminal, pages, CSV, gates,
JUnit. No sentence is ever read back; `storage/runs/old_reasons.py` does so for runs that stored nothing but sentences.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from functools import cached_property
from typing import Any, Literal, TypeAlias, get_args

from rushes.core.canonical import stored_float
from rushes.core.span import Span
from rushes.core.words.number_text import fixed_text, number_text

Signal: TypeAlias = Literal["reject", "flagged", "pass"]
SIGNALS: tuple[str, ...] = get_args(Signal)
"""Review signals, worst first."""
RANKS: Mapping[str, int] = {signal: rank for rank, signal in enumerate(SIGNALS)}
"""0 is the worst; what has no signal comes after all of them."""
Level: TypeAlias = Literal["reject", "flagged", "remark"]
"""What a rule makes of a clip; a remark is said and makes nothing of it."""
Comparison: TypeAlias = Literal["above", "below", "is"]
SIGNS = {"above": ">", "below": "<"}
NO_SIZE = 1000.0
"""Severity of a reason that has no size, such as a clip that cannot be decoded: nothing is worse."""
MOST_BELOW = 10.0
"""The highest severity of a value below its threshold: near 0 a ratio says nothing about how much worse a clip is."""


class Cause(StrEnum):
    """What a reason rests on: a rule of a profile, or decode sanity, which holds under every profile."""

    RULE = "rule"
    UNREADABLE = "unreadable"
    PARTLY = "partly"
    ENDS_EARLY = "ends_early"
    MISSING = "missing"
    DAMAGED = "damaged"
    UNDECODED = "undecoded"
    UNSHOWN = "unshown"
    OTHER = "other"
    """Words alone: of another package, or of a run that stored a sentence nobody knows any more."""


_SANITY = {
    Cause.UNREADABLE: ("cannot be decoded", "{kind} ({note})"),
    Cause.PARTLY: ("not measured as a whole", "{kind}: {note}"),
    Cause.ENDS_EARLY: ("picture ends", "{kind} {seconds:.1f} s before the file says ({left:.0f} of {whole:.0f} ms)"),
    Cause.MISSING: ("frames missing", "{count:.0f} of {whole:.0f} {kind}"),
    Cause.DAMAGED: ("damaged", "{count:.0f} frame{s} {kind}"),
    Cause.UNDECODED: ("could not be decoded", "{count:.0f} packet{s} {kind}"),
    Cause.UNSHOWN: ("frames never shown", "{count:.0f} of {whole:.0f} {kind}: the next frame has no later time"),
    Cause.OTHER: ("", "{words}"),
}
"""What clips with this reason have in common, and the sentence, in which that stands."""


@dataclass(frozen=True, kw_only=True)
class Reason:
    """One reason of a review signal. `ValueError` for a rule that lacks its metric, value, comparison or threshold."""

    cause: Cause = Cause.RULE
    level: Level | None = None
    """None where a run of before format 4 does not say which of the two it was."""
    metric: str = ""
    """The reading as a profile names it: "blur_p10"."""
    signature: str = ""
    """Of the measurement that was judged; "" where there is none, or an old run does not say."""
    value: float | bool | None = None
    """As stored, with 8 decimals."""
    comparison: Comparison | None = None
    threshold: float | bool | None = None
    """Of the rule; of decode sanity, what the file promises: frames, or milliseconds."""
    words: str = ""
    """What the metric calls it: "frozen"; "" for one that has no words."""
    span: Span | None = None
    """Where in the clip."""
    note: str = ""
    """What else there is to say: an error, "sound about 200 ms early"."""
    said: str = ""
    """The sentence itself, where a run stored that."""

    def __post_init__(self) -> None:
        if self.cause is Cause.RULE and (not self.metric or None in (self.value, self.comparison, self.threshold)):
            raise ValueError(f"a rule's reason has a metric, a value, a comparison and a threshold; got {self!r}")
        if isinstance(self.value, float):
            object.__setattr__(self, "value", stored_float(self.value))

    @cached_property
    def text(self) -> str:
        """The whole sentence.

        >>> rule = Reason(metric="longest_freeze_ms", value=1400.0, comparison="above", threshold=450, words="frozen")
        >>> rule.text
        'frozen (longest_freeze_ms=1400 > 450)'
        >>> Reason(cause=Cause.MISSING, value=105, threshold=200).text
        '105 of 200 frames missing'
        """
        if self.said:
            return self.said
        if self.cause is not Cause.RULE:
            count, whole = float(self.value or 0), float(self.threshold or 0)
            sizes = {"count": count, "whole": whole, "left": whole - count, "seconds": count / 1000}
            shown = sizes | {"kind": self.kind, "note": self.note, "words": self.words, "s": "" if count == 1 else "s"}
            return _SANITY[self.cause][1].format_map(shown)
        if self.comparison == "is":
            note = f": {self.note}" if self.note else ""
            return f"{self.words}{note} ({self._state})" if self.words else f"{self._state}{note}"
        numbers = f"{self.metric}={self._number} {self.limit}"
        return f"{self.words}{self._where} ({numbers})" if self.words else numbers

    @property
    def brief(self) -> str:
        """Without the numbers, which the table beside it has; of a reason that is nothing but numbers, those in words.

        >>> Reason(metric="blur_p10", value=4.0, comparison="below", threshold=5).brief
        'blur_p10 4, below 5'
        >>> Reason(cause=Cause.UNREADABLE, note="no video").brief
        'cannot be decoded'
        """
        if self.cause in (Cause.UNREADABLE, Cause.PARTLY):
            return self.kind
        if self.cause is not Cause.RULE:
            return self.text
        if self.comparison == "is":
            return self.words or self._state
        return (
            f"{self.words}{self._where}"
            if self.words
            else f"{self.metric} {self._number}, {self.comparison} {self.threshold}"
        )

    @property
    def kind(self) -> str:
        """What it has in common with the reasons of other clips: its words without place and size."""
        return _SANITY.get(self.cause, ("",))[0] or self.words.removesuffix(" at") or self.metric

    @property
    def severity(self) -> float:
        """How far past its threshold the value is, in thresholds; 1 and up, and the sort key of "worst first".

        Formula     above t > 0: v / t. Below t > 0: t / v, at most 10, and 10 where v ≤ 0.
                    t ≤ 0, where no ratio has a meaning: 1 + |v − t|.
                    Frames or time that are missing: promised / there. Damaged frames or packets: 1 + their number.
        Range       1 to 1000. A reason without a size (cannot be decoded, `decode_ok` is false) is 1000, one that is
                    words alone 1
        Reference   `rushes metrics severity`

        >>> Reason(metric="luma_alternation", value=10.37, comparison="above", threshold=1.0).severity
        10.37
        >>> Reason(metric="sharpness", value=0.11, comparison="below", threshold=0.33).severity
        3.0
        """
        return min(max(self._severity, 1.0), NO_SIZE)

    @property
    def _severity(self) -> float:
        value, limit = float(self.value or 0), float(self.threshold or 0)
        if self.cause is Cause.RULE and self.comparison in SIGNS:
            if limit <= 0:
                return 1 + abs(value - limit)
            if self.comparison == "above":
                return value / limit
            return limit / value if value > limit / MOST_BELOW else MOST_BELOW
        if self.cause in (Cause.ENDS_EARLY, Cause.MISSING, Cause.UNSHOWN):
            return limit / (limit - value) if value < limit else NO_SIZE
        if self.cause in (Cause.DAMAGED, Cause.UNDECODED):
            return 1 + value
        return 1.0 if self.cause is Cause.OTHER else NO_SIZE

    @property
    def about(self) -> str:
        """What reasons are counted by and searched for: the metric of a rule, else the kind; `text` has it."""
        return self.metric if self.cause is Cause.RULE else self.kind

    @property
    def limit(self) -> str:
        """What the value passed: "> 450", "false"; "" where no rule fired."""
        if self.cause is not Cause.RULE:
            return ""
        return f"{SIGNS[self.comparison]} {self.threshold}" if self.comparison in SIGNS else str(self.threshold).lower()

    @property
    def amount(self) -> str:
        """The value, with digits enough to be seen past its threshold: "10.37"; "" where no threshold was passed."""
        return self._number if self.cause is Cause.RULE and self.comparison in SIGNS else ""

    @property
    def _state(self) -> str:
        return f"{self.metric}={str(bool(self.value)).lower()}"

    @property
    def _number(self) -> str:
        assert self.value is not None and self.threshold is not None
        return _beside(float(self.value), float(self.threshold))

    @property
    def _where(self) -> str:
        """A place goes straight behind the words ("frozen 1.0–2.4 s"), a sentence behind a comma."""
        told = self.note or (self.span.text() if self.span else "")
        return f"{' ' if told[0].isdigit() else ', '}{told}" if told else ""

    def as_row(self) -> str | dict[str, object]:
        """As a run stores it: what is known, and of a sentence the sentence, so that old rows keep their bytes."""
        if self.said:
            return self.said
        found = {one.name: getattr(self, one.name) for one in fields(self)}
        if self.span is not None:
            found["span"] = [self.span.start_ms, self.span.end_ms]
        return {name: value for name, value in found.items() if value is not None and value != ""}

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Reason:
        """From what `as_row` gives; `TypeError`, `ValueError` or `LookupError` where it is something else."""
        found = dict(row)
        for name, kinds in _TYPES.items():
            if not isinstance(found.get(name), (*kinds, type(None))):
                raise TypeError(f"a reason's {name} is {found[name]!r}")
        if found.get("level", "flagged") not in get_args(Level) or found.get("comparison", "is") not in _COMPARISONS:
            raise ValueError(f"a reason's level or comparison is not one: {row!r}")
        if "span" in found:
            start, end = map(float, found["span"])
            found["span"] = Span(start, end)
        return cls(**found | {"cause": Cause(found["cause"])})


_COMPARISONS = get_args(Comparison)
_TYPES: Mapping[str, tuple[type, ...]] = {
    **dict.fromkeys(("cause", "metric", "signature", "words", "note", "level", "comparison", "said"), (str,)),
    **dict.fromkeys(("value", "threshold"), (int, float, bool)),
    "span": (list,),
}


def _beside(value: float, threshold: float) -> str:
    """As everywhere (`number_text`), or with as many decimals as show on which side of the threshold it lies.

    >>> _beside(0.00003, 0.0001), _beside(1320.0, 450), _beside(0.300004, 0.3), _beside(0.0987, 0.33)
    ('3e-5', '1320', '0.300004', '0.0987')
    """
    for text in (number_text(value), *(fixed_text(value, decimals) for decimals in range(1, 9))):
        if (float(text) > threshold) == (value > threshold) and float(text) != threshold:
            return text
    return repr(value)


def severity_of(reasons: Iterable[Reason]) -> float:
    """The highest severity among a clip's reasons; 0 where it has none."""
    return max((reason.severity for reason in reasons), default=0.0)


def by_severity(reasons: Iterable[Reason]) -> list[Reason]:
    """Worst first; as given among equals."""
    return sorted(reasons, key=lambda reason: -reason.severity)


def severity_text(severity: float) -> str:
    """As tables show it: how many times its threshold; "" for a clip without a reason, or one without a size.

    >>> severity_text(10.37), severity_text(0.0), severity_text(NO_SIZE)
    ('10.4×', '', '')
    """
    decimals = 0 if severity >= 100 else 1 if severity >= 10 else 2
    return f"{severity:.{decimals}f}×" if 0 < severity < NO_SIZE else ""


def worst_key(signal: str | None, reasons: Iterable[Reason]) -> tuple[int, float]:
    """What "worst first" sorts by everywhere: the review signal, then severity, highest first."""
    return RANKS.get(signal or "", len(RANKS)), -severity_of(reasons)


def ranked(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """Most frequent first, by name among equals."""
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
