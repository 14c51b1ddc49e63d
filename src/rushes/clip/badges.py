"""Badges: pass, flagged or reject, as review signals, with every rule that fired and every rule that could not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from rushes.clip.metrics import known
from rushes.clip.profile import Profile, Rule
from rushes.clip.sanity import WHOLE, Sanity
from rushes.core import Measurement
from rushes.core.numbers import fixed_text, number_text

Status: TypeAlias = Literal["reject", "flagged", "pass"]
BADGES: tuple[Status, ...] = get_args(Status)
"""Worst first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Badge:
    """A review signal: not a verdict on quality, a reason to look."""

    status: Status
    reasons: tuple[str, ...]
    """Every rule that fired, in words where it has them: "frozen 1.0–2.4 s (longest_freeze_ms=1400 > 500)"."""
    not_judged: tuple[str, ...]
    """Metrics the profile has a rule for, but which were not computed."""
    profile: str

    def text(self) -> str:
        """The badge in one line.

        >>> Badge(status="pass", reasons=(), not_judged=("blur_score",), profile="general").text()
        'pass (not judged: blur_score)'
        """
        left_out = f" (not judged: {', '.join(self.not_judged)})" if self.not_judged else ""
        return self.status + left_out


def judge(measurements: Mapping[str, Measurement], profile: Profile, *, sanity: Sanity = WHOLE) -> Badge:
    """Apply a profile to measurements by reading: reject beats flagged beats pass, all reasons are kept.

    What was not computed is not judged, and the badge says so. Decode sanity holds under every profile: a clip that
    could not be read is a reject; one whose numbers are not of the clip that the file promises is at least flagged, for
    no clip passes on the strength of its beginning.
    """
    fired: dict[str, list[str]] = {"reject": [], "flagged": []}
    not_judged: list[str] = []
    for rule in profile.rules:
        measurement = _found(rule, measurements)
        if measurement is None or measurement.value is None:
            if rule.metric not in not_judged:
                not_judged.append(rule.metric)
        elif _fires(rule, measurement.value):
            fired[rule.level].append(_reason(rule, measurement))
    if sanity.broken and not any(rule.metric == "decode_ok" and rule.level == "reject" for rule in profile.rules):
        fired["reject"].insert(0, sanity.broken)
    fired["flagged"] += sanity.damage
    status: Status = "reject" if fired["reject"] else "flagged" if fired["flagged"] else "pass"
    reasons = (*fired["reject"], *fired["flagged"])
    return Badge(status=status, reasons=reasons, not_judged=tuple(not_judged), profile=profile.name)


def _found(rule: Rule, measurements: Mapping[str, Measurement]) -> Measurement | None:
    if rule.metric in measurements:
        return measurements[rule.metric]
    return next((m for m in measurements.values() if m.signature == rule.metric), None)


def _fires(rule: Rule, value: float | bool) -> bool:
    if rule.comparison == "is":
        return bool(value) is rule.threshold
    return value > rule.threshold if rule.comparison == "above" else value < rule.threshold


def _reason(rule: Rule, measurement: Measurement) -> str:
    value = measurement.value
    assert value is not None
    name = next(iter(rule.readings), rule.metric)
    metric = known(name)
    is_high = rule.comparison == "above" or value is True
    words = "" if metric is None else metric.too_high if is_high else metric.too_low
    if rule.comparison == "is":
        state = f"{name}={str(bool(value)).lower()}"
        note = f": {measurement.note}" if measurement.note else ""
        return f"{words}{note} ({state})" if words else f"{state}{note}"
    sign = ">" if rule.comparison == "above" else "<"
    numbers = f"{name}={_number(float(value), float(rule.threshold))} {sign} {rule.threshold}"
    return f"{words}{_where(measurement.note)} ({numbers})" if words else numbers


def _where(note: str) -> str:
    """A place goes straight behind the words ("frozen 1.0–2.4 s"), a sentence behind a comma."""
    return f"{' ' if note[0].isdigit() else ', '}{note}" if note else ""


def _number(value: float, threshold: float) -> str:
    """As everywhere (`number_text`), or with as many decimals as show on which side of the threshold it lies.

    >>> _number(0.00003, 0.0001), _number(1320.0, 450), _number(0.300004, 0.3), _number(0.0987, 0.33)
    ('0.00003', '1320', '0.300004', '0.0987')
    """
    shown = (number_text(value), *(fixed_text(value, decimals) for decimals in range(1, 9)))
    found = (text for text in shown if (float(text) > threshold) == (value > threshold) and float(text) != threshold)
    return next(found, repr(value))
