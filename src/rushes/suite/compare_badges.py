"""Review signals of two runs: how many clips went from each signal to each."""

from __future__ import annotations

from collections.abc import Sequence

from rushes.clip.badges import BADGES as clip_badges
from rushes.core import Measurement
from rushes.paired.definitions import BADGE_TRANSITIONS
from rushes.runs import Run

BADGES = clip_badges[::-1]
"""Review signals, from the best to the worst."""


def badge_transitions(a: Run, b: Run, paired: Sequence[str]) -> tuple[tuple[Measurement, ...], str]:
    """How many clips went from each badge to each; or () and why badges do not compare."""
    badges = [{subject.id: subject.badge for subject in run.subjects} for run in (a, b)]
    moves = [(badges[0][name], badges[1][name]) for name in paired]
    judged = [move for move in moves if move[0] in BADGES and move[1] in BADGES]
    if not judged:
        return (), "no subject has a badge in both runs"
    rules, others = (
        {key: _setting(run, key) for key in ("input", "tier", "profile", "profile_sha256")} for run in (a, b)
    )
    for key in ("input", "tier", "profile_sha256"):
        if rules[key] != others[key]:
            shown = "profile" if key == "profile_sha256" else key
            detail = "with other rules" if rules[shown] == others[shown] else "in the other"
            return (), f"badges: {shown} is {rules[shown]} in one and {others[shown]} {detail}; badges do not compare"
    profile = f"{rules['profile']}-{rules['profile_sha256'][:12]}"
    definition = BADGE_TRANSITIONS.with_params(profile=profile, tier=rules["tier"])
    return tuple(
        Measurement(
            definition=definition,
            value=judged.count((before, after)),
            count=len(judged),
            at=(("before", before), ("after", after)),
        )
        for before in BADGES
        for after in BADGES
    ), ""


def _setting(run: Run, key: str) -> str:
    settings = run.info.get("settings")
    return str(settings.get(key, "none")) if isinstance(settings, dict) else "none"
