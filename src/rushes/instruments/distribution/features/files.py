"""Distances on features from elsewhere: rows in a `.npy`, `.npz` or `.pt` file, whose extractor the caller names.

VideoMAE, V-JEPA, DINO: any network's features, one row for each video or several. The number is called what it is, a
Fréchet or a kernel distance; it is no FVD.
"""

from __future__ import annotations

import hashlib
import pickle
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from rushes.core import Definition, Measurement
from rushes.core.errors import InputError
from rushes.core.words.options import option
from rushes.instruments.distribution.compare import SetComparison, set_entry
from rushes.instruments.distribution.definitions import (
    KERNELS,
    Kernel,
    KernelName,
    extrapolated_definition,
    given_definition,
)
from rushes.instruments.distribution.distances.formulas import polynomial_mmd
from rushes.instruments.distribution.distances.intervals import (
    Distance,
    IntervalMethod,
    distance_interval,
    extrapolated,
    sample_of,
)
from rushes.instruments.distribution.features.rows import Features, FeatureSet, stored_sets
from rushes.instruments.distribution.few_videos import GEN_ID, GT_ID, few_videos, few_videos_remark
from rushes.instruments.distribution.protocols import GIVEN_METRICS, GivenMetric
from rushes.instruments.distribution.show.remarks import as_note
from rushes.media.video_arrays import plain_array
from rushes.stats.frechet import frechet_distance
from rushes.storage.numpy_files import FAULTS, load_npz, reason
from rushes.storage.remote.address import is_remote
from rushes.storage.remote.transfer import local_copy
from rushes.storage.runs import open_run

FEATURE_SUFFIXES = (".npy", ".pt", ".pth")
"""Files of features that are nothing else to this instrument; a `.npz` may be statistics that Rushes saved."""

_ROWS = ("features", "feats")
_NAMES = "names"

_UNREADABLE: tuple[type[Exception], ...] = (*FAULTS, pickle.UnpicklingError)

Given: TypeAlias = "Path | str | NDArray[Any] | Any"


def compare_features(
    gen: Given,
    gt: Given,
    *,
    extractor: str,
    metrics: GivenMetric | Iterable[GivenMetric] = ("frechet_distance",),
    kernel: KernelName | Kernel = "kid",
    interval: IntervalMethod | None = None,
    extrapolate: bool = False,
    seed: int = 0,
    run: Path | str | None = None,
    overwrite: bool = False,
) -> SetComparison:
    """Distances between features that another program computed: arrays or tensors (N, D), or files of them.

    A `.npy` holds the rows. A `.npz` holds them as `features` or `feats`, or as its only array, and may hold `names`
    (a name for each row; rows of one video share one); statistics that Rushes saved serve too. A `.pt` holds a tensor,
    or a dictionary laid out as the `.npz`; it is loaded as data only.

    `extractor` names the network and its preprocessing ("videomae-b k400 16x224") and is in the signature: numbers
    compare only under one name. Rows are used in double precision as they are, whatever their type. `kernel` is that of
    `kernel_distance`: "kid" (degree 3, c = 1, unbiased), "jedi" (degree 2, c = 0, biased), or a `Kernel`.

    Raises `InputError` for anything but finite rows of one width, at least two in each set.

        rushes.compare_features("gen.npy", "real.npy", extractor="dinov2-b 518")["frechet_distance"].value
    """
    chosen, label = _metrics(metrics), _extractor(extractor)
    kind = _kernel(kernel)
    sides = given_features(gen, "the generated set"), given_features(gt, "the ground truth")
    one, other = map(sample_of, sides)
    x, y = one.rows, other.rows
    need_one_width(x, y)
    measurements: list[Measurement] = []
    for metric in chosen:
        definition = given_definition(metric, kind, extractor=label, d=x.shape[1], n_gen=len(x), n_gt=len(y))
        distance, note = _distance(metric, kind), as_note(_remarks(definition, sides))
        drawn = None if interval is None else distance_interval(interval, one, other, distance, seed=seed)
        whole = Measurement(
            definition=definition,
            value=distance(x, y),
            count=len(x) + len(y),
            note=note,
            interval=drawn,
            why=few_videos(definition, (one.count, other.count)),
        )
        measurements.append(whole)
        if extrapolate and metric == "frechet_distance":
            beyond = extrapolated_definition(definition).with_params(extrapolation_seed=seed)
            value = extrapolated(one, other, distance, seed=seed)
            measurements.append(replace(whole, definition=beyond, value=value, interval=None))
    how = {"backbone": "given", "extractor": label}
    found = SetComparison(measurements=tuple(measurements), gen=((how, sides[0]),), gt=((how, sides[1]),), weights=())
    if run is None:
        return found
    settings = {"extractor": label, "metrics": list(chosen), "interval": interval, "seed": seed}
    inputs = [str(part) if isinstance(part, str | Path) else "memory" for part in (gen, gt)]
    with open_run(run, instrument="distribution", settings=settings, inputs=inputs, overwrite=overwrite) as writer:
        writer.add(set_entry(found, "gen", inputs[0], {"excluded": {}}))
        writer.add(set_entry(found, "gt", inputs[1], {"excluded": {}}))
        writer.finish([GEN_ID, GT_ID])
    return replace(found, run=run if is_remote(run) else Path(run))


def need_one_width(gen: NDArray[Any], gt: NDArray[Any]) -> None:
    """`InputError` for rows of two extractors."""
    if gen.shape[1] != gt.shape[1]:
        raise InputError(
            f"the generated set has rows of {gen.shape[1]} features, the ground truth of {gt.shape[1]}; extract both "
            "with the same network"
        )


def refuse_features(*given: Path | str) -> None:
    """`InputError` for a file of features where clips are expected: their extractor has to be named."""
    for path in given:
        if str(path).lower().endswith(FEATURE_SUFFIXES) or _is_foreign_archive(path):
            raise InputError(f"{path}: name the network that made these features: {option('--extractor NAME')}")


def _is_foreign_archive(path: Path | str) -> bool:
    """Whether this is an archive of arrays that Rushes did not save; a damaged one will say so when it is read."""
    if not str(path).lower().endswith(".npz") or is_remote(path) or not Path(path).is_file():
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            return "about.npy" not in archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return False


def given_features(given: Given, what: str) -> FeatureSet:
    """Rows of features with their names; a row without one is called by its number."""
    if isinstance(given, str | Path):
        return _from_file(given)
    return _feature_set(_as_array(given, what), None, what)


def _from_file(path: Path | str) -> FeatureSet:
    text, suffix = str(path), str(path).lower()
    with local_copy(path) as copy:
        try:
            if suffix.endswith(".npy"):
                with open(copy.path, "rb") as file:
                    return _feature_set(np.load(file, allow_pickle=False), None, text)
            if suffix.endswith(".npz"):
                return _from_archive(copy.path, text)
            if suffix.endswith(FEATURE_SUFFIXES):
                return _of_content(_loaded(copy.path), text)
        except FileNotFoundError:
            raise InputError(f"{text}: expected a file of features; found nothing") from None
        except InputError:
            raise
        except _UNREADABLE as error:
            why = "it holds Python objects, or is damaged" if "pickle" in str(error).lower() else reason(error)[:120]
            raise InputError(f"{text}: cannot be read as features ({why})") from None
    raise InputError(f"{text}: expected features in a .npy, .npz or .pt file")


def _from_archive(path: Path, text: str) -> FeatureSet:
    arrays, names = load_npz(path)
    if "about" not in names:
        return _of_content(arrays, text)
    stored = stored_sets(path)
    if len(stored) != 1:
        raise InputError(f"{text}: statistics under {len(stored)} recipes; save them under one to use them as features")
    return stored[0][1]


def _loaded(path: Path) -> object:
    from rushes.instruments.distribution.settings import need_torch

    need_torch()
    import torch

    return torch.load(path, map_location="cpu", weights_only=True)


def _of_content(content: object, text: str) -> FeatureSet:
    """The rows in what a file held: an array, or a dictionary with one."""
    if not isinstance(content, Mapping):
        return _feature_set(_as_array(content, text), None, text)
    names = content.get(_NAMES)
    rest = [key for key in content if key != _NAMES]
    key = next((key for key in _ROWS if key in content), rest[0] if len(rest) == 1 else None)
    if key is None:
        held = ", ".join(map(str, rest[:5])) or "nothing"
        raise InputError(f"{text}: expected one array, or one called features; it holds {held}")
    return _feature_set(_as_array(content[key], text), None if names is None else [*map(str, names)], text)


def _as_array(given: object, what: str) -> NDArray[Any]:
    if hasattr(given, "detach") or isinstance(given, np.ndarray | list | tuple):
        return plain_array(given)
    raise InputError(f"{what}: expected an array or a tensor of features; got {type(given).__name__}")


def _feature_set(rows: NDArray[Any], names: Sequence[str] | None, what: str) -> FeatureSet:
    if rows.dtype.kind not in "fiu":
        raise InputError(f"{what}: expected rows of numbers; got {rows.dtype}")
    if rows.ndim != 2:
        pool = "; pool over time and tokens to one row for each video" if rows.ndim > 2 else ""
        raise InputError(f"{what}: expected rows of features (N, D); got shape {rows.shape}{pool}")
    if len(rows) < 2 or not rows.shape[1]:
        raise InputError(f"{what}: a distance needs at least two rows of features; got shape {rows.shape}")
    if not np.isfinite(rows).all():
        first = int(np.argmin(np.isfinite(rows).all(axis=1)))
        raise InputError(f"{what}: row {first} holds NaN or infinite features")
    if names is not None and len(names) != len(rows):
        raise InputError(f"{what}: expected a name for each of {len(rows)} rows; got {len(names)}")
    # float32 holds float16 and itself; wider types keep what they are
    kept = rows.astype(np.float32 if rows.dtype in (np.float16, np.float32) else np.float64)
    labels = tuple(names) if names is not None else tuple(f"row {number}" for number in range(len(rows)))
    digests: dict[str, Any] = {}
    for label, row in zip(labels, kept, strict=True):
        digests.setdefault(label, hashlib.sha256()).update(row.tobytes())
    return FeatureSet(labels, tuple(digests[label].hexdigest() for label in labels), cast("Features", kept))


def _metrics(names: str | Iterable[str]) -> tuple[GivenMetric, ...]:
    found = tuple(dict.fromkeys([names] if isinstance(names, str) else names))
    for name in found:
        if name not in GIVEN_METRICS:
            raise InputError(f"on given features the metrics are {', '.join(GIVEN_METRICS)}; got {name!r}")
    if not found:
        raise InputError(f"expected at least one metric: {', '.join(GIVEN_METRICS)}; got none")
    return cast("tuple[GivenMetric, ...]", found)


def _extractor(name: str) -> str:
    label = " ".join(str(name).split())
    if not label or "|" in label or not label.isprintable():
        raise InputError(f"expected the extractor's name, such as 'videomae-b k400 16x224'; got {name!r}")
    return label


def _kernel(given: KernelName | Kernel) -> Kernel:
    if isinstance(given, Kernel):
        return given
    if given not in KERNELS:
        raise InputError(f"expected a kernel out of {', '.join(KERNELS)}; got {given!r}")
    return KERNELS[given]


def _distance(metric: GivenMetric, kernel: Kernel) -> Distance:
    if metric == "frechet_distance":
        return frechet_distance
    return partial(polynomial_mmd, degree=kernel.degree, coef0=kernel.coef0, unbiased=kernel.unbiased)


def _remarks(definition: Definition, sides: Sequence[FeatureSet]) -> list[str]:
    gen, gt = sides
    videos, rows = (len(gen.videos), len(gt.videos)), (len(gen.features), len(gt.features))
    few = few_videos_remark(definition, videos=videos, rows=rows, what="rows", honest="kernel_distance")
    remarks = [few] if few else []
    for what, side in zip(("generated set", "ground truth"), sides, strict=True):
        if len(side.videos) < len(side.features):
            remarks.append(f"the {len(side.features)} rows of the {what} are of {len(side.videos)} videos")
        if np.all(side.features == side.features[0]):
            remarks.append(f"all rows of the {what} are the same")
    return remarks
