"""What a pass covers: the kinds of fault that a profile was shown to find, by the rates of `make verdicts`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import get_args

from rushes.core.reason import Level
from rushes.instruments.clip.signals.profile import BUILT_IN, Profile, load_profile, profile_of
from rushes.instruments.clip.signals.verdict_rates import FEWEST, KindRate, VerdictRates, verdict_rates

PAGE = "docs/verdicts.md"
DEFAULT, MORE = "general", "auto"
"""The profile of somebody who named none, and the one that asks a network too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """The kinds of fault that were planted to try a profile."""

    profile: str
    kinds: tuple[KindRate, ...]
    more: tuple[str, ...] = ()
    """Kinds of which the profile `MORE` finds half or more, and this one, which nobody chose, none."""

    @property
    def covered(self) -> tuple[KindRate, ...]:
        """Those that are found."""
        return tuple(kind for kind in self.kinds if kind.covered)

    @property
    def missed(self) -> tuple[KindRate, ...]:
        """Those that may pass."""
        return tuple(kind for kind in self.kinds if not kind.covered)

    @property
    def groups(self) -> tuple[tuple[str, tuple[KindRate, ...]], ...]:
        """By group, in the order of the data: colour and light, structure, time, file, sound, face."""
        names = dict.fromkeys(kind.group for kind in self.kinds)
        return tuple((name, tuple(kind for kind in self.kinds if kind.group == name)) for name in names)

    @property
    def text(self) -> str:
        """ "Checked for 31 kinds of fault; docs/verdicts.md has the rates.", with what `hint` says after "fault".

        "" where nothing was measured.
        """
        if not self.kinds:
            return ""
        count = len(self.covered)
        if not count:
            return f"A pass covers no kind of fault that was planted ({len(self.kinds)} were); {PAGE} has the rates."
        return f"Checked for {count} {'kind' if count == 1 else 'kinds'} of fault{self.hint}; {PAGE} has the rates."

    @property
    def hint(self) -> str:
        """ " (not for negative, upside-down: --profile auto)"; "" where there is no such kind."""
        return f" (not for {', '.join(self.more)}: --profile {MORE})" if self.more else ""


def coverage(profile: str, rates: VerdictRates | None = None) -> Coverage:
    """What a pass under this profile covers; no kinds for one that was not tried, such as a file of the user's."""
    known = rates or verdict_rates()
    here = Coverage(profile=profile, kinds=known.kinds_of(profile))
    if profile != DEFAULT or not here.covered:
        return here
    unseen = {kind.fault for kind in here.kinds if not kind.found.hits}
    found = (
        kind for kind in known.kinds_of(MORE) if kind.found.total >= FEWEST and kind.found.hits * 2 >= kind.found.total
    )
    return replace(here, more=tuple(sorted(kind.fault for kind in found if kind.fault in unseen)))


def run_coverage(profile: Profile) -> tuple[Coverage, ...]:
    """That of a profile, or of each one that it chooses among, as far as they were tried; () for a user's own."""
    names = profile.choose or tuple(name for name in BUILT_IN if load_profile(name).digest == profile.digest)
    return tuple(found for name in names if (found := coverage(name)).kinds)


def coverage_data(settings: object) -> list[dict[str, object]]:
    """What a pass of a run covers, group by group, for a page; [] where its profile is a file, or was not tried.

    Each: profile, text, hint, and groups of kinds, each with its fault, its strength, found, clips and whether it is
    covered.
    """
    profile = profile_of(settings)
    return [
        {
            "profile": one.profile,
            "text": one.text,
            "hint": one.hint,
            "groups": [{"name": name, "kinds": [_kind_data(kind) for kind in kinds]} for name, kinds in one.groups],
        }
        for one in (run_coverage(profile) if profile is not None else ())
    ]


def _kind_data(kind: KindRate) -> dict[str, object]:
    return {
        "fault": kind.fault,
        "strength": kind.strength,
        "found": kind.found.hits,
        "clips": kind.found.total,
        "covered": kind.covered,
    }


def profile_lines(name: str) -> list[str]:
    """A built-in profile for people: what it is for, its rules, what it finds and what passes."""
    profile = load_profile(name)
    lines = [f"{profile.name}: {profile.purpose or 'the thresholds of the MetricBundleV1 specification'}"]
    if profile.choose:
        lines.append(f"  chooses among {', '.join(profile.choose)} by what a clip is")
        instead = [(one.name, one.instead) for one in map(load_profile, profile.choose) if one.instead]
        return [
            *lines,
            *(f"  where the network of {name} was not pulled: {other} in its place" for name, other in instead),
        ]
    for level in get_args(Level):
        rules = ", ".join(rule.metric for rule in profile.rules if rule.level == level)
        lines += [f"  {level}: {rules}"] if rules else []
    known = coverage(name)
    if known.kinds:
        lines.append(f"  finds {len(known.covered)} of {len(known.kinds)} kinds of fault that were planted")
        lines += [f"    {group}: {_named(kinds)}" for group, kinds in known.groups if _named(kinds)]
        lines.append(f"  may pass: {', '.join(kind.fault for kind in known.missed) or 'none of them'}")
    for _, kind, found in (row for row in verdict_rates().clean if row[0] == name):
        lines.append(f"  false alarms on {kind}: {found.text()}")
    return lines


def _named(kinds: tuple[KindRate, ...]) -> str:
    return ", ".join(kind.fault for kind in kinds if kind.covered)
