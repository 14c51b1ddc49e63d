"""Everybody in a COCO key point file, as arrays: what average precision needs, crowds and unlabelled people too."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from rushes.instruments.pose.scores.geometry import Flags, Floats

_PLAIN = {int, float, type(None)}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CocoPeople:
    """One row per entry of the file, in its order."""

    keypoints: Floats
    """people × joints × 3: x, y and the third column."""
    images: tuple[Hashable, ...]
    categories: tuple[Hashable, ...]
    areas: Floats
    """As annotated; NaN where the entry has none."""
    boxes: Floats
    """x, y, width, height; NaN where the entry has none."""
    scores: Floats
    """NaN where the entry has none."""
    crowd: Flags
    ignored: Flags
    """Crowds, and people without a labelled joint: finding them is neither right nor wrong."""
    listed: tuple[Hashable, ...] | None
    """Every image of the set, people in it or not, where the file lists them."""

    def __len__(self) -> int:
        return len(self.images)


def id_order(key: Hashable) -> tuple[int, Any]:
    """By which ids of images and categories are put in order: numbers by size, then text."""
    return (0, key) if isinstance(key, (int, float)) else (1, str(key))


def coco_people(
    entries: Sequence[Mapping[str, Any]], listed: object, *, points: Floats | None = None
) -> CocoPeople | None:
    """Everybody in the file; None where an entry is not as COCO has it, which the reader of poses tells about.

    `points` are the key points of every entry, people × joints × 3, where they were read already.
    """
    images = tuple([entry.get("image_id") for entry in entries])
    categories = tuple([entry.get("category_id", 1) for entry in entries])
    if not {type(each) for each in chain(images, categories)} <= {int, str, float, bool}:
        return None
    try:
        places = _places(entries) if points is None else points
        areas, scores, labels = (_column(entries, key) for key in ("area", "score", "num_keypoints"))
        boxes = _boxes([entry.get("bbox") for entry in entries])
    except (TypeError, ValueError, OverflowError):
        return None
    if places is None:
        return None
    crowd = np.array([bool(entry.get("iscrowd")) for entry in entries])
    labelled = np.where(np.isnan(labels), (places[..., 2] > 0).sum(axis=1), labels)
    return CocoPeople(
        keypoints=places,
        images=images,
        categories=categories,
        areas=areas,
        boxes=boxes,
        scores=scores,
        crowd=crowd,
        ignored=crowd | (labelled == 0),
        listed=_listed(listed),
    )


def _places(entries: Sequence[Mapping[str, Any]]) -> Floats | None:
    """Key points of every entry, zeros where it has none; None where they are not COCO's."""
    flat = [entry.get("keypoints") or [] for entry in entries]
    widths = {len(row) for row in flat if row} if all(isinstance(row, list) for row in flat) else set()
    width = next(iter(widths)) if len(widths) == 1 else 0
    if not width or width % 3 or not set(map(type, chain.from_iterable(flat))) <= _PLAIN:
        return None
    blank = [0.0] * width
    return np.array([row or blank for row in flat], dtype=np.float64).reshape(len(entries), -1, 3)


def _column(entries: Sequence[Mapping[str, Any]], key: str) -> Floats:
    values = [entry.get(key) for entry in entries]
    if not set(map(type, values)) <= _PLAIN:
        raise TypeError(key)
    return np.array(values, dtype=np.float64)


def _boxes(boxes: Sequence[object]) -> Floats:
    """x, y, width, height of each; NaN where there is none, or something else."""
    missing = [np.nan] * 4
    rows = [box if isinstance(box, list) and len(box) == 4 else missing for box in boxes]
    if not set(map(type, chain.from_iterable(rows))) <= _PLAIN:
        rows = [row if {type(side) for side in row} <= _PLAIN else missing for row in rows]
    return np.array(rows, dtype=np.float64)


def _listed(images: object) -> tuple[Hashable, ...] | None:
    if not isinstance(images, list):
        return None
    ids = [image.get("id") for image in images if isinstance(image, dict)]
    return tuple(each for each in ids if isinstance(each, (str, int, float))) or None
