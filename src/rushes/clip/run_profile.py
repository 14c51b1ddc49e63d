"""The thresholds a run was judged by, as far as the run tells."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from rushes.clip.profile import BUILT_IN, Profile, Rule, load_profile


def profile_of(settings: object) -> Profile | None:
    """The profile of a run's settings; None where it is not built in, or its rules have changed since.

    A run keeps the name and the digest of its profile. A profile file of the user's may have moved or changed, so it is
    not looked for: the reasons of each clip still name the thresholds that fired.
    """
    if not isinstance(settings, Mapping):
        return None
    return _built_in(str(settings.get("profile", "")), str(settings.get("profile_sha256", "")))


@cache
def _built_in(name: str, digest: str) -> Profile | None:
    if name not in BUILT_IN:
        return None
    profile = load_profile(name)
    return profile if profile.digest == digest else None


def rule_text(rule: Rule) -> str:
    """A rule in a few letters, as a column of thresholds has it.

    >>> rule_text(Rule(metric="sharpness", level="flagged", comparison="below", threshold=0.33))
    '< 0.33'
    >>> rule_text(Rule(metric="decode_ok", level="reject", comparison="is", threshold=False))
    'false'
    """
    if rule.comparison == "is":
        return str(rule.threshold).lower()
    return f"{'>' if rule.comparison == 'above' else '<'} {rule.threshold:g}"
