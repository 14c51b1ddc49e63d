"""Features that a run keeps: `features/` in its folder, a file a set, and the map that is made of them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from rushes.core import canonical_json
from rushes.distribution.feature_set import FeatureSet, How, save_statistics, stored_sets
from rushes.errors import InputError

FOLDER = "features"
_SIDES = ("cut",)
"""Keys of a recipe that may differ between the two sets of one comparison."""


def keep_features(run: Path, sets: Mapping[str, Sequence[tuple[How, FeatureSet]]]) -> None:
    """Write each set's features into the run's folder, by the set's id."""
    for name, parts in sets.items():
        save_statistics(run / FOLDER / f"{name}.npz", parts)


def has_features(run: Path, *names: str) -> bool:
    """Whether the run kept the features of these sets."""
    return all((run / FOLDER / f"{name}.npz").is_file() for name in names)


def kept_recipes(run: Path, gen: str, gt: str) -> dict[str, tuple[FeatureSet, FeatureSet]]:
    """Both sets' features by a short name of what made them: the network and twelve digits of the whole recipe.

    Raises `InputError` where they were not kept, are damaged or have no recipe in common.
    """
    if not has_features(run, gen, gt):
        raise InputError(f"{run}: this run kept no features; rushes fvd … --save-features -o RUN keeps them")
    sides = [{_label(how): part for how, part in stored_sets(run / FOLDER / f"{name}.npz")} for name in (gen, gt)]
    found = {label: (part, sides[1][label]) for label, part in sides[0].items() if label in sides[1]}
    if not found:
        raise InputError(f"{run / FOLDER}: the two sets have no recipe in common; run rushes fvd --save-features again")
    return found


def _label(how: Mapping[str, object]) -> str:
    """ "i3d-0f3a…": the network's name and a digest of everything that decides a feature."""
    kept = {key: value for key, value in how.items() if key not in _SIDES}
    return f"{how.get('backbone', 'given')}-{hashlib.sha256(canonical_json(kept).encode()).hexdigest()[:12]}"
