"""COCO key point files: annotations (truth) and results (predictions); one or several people in an image."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np

from rushes.core.errors import InputError
from rushes.instruments.pose.files import json_poses
from rushes.instruments.pose.files.batch import PoseSet
from rushes.instruments.pose.files.coco_people import CocoPeople, coco_people
from rushes.instruments.pose.files.json_poses import Duplicates, PoseRow
from rushes.instruments.pose.scores.geometry import Floats


def read_coco(source: Path, name: str, *, duplicates: Duplicates) -> PoseSet:
    """COCO key points: an object with `annotations` (ground truth) or a list of results (predictions)."""
    data, points = _parsed(source, name)
    entries = _entries(data)
    if not isinstance(entries, list) or not set(map(type, entries)) <= {dict}:
        raise InputError(f"{name}: expected COCO annotations or a list of COCO results; got something else")
    listed = data.get("images") if isinstance(data, dict) else None
    people = coco_people(entries, listed, points=points) if entries else None
    if people is None and points is not None:  # something is not as it should be: read again, with care
        data = _loaded(source.read_bytes(), name)
        entries = _entries(data)
    posed = [bool(e.get("keypoints")) and not e.get("iscrowd") for e in entries]
    kept = list(compress(entries, posed))
    left_out = len(entries) - len(kept)
    remarks = (f"{left_out} annotations without key points or marked as crowds left out",) if left_out else ()
    facts = {"joint_names": _category_joints(data), "sequence": False, "unit": "px", "warnings": remarks}
    if people is not None and kept:
        json_poses.one_per_image([entry["image_id"] for entry in kept], name, duplicates)
        return _from_people(people, kept, slice(None) if all(posed) else np.array(posed), name, **facts)
    try:
        rows = [_coco_row(entry, f"annotation {place}") for place, entry in enumerate(kept)]
    except InputError as error:
        raise InputError(f"{name}: {error}") from None
    json_poses.one_per_image((row.id for row in rows), name, duplicates)
    return json_poses.pose_set(rows, name, **facts)


def _loaded(data: bytes, name: str) -> Any:
    try:
        return json.loads(data)
    except (ValueError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"{name}: not JSON ({error})") from None


def _entries(data: Any) -> Any:
    return data.get("annotations") if isinstance(data, dict) else data


_KEYPOINTS = re.compile(rb'"keypoints"\s*:\s*\[([-+0-9.eE,\s]*[0-9][-+0-9.eE,\s]*)\]')
_MARK = "\x00row "


def _parsed(source: Path, name: str) -> tuple[Any, Floats | None]:
    """The file's JSON, and the key points of its entries in one array where every entry has plain numbers.

    Nearly all of such a file is key points, and numpy reads numbers much quicker than they become Python's and then
    numpy's. Each list is replaced by a mark before the rest is read; where the marks do not stand one in each entry, in
    order, and in none else, or a number is none, the file is read as JSON alone.
    """
    data = source.read_bytes()
    lists: list[bytes] = []

    def mark(found: re.Match[bytes]) -> bytes:
        lists.append(found.group(1))
        return b'"keypoints":"\\u0000row %d"' % (len(lists) - 1)

    rest = _KEYPOINTS.sub(mark, data)
    width = lists[0].count(b",") + 1 if lists else 0
    if not width or width % 3 or {row.count(b",") + 1 for row in lists} != {width}:
        return _loaded(data, name), None
    try:
        found = json.loads(rest)
    except (ValueError, UnicodeDecodeError, RecursionError):
        return _loaded(data, name), None
    entries = _entries(found)
    whole = isinstance(entries, list) and len(entries) == len(lists) and set(map(type, entries)) == {dict}
    if not whole or [e.get("keypoints") for e in entries] != [f"{_MARK}{row}" for row in range(len(lists))]:
        return _loaded(data, name), None
    numbers = np.zeros(0)
    with warnings.catch_warnings(), suppress(ValueError):  # how numpy tells, by version, of text that is no number
        warnings.simplefilter("ignore", DeprecationWarning)
        numbers = np.fromstring(b",".join(lists).decode("ascii"), dtype=np.float64, sep=",")
    if len(numbers) != width * len(lists):
        return _loaded(data, name), None
    return found, numbers.reshape(len(lists), -1, 3)


def _from_people(people: CocoPeople, kept: Sequence[Mapping[str, Any]], rows: Any, name: str, **facts: Any) -> PoseSet:
    """The ordinary file, whose numbers are in arrays already; `rows` of them are those of the kept entries."""
    tracks = [json_poses.track_of(entry) for entry in kept] if kept[0].get("track_id") is not None else [None]
    areas, scores = people.areas[rows], people.scores[rows]
    return PoseSet(
        path=name,
        points=people.keypoints[rows, :, :2],
        visibility=people.keypoints[rows, :, 2],
        ids=tuple([entry["image_id"] for entry in kept]),
        areas=None if np.isnan(areas).all() else areas,
        scores=None if np.isnan(scores).all() else scores,
        tracks=None if any(track is None for track in tracks) else tuple(tracks),
        people=people,
        **facts,
    )


def _coco_row(entry: Mapping[str, Any], where: str) -> PoseRow:
    flat, image = entry["keypoints"], entry.get("image_id")
    if image is None:
        raise InputError(f"{where}: has no image_id")
    where = f"image {json_poses.short(image)}"
    points, third = json_poses.triples(flat, where)
    area, score = (json_poses.number_of(entry, key, where) for key in ("area", "score"))
    return PoseRow(where, image, points, third, area, score, json_poses.track_of(entry))


def _category_joints(data: object) -> tuple[str, ...] | None:
    categories = data.get("categories") if isinstance(data, dict) else None
    for category in categories if isinstance(categories, list) else []:
        if isinstance(category, dict) and isinstance(category.get("keypoints"), list):
            return tuple(str(joint) for joint in category["keypoints"])
    return None
