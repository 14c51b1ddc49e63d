"""A set after the network: rows of features, one or several per video, in memory and saved. Needs no torch.

Saved statistics let ground truth be read once; a stored set can stand for either side. One `.npz` holds the features of
several recipes. Reading one under a recipe it was not made with is `DefinitionMismatch`, never a guess. Files of parts
of a set merge into the set, in natural order of their clips' names. A run may keep both sets' features in its folder
`features/`, a file a set; the map of the sets is made of them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rushes.core import canonical_json
from rushes.core.errors import DefinitionMismatch, InputError
from rushes.core.machine.files import replacing_bytes
from rushes.core.words.options import option
from rushes.instruments.distribution.clips.segments import Windows
from rushes.instruments.distribution.show.remarks import Facts, ReadFacts
from rushes.media.find.clips import natural_key
from rushes.storage.numpy_files import FAULTS, reason
from rushes.storage.remote.address import Place
from rushes.storage.remote.transfer import local_copy

FORMAT = 1
STATS_SUFFIX = ".npz"

Features = NDArray[np.float32]

How = Mapping[str, object]
"""Everything that decides a clip's features: `Recipe.feature_params`, weights, precision."""


def is_statistics(given: str | Path) -> bool:
    """Whether this names saved statistics, or a glob of nothing else."""
    return str(given).lower().endswith(STATS_SUFFIX)


@dataclass(frozen=True, eq=False)
class FeatureSet:
    """The rows of every video that could be read, in input order, and the names of those that could not."""

    names: tuple[str, ...]
    """The video of each row; rows of one video stand together."""
    digests: tuple[str, ...]
    features: Features
    """(N, D) float32: the mean over a video's windows, or one row for each of them. Features that were given may be
    float64."""
    excluded: tuple[tuple[str, str], ...] = ()
    """(name, why) of each clip left out."""
    facts: Facts = field(default_factory=dict)
    """What reading each video showed, by name; statistics of an older version have none."""
    remarks: tuple[str, ...] = ()
    """What a reader must know of the clips as they lay there: frame numbers that are missing."""

    @property
    def videos(self) -> dict[str, str]:
        """Digest of each video, by name, in order."""
        return dict(zip(self.names, self.digests, strict=True))

    @property
    def sha256(self) -> str:
        """Digest of the set: its clips' names and digests, in order."""
        lines = [f"{digest}  {name}\n" for name, digest in self.videos.items()]
        return hashlib.sha256("".join(lines).encode()).hexdigest()


Held: TypeAlias = tuple[tuple[How, FeatureSet], ...]
"""The features of a set under each recipe, and what decided them."""


def as_rows(windows: Sequence[Features], cut: Windows) -> Features:
    """The vectors of a video's windows as its rows: each one, or their mean, summed in double precision."""
    rows = np.stack(windows)
    if cut.rows == "video-mean":
        rows = np.asarray(np.mean(rows, axis=0, keepdims=True, dtype=np.float64), np.float32)
    return rows


def no_features(dimensions: int) -> FeatureSet:
    return FeatureSet((), (), np.empty((0, dimensions), np.float32))


def save_statistics(path: Path | str, sets: Sequence[tuple[How, FeatureSet]]) -> Path:
    """Write the features of a set under each recipe; the same features give the same bytes."""
    target = Path(path)
    arrays: dict[str, np.ndarray] = {}
    entries = []
    for number, (how, part) in enumerate(sets):
        arrays[f"rows{number}"] = part.features
        entries.append(
            {"how": how, "names": part.names, "digests": part.digests, "excluded": part.excluded} | _asides(part)
        )
    text = canonical_json({"format": FORMAT, "entries": entries})
    arrays["about"] = np.frombuffer(text.encode(), np.uint8)
    target.parent.mkdir(parents=True, exist_ok=True)
    with replacing_bytes(target) as out:
        np.savez(out, allow_pickle=False, **arrays)
    return target


def _asides(part: FeatureSet) -> dict[str, object]:
    """What is kept only where there is any."""
    facts = {name: fact.stored for name, fact in part.facts.items()}
    return ({"facts": facts} if facts else {}) | ({"remarks": part.remarks} if part.remarks else {})


def load_statistics(path: Place | str, how: How) -> FeatureSet:
    """The features stored under this recipe; says what differs when there are only others."""
    with local_copy(path) as copy:
        entries = stored_sets(copy.path)
    wanted = json.loads(canonical_json(how))
    for stored, feature_set in entries:
        if stored == wanted:
            return feature_set
    stored = min((entry[0] for entry in entries), key=lambda entry: len(_differing(entry, wanted)))
    parts = [
        f"{key} is {stored.get(key, 'not named')} there and {wanted.get(key, 'not named')} here"
        for key in _differing(stored, wanted)
    ]
    remedy = f"give the protocol it was saved under ({option('--protocol NAME')}), or save it again"
    raise DefinitionMismatch(f"{path}: made under another recipe: {'; '.join(parts)}; {remedy}")


def _differing(stored: Mapping[str, object], wanted: Mapping[str, object]) -> list[str]:
    return sorted(key for key in stored.keys() | wanted.keys() if stored.get(key) != wanted.get(key))


def merge_sets(parts: Sequence[FeatureSet]) -> FeatureSet:
    """Parts of one set as the whole, in natural order of names; a clip in two parts is an error."""
    clips = [clip for part in parts for clip in zip(part.names, part.digests, part.features, strict=True)]
    names = [name for part in parts for name in part.videos]
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"{twice} is in two of the merged statistics; remove it from one")
    clips.sort(key=lambda clip: natural_key(clip[0]))
    excluded = sorted((item for part in parts for item in part.excluded), key=lambda item: natural_key(item[0]))
    return FeatureSet(
        names=tuple(name for name, _, _ in clips),
        digests=tuple(digest for _, digest, _ in clips),
        features=np.stack([features for _, _, features in clips]),
        excluded=tuple(excluded),
        facts={name: fact for part in parts for name, fact in part.facts.items()},
        remarks=tuple(dict.fromkeys(remark for part in parts for remark in part.remarks)),
    )


def stored_sets(path: Path) -> list[tuple[dict[str, object], FeatureSet]]:
    """Every recipe in saved statistics, with its features."""
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
        raise InputError(f"{path}: expected saved statistics; found nothing") from None
    except FAULTS as error:
        raise InputError(
            f"{path}: cannot be read as statistics saved by rushes ({_why(error)}); save them again"
        ) from None


def _why(error: Exception) -> str:
    """numpy's own words for a file that is no archive advise to unpickle it, which nobody should."""
    if "allow_pickle" in str(error):
        return "it is not an .npz archive, or holds Python objects"
    return f"it has no entry {error}" if isinstance(error, KeyError) else reason(error)


def _feature_set(entry: Mapping[str, Any], features: np.ndarray) -> FeatureSet:
    if features.ndim != 2 or len(features) != len(entry["names"]) or features.dtype not in (np.float32, np.float64):
        raise ValueError("features and names do not fit together")
    excluded = tuple((item[0], item[1]) for item in entry["excluded"])
    facts = {name: ReadFacts.read_back(*values) for name, values in entry.get("facts", {}).items()}
    remarks = tuple(str(remark) for remark in entry.get("remarks", ()))
    return FeatureSet(tuple(entry["names"]), tuple(entry["digests"]), features, excluded, facts, remarks)


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
        raise InputError(f"{run}: this run has no saved features; run rushes fvd … --save-features -o RUN")
    sides = [{_label(how): part for how, part in stored_sets(run / FOLDER / f"{name}.npz")} for name in (gen, gt)]
    found = {label: (part, sides[1][label]) for label, part in sides[0].items() if label in sides[1]}
    if not found:
        raise InputError(f"{run / FOLDER}: the two sets have no recipe in common; run rushes fvd --save-features again")
    return found


def _label(how: Mapping[str, object]) -> str:
    """ "i3d-0f3a…": the network's name and a digest of everything that decides a feature."""
    kept = {key: value for key, value in how.items() if key not in _SIDES}
    return f"{how.get('backbone', 'given')}-{hashlib.sha256(canonical_json(kept).encode()).hexdigest()[:12]}"
