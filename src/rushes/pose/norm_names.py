"""Normalisations by the names people type: `torso-diameter`, `absolute-px=8`, `all`."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rushes.errors import InputError
from rushes.pose.normalization import (
    AbsolutePixels,
    BoundingBoxDiagonal,
    HeadSize,
    PckNormalization,
    TorsoDiameter,
    TorsoOrBoundingBox,
)
from rushes.pose.skeletons import Skeleton

NORM_NAMES = ("torso-diameter", "bbox-diagonal", "absolute-px=T", "torso-or-bbox", "head-size", "all")
DEFAULT_PX = 10.0
"""The absolute threshold that `all` uses unless another is given."""


def parse_norms(names: Sequence[str], skeleton: Skeleton, *, px: float = DEFAULT_PX) -> tuple[PckNormalization, ...]:
    """Normalisations by name, for this skeleton's hips and head; repeats are dropped.

    >>> from rushes.pose.skeletons import COCO_17
    >>> [norm.label() for norm in parse_norms(["all", "absolute-px=3"], COCO_17, px=8)]
    ['torso-diameter', 'bbox-diagonal', 'absolute-px(8)', 'absolute-px(3)']
    """
    wanted: dict[str, PckNormalization] = {}
    for name in names:
        spelled = ["torso-diameter", "bbox-diagonal", f"absolute-px={px!r}"] if name == "all" else [name]
        for each in spelled:
            norm = _norm(each, skeleton)
            wanted[norm.label()] = norm
    return tuple(wanted.values())


def _norm(name: str, skeleton: Skeleton) -> PckNormalization:
    if name.startswith("absolute-px="):
        return _absolute(name.removeprefix("absolute-px="))
    if name == "head-size":
        if skeleton.head is None:
            raise InputError(f"head-size needs the head's two joints; {skeleton.name} has none: give --head A,B")
        return HeadSize(*skeleton.head)
    known: dict[str, PckNormalization] = {
        "torso-diameter": TorsoDiameter(*skeleton.hips),
        "bbox-diagonal": BoundingBoxDiagonal(),
        "torso-or-bbox": TorsoOrBoundingBox(*skeleton.hips),
    }
    if name not in known:
        raise InputError(f"no normalisation is called {name!r}; choose from {', '.join(NORM_NAMES)}")
    return known[name]


def _absolute(text: str) -> AbsolutePixels:
    try:
        threshold = float(text)
    except ValueError:
        threshold = 0.0
    if not (threshold > 0 and math.isfinite(threshold)):
        raise InputError(f"absolute-px needs a distance above 0, such as absolute-px=8; got {text!r}")
    return AbsolutePixels(threshold)
