"""A map of two sets: every clip a point, by the two directions in which their own features spread most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from rushes.core import Definition, Measurement
from rushes.core.errors import InputError
from rushes.instruments.distribution.definitions import SET_MAP_COORDINATE, SET_MAP_DISTANCE, SET_MAP_VARIANCE_SHARE
from rushes.instruments.distribution.distances.intervals import Floats, sample_of
from rushes.instruments.distribution.features.files import Given, given_features, need_one_width
from rushes.instruments.distribution.features.rows import FeatureSet

MapSet: TypeAlias = Literal["generated", "real"]
OUTLIERS = 10
_AXES = ("1", "2")
_FEWEST_REAL = 4
"""One left out, three points still have a covariance on two axes."""
_FLAT = 1e-12
"""Of a determinant against the squared trace: less is a line, up to rounding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MapPoint:
    """One clip on the map."""

    name: str
    set: MapSet
    x: Measurement
    y: Measurement
    distance: Measurement
    """From the real clips, in units of their spread on the map."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SetMap:
    """Both sets on one map, generated clips first, each set in its own order."""

    points: tuple[MapPoint, ...]
    shares: tuple[Measurement, Measurement]
    """Of the spread, by axis."""

    def outliers(self, count: int = OUTLIERS) -> tuple[MapPoint, ...]:
        """The clips farthest from the real ones, farthest first; those without a distance are none."""
        known = [point for point in self.points if point.distance.value is not None]
        return tuple(sorted(known, key=lambda point: -float(point.distance.value or 0))[:count])

    def __repr__(self) -> str:
        sizes = [sum(point.set == name for point in self.points) for name in ("generated", "real")]
        held = sum(float(share.value or 0) for share in self.shares)
        return f"SetMap({sizes[0]} generated and {sizes[1]} real clips, {held:.0%} of their spread)"


def set_map(gen: Given, gt: Given, *, features: str) -> SetMap:
    """A map of two sets of features, one row a video or several, as `rushes.compare_features` takes them.

        found = set_map("run/features/generated.npz", "run/features/ground_truth.npz", features="i3d")
        [(point.name, point.distance.value) for point in found.outliers()]

    `features` names what made them; it is part of every signature. Maps are of the clips they were made from: a place
    on one says nothing about a place on another. Raises `InputError` for fewer than three clips, sets of different
    width, features that do not differ.
    """
    if not features.strip():
        raise InputError("a map needs the name of the network that made its features: features=NAME")
    return map_of(given_features(gen, "the generated set"), given_features(gt, "the ground truth"), features=features)


def map_of(gen: FeatureSet, gt: FeatureSet, *, features: str) -> SetMap:
    """The map of two feature sets; see `set_map`."""
    rows = [_video_means(gen), _video_means(gt)]
    need_one_width(*rows)
    places, shares = principal_places(np.concatenate(rows))
    n_gen, n_gt = len(rows[0]), len(rows[1])
    common = {"features": features.strip(), "d": rows[0].shape[1], "n_gen": n_gen, "n_gt": n_gt}
    coordinate, share, distance = (
        definition.with_params(**common)
        for definition in (SET_MAP_COORDINATE, SET_MAP_VARIANCE_SHARE, SET_MAP_DISTANCE)
    )
    distances = distances_from(places[n_gen:], places[:n_gen])
    named: list[tuple[str, MapSet]] = [(name, "generated") for name in gen.videos]
    named += [(name, "real") for name in gt.videos]
    points = (
        _point(name, of, place, far, coordinate, distance)
        for (name, of), place, far in zip(named, places.tolist(), distances, strict=True)
    )
    first, second = (
        Measurement(definition=share, value=value, count=n_gen + n_gt, at={"axis": axis})
        for value, axis in zip(shares, _AXES, strict=True)
    )
    return SetMap(points=tuple(points), shares=(first, second))


def principal_places(rows: Floats) -> tuple[Floats, tuple[float, float]]:
    """Places of rows on their first two principal components, and each component's share of the spread.

    >>> places, shares = principal_places(np.array([[0.0, 0.0], [2.0, 0.0], [4.0, 0.0]]))
    >>> places[:, 0].round(9).tolist(), shares
    ([-2.0, 0.0, 2.0], (1.0, 0.0))
    """
    if len(rows) < 3:
        raise InputError(f"a map needs at least three clips in both sets together; got {len(rows)}")
    left, sizes, loadings = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
    total = float(np.sum(sizes**2))
    if total <= 0.0 or not np.isfinite(total):
        raise InputError("all clips give the same features, so there is nothing to map")
    places = np.zeros((len(rows), 2))
    for axis in range(min(2, len(sizes))):
        # Sizes that differ by rounding alone are one size, so that every machine has the same signs.
        largest = loadings[axis, np.argmax(np.round(np.abs(loadings[axis]), 9))]
        places[:, axis] = left[:, axis] * sizes[axis] * (1.0 if largest >= 0 else -1.0)
    shares = [float(size**2) / total for size in sizes[:2]] + [0.0]
    return places, (shares[0], shares[1])


def distances_from(real: Floats, generated: Floats) -> list[float | None]:
    """Distances of the generated and then of the real places from the real ones; a real one is left out of its own.

    Formula     with n real places, m their mean and C their covariance, without place z they are m' = (n·m − z)/(n − 1)
                and C' = ((n − 1)·C − n/(n − 1)·(z − m)(z − m)ᵀ)/(n − 2)
    Edge cases  None for all where there are fewer than four; for one where those it is held against lie on a line
    """
    n = len(real)
    if n < _FEWEST_REAL:
        return [None] * (len(generated) + n)
    mean, covariance = real.mean(axis=0), np.cov(real.T)
    off = real - mean
    means = (n * mean - real) / (n - 1)
    covariances = ((n - 1) * covariance - n / (n - 1) * off[:, :, None] * off[:, None, :]) / (n - 2)
    whole = np.broadcast_to(covariance, (len(generated), 2, 2))
    return [*_mahalanobis(generated - mean, whole), *_mahalanobis(real - means, covariances)]


def _mahalanobis(off: Floats, covariances: Floats) -> list[float | None]:
    """√(offᵀ C⁻¹ off) by the closed inverse of a 2 × 2 matrix; None where it has none."""
    a, b, c = covariances[:, 0, 0], covariances[:, 0, 1], covariances[:, 1, 1]
    determinant = a * c - b * b
    flat = determinant <= _FLAT * (a + c) ** 2
    squared = (c * off[:, 0] ** 2 - 2 * b * off[:, 0] * off[:, 1] + a * off[:, 1] ** 2) / np.where(flat, 1, determinant)
    return [None if bad else float(np.sqrt(max(value, 0.0))) for bad, value in zip(flat, squared, strict=True)]


def _video_means(given: FeatureSet) -> Floats:
    """One row for each video: the mean of its rows."""
    sample = sample_of(given)
    sums = np.zeros((sample.count, sample.rows.shape[1]))
    np.add.at(sums, sample.units, sample.rows)
    means: Floats = sums / np.bincount(sample.units, minlength=sample.count)[:, None]
    return means


def _point(
    name: str, of: MapSet, place: Sequence[float], far: float | None, coordinate: Definition, distance: Definition
) -> MapPoint:
    at = {"clip": name, "set": of}
    x, y = (
        Measurement(definition=coordinate, value=value, count=1, at=at | {"axis": axis})
        for value, axis in zip(place, _AXES, strict=True)
    )
    note = "" if far is not None else "fewer than four real clips, or they lie on one line of the map"
    off = Measurement(definition=distance, value=far, count=1, note=note, at=at)
    return MapPoint(name=name, set=of, x=x, y=y, distance=off)
