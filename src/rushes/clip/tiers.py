"""How far a clip has to be measured for its profile to be judged."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, cast

from rushes.clip.metrics import known
from rushes.clip.profile import Profile

if TYPE_CHECKING:
    from rushes.clip.faces import Tier


def needed_tier(
    profile: Profile, *, metrics: Iterable[str] = (), face_model: object = None, syncnet_weights: object = None
) -> Tier:
    """The lowest tier at which every rule has its metric, and every metric and file that was named is of use.

    >>> from rushes.clip.profile import load_profile
    >>> needed_tier(load_profile("general")), needed_tier(load_profile("talking-head"))
    (0, 1)
    """
    names = {*(name for rule in profile.rules for name in rule.readings), *metrics}
    tiers = [metric.tier for name in names if (metric := known(name)) is not None]
    files = 2 if syncnet_weights is not None else 1 if face_model is not None else 0
    return cast("Tier", max(files, *tiers, 0))
