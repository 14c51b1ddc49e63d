"""Saved statistics: a set's features, so that ground truth is read once. A stored set can stand for either side.

One `.npz` holds the rows of several recipes. Reading one under a recipe it was not made with is `DefinitionMismatch`,
never a guess. Files of parts of a set merge into the set, in natural order of their clips' names.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from rushes.core import canonical_json
from rushes.core.files import replacing_bytes
from rushes.distribution.feature_set import FeatureSet
from rushes.distribution.sets import natural_key
from rushes.errors import DefinitionMismatch, InputError
from rushes.media.numpy_files import FAULTS, reason
from rushes.remote.address import Place
from rushes.remote.transfer import local_copy

FORMAT = 1

How = Mapping[str, object]
"""Everything that decides a row: `Recipe.feature_params`, weights, precision."""


def save_statistics(path: Path | str, sets: Sequence[tuple[How, FeatureSet]]) -> Path:
    """Write the rows of a set under each recipe; the same rows give the same bytes."""
    target = Path(path)
    arrays: dict[str, np.ndarray] = {}
    entries = []
    for number, (how, features) in enumerate(sets):
        arrays[f"rows{number}"] = features.rows
        entries.append(
            {"how": how, "names": features.names, "digests": features.digests, "excluded": features.excluded}
        )
    text = canonical_json({"format": FORMAT, "entries": entries})
    arrays["about"] = np.frombuffer(text.encode(), np.uint8)
    target.parent.mkdir(parents=True, exist_ok=True)
    with replacing_bytes(target) as out:
        np.savez(out, allow_pickle=False, **arrays)
    return target


def load_statistics(path: Place | str, how: How) -> FeatureSet:
    """The rows stored under this recipe; says what differs when there are only others."""
    with local_copy(path) as copy:
        entries = _read(copy.path)
    wanted = json.loads(canonical_json(how))
    for stored, features in entries:
        if stored == wanted:
            return features
    stored = min((entry[0] for entry in entries), key=lambda entry: len(_differing(entry, wanted)))
    parts = [f"{key} is {stored.get(key)} there and {wanted.get(key)} here" for key in _differing(stored, wanted)]
    raise DefinitionMismatch(f"{path}: made under another recipe: {'; '.join(parts)}")


def _differing(stored: Mapping[str, object], wanted: Mapping[str, object]) -> list[str]:
    return sorted(key for key in stored.keys() | wanted.keys() if stored.get(key) != wanted.get(key))


def merge_sets(parts: Sequence[FeatureSet]) -> FeatureSet:
    """Parts of one set as the whole, in natural order of names; a clip in two parts is an error."""
    rows = [(name, digest, row) for part in parts for name, digest, row in _rows(part)]
    names = [name for name, _, _ in rows]
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"{twice} is in two of the merged statistics; a clip counts once")
    rows.sort(key=lambda item: natural_key(item[0]))
    excluded = sorted((item for part in parts for item in part.excluded), key=lambda item: natural_key(item[0]))
    return FeatureSet(
        names=tuple(name for name, _, _ in rows),
        digests=tuple(digest for _, digest, _ in rows),
        rows=np.stack([row for _, _, row in rows]),
        excluded=tuple(excluded),
    )


def _rows(part: FeatureSet) -> list[tuple[str, str, np.ndarray]]:
    return list(zip(part.names, part.digests, part.rows, strict=True))


def _read(path: Path) -> list[tuple[dict[str, object], FeatureSet]]:
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as stored:
            about = json.loads(stored["about"].tobytes())
            if about["format"] > FORMAT:
                raise InputError(f"{path}: written by a newer rushes (format {about['format']}); upgrade rushes")
            return [
                (entry["how"], _feature_set(entry, stored[f"rows{number}"]))
                for number, entry in enumerate(about["entries"])
            ]
    except FileNotFoundError:
        raise InputError(f"{path}: expected saved statistics; nothing is there") from None
    except FAULTS as error:
        raise InputError(
            f"{path}: cannot be read as statistics saved by rushes ({reason(error)}); save them again"
        ) from None


def _feature_set(entry: Mapping[str, list[str]], rows: np.ndarray) -> FeatureSet:
    if rows.ndim != 2 or len(rows) != len(entry["names"]) or rows.dtype != np.float32:
        raise ValueError("rows and names do not fit together")
    excluded = tuple((item[0], item[1]) for item in entry["excluded"])
    return FeatureSet(tuple(entry["names"]), tuple(entry["digests"]), rows, excluded)
