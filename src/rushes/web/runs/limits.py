"""The rules that a run was judged by, by the metric they are about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rushes.instruments.clip.signals.profile import Rule, profile_of


def rules_of(settings: object) -> Mapping[str, Sequence[Rule]]:
    """Of the profile that the run's settings name; {} where it is the user's own, which a run does not keep."""
    profile = profile_of(settings)
    rules: dict[str, list[Rule]] = {}
    for rule in () if profile is None else profile.rules:
        for name in rule.readings or (rule.metric,):
            rules.setdefault(name, []).append(rule)
    return rules
