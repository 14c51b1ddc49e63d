"""Reasons out of sentences: runs of formats 1 to 3 stored nothing else. The only place that reads sentences back."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from rushes.core.reason import Cause, Comparison, Level, Reason
from rushes.core.span import Span

_RULE = re.compile(
    r"(?:(?P<words>.*) \()?(?P<metric>[a-z][a-z0-9_]*)=(?P<value>[-+\d.e]+) (?P<sign>[<>]) (?P<threshold>[-+\d.e]+)\)?"
)
_STATE = re.compile(r"(?:(?P<words>.*) \()?(?P<metric>[a-z][a-z0-9_]*)=(?P<value>true|false)(?:\)|: (?P<note>.*))?")
_SANITY: Mapping[Cause, tuple[str, str]] = {
    Cause.UNREADABLE: ("decode_ok", r"cannot be decoded \((?P<note>.*)\)"),
    Cause.PARTLY: ("", r"not measured as a whole: (?P<note>.*)"),
    Cause.ENDS_EARLY: (
        "duration_shortfall_ms",
        r"picture ends .* s before the file says \((?P<got>\d+) of (?P<threshold>\d+) ms\)",
    ),
    Cause.MISSING: ("missing_frames", r"(?P<value>\d+) of (?P<threshold>\d+) frames missing"),
    Cause.DAMAGED: ("corrupt_frames", r"(?P<value>\d+) frames? damaged"),
    Cause.UNDECODED: ("decode_failures", r"(?P<value>\d+) packets? could not be decoded"),
}
"""The metric of each kind of decode sanity, and the sentence."""
_PLACE = re.compile(r"(?P<start>\d+(?:\.\d+)?)(?:–(?P<end>\d+(?:\.\d+)?))? s\b")
_COMPARISONS: Mapping[str, Comparison] = {"<": "below", ">": "above"}


def read_reason(text: str, *, signal: str | None = None) -> Reason:
    """What a sentence says, as far as it is one that Rushes wrote; else its words alone. `text` stays what it was.

    `signal` is the clip's: that of a flagged clip has flagged reasons, that of a rejected one either.

    >>> found = read_reason("frozen 1.0–2.4 s (longest_freeze_ms=1400.00 > 450)", signal="flagged")
    >>> found.metric, found.value, found.threshold, found.kind, found.span, found.level
    ('longest_freeze_ms', 1400.0, 450, 'frozen', Span(start_ms=1000.0, end_ms=2400.0), 'flagged')
    >>> read_reason("late by 3 s (see the log)").kind
    'late by … s'
    """
    level: Level | None = "flagged" if signal == "flagged" else None
    try:
        found = _rule(text) or _sane(text)
    except ValueError:  # digits that are no number
        found = None
    if found is None:
        found = {"cause": Cause.OTHER, "words": re.sub(r"\d[\d.,]*", "…", text.partition(" (")[0])}
    return Reason(**found, level=level, said=text)


def _rule(text: str) -> dict[str, Any] | None:
    if (rule := _RULE.fullmatch(text)) is not None:
        words, note = _divided(rule["words"] or "")
        numbers = {"value": float(rule["value"]), "threshold": _number(rule["threshold"])}
        parts = {"words": words, "note": note, "span": _span(note), "comparison": _COMPARISONS[rule["sign"]]}
        return {"metric": rule["metric"], **numbers, **parts}
    if (state := _STATE.fullmatch(text)) is not None:
        words, _, note = (state["words"] or "").partition(": ")
        holds, parts = state["value"] == "true", {"words": words, "note": note or state["note"] or ""}
        return {"metric": state["metric"], "value": holds, "threshold": holds, "comparison": "is", **parts}
    return None


def _sane(text: str) -> dict[str, Any] | None:
    for cause, (metric, pattern) in _SANITY.items():
        if (found := re.fullmatch(pattern, text)) is not None:
            parts: dict[str, Any] = found.groupdict()
            got = parts.pop("got", None)
            numbers: dict[str, float] = {key: float(parts[key]) for key in ("value", "threshold") if key in parts}
            if got is not None:
                numbers["value"] = numbers["threshold"] - float(got)
            return {"cause": cause, "metric": metric, **parts, **numbers}
    return None


def _divided(words: str) -> tuple[str, str]:
    """What the metric calls it, and the place or the remark behind that.

    >>> _divided("out of sync, sound about 200 ms early"), _divided("glitch at 2.0 s")
    (('out of sync', 'sound about 200 ms early'), ('glitch at', '2.0 s'))
    """
    found = re.match(r"(.*?)(?:, | (?=\d))(.*)", words)
    return (found[1], found[2]) if found else (words, "")


def _span(note: str) -> Span | None:
    found = _PLACE.search(note)
    return Span(1000 * float(found["start"]), 1000 * float(found["end"] or found["start"])) if found else None


def _number(text: str) -> float:
    """Whole where it was written so: a threshold of 450 is not 450.0."""
    return int(text) if re.fullmatch(r"[-+]?\d+", text) else float(text)
