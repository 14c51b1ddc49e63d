"""Badges: pass, flagged or reject, as review signals, with every rule that fired and every rule that could not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rushes.core import Measurement
from rushes.core.reason import Level, Reason, Signal
from rushes.instruments.clip.metrics import known, readings
from rushes.instruments.clip.signals.kinds import OTHERWISE, kind_of
from rushes.instruments.clip.signals.profile import Profile, Rule, load_profile
from rushes.instruments.clip.signals.sanity import WHOLE, Sanity
from rushes.storage.runs import Entry
from rushes.storage.runs.subjects import REMARKS


@dataclass(frozen=True, slots=True, kw_only=True)
class Badge:
    """A review signal: not a verdict on quality, a reason to look."""

    status: Signal
    why: tuple[Reason, ...]
    """Every rule that fired and what is wrong with the file, rejects first."""
    not_judged: tuple[str, ...]
    """Metrics the profile has a rule for, an optional one aside, but which were not computed."""
    profile: str
    """The profile whose rules were applied: one of those that `auto` chooses among, or the one that was asked for."""
    because: str = ""
    """Why this profile, where it was chosen by what the clip is."""
    remarks: tuple[Reason, ...] = ()
    """What is said beside the review signal and does not change it."""

    @property
    def reasons(self) -> tuple[str, ...]:
        """The same in words: "frozen 1.0–2.4 s (longest_freeze_ms=1400 > 450)"."""
        return tuple(reason.text for reason in self.why)

    @property
    def facts(self) -> dict[str, object]:
        """As the facts of a clip have it: what was not judged, which profile was chosen and why, and the remarks."""
        chosen = {"chosen_profile": self.profile, "chosen_because": self.because} if self.because else {}
        remarks = {REMARKS: [reason.as_row() for reason in self.remarks]} if self.remarks else {}
        return {"not_judged": list(self.not_judged), **chosen, **remarks}

    def text(self) -> str:
        """The badge in one line.

        >>> Badge(status="pass", why=(), not_judged=("blur_score",), profile="general").text()
        'pass (not judged: blur_score)'
        """
        left_out = f" (not judged: {', '.join(self.not_judged)})" if self.not_judged else ""
        return self.status + left_out


def judge(measurements: Mapping[str, Measurement], profile: Profile, *, sanity: Sanity = WHOLE) -> Badge:
    """Apply a profile to measurements by reading: reject beats flagged beats pass, all reasons are kept.
    A remark is said of what no rule fired on, and changes nothing.

    What was not computed is not judged, and the badge says so. Decode sanity holds under every profile: a clip that
    could not be read is a reject; one whose numbers are not of the clip that the file promises is at least flagged, for
    no clip passes on the strength of its beginning. A profile that chooses is replaced by the one for such clips.
    """
    because = ""
    if profile.choose:
        kind = kind_of(measurements)
        profile, because = _chosen(kind.profile, profile), kind.because
    fired: dict[Level, list[Reason]] = {"reject": [], "flagged": [], "remark": []}
    not_judged: list[str] = []
    for rule in profile.rules:
        measurement = _found(rule, measurements)
        if measurement is None or measurement.value is None:
            if rule.metric not in not_judged and not rule.optional:
                not_judged.append(rule.metric)
        elif _fires(rule, measurement.value):
            fired[rule.level].append(_reason(rule, measurement))
    if sanity.broken is not None and not any(
        rule.metric == "decode_ok" and rule.level == "reject" for rule in profile.rules
    ):
        fired["reject"].insert(0, sanity.broken)
    fired["flagged"] += sanity.damage
    status: Signal = "reject" if fired["reject"] else "flagged" if fired["flagged"] else "pass"
    why = (*fired["reject"], *fired["flagged"])
    told = {reason.metric for reason in why}
    return Badge(
        status=status,
        why=why,
        not_judged=tuple(not_judged),
        profile=profile.name,
        because=because,
        remarks=tuple(reason for reason in fired["remark"] if reason.metric not in told),
    )


def _chosen(name: str, profile: Profile) -> Profile:
    """Of the profiles that one chooses among, that of this name or with its rules and more; else `OTHERWISE`."""
    for one in map(load_profile, profile.choose):
        if name == one.name or name == one.instead:
            return one
    return load_profile(OTHERWISE)


def _found(rule: Rule, measurements: Mapping[str, Measurement]) -> Measurement | None:
    if rule.metric in measurements:
        return measurements[rule.metric]
    return next((m for m in measurements.values() if m.signature == rule.metric), None)


def _fires(rule: Rule, value: float | bool) -> bool:
    if rule.comparison == "is":
        return bool(value) is rule.threshold
    return value > rule.threshold if rule.comparison == "above" else value < rule.threshold


def _reason(rule: Rule, measurement: Measurement) -> Reason:
    value = measurement.value
    name = next(iter(rule.readings), rule.metric)
    metric = known(name)
    is_high = rule.comparison == "above" or value is True
    words = "" if metric is None else metric.too_high if is_high else metric.too_low
    span = measurement.span
    return Reason(
        level=rule.level,
        metric=name,
        signature=measurement.signature,
        value=bool(value) if rule.comparison == "is" else value,
        comparison=rule.comparison,
        threshold=rule.threshold,
        words=words,
        span=span,
        note="" if span is not None and measurement.note == span.text() else measurement.note,
    )


def fired_rules(entry: Entry) -> dict[str, str]:
    """What the reasons of a clip are about, in their order: the signature of each number, and the limit it passed.

    A run of before format 4 has the reading's name alone: the registry knows which number that is.
    """
    found: dict[str, str] = {}
    for reason in entry.subject.why:
        signature = reason.signature or _named(reason.metric, entry.measurements)
        if signature:
            found.setdefault(signature, reason.limit)
    return found


def _named(reading: str, measurements: Iterable[Measurement]) -> str:
    numbers = list(measurements) if reading else []
    exact = (m.signature for m in numbers if reading in readings(m.signature))
    alike = (m.signature for m in numbers if m.name == reading)
    return next(exact, "") or next(alike, "")
