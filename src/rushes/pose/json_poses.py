"""Poses in JSON: COCO key point annotations and results, and JSON lines."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from rushes.errors import InputError
from rushes.pose.batch import PoseSet

Duplicates: TypeAlias = Literal["refuse", "keep-best"]


@dataclass(frozen=True, slots=True)
class _Row:
    """One pose as it stands in the file: `where` is for messages."""

    where: str
    id: Hashable | None
    points: list[list[float]] | None
    visibility: list[float] | None
    area: float | None
    score: float


def read_coco(source: Path, name: str, *, duplicates: Duplicates, largest: bool) -> PoseSet:
    """COCO key points: an object with `annotations` (ground truth) or a list of results (predictions)."""
    try:
        data = json.loads(source.read_bytes())
    except (ValueError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"{name}: not JSON ({error})") from None
    entries = data.get("annotations") if isinstance(data, dict) else data
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise InputError(f"{name}: expected COCO annotations or a list of COCO results; got something else")
    kept = [e for e in entries if e.get("keypoints") and not e.get("iscrowd")]
    warnings = [f"{len(entries) - len(kept)} annotations without key points or marked as crowds left out"]
    try:
        rows = [_coco_row(entry, f"annotation {number}") for number, entry in enumerate(kept)]
    except InputError as error:
        raise InputError(f"{name}: {error}") from None
    rows, dropped = _one_per_id(rows, name, duplicates=duplicates, largest=largest)
    names = _category_joints(data)
    return _pose_set(
        rows,
        name,
        joint_names=names,
        sequence=False,
        unit="px",
        warnings=(*(warnings if len(kept) < len(entries) else []), *dropped),
    )


def _coco_row(entry: Mapping[str, Any], where: str) -> _Row:
    flat, image = entry["keypoints"], entry.get("image_id")
    if image is None:
        raise InputError(f"{where}: has no image_id")
    where = f"image {image}"
    points, third = _triples(flat, where)
    area = entry.get("area")
    return _Row(where, image, points, third, None if area is None else _number(area, where), _score(entry, where))


def _triples(flat: object, where: str) -> tuple[list[list[float]], list[float]]:
    if not isinstance(flat, list) or len(flat) % 3:
        raise InputError(f"{where}: COCO key points are x, y, v for each joint; got {_short(flat)}")
    values = [_number(value, where) for value in flat]
    return [[values[i], values[i + 1]] for i in range(0, len(values), 3)], values[2::3]


def _category_joints(data: object) -> tuple[str, ...] | None:
    categories = data.get("categories") if isinstance(data, dict) else None
    for category in categories if isinstance(categories, list) else []:
        if isinstance(category, dict) and isinstance(category.get("keypoints"), list):
            return tuple(str(joint) for joint in category["keypoints"])
    return None


def read_json_lines(source: Path, name: str, *, duplicates: Duplicates, largest: bool) -> PoseSet:
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
        raise InputError(f"{name}: {bare.where} has no id and others have; give every line one, or none")
    rows, dropped = _one_per_id(rows, name, duplicates=duplicates, largest=largest) if with_id else (rows, ())
    return _pose_set(rows, name, joint_names=None, sequence=True, unit=None, warnings=dropped)


def _line_row(text: str, where: str) -> _Row:
    try:
        entry = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not JSON ({error})") from None
    if not isinstance(entry, dict) or "keypoints" not in entry:
        raise InputError(f"{where}: expected an object with keypoints; got {_short(entry)}")
    raw = entry["keypoints"]
    flat = isinstance(raw, list) and bool(raw) and not isinstance(raw[0], (list, type(None)))
    points, third = _triples(raw, where) if flat else (_rows(raw, where), None)
    listed = entry.get("visibility")
    if listed is not None and not isinstance(listed, list):
        raise InputError(f"{where}: visibility is a list of numbers; got {_short(listed)}")
    visibility = third if listed is None else [_number(value, where) for value in listed]
    if points is not None and visibility is not None and len(visibility) != len(points):
        raise InputError(f"{where}: {len(points)} joints need {len(points)} visibilities; got {len(visibility)}")
    key = next((entry[k] for k in ("id", "image_id", "frame") if k in entry), None)
    area = entry.get("area")
    return _Row(where, key, points, visibility, None if area is None else _number(area, where), _score(entry, where))


def _rows(raw: object, where: str) -> list[list[float]] | None:
    if raw is None:
        return None
    if not isinstance(raw, list) or not raw:
        raise InputError(f"{where}: keypoints are a list of [x, y] or [x, y, z]; got {_short(raw)}")
    width = max((len(joint) for joint in raw if isinstance(joint, list)), default=2)
    rows = []
    for joint in raw:
        if joint is not None and (not isinstance(joint, list) or len(joint) != width or width not in (2, 3)):
            raise InputError(f"{where}: a joint is [x, y] or [x, y, z], the same for all; got {_short(joint)}")
        rows.append([math.nan] * width if joint is None else [_number(value, where) for value in joint])
    return rows


def _number(value: object, where: str) -> float:
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InputError(f"{where}: expected a number; got {_short(value)}")
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _score(entry: Mapping[str, Any], where: str) -> float:
    score = entry.get("score")
    return 0.0 if score is None else _number(score, where)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "…"


def _one_per_id(
    rows: Sequence[_Row], name: str, *, duplicates: Duplicates, largest: bool
) -> tuple[list[_Row], tuple[str, ...]]:
    """One pose per image: refuse a second one, or keep the best by score (by area where `largest`)."""
    kept: dict[Hashable, _Row] = {}
    dropped = 0
    for row in rows:
        if not isinstance(row.id, (str, int, float)):
            raise InputError(f"{name}: {row.where}: an image id is a number or text; got {_short(row.id)}")
        before = kept.get(row.id)
        if before is not None and duplicates == "refuse":
            what = "largest" if largest else "best-scored"
            raise InputError(
                f"{name}: image {row.id} has two poses, and one per image is scored; "
                f"--duplicates keep-best takes the {what}"
            )
        dropped += before is not None
        if before is None or _rank(row, largest=largest) > _rank(before, largest=largest):
            kept[row.id] = row
    warning = f"{dropped} more poses for images that already had one left out (--duplicates keep-best)"
    return list(kept.values()), (warning,) if dropped else ()


def _rank(row: _Row, *, largest: bool) -> float:
    return (row.area or 0.0) if largest else row.score


def _pose_set(
    rows: Sequence[_Row],
    name: str,
    *,
    joint_names: tuple[str, ...] | None,
    sequence: bool,
    unit: str | None,
    warnings: tuple[str, ...],
) -> PoseSet:
    shape = next(((len(row.points), len(row.points[0])) for row in rows if row.points is not None), None)
    if shape is None:
        raise InputError(f"{name}: holds no poses; nothing can be scored")
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
        raise InputError(f"{name}: {bare.where} has no visibility and others have; give every line one, or none")
    return PoseSet(
        path=name,
        points=np.array([blank if row.points is None else row.points for row in rows], dtype=np.float64),
        visibility=np.array([row.visibility or [0.0] * shape[0] for row in rows]) if seen else None,
        ids=None if rows[0].id is None else tuple(row.id for row in rows),
        areas=_area_array(rows),
        joint_names=joint_names,
        sequence=sequence,
        unit=unit,
        warnings=warnings,
    )


def _area_array(rows: Sequence[_Row]) -> np.ndarray[Any, np.dtype[np.float64]] | None:
    if all(row.area is None for row in rows):
        return None
    return np.array([math.nan if row.area is None else row.area for row in rows])
