"""Every definition the instruments ship, in one plain dict."""

from __future__ import annotations

from difflib import get_close_matches

from rushes.core import Definition
from rushes.errors import InputError


def catalog() -> dict[str, Definition]:
    """Definitions by signature, grouped by instrument, in the order the instruments list them."""
    from rushes.clip.definitions import DEFINITIONS as clip
    from rushes.distribution.definitions import DEFINITIONS as distribution
    from rushes.paired.definitions import DEFINITIONS as paired
    from rushes.pose.definitions import DEFINITIONS as pose
    from rushes.preference.definitions import DEFINITIONS as preference
    from rushes.robustness.definitions import DEFINITIONS as robustness

    everything = (*clip, *distribution, *pose, *preference, *robustness, *paired)
    return {definition.signature: definition for definition in everything}


def find(name: str) -> list[Definition]:
    """Definitions with this name or signature; `InputError` with the nearest names where there is none."""
    everything = catalog()
    if name in everything:
        return [everything[name]]
    chosen = [definition for definition in everything.values() if definition.name == name]
    if not chosen:
        near = get_close_matches(name, sorted({d.name for d in everything.values()}), n=3)
        hint = f"did you mean {' or '.join(near)}?" if near else "`rushes metrics` lists them all"
        raise InputError(f"no metric is called {name!r}; {hint}")
    return chosen
