"""From review signals to rates: what was found, at which strength, through which encoder, and what was a false alarm.

Found means that a rule fires which does not fire on the same clip through the same encoder with nothing planted: a rule
that fires on every speaker has found nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from rushes.instruments.clip.signals.profile import Profile, Rule
from rushes.instruments.clip.signals.verdict_rates import Count, FaultRate, KindRate, VerdictRate, VerdictRates

from .faults import FAULTS, Fault

FINDS = 0.5
"""A rule is said to find a kind of fault where it fires anew on at least this share of its clips."""
AS_IS = "as it is"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One file under one profile."""

    clip: str
    source: str
    split: str
    kind: str
    """What the clip is: film, face, speech, animation, screen."""
    fault: str
    """ "" for a clean clip."""
    strength: str
    declared: bool
    encoder: str
    """ "as it is" for a clip as it was found."""
    profile: str
    badge: str
    fired: tuple[str, ...]
    """Metrics whose rule fired, or the first words of what is wrong with the file."""
    benign: str = ""
    """What was planted that belongs in a clip."""
    sides: Mapping[str, str] = field(default_factory=dict)
    """On which side of its thresholds each of those metrics was, for one that has a rule on both."""
    remarks: tuple[str, ...] = ()
    """Metrics that a remark is about."""
    chosen: str = ""
    """The profile that the clip was judged by, where another one chose it."""

    @property
    def noticed(self) -> bool:
        return self.badge != "pass"

    @property
    def is_clean(self) -> bool:
        return not self.fault


Controls = Mapping[tuple[str, str, str], Verdict]
"""Clean clips by clip, encoder and profile."""


def controls_of(verdicts: Iterable[Verdict]) -> Controls:
    """The clips with nothing planted."""
    return {(v.clip, v.encoder, v.profile): v for v in verdicts if v.is_clean and not v.benign}


def fired_anew(verdict: Verdict, controls: Controls) -> frozenset[str]:
    """The rules that fire on this clip and not on its control."""
    control = controls.get((verdict.clip, verdict.encoder, verdict.profile))
    return frozenset(verdict.fired) - frozenset(control.fired if control else ())


def count(verdicts: Iterable[Verdict], holds: Callable[[Verdict], bool]) -> Count:
    """In how many of them it holds."""
    answers = [holds(verdict) for verdict in verdicts]
    return Count(hits=sum(answers), total=len(answers))


def found(verdicts: Iterable[Verdict], controls: Controls) -> Count:
    """Clips on which a rule fires anew."""
    return count(verdicts, lambda verdict: bool(fired_anew(verdict, controls)))


def where(verdicts: Iterable[Verdict], **wanted: object) -> list[Verdict]:
    """Those that have these values."""
    return [v for v in verdicts if all(getattr(v, key) == value for key, value in wanted.items())]


def reasons_counted(verdicts: Iterable[Verdict]) -> list[tuple[str, int]]:
    """Which rules fired how often, the commonest first."""
    fired = Counter(what for verdict in verdicts for what in verdict.fired)
    return sorted(fired.items(), key=lambda item: (-item[1], item[0]))


def kind_rates(verdicts: Sequence[Verdict], profiles: Iterable[str]) -> tuple[KindRate, ...]:
    """Each kind of fault under each profile it was judged by, at its declared strength, encoder by encoder."""
    controls = controls_of(verdicts)
    rates = []
    for profile in profiles:
        for fault in FAULTS:
            here = where(verdicts, fault=fault.name, profile=profile, declared=True)
            if here:
                encoders = {e: found(where(here, encoder=e), controls) for e in sorted({v.encoder for v in here})}
                rates.append(
                    KindRate(
                        profile=profile,
                        fault=fault.name,
                        group=fault.group,
                        strength=here[0].strength,
                        encoders=tuple(encoders.items()),
                    )
                )
    return tuple(rates)


def rule_rates(verdicts: Sequence[Verdict], profiles: Iterable[Profile]) -> tuple[VerdictRate, ...]:
    """Each rule of each profile: its own false alarms on clean clips, and the kinds of fault it finds itself."""
    controls = controls_of(verdicts)
    judging = ((profile.name, rule) for profile in profiles for rule in profile.rules if rule.level != "remark")
    return tuple(_rule_rate(verdicts, controls, profile, rule) for profile, rule in judging)


def _rule_rate(verdicts: Sequence[Verdict], controls: Controls, profile: str, rule: Rule) -> VerdictRate:
    here = where(verdicts, profile=profile)
    hits = [(fault, _hits(where(here, fault=fault.name, declared=True), controls, rule)) for fault in FAULTS]
    return VerdictRate(
        profile=profile,
        level=rule.level,
        metric=rule.metric,
        comparison=rule.comparison,
        threshold=rule.threshold,
        false_alarms=count(clean(here), lambda verdict: rule.metric in verdict.fired and _on_side(verdict, rule)),
        faults=tuple(
            FaultRate(fault=fault.name, strength=_declared(fault), found=hit)
            for fault, hit in hits
            if hit.total and hit.hits >= FINDS * hit.total
        ),
    )


def clean(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """Clips that nothing is wrong with, what was planted that belongs there included."""
    return [verdict for verdict in verdicts if verdict.is_clean]


def _hits(verdicts: Iterable[Verdict], controls: Controls, rule: Rule) -> Count:
    return count(verdicts, lambda v: rule.metric in fired_anew(v, controls) and _on_side(v, rule))


def _on_side(verdict: Verdict, rule: Rule) -> bool:
    return verdict.sides.get(rule.metric, rule.comparison) == rule.comparison


def _declared(fault: Fault) -> str:
    return next(strength.label for strength in fault.strengths if strength.declared)


def with_profile(known: VerdictRates, new: VerdictRates, profile: str, part: str) -> VerdictRates:
    """What is known of all profiles, with one of them measured anew.

    Where it has every rule of another one (`part`), a kind that was not planted for it counts as that one finds it.
    """
    planted = {kind.fault for kind in new.kinds}
    of_part = {(r.metric, r.comparison, r.threshold): r for r in known.rates if r.profile == part}

    def whole(rate: VerdictRate) -> VerdictRate:
        same = of_part.get((rate.metric, rate.comparison, rate.threshold))
        more = [fault for fault in same.faults if fault.fault not in planted] if same else []
        return replace(rate, faults=(*more, *rate.faults))

    inherited = [replace(kind, profile=profile) for kind in known.kinds_of(part) if kind.fault not in planted]
    order = [fault.name for fault in FAULTS]
    kinds = sorted([*inherited, *new.kinds], key=lambda kind: order.index(kind.fault))
    return replace(
        known,
        rates=(*(r for r in known.rates if r.profile != profile), *map(whole, new.rates)),
        kinds=(*(k for k in known.kinds if k.profile != profile), *kinds),
        clean=(*(row for row in known.clean if row[0] != profile), *new.clean),
    )


def with_kinds(known: VerdictRates, new: VerdictRates) -> VerdictRates:
    """What is known, with kinds of fault that were counted later, and rules that had no rate."""

    def key(rate: VerdictRate) -> tuple[object, ...]:
        return rate.profile, rate.metric, rate.comparison, rate.threshold

    planted, counted = {kind.fault for kind in new.kinds}, set(map(key, known.rates))
    kinds = [*(kind for kind in known.kinds if kind.fault not in planted), *new.kinds]
    faults, profiles = [fault.name for fault in FAULTS], list(dict.fromkeys(kind.profile for kind in kinds))
    return replace(
        known,
        rates=(*known.rates, *(rate for rate in new.rates if key(rate) not in counted)),
        kinds=tuple(sorted(kinds, key=lambda kind: (profiles.index(kind.profile), faults.index(kind.fault)))),
    )
