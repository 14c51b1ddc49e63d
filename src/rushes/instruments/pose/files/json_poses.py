"""Poses in JSON lines, and what they share with COCO's files: one row per pose, checked, then arrays."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from rushes.core.errors import InputError
from rushes.core.words.options import option
from rushes.instruments.pose.files.batch import PoseSet
from rushes.instruments.pose.scores.geometry import Floats

Duplicates: TypeAlias = Literal["refuse", "keep-best", "match"]


@dataclass(frozen=True, slots=True)
class PoseRow:
    """One pose as it stands in the file: `where` is for messages."""

    where: str
    id: Hashable | None
    points: list[list[float]] | None
    visibility: list[float] | None
    area: float | None
    score: float | None
    track: Hashable | None


def read_json_lines(source: Path, name: str, *, duplicates: Duplicates) -> PoseSet:
    """One pose a line: `{"id": 7, "keypoints": [[x, y], …], "visibility": […], "area": …}`.

    `keypoints` may be COCO's flat x, y, v list; null in it, or instead of it, is a joint, or a frame, without a
    prediction. `id` may be called `image_id` or `frame`, and may be absent in every line; blank lines are skipped.
    """
    rows = []
    with open(source, encoding="utf-8") as lines:
        try:
            for number, text in enumerate(lines, 1):
                if text.strip():
                    rows.append(_line_row(text, f"line {number}"))
        except UnicodeDecodeError as error:
            raise InputError(f"{name}: not UTF-8 text ({error.reason})") from None
        except InputError as error:
            raise InputError(f"{name}: {error}") from None
    with_id = [row for row in rows if row.id is not None]
    if with_id and len(with_id) < len(rows):
        bare = next(row for row in rows if row.id is None)
        raise InputError(f"{name}: {bare.where} has no id but others do; give every line one, or none")
    if with_id:
        one_per_image((row.id for row in rows), name, duplicates)
    return pose_set(rows, name)


def _line_row(text: str, where: str) -> PoseRow:
    try:
        entry = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not JSON ({error})") from None
    if not isinstance(entry, dict) or "keypoints" not in entry:
        raise InputError(f"{where}: expected an object with keypoints; got {short(entry)}")
    raw = entry["keypoints"]
    flat = isinstance(raw, list) and bool(raw) and not isinstance(raw[0], (list, type(None)))
    points, third = triples(raw, where) if flat else (_rows(raw, where), None)
    listed = entry.get("visibility")
    if listed is not None and not isinstance(listed, list):
        raise InputError(f"{where}: visibility is a list of numbers; got {short(listed)}")
    visibility = third if listed is None else [number(value, where) for value in listed]
    if points is not None and visibility is not None and len(visibility) != len(points):
        raise InputError(f"{where}: {len(points)} joints need {len(points)} visibilities; got {len(visibility)}")
    key = next((entry[k] for k in ("id", "image_id", "frame") if k in entry), None)
    area, score = (number_of(entry, name, where) for name in ("area", "score"))
    return PoseRow(where, key, points, visibility, area, score, track_of(entry))


def triples(flat: object, where: str) -> tuple[list[list[float]], list[float]]:
    """COCO's flat list as places and third column."""
    if not isinstance(flat, list) or len(flat) % 3:
        raise InputError(f"{where}: COCO key points are x, y, v for each joint; got {short(flat)}")
    values = [number(value, where) for value in flat]
    return [[values[i], values[i + 1]] for i in range(0, len(values), 3)], values[2::3]


def _rows(raw: object, where: str) -> list[list[float]] | None:
    if raw is None:
        return None
    if not isinstance(raw, list) or not raw:
        raise InputError(f"{where}: keypoints are a list of [x, y] or [x, y, z]; got {short(raw)}")
    width = max((len(joint) for joint in raw if isinstance(joint, list)), default=2)
    rows = []
    for joint in raw:
        if joint is not None and (not isinstance(joint, list) or len(joint) != width or width not in (2, 3)):
            raise InputError(f"{where}: a joint is [x, y] or [x, y, z], the same for all; got {short(joint)}")
        rows.append([math.nan] * width if joint is None else [number(value, where) for value in joint])
    return rows


def number(value: object, where: str) -> float:
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InputError(f"{where}: expected a number; got {short(value)}")
    try:
        return float(value)
    except OverflowError:
        return math.inf


def number_of(entry: Mapping[str, Any], key: str, where: str) -> float | None:
    return None if entry.get(key) is None else number(entry[key], where)


def track_of(entry: Mapping[str, Any]) -> Hashable | None:
    """Who somebody is from image to image, as PoseTrack's files say; None where nobody says."""
    track = entry.get("track_id")
    return track if isinstance(track, (str, int, float)) else None


def short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "…"


def one_per_image(ids: Iterable[Hashable | None], name: str, duplicates: Duplicates) -> None:
    """Whether several poses of one image may stand: `InputError` where they may not, and for ids that are none."""
    ids = tuple(ids)
    plain = set(map(type, ids)) <= {int, str, float}
    if plain and (duplicates != "refuse" or len(set(ids)) == len(ids)):
        return  # as nearly every file is
    seen: set[Hashable] = set()
    for key in ids:
        if not isinstance(key, (str, int, float)):
            raise InputError(f"{name}: image {key!r}: an image id is a number or text; got {short(key)}")
        if duplicates == "refuse" and key in seen:
            raise InputError(
                f"{name}: image {key} has two poses, and one per image is scored; {option('--duplicates match')} "
                "scores all of them, "
                "keep-best the largest person of each image"
            )
        seen.add(key)


def pose_set(rows: Sequence[PoseRow], name: str, **facts: Any) -> PoseSet:
    """The rows as arrays; `facts` are what else the file says of its poses, by the fields of `PoseSet`."""
    shape = next(((len(row.points), len(row.points[0])) for row in rows if row.points is not None), None)
    if shape is None:
        raise InputError(f"{name}: has no poses; nothing can be scored")
    for row in rows:
        if row.points is not None and (len(row.points), len(row.points[0])) != shape:
            raise InputError(
                f"{name}: {row.where} has {len(row.points)} joints × {len(row.points[0])} coordinates; "
                f"the first has {shape[0]} × {shape[1]}"
            )
    blank = np.full(shape, np.nan)
    seen = [row for row in rows if row.visibility is not None]
    if seen and any(row.visibility is None and row.points is not None for row in rows):
        bare = next(row for row in rows if row.visibility is None and row.points is not None)
        raise InputError(f"{name}: {bare.where} has no visibility but others do; give every line one, or none")
    return PoseSet(
        path=name,
        points=np.array([blank if row.points is None else row.points for row in rows], dtype=np.float64),
        visibility=np.array([row.visibility or [0.0] * shape[0] for row in rows]) if seen else None,
        ids=None if rows[0].id is None else tuple(row.id for row in rows),
        areas=_column([row.area for row in rows]),
        scores=_column([row.score for row in rows]),
        tracks=None if any(row.track is None for row in rows) else tuple(row.track for row in rows),
        **facts,
    )


def _column(values: Sequence[float | None]) -> Floats | None:
    """Numbers of which some may be missing; None where all are."""
    if all(value is None for value in values):
        return None
    return np.array([math.nan if value is None else value for value in values])
