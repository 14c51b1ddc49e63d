"""`rushes profile`: what each profile is for, what it checks and what a pass covers."""

from __future__ import annotations

from typing import Annotated

import typer

from rushes.present.terminal.console import print_json, tell
from rushes.present.terminal.options import Json


def profile(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME…", help="Profiles to show in full. (default: all, in one line)")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show the profiles: which clips each is for, its rules, the faults it finds and its false alarms.

    Example: rushes profile generated
    """
    from rushes.core.errors import InputError
    from rushes.instruments.clip.signals.coverage import coverage, profile_lines
    from rushes.instruments.clip.signals.profile import BUILT_IN

    unknown = [name for name in names or () if name not in BUILT_IN]
    if unknown:
        raise InputError(f"{unknown[0]}: expected one of {', '.join(BUILT_IN)}")
    if as_json:
        print_json({"profiles": [_data(name) for name in names or BUILT_IN]})
        return
    if names:
        for name in names:
            for line in profile_lines(name):
                tell(line)
        return
    for name in BUILT_IN:
        known = coverage(name)
        found = f" (finds {len(known.covered)} of {len(known.kinds)} planted kinds of fault)" if known.kinds else ""
        tell(f"{profile_lines(name)[0]}{found}")


def _data(name: str) -> dict[str, object]:
    from rushes.instruments.clip.signals.coverage import coverage
    from rushes.instruments.clip.signals.profile import load_profile

    rules, known = load_profile(name), coverage(name)
    return {
        "name": name,
        "for": rules.purpose,
        "choose": list(rules.choose),
        "rules": [
            {
                "metric": rule.metric,
                "level": rule.level,
                "comparison": rule.comparison,
                "threshold": rule.threshold,
                "optional": rule.optional,
            }
            for rule in rules.rules
        ],
        "kinds": [
            {
                "fault": kind.fault,
                "group": kind.group,
                "strength": kind.strength,
                "found": kind.found.hits,
                "clips": kind.found.total,
                "covered": kind.covered,
            }
            for kind in known.kinds
        ],
    }
