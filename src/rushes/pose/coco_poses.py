"""COCO key point files: annotations (truth) and results (predictions); one or several people in an image."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rushes.errors import InputError
from rushes.pose.batch import PoseSet
from rushes.pose.coco_people import CocoPeople, coco_people
from rushes.pose.json_poses import (
    Duplicates,
    PoseRow,
    number,
    one_per_image,
    pose_set,
    score_of,
    short,
    track_of,
    triples,
)


def read_coco(source: Path, name: str, *, duplicates: Duplicates) -> PoseSet:
    """COCO key points: an object with `annotations` (ground truth) or a list of results (predictions)."""
    try:
        data = json.loads(source.read_bytes())
    except (ValueError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"{name}: not JSON ({error})") from None
    entries = data.get("annotations") if isinstance(data, dict) else data
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise InputError(f"{name}: expected COCO annotations or a list of COCO results; got something else")
    kept = [e for e in entries if e.get("keypoints") and not e.get("iscrowd")]
    left_out = len(entries) - len(kept)
    warnings = (f"{left_out} annotations without key points or marked as crowds left out",) if left_out else ()
    people = coco_people(entries, data.get("images") if isinstance(data, dict) else None) if kept else None
    names = _category_joints(data)
    if people is not None:
        one_per_image((entry["image_id"] for entry in kept), name, duplicates)
        return _from_people(people, kept, entries, name, joint_names=names, warnings=warnings)
    try:
        rows = [_coco_row(entry, f"annotation {place}") for place, entry in enumerate(kept)]
    except InputError as error:
        raise InputError(f"{name}: {error}") from None
    one_per_image((row.id for row in rows), name, duplicates)
    return pose_set(rows, name, joint_names=names, sequence=False, unit="px", warnings=warnings)


def _from_people(
    people: CocoPeople,
    kept: Sequence[Mapping[str, Any]],
    entries: Sequence[Mapping[str, Any]],
    name: str,
    *,
    joint_names: tuple[str, ...] | None,
    warnings: tuple[str, ...],
) -> PoseSet:
    """The ordinary file, whose numbers are in arrays already."""
    rows = np.array([bool(e.get("keypoints")) and not e.get("iscrowd") for e in entries])
    tracks = [track_of(entry) for entry in kept]
    areas, scores = people.areas[rows], people.scores[rows]
    return PoseSet(
        path=name,
        points=people.keypoints[rows, :, :2],
        visibility=people.keypoints[rows, :, 2],
        ids=tuple(image for image, used in zip(people.images, rows.tolist(), strict=True) if used),
        areas=None if np.isnan(areas).all() else areas,
        scores=None if np.isnan(scores).all() else scores,
        tracks=None if any(track is None for track in tracks) else tuple(tracks),
        joint_names=joint_names,
        sequence=False,
        unit="px",
        people=people,
        warnings=warnings,
    )


def _coco_row(entry: Mapping[str, Any], where: str) -> PoseRow:
    flat, image = entry["keypoints"], entry.get("image_id")
    if image is None:
        raise InputError(f"{where}: has no image_id")
    where = f"image {short(image)}"
    points, third = triples(flat, where)
    area = entry.get("area")
    size = None if area is None else number(area, where)
    return PoseRow(where, image, points, third, size, score_of(entry, where), track_of(entry))


def _category_joints(data: object) -> tuple[str, ...] | None:
    categories = data.get("categories") if isinstance(data, dict) else None
    for category in categories if isinstance(categories, list) else []:
        if isinstance(category, dict) and isinstance(category.get("keypoints"), list):
            return tuple(str(joint) for joint in category["keypoints"])
    return None
