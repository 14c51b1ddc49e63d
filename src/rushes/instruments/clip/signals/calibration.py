"""Thresholds from clips that are known to be good, with the false alarms to expect of them.

A rule of a profile gets the threshold that its reading stays within on so many percent of the good clips: the k-th of
n ordered values, k = ⌈percentile · (n + 1)⌉. One more clip of the same kind passes it with probability
(n + 1 − k) / (n + 1), whatever the distribution. What all rules together let through is counted: each clip judged by
the thresholds of the others.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import get_args

from rushes.core import Definition, Measurement, signature_params
from rushes.core.errors import InputError
from rushes.core.reason import Level
from rushes.instruments.clip.input_param import own_numbers
from rushes.instruments.clip.metrics import readings
from rushes.instruments.clip.signals.profile import Profile, Rule, load_profile
from rushes.stats.intervals import wilson
from rushes.storage.runs import Run

PERCENTILE = 99.0
FEWEST = 5
"""Clips below which a percentile says nothing."""

FALSE_ALARM_RATE = Definition(
    name="false_alarm_rate",
    unit="ratio",
    lowest=0,
    highest=1,
    better="lower",
    summary="Share of good clips that a calibrated profile would flag.",
    formula="clips flagged by the thresholds of the other clips / clips, each left out once; every flagged rule of the "
    "profile counts",
    edge_cases="Fewer than five readable clips: none. Clips of one source are alike, so clips of another are flagged "
    "more often than this.",
    reference="leave-one-out; the interval is Wilson's",
    params=signature_params(estimate="leave-one-out"),
    open_params=("percentile", "profile"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibratedRule:
    """One rule, before and after."""

    rule: Rule
    """With its new threshold."""
    before: float | bool
    clips: int
    """Good clips that have the reading."""
    low: float | None
    middle: float | None
    high: float | None
    """Lowest, median and highest value on the good clips."""
    expected: float | None
    """Probability that one more such clip passes the threshold; None where the rule was kept."""
    kept: str
    """Why the threshold is the old one; "" where it is new."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """A profile made for one kind of clips."""

    profile: Profile
    rules: tuple[CalibratedRule, ...]
    clips: int
    left_out: int
    """Clips that could not be read as a whole: no evidence of what a good clip looks like."""
    percentile: float
    false_alarms: Measurement

    def toml(self, *, source: str) -> str:
        """The profile as a file, with where its thresholds came from."""
        rate = self.false_alarms
        assert rate.interval is not None
        between = f"{_percent(rate.interval.low)} to {_percent(rate.interval.high)}"
        lines = [
            f"# Calibrated on {self.clips} clips of {source}: the {self.percentile:g}th percentile of each metric.",
            f"# False alarms to expect: {_percent(float(rate.value or 0))} of such clips (95 % interval {between}; "
            "each clip judged by the others).",
            "# Clips of another kind will be flagged more often: calibrate again for them.",
            f'name = "{self.profile.name}"',
        ]
        for level in get_args(Level):
            rows = [row for row in self.rules if row.rule.level == level]
            lines += ["", f"[{level}]", *(_line(row) for row in rows)] if rows else []
        return "\n".join(lines) + "\n"


def calibrate(
    run: Run, *, profile: str | Path | Profile = "general", percentile: float = PERCENTILE, name: str = "calibrated"
) -> Calibration:
    """A profile with the rules of `profile` and thresholds from the good clips of `run`.

    Rules that reject, remarks, and rules about true or false keep theirs: they say what is so, not what is unusual. A
    reading that is the same on every clip keeps its threshold too, for it says nothing of where the others lie. Raises
    `InputError` for fewer than five clips that could be read as a whole, and for a percentile outside 50 to 100.
    """
    if not 50.0 <= percentile <= 100.0:
        raise InputError(f"expected a percentile of good clips between 50 and 100; got {percentile:g}")
    base = profile if isinstance(profile, Profile) else load_profile(profile)
    whole = [entry for entry in run.entries if entry.subject.badge != "reject" and "error" not in entry.subject.facts]
    if len(whole) < FEWEST:
        raise InputError(
            f"{run.place}: expected at least {FEWEST} good clips to calibrate on; {len(whole)} can be read"
        )
    clips = [_values(entry.measurements) for entry in whole]
    rows = tuple(_calibrated(rule, [clip.get(rule.metric) for clip in clips], percentile) for rule in base.rules)
    alarms = sum(_alarm(index, clips, rows, percentile) for index in range(len(clips)))
    made = Profile(name=name, rules=tuple(row.rule for row in rows))
    definition = FALSE_ALARM_RATE.with_params(percentile=percentile, profile=f"{base.name}-{base.digest[:12]}")
    return Calibration(
        profile=made,
        rules=rows,
        clips=len(clips),
        left_out=len(run.entries) - len(clips),
        percentile=percentile,
        false_alarms=Measurement(
            definition=definition,
            value=alarms / len(clips),
            count=len(clips),
            interval=wilson(alarms, len(clips)),
        ),
    )


def _values(measurements: Sequence[Measurement]) -> Mapping[str, float]:
    """By every name a rule may use: the reading's and the signature's."""
    found: dict[str, float] = {}
    for m in own_numbers(measurements):
        if m.value is not None:
            found |= dict.fromkeys((m.signature, *_names(m.signature)), float(m.value))
    return found


@lru_cache(maxsize=256)
def _names(signature: str) -> tuple[str, ...]:
    return readings(signature)


def _calibrated(rule: Rule, values: Sequence[float | None], percentile: float) -> CalibratedRule:
    known = sorted(value for value in values if value is not None)
    low, middle, high = (known[0], known[len(known) // 2], known[-1]) if known else (None, None, None)
    kept = _kept(rule, known)
    threshold: float | bool = rule.threshold
    expected = None
    if not kept:
        order = _order(len(known), percentile)
        edge = known[order - 1] if rule.comparison == "above" else known[-order]
        threshold, expected = _outward(edge, rule), (len(known) + 1 - order) / (len(known) + 1)
    return CalibratedRule(
        rule=replace(rule, threshold=threshold),
        before=rule.threshold,
        clips=len(known),
        low=low,
        middle=middle,
        high=high,
        expected=expected,
        kept=kept,
    )


def _kept(rule: Rule, known: Sequence[float]) -> str:
    if rule.level == "reject" or rule.comparison == "is":
        return "says what is broken"
    if rule.level == "remark":
        return "says what is so"
    if len(known) < FEWEST:
        return f"{len(known)} clips have it"
    return "the same on every clip" if known[0] == known[-1] else ""


def _order(count: int, percentile: float) -> int:
    """Which of the ordered values is the threshold.

    >>> _order(19, 95.0), _order(19, 99.0), _order(199, 99.0)
    (19, 19, 198)
    """
    return min(count, math.ceil(percentile / 100 * (count + 1) - 1e-9))


def _outward(value: float, rule: Rule) -> float:
    """Four significant digits, rounded away from the good clips, so that none of them lies beyond."""
    if value == 0:
        return 0.0
    unit = 10.0 ** (math.floor(math.log10(abs(value))) - 3)
    whole = math.ceil(value / unit - 1e-9) if rule.comparison == "above" else math.floor(value / unit + 1e-9)
    return float(f"{whole * unit:.4g}")


def _alarm(
    left_out: int, clips: Sequence[Mapping[str, float]], rows: Sequence[CalibratedRule], percentile: float
) -> bool:
    """Whether a clip is flagged by thresholds made without it."""
    others = [clip for index, clip in enumerate(clips) if index != left_out]
    for row in rows:
        value = clips[left_out].get(row.rule.metric)
        if value is None or row.rule.level != "flagged":
            continue
        old = replace(row.rule, threshold=row.before)
        rule = _calibrated(old, [clip.get(row.rule.metric) for clip in others], percentile).rule
        if value > rule.threshold if rule.comparison == "above" else value < rule.threshold:
            return True
    return False


def _line(row: CalibratedRule) -> str:
    threshold = row.rule.threshold
    text = str(threshold).lower() if isinstance(threshold, bool) else f"{threshold:g}"
    name = row.rule.metric if row.rule.metric.replace("_", "").replace("-", "").isalnum() else f'"{row.rule.metric}"'
    came = (
        f"as before: {row.kept}" if row.kept else f"good clips {row.low:.4g} to {row.high:.4g}, median {row.middle:.4g}"
    )
    share = "" if row.expected is None else f"; {_percent(row.expected)} beyond"
    optional = ", optional = true" if row.rule.optional else ""
    return f"{name} = {{ {row.rule.comparison} = {text}{optional} }}  # {came}{share}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
