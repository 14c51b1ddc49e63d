"""Facts of the medium that two clips share or not: where they differ, a metric that depends on them says nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from rushes.core.definition import MEDIUM_FACTS, Definition
from rushes.runs import Subject

_SLACK = 0.01
"""Rates and lengths agree to within 1 %: 29.97 and 30 frames a second do, 24 and 25 do not."""


class Fact(NamedTuple):
    """One fact of one clip; None where the run does not tell."""

    value: object
    text: str


_UNKNOWN = Fact(None, "unknown")


def differing_facts(definition: Definition, a: Subject, b: Subject, *, names: tuple[str, str] = ("A", "B")) -> str:
    """Which facts that the definition depends on differ between two clips, in words; "" where none does.

    What neither run tells is taken as equal; what one of them tells is not. Of two pairs, the references must be one.
    `names` are what the two runs or systems are called.
    """
    if why := _other_reference(a, b, names):
        return why
    return "; ".join(
        f"{MEDIUM_FACTS[name]} {one.text} in {names[0]}, {other.text} in {names[1]}"
        for name in definition.depends_on
        if not _agree(one := medium_fact(a, name), other := medium_fact(b, name))
    )


def _other_reference(a: Subject, b: Subject, names: tuple[str, str]) -> str:
    """Why two pairs were not held against the same thing; "" where they were, or a subject is no pair."""
    one, other = (subject.facts.get("reference") for subject in (a, b))
    if not isinstance(one, Mapping) or not isinstance(other, Mapping) or one.get("sha256") == other.get("sha256"):
        return ""
    return f"another reference: {one.get('path')} in {names[0]}, {other.get('path')} in {names[1]}"


def medium_fact(subject: Subject, name: str) -> Fact:
    """One of `MEDIUM_FACTS` of a clip, as the form that was measured has it.

    The canonical form has one rate, but repeats or drops frames to get there, so its rate is the original's.
    """
    original = _video(subject.facts.get("media"))
    measured = original if name == "fps" or "canon" not in subject.facts else _video(subject.facts["canon"])
    return _READERS[name](measured, subject.facts) if measured else _UNKNOWN


def _video(media: object) -> Mapping[str, Any]:
    video = media.get("video") if isinstance(media, Mapping) else None
    return video if isinstance(video, Mapping) else {}


def _agree(one: Fact, other: Fact) -> bool:
    a, b = one.value, other.value
    if isinstance(a, float) and isinstance(b, float):
        return abs(a - b) <= _SLACK * max(abs(a), abs(b))
    return a == b


def _frame_size(video: Mapping[str, Any], facts: Mapping[str, object]) -> Fact:
    width, height = video.get("width"), video.get("height")
    if width is None or height is None:
        return _UNKNOWN
    if (video.get("rotation") or 0) % 180:
        width, height = height, width
    return Fact((width, height), f"{width}×{height}")


def _fps(video: Mapping[str, Any], facts: Mapping[str, object]) -> Fact:
    try:
        rate = float(Fraction(str(video.get("fps"))))
    except (ValueError, ZeroDivisionError):  # None, and "0/0" of a damaged header
        return _UNKNOWN
    return Fact(rate, f"{rate:.4g} fps")


def _duration(video: Mapping[str, Any], facts: Mapping[str, object]) -> Fact:
    length = video.get("duration_ms")
    return _UNKNOWN if length is None else Fact(float(length), f"{length / 1000:.2f} s")


def _range(video: Mapping[str, Any], facts: Mapping[str, object]) -> Fact:
    coded = video.get("color_range")
    return _UNKNOWN if coded is None else Fact(coded, str(coded))


def _bit_depth(video: Mapping[str, Any], facts: Mapping[str, object]) -> Fact:
    bits = video.get("bits")
    return _UNKNOWN if bits is None else Fact(bits, f"{bits} bits")


def _transfer(video: Mapping[str, Any], facts: Mapping[str, object]) -> Fact:
    curve = video.get("transfer")
    return _UNKNOWN if curve is None else Fact(curve, str(curve).upper())


def _luma(video: Mapping[str, Any], facts: Mapping[str, object]) -> Fact:
    if not facts.get("luma_converted"):
        return Fact("coded", "as coded")
    from rushes.media.luma import luma_layout

    # Packed YUV is only taken apart: its values are the coded ones.
    computed = luma_layout(str(video.get("pix_fmt")), 0).how == "rgb"
    return Fact("rgb", "computed from RGB") if computed else Fact("coded", "as coded")


_READERS: Mapping[str, Callable[[Mapping[str, Any], Mapping[str, object]], Fact]] = {
    "frame_size": _frame_size,
    "fps": _fps,
    "duration": _duration,
    "range": _range,
    "bit_depth": _bit_depth,
    "transfer": _transfer,
    "luma": _luma,
}
