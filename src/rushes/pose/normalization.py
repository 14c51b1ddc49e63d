"""What a PCK is measured against: the normalisations, each with its label.

A PCK without its normalisation says nothing: the same predictions give 0.50, 1.00 and 0.75 under three of them. So
every function that makes a PCK takes one of these, every result carries it, and its label is in the signature.

`TorsoDiameter`, `BoundingBoxDiagonal` and `AbsolutePixels` are ADR-173's three. `TorsoOrBoundingBox` and `HeadSize` are
conventions of their own and have labels of their own; nothing here falls back on another rule in silence.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from rushes.errors import InputError
from rushes.pose.geometry import (
    Flags,
    Floats,
    bbox_diagonals,
    joint_distances,
    scoreable_extents,
    torso_diameters,
    visible_joints,
)


class _Normalization(ABC):
    """The part every normalisation shares: tolerances from extents."""

    __slots__ = ()

    @abstractmethod
    def label(self) -> str:
        """The name that goes into signatures and tables."""

    @abstractmethod
    def extents(self, gt: Floats, visible: Flags) -> Floats:
        """The reference length of each frame; NaN where the frame cannot be scored."""

    def tolerances(self, extents: Floats, k: float | Floats) -> Floats:
        """τ = k·extent / 100 of each frame. One product, one division: exact where k·extent/100 is a whole number."""
        return k * extents / 100.0

    def tolerance(self, gt: ArrayLike, vis: ArrayLike, k: float) -> float | None:
        """τ of one pose (joints × 2 or more columns), or None where the pose cannot be scored."""
        points = np.asarray(gt, dtype=np.float64)
        if points.ndim != 2 or points.shape[1] < 2:
            raise InputError(f"a pose is joints × 2 or 3 coordinates; got an array of shape {points.shape}")
        visible = visible_joints(np.asarray(vis, dtype=np.float64).reshape(1, -1))
        if visible.shape[1] != points.shape[0]:
            raise InputError(f"{points.shape[0]} joints need {points.shape[0]} visibilities; got {visible.shape[1]}")
        tau = float(self.tolerances(self.extents(points[np.newaxis], visible), k)[0])
        return None if np.isnan(tau) else tau


@dataclass(frozen=True, slots=True)
class TorsoDiameter(_Normalization):
    """k % of the ground truth's hip-to-hip distance; both hips visible, or the frame is not scored.

    The hips are COCO's 11 and 12 unless a skeleton gives others. There is no fallback: a frame without hips gives
    (0, 0, 0.0), never a PCK measured against something else.
    """

    left_hip: int = 11
    right_hip: int = 12

    def label(self) -> str:
        return "torso-diameter"

    def extents(self, gt: Floats, visible: Flags) -> Floats:
        return scoreable_extents(torso_diameters(gt, visible, left_hip=self.left_hip, right_hip=self.right_hip))


@dataclass(frozen=True, slots=True)
class BoundingBoxDiagonal(_Normalization):
    """k % of the diagonal of the box around the ground truth's visible joints: the looser, image-like convention."""

    def label(self) -> str:
        return "bbox-diagonal"

    def extents(self, gt: Floats, visible: Flags) -> Floats:
        return scoreable_extents(bbox_diagonals(gt, visible))


@dataclass(frozen=True, slots=True)
class AbsolutePixels(_Normalization):
    """A fixed distance in coordinate units, whatever the body's size; k is ignored.

    A threshold that is not positive and finite scores nothing.

    >>> AbsolutePixels(0.08).label(), AbsolutePixels(50).label()
    ('absolute-px(0.08)', 'absolute-px(50)')
    """

    threshold: float

    def label(self) -> str:
        return f"absolute-px({repr(float(self.threshold)).removesuffix('.0')})"

    def extents(self, gt: Floats, visible: Flags) -> Floats:
        usable = self.threshold > 0 and np.isfinite(self.threshold)
        return np.full(gt.shape[0], float(self.threshold) if usable else np.nan)

    def tolerances(self, extents: Floats, k: float | Floats) -> Floats:
        return extents


@dataclass(frozen=True, slots=True)
class TorsoOrBoundingBox(_Normalization):
    """The hip distance, and where that cannot be had the box diagonal: a mixture, hence a label of its own.

    Some published harnesses do this under the name of torso PCK. It is here to reproduce their numbers.
    """

    left_hip: int = 11
    right_hip: int = 12

    def label(self) -> str:
        return "torso-or-bbox"

    def extents(self, gt: Floats, visible: Flags) -> Floats:
        torso = TorsoDiameter(self.left_hip, self.right_hip).extents(gt, visible)
        return np.where(np.isnan(torso), BoundingBoxDiagonal().extents(gt, visible), torso)


@dataclass(frozen=True, slots=True)
class HeadSize(_Normalization):
    """k % of the distance between two head joints of the ground truth: what PCKh is measured against.

    COCO has no head top, so its head is ear to ear. MPII's own PCKh uses 0.6 of a drawn head box, which key point
    files do not carry: the two joints are in the signature, so that the difference shows.
    """

    first: int = 3
    second: int = 4

    def label(self) -> str:
        return f"head-size({self.first}-{self.second})"

    def extents(self, gt: Floats, visible: Flags) -> Floats:
        if max(self.first, self.second) >= gt.shape[1]:
            return np.full(gt.shape[0], np.nan)
        both = visible[:, self.first] & visible[:, self.second]
        head = joint_distances(gt[:, self.first], gt[:, self.second], columns=2)
        return scoreable_extents(np.where(both, head, np.nan))


PckNormalization: TypeAlias = TorsoDiameter | BoundingBoxDiagonal | AbsolutePixels | TorsoOrBoundingBox | HeadSize
