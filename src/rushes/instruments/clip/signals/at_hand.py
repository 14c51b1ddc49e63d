"""What a profile does without on this machine: rules whose network was not pulled, where it can do without them.

A rule that is not optional asks for its network, and its absence is an error. An optional rule is left out. So is a
profile among `choose` that names another one to take its place. Either is said, once a run, and recorded in it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from rushes.core.errors import MissingDependency
from rushes.core.words.options import option
from rushes.instruments.clip.metrics import installed
from rushes.instruments.clip.signals.profile import LEFT_OUT, Profile, load_profile

_RUN = "; run: "
"""What a `MissingDependency` has before its command."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AtHand:
    """A profile as it can be used here."""

    profile: Profile
    left_out: tuple[str, ...] = ()
    """Metrics that it does without, by name."""
    line: str = ""
    """What is left out and which commands get it; "" where nothing is."""


def at_hand(profile: Profile, *, begun: Mapping[str, object] | None = None) -> AtHand:
    """The profile without the rules whose networks are not here.

    `begun` are the settings of a run that is to be continued: one of this very profile keeps what it began with, so
    that nothing is taken in that it lacks, and the absence of a network that it asked is an error.
    """
    kept = begun_without(begun or {}, profile)
    why = {name: _missing(name) for name in _spared(profile)} if kept is None else dict.fromkeys(kept, "")
    left_out = tuple(name for name, missing in why.items() if missing or kept is not None)
    if not left_out:
        return AtHand(profile=profile)
    if kept is None:
        commands = dict.fromkeys(why[name].rpartition(_RUN)[2] for name in left_out)
        reason = f"whose networks are not here{_RUN}{' && '.join(commands)}"
    else:
        reason = f"as the run was begun; another {option('-o')} asks what is here"
    line = f"{profile.name} judges without {', '.join(left_out)}, {reason}"
    return AtHand(profile=profile.without(left_out), left_out=tuple(sorted(left_out)), line=line)


def begun_without(settings: Mapping[str, object], profile: Profile) -> Collection[str] | None:
    """What a run of this profile does without; None where the settings are of another profile, or of another version
    of it."""
    kept = settings.get(LEFT_OUT, [])
    if settings.get("profile") != profile.name or not isinstance(kept, list):
        return None
    return kept if profile.without(kept).digest == settings.get("profile_sha256") else None


def as_measured(profile: Profile, measured: Collection[str]) -> AtHand:
    """The profile for numbers that are there: what it would choose gives way where nothing was measured for it."""
    giving_way = [one for one in map(load_profile, profile.choose) if one.instead]
    more = {n for one in giving_way for n in {*one.extra_metrics} - {*load_profile(one.instead).extra_metrics}}
    left_out = tuple(sorted(n for n in _spared(profile) if n in more and n not in measured))
    return AtHand(profile=profile.without(left_out), left_out=left_out)


def _spared(profile: Profile) -> list[str]:
    """Metrics on request that a profile can do without."""
    least = [load_profile(load_profile(name).instead or name) for name in profile.choose] or [profile]
    needed = {name for one in least for rule in one.rules if not rule.optional for name in rule.readings}
    return [name for name in dict.fromkeys(profile.extra_metrics) if name not in needed]


def _missing(name: str) -> str:
    """Why a metric cannot be measured here; "" where it can."""
    try:
        installed(name).require()
    except MissingDependency as error:
        return str(error)
    return ""
