"""The map of a run's two sets as plain data: points in the drawing's own units, ticks, the clips that lie far out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from rushes.core.words.definition_text import value_text
from rushes.instruments.distribution.features.map import MapPoint, SetMap, map_of
from rushes.instruments.distribution.features.rows import FOLDER, has_features, kept_recipes
from rushes.instruments.distribution.few_videos import GEN_ID, GT_ID
from rushes.storage.remote.address import is_remote
from rushes.storage.runs import Run
from rushes.storage.runs.relocation import relocate
from rushes.web.runs.data import definition_data
from rushes.web.runs.run_rows import round_width

WIDTH, HEIGHT = 900, 560
_LEFT, _RIGHT, _TOP, _BOTTOM = 84, 16, 16, 58
MOST_POINTS = 4000
"""Dots on one page. Of more, every so many-th of each set is drawn, and the page says so; numbers are of all."""
SETS = {"generated": GEN_ID, "real": GT_ID}


@dataclass(frozen=True, kw_only=True)
class OpenMap:
    """A map, and what it was made of."""

    found: SetMap
    features: str
    recipes: tuple[str, ...]
    digests: Mapping[tuple[str, str], str]
    """sha256 of a clip, by set and name."""


def open_map(run: Run, features: str) -> OpenMap | None:
    """The map of a run; None where it kept no features. Computed once for each state of their files."""
    if not has_features(run.path, GEN_ID, GT_ID):
        return None
    stats = [(run.path / FOLDER / f"{name}.npz").stat() for name in (GEN_ID, GT_ID)]
    return _opened(run.path, features, tuple((stat.st_mtime_ns, stat.st_size) for stat in stats))


@lru_cache(maxsize=8)
def _opened(path: Path, features: str, stamp: tuple[tuple[int, int], ...]) -> OpenMap:
    recipes = kept_recipes(path, GEN_ID, GT_ID)
    label = features if features in recipes else next(iter(recipes))
    sets = dict(zip(SETS, recipes[label], strict=True))
    digests = {(name, clip): digest for name, part in sets.items() for clip, digest in part.videos.items()}
    return OpenMap(
        found=map_of(*recipes[label], features=label), features=label, recipes=tuple(recipes), digests=digests
    )


def clip_file(run: Run, point: MapPoint) -> Path | None:
    """The clip's file where it lies now; None where it is gone, or its set was no folder on this machine."""
    folder = next((subject.path for subject in run.subjects if subject.id == SETS[point.set]), "")
    if not folder or is_remote(folder):
        return None
    found = relocate(str(Path(folder) / point.name), beside=run.path)
    # A name that leads out of its set's folder is none of ours.
    return found if found is not None and ".." not in Path(point.name).parts else None


def map_data(opened: OpenMap, addresses: Sequence[Mapping[str, str]]) -> dict[str, object]:
    """Everything the page draws; `addresses` of a point are its picture and its clip, by its place on the map."""
    points = opened.found.points
    scale = _Scale(points)
    drawn = range(0, len(points), max(1, math.ceil(len(points) / MOST_POINTS)))
    far = {id(point) for point in opened.found.outliers()}
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "box": [_LEFT, _TOP, WIDTH - _LEFT - _RIGHT, HEIGHT - _TOP - _BOTTOM],
        "ticks": scale.ticks(),
        "axes": [
            {
                "text": f"Component {number} ({float(share.value or 0):.1%} of the spread)".replace("%", " %"),
                **share.as_dict(),
            }
            for number, share in enumerate(opened.found.shares, 1)
        ],
        "features": opened.features,
        "recipes": list(opened.recipes),
        "counts": {name: sum(point.set == name for point in points) for name in SETS},
        "drawn": len(drawn),
        "points": [_point(points[at], at, scale, id(points[at]) in far, addresses[at]) for at in drawn],
        "outliers": [_outlier(point, points.index(point), addresses) for point in opened.found.outliers()],
        "definitions": [
            definition_data(m.definition) for m in (points[0].x, opened.found.shares[0], points[0].distance)
        ],
    }


def _outlier(point: MapPoint, at: int, addresses: Sequence[Mapping[str, str]]) -> dict[str, object]:
    facts = {"name": point.name, "set": point.set, "distance": value_text(point.distance, digits=2)}
    return {**facts, "value": point.distance.stored_value, **addresses[at]}


def _point(point: MapPoint, at: int, scale: _Scale, is_far: bool, addresses: Mapping[str, str]) -> dict[str, object]:
    x, y = scale.at(point)
    return {
        "n": at,
        "name": point.name,
        "set": point.set,
        "x": point.x.stored_value,
        "y": point.y.stored_value,
        "cx": x,
        "cy": y,
        "distance": value_text(point.distance, digits=2),
        "far": is_far,
        **addresses,
    }


class _Scale:
    """From feature units to the drawing: one unit is as long on both axes, so that distances look as they are."""

    def __init__(self, points: tuple[MapPoint, ...]) -> None:
        ends = [[float(getattr(p, axis).value or 0) for p in points] for axis in ("x", "y")]
        self._middle = [(min(values) + max(values)) / 2 for values in ends]
        inner = (WIDTH - _LEFT - _RIGHT - 24, HEIGHT - _TOP - _BOTTOM - 24)
        spans = [max(values) - min(values) for values in ends]
        self._unit = min(size / span for size, span in zip(inner, spans, strict=True) if span > 0)

    def at(self, point: MapPoint) -> tuple[float, float]:
        return round(self._x(float(point.x.value or 0)), 1), round(self._y(float(point.y.value or 0)), 1)

    def _x(self, value: float) -> float:
        return _LEFT + (WIDTH - _LEFT - _RIGHT) / 2 + (value - self._middle[0]) * self._unit

    def _y(self, value: float) -> float:
        return _TOP + (HEIGHT - _TOP - _BOTTOM) / 2 - (value - self._middle[1]) * self._unit

    def ticks(self) -> dict[str, list[tuple[float, str]]]:
        """Round values inside the box, on each axis, with their texts; the same step on both."""
        step, digits = round_width(90 / self._unit)
        reach = {
            "x": ((WIDTH - _LEFT - _RIGHT) / 2 / self._unit, self._middle[0], self._x),
            "y": ((HEIGHT - _TOP - _BOTTOM) / 2 / self._unit, self._middle[1], self._y),
        }
        found: dict[str, list[tuple[float, str]]] = {}
        for axis, (half, middle, place) in reach.items():
            first, last = math.ceil((middle - half) / step), math.floor((middle + half) / step)
            found[axis] = [(round(place(n * step), 1), f"{n * step + 0.0:.{digits}f}") for n in range(first, last + 1)]
        return found
