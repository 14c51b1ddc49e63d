"""What `rushes clip --fail-on` found, clip by clip, for a pipeline to read."""

from __future__ import annotations

from rushes.ci.checks import Check, CheckList, Outcome
from rushes.clip.gate import Gate, GateResult
from rushes.clip.profile import Profile
from rushes.runs import Entry, Run


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
        notes=("Review signals say which clips deserve a look. They are no verdict on quality.",),
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
