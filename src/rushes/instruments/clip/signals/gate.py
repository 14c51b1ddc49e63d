"""The gate `--fail-on`: which clips do not hold, which rules nobody could check; and both for a pipeline to read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from rushes.core.metric import ClipMetric
from rushes.instruments.clip.bundle import by_name, why_missing
from rushes.instruments.clip.clip_task import entry_of
from rushes.instruments.clip.evaluate import OWN_SOUND
from rushes.instruments.clip.measure import ClipResult
from rushes.instruments.clip.metrics import known, readings
from rushes.instruments.clip.signals.profile import Profile, load_profile
from rushes.present.ci.checks import Check, CheckList, Outcome
from rushes.present.pages.subjects import not_judged
from rushes.storage.runs import Entry, Run

Gate: TypeAlias = Literal["reject", "flagged"]
_FAILS: Mapping[str, frozenset[str]] = {"reject": frozenset({"reject"}), "flagged": frozenset({"reject", "flagged"})}
_OF_SOUND = frozenset({"audio_duration_ms", "av_duration_delta_ms"})
"""Metrics of the sound that need no decoded sound, so that `needs` does not say so."""
_SHOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult:
    """What a gate found; it holds where both are empty."""

    caught: tuple[str, ...]
    """Clips whose badge is what the gate is against, or worse, and clips of which no frame decodes."""
    unjudged: Mapping[str, tuple[tuple[str, str], ...]]
    """By metric: the clips of which a rule of the gate was not judged, each with the reason."""

    def unjudged_text(self) -> str:
        """Which rules and why: "face_present_ratio (2 clips: it needs tier 1)"; "" where all were judged."""
        told = []
        for metric, clips in self.unjudged.items():
            reasons = list(dict.fromkeys(why for _, why in clips))
            more = "; …" if len(reasons) > _SHOWN else ""
            count = "1 clip" if len(clips) == 1 else f"{len(clips)} clips"
            told.append(f"{metric} ({count}: {'; '.join(reasons[:_SHOWN])}{more})")
        return ", ".join(told)


def check_gate(run: Run, profile: Profile, gate: Gate) -> GateResult:
    """Hold a run against a gate: "reject" is against rejects, "flagged" against flagged clips too.

    A rule at the gate's level whose metric has no value for a clip that can be read was not judged, and a gate that
    was not checked does not hold. Two things are no such case: a clip that is caught anyway, and a rule about the sound
    of a clip that has none and for which none was asked (`--audio`): there is nothing that could be wrong.
    """
    return _checked(run.entries, profile, gate, own_sound=_own_sound(run))


def skipped_rules(run: Run) -> Callable[[Entry], list[str]]:
    """Of a clip, the metrics of rules that lacked a value it could have had.

    A silent clip lacks none of its sound, and of a clip that cannot be decoded that alone is told.
    """
    own_sound = _own_sound(run)

    def skipped(entry: Entry) -> list[str]:
        names = [] if _is_unreadable(entry) else not_judged(entry)
        return [name for name in names if not _has_nothing(entry, name, own_sound=own_sound)]

    return skipped


def sound_rules(run: Run) -> Callable[[str], bool]:
    """Whether a metric is one that a clip without sound need not have in this run: of its own sound."""
    own_sound = _own_sound(run)
    return lambda name: own_sound and _is_of_sound(name)


def _own_sound(run: Run) -> bool:
    """Whether no sound was given beside the clips."""
    settings = run.info.get("settings")
    return not isinstance(settings, Mapping) or settings.get("audio", OWN_SOUND) == OWN_SOUND


def _has_nothing(entry: Entry, name: str, *, own_sound: bool) -> bool:
    """Whether it is a metric of the sound of a clip without sound, of which nothing could be wrong."""
    return own_sound and _is_silent(entry) and _is_of_sound(name)


def check_clip(result: ClipResult, profile: str | Path | Profile, gate: Gate, audio: object = None) -> GateResult:
    """The same of one clip that was measured alone; `audio` is the sound that was given with it, if any."""
    rules = profile if isinstance(profile, Profile) else load_profile(profile)
    return _checked([entry_of(Path(result.path).name, result)], rules, gate, own_sound=audio is None)


def _checked(entries: Iterable[Entry], profile: Profile, gate: Gate, *, own_sound: bool) -> GateResult:
    metrics = {rule.metric for rule in profile.rules if rule.level in _FAILS[gate]}
    caught: list[str] = []
    unjudged: dict[str, list[tuple[str, str]]] = {}
    for entry in entries:
        if entry.subject.badge in _FAILS[gate] or _is_unreadable(entry):
            caught.append(entry.subject.id)
            continue
        for name in not_judged(entry):
            if name in metrics and not _has_nothing(entry, name, own_sound=own_sound):
                unjudged.setdefault(name, []).append((entry.subject.id, why_missing(entry.measurements, name)))
    return GateResult(caught=tuple(caught), unjudged={name: tuple(clips) for name, clips in unjudged.items()})


def _behind(name: str) -> ClipMetric | None:
    """The metric behind a rule, which may name a whole signature."""
    return next(filter(None, map(known, readings(name))), None)


def _is_unreadable(entry: Entry) -> bool:
    """Whether no frame decodes: whatever the profile has rules for, such a clip is not through."""
    decoded = by_name(entry.measurements).get("decode_ok")
    return decoded is not None and decoded.value is False


def _is_silent(entry: Entry) -> bool:
    media = entry.subject.facts.get("media")
    return isinstance(media, Mapping) and not isinstance(media.get("audio"), Mapping)


def _is_of_sound(name: str) -> bool:
    metric = _behind(name)
    return name in _OF_SOUND or (metric is not None and "sound" in metric.needs)


def clip_checks(run: Run, profile: Profile, gate: Gate, found: GateResult, *, allow_unjudged: bool) -> CheckList:
    """One check per clip: failed where the gate is against its review signal, unclear where a rule was not judged."""
    caught = frozenset(found.caught)
    open_rules: dict[str, list[str]] = {}
    for metric, clips in found.unjudged.items():
        for clip, why in clips:
            open_rules.setdefault(clip, []).append(f"{metric} was not judged: {why}")
    checks = tuple(
        _check(
            entry, caught=entry.subject.id in caught, left=open_rules.get(entry.subject.id, []), allow=allow_unjudged
        )
        for entry in run.entries
    )
    named = {rule.metric for rule in profile.rules}
    numbers = (m for entry in run.entries for m in entry.measurements if named & {m.name, m.signature})
    return CheckList(
        gate="rushes clip",
        headline=_headline(len(checks), len(caught), len(open_rules), gate, allow_unjudged),
        checks=checks,
        facts={"run": run.place, "profile": profile.name, "fail-on": gate, "clips": str(len(checks))},
        signatures=tuple(dict.fromkeys(m.signature for m in numbers)),
        notes=("Review signals say which clips deserve a look. They are not a verdict on quality.",),
    )


def _check(entry: Entry, *, caught: bool, left: list[str], allow: bool) -> Check:
    subject = entry.subject
    outcome: Outcome = "failed" if caught else "passed"
    if left and not caught:
        outcome = "allowed" if allow else "unclear"
    why = "; ".join([*subject.reasons, *left])
    signal = subject.badge or "not judged"
    return Check(
        name=subject.id,
        outcome=outcome,
        kind="not judged" if outcome in ("unclear", "allowed") else signal,
        why=why,
        file=subject.path,
    )


def _headline(clips: int, caught: int, unjudged: int, gate: Gate, allow_unjudged: bool) -> str:
    """ "The gate holds: none of 8 clips is rejected." """
    count = "1 clip" if clips == 1 else f"{clips} clips"
    what = "rejected" if gate == "reject" else "flagged or rejected"
    if caught:
        return f"The gate does not hold: {caught} of {count} {'is' if caught == 1 else 'are'} {what}."
    if unjudged and not allow_unjudged:
        return f"The gate cannot tell: {unjudged} of {count} {'was' if unjudged == 1 else 'were'} not judged in full."
    return f"The gate holds: none of {count} is {what}."
