"""From badges to rates: what was found, what was found for the right reason, and what was flagged for nothing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from rushes.instruments.clip.signals.profile import Profile, Rule
from rushes.instruments.clip.signals.verdict_rates import Count, FaultRate, VerdictRate

from .faults import FAULTS
from .reasons import RIGHT_REASONS


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One file under one profile."""

    clip: str
    split: str
    fault: str
    """ "" for a clean clip."""
    strength: str
    """For a clean clip "as it is" or "re-encoded"."""
    declared: bool
    profile: str
    badge: str
    reasons: tuple[str, ...]

    @property
    def noticed(self) -> bool:
        return self.badge != "pass"

    @property
    def noticed_rightly(self) -> bool:
        return any(names(reason, word) for reason in self.reasons for word in RIGHT_REASONS[self.fault])


def found_anew(verdict: Verdict, controls: Mapping[str, Verdict]) -> bool:
    """Noticed for the right reason, by a rule that does not fire on the same clip with nothing planted.

    A rule that fires on every speaker also "finds" every fault of a speaker; this leaves such hits out.
    """
    control = controls.get(verdict.clip)
    before = () if control is None else control.reasons
    return any(
        any(names(reason, word) for reason in verdict.reasons) and not any(names(reason, word) for reason in before)
        for word in RIGHT_REASONS[verdict.fault]
    )


def controls_of(verdicts: Sequence[Verdict], profile: str) -> dict[str, Verdict]:
    """The re-encoded clean clips of a profile, by clip."""
    return {verdict.clip: verdict for verdict in clean(verdicts, profile, strength="re-encoded")}


def names(reason: str, word: str) -> bool:
    """Whether a reason speaks of this metric, or holds this word, whole.

    >>> names("frozen 1.0–2.4 s (longest_freeze_ms=1400 > 500)", "longest_freeze_ms"), names("undecoded", "decode")
    (True, False)
    """
    return re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", reason) is not None


def count(verdicts: Iterable[Verdict], holds: Callable[[Verdict], bool]) -> Count:
    """In how many of them it holds."""
    answers = [holds(verdict) for verdict in verdicts]
    return Count(hits=sum(answers), total=len(answers))


def clean(verdicts: Sequence[Verdict], profile: str, **where: str) -> list[Verdict]:
    """The clean clips of a profile."""
    return [v for v in verdicts if not v.fault and v.profile == profile and _is(v, where)]


def planted(verdicts: Sequence[Verdict], fault: str, **where: str) -> list[Verdict]:
    """The clips with this fault."""
    return [v for v in verdicts if v.fault == fault and _is(v, where)]


def _is(verdict: Verdict, where: dict[str, str]) -> bool:
    return all(getattr(verdict, key) == value for key, value in where.items())


def reasons_counted(verdicts: Iterable[Verdict]) -> list[tuple[str, int]]:
    """Which rules fired how often, the commonest first; a reason counts by its metric, or its first words."""
    fired = Counter(_about(reason) for verdict in verdicts for reason in verdict.reasons)
    return sorted(fired.items(), key=lambda item: (-item[1], item[0]))


def _about(reason: str) -> str:
    metric = re.search(r"([a-z][a-z0-9_]+)=", reason)
    return metric[1] if metric else reason.split(":")[0]


def rule_rates(verdicts: Sequence[Verdict], profiles: Iterable[Profile]) -> tuple[VerdictRate, ...]:
    """Each rule of each profile: its own hits at the declared strengths, its own false alarms on clips as they are."""
    return tuple(_rule_rate(verdicts, profile.name, rule) for profile in profiles for rule in profile.rules)


def _rule_rate(verdicts: Sequence[Verdict], profile: str, rule: Rule) -> VerdictRate:
    def fired(verdict: Verdict) -> bool:
        return any(names(reason, rule.metric) for reason in verdict.reasons)

    faults = []
    for fault in FAULTS:
        if fault.profile == profile and rule.metric in RIGHT_REASONS[fault.name]:
            for strength in (s for s in fault.strengths if s.declared):
                found = count(planted(verdicts, fault.name, strength=strength.label, profile=profile), fired)
                faults.append(FaultRate(fault=fault.name, strength=strength.label, found=found))
    return VerdictRate(
        profile=profile,
        level=rule.level,
        metric=rule.metric,
        comparison=rule.comparison,
        threshold=rule.threshold,
        false_alarms=count(clean(verdicts, profile, strength="as it is"), fired),
        faults=tuple(faults),
    )
