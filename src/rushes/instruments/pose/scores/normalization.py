"""What a PCK is measured against: the normalisations, each with its label, and the names people type for them.

A PCK without its normalisation says nothing: the same predictions give 0.50, 1.00 and 0.75 under three of them. So
every function that makes a PCK takes one of these, every result carries it, and its label is in the signature.

`TorsoDiameter`, `BoundingBoxDiagonal` and `AbsolutePixels` are ADR-173's three; the others have labels of their own,
and none falls back on another in silence. A package adds its own by an entry point (see `NORMALIZATIONS`).
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from rushes.core.errors import DefinitionError, InputError
from rushes.core.machine.packages import package_code
from rushes.core.words.options import option
from rushes.instruments.pose.files.skeletons import COCO_17, Skeleton
from rushes.instruments.pose.instrument import NORMALIZATIONS
from rushes.instruments.pose.scores import geometry
from rushes.instruments.pose.scores.geometry import Flags, Floats

DEFAULT_PX = 10.0
"""The absolute threshold that `all` uses unless another is given."""
_ALL = ("torso-diameter", "bbox-diagonal", "absolute-px")


@dataclass(frozen=True, slots=True)
class PckNormalization(ABC):
    """A rule for the length that errors are measured against. A subclass needs `name` and `extents`.

    One whose tolerance has nothing to do with k sets `relative` to False: its extent is the tolerance. ADR-173 writes
    its three as variants, which they are here too: `PckNormalization.TorsoDiameter`, `.BoundingBoxDiagonal`,
    `.AbsolutePixels(0.08)`.
    """

    TorsoDiameter: ClassVar[type[_Torso]]
    BoundingBoxDiagonal: ClassVar[type[_Box]]
    AbsolutePixels: ClassVar[type[_Pixels]]

    norm: str = field(init=False, repr=False, compare=False, default="")
    """Its label, so that `dataclasses.asdict` of what was scored says under which normalisation."""

    name: ClassVar[str]
    """As people type it and as the registry has it."""
    argument: ClassVar[str] = ""
    """What follows the name, as the help shows it: the T of `absolute-px=T`. "" where nothing may follow."""
    relative: ClassVar[bool] = True
    """Whether the tolerance is k % of the extent, so that PCK against k is a curve."""
    has_area: ClassVar[bool] = True
    """Whether the area under that curve is given."""
    unscoreable: ClassVar[str] = "no extent"
    """Why a frame may have no extent, for the note."""
    metric: ClassVar[str] = "pck"
    """The metric it is a setting of: `pck`, or for head sizes `pckh`."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "norm", self.label())

    @classmethod
    def parse(cls, argument: str, skeleton: Skeleton) -> Self:
        """The normalisation for a skeleton, from what follows its name; `InputError` where that cannot be."""
        if argument:
            raise InputError(f"{cls.name} takes no argument; got {argument!r}")
        return cls.of(skeleton)

    @classmethod
    def of(cls, skeleton: Skeleton) -> Self:
        """The normalisation for a skeleton's joints."""
        return cls()

    @classmethod
    def spelling(cls) -> str:
        """How it is typed: `absolute-px=T`."""
        return f"{cls.name}={cls.argument}" if cls.argument else cls.name

    def label(self) -> str:
        """The name that goes into signatures and tables."""
        return self.name

    def params(self) -> dict[str, str]:
        """What the signature of its PCK says about it."""
        return {"norm": self.label()}

    @abstractmethod
    def extents(self, gt: Floats, visible: Flags) -> Floats:
        """The reference length of each frame; NaN where the frame cannot be scored."""

    def lengths(self, gt: Floats, visible: Flags) -> tuple[Floats, Floats]:
        """The extents and their squares, which PCK compares: exact for whole pixels where they come before roots."""
        extents = checked_extents(self, gt, visible)
        with np.errstate(over="ignore"):
            return extents, extents * extents

    def tolerances(self, extents: Floats, k: float | Floats) -> Floats:
        """τ = k·extent / 100 of each frame, for readers: PCK itself compares squares (see `pck.py`)."""
        return k * extents / 100.0 if self.relative else extents

    def tolerance(self, gt: ArrayLike, vis: ArrayLike, k: int) -> float | None:
        """τ of one pose (joints × 2 or more columns), or None where the pose cannot be scored."""
        points = np.asarray(gt, dtype=np.float64)
        if points.ndim != 2 or points.shape[1] < 2:
            raise InputError(f"a pose is joints × 2 or 3 coordinates; got an array of shape {points.shape}")
        visible = geometry.visible_joints(np.asarray(vis, dtype=np.float64).reshape(1, -1))
        if visible.shape[1] != points.shape[0]:
            raise InputError(f"{points.shape[0]} joints need {points.shape[0]} visibilities; got {visible.shape[1]}")
        tau = float(self.tolerances(checked_extents(self, points[np.newaxis], visible), k)[0])
        return None if np.isnan(tau) else tau

    def warning(self, largest: float) -> str:
        """What a reader must know when no true coordinate is larger than this; "" where there is nothing to say."""
        return ""


def checked_extents(norm: PckNormalization, gt: Floats, visible: Flags) -> Floats:
    """The extents; `InputError` where a normalisation of another package fails, or gives another number of them."""
    with package_code(type(norm), f"the normalisation {norm.name}"):
        found = np.asarray(norm.extents(gt, visible), dtype=np.float64)
        if found.shape != (len(gt),):
            raise ValueError(f"expected an extent for each of {len(gt)} frames; got an array of shape {found.shape}")
    return found


class _Spanned(PckNormalization):
    """Rules that have the squares of their lengths before the roots."""

    __slots__ = ()

    def extents(self, gt: Floats, visible: Flags) -> Floats:
        return self.lengths(gt, visible)[0]


@dataclass(frozen=True, slots=True)
class _ByHips(_Spanned):
    """Rules that need to know where the hips are: COCO's 11 and 12 unless a skeleton gives others."""

    left_hip: int = 11
    right_hip: int = 12

    def __post_init__(self) -> None:
        hips = (self.left_hip, self.right_hip)
        if hips[0] == hips[1] or not all(isinstance(hip, int) and hip >= 0 for hip in hips):
            raise InputError(f"hips are two different joints, counted from 0; got {hips[0]} and {hips[1]}")
        PckNormalization.__post_init__(self)

    @classmethod
    def parse(cls, argument: str, skeleton: Skeleton) -> Self:
        return cls(*_joints(cls.name, argument)) if argument else cls.of(skeleton)

    @classmethod
    def of(cls, skeleton: Skeleton) -> Self:
        return cls(*skeleton.hips)

    @property
    def _other_hips(self) -> str:
        """The hips, where they are not COCO's: what the plain label does not say."""
        return "" if (self.left_hip, self.right_hip) == COCO_17.hips else f"{self.left_hip}-{self.right_hip}"

    def label(self) -> str:
        return f"{self.name}({self._other_hips})" if self._other_hips else self.name

    def params(self) -> dict[str, str]:
        return {"norm": self.name} | ({"hips": self._other_hips} if self._other_hips else {})


@dataclass(frozen=True, slots=True)
class TorsoDiameter(_ByHips):
    """k % of the ground truth's hip-to-hip distance; both hips visible, or the frame is not scored.

    No fallback: a frame without hips gives (0, 0, 0.0). Hips that are not COCO's 11 and 12 are in the label.

    >>> TorsoDiameter().label(), TorsoDiameter(5, 6).label()
    ('torso-diameter', 'torso-diameter(5-6)')
    """

    name = "torso-diameter"
    unscoreable = "a hip is not visible, or both are in one place"

    def lengths(self, gt: Floats, visible: Flags) -> tuple[Floats, Floats]:
        return geometry.spans(gt, visible, first=self.left_hip, second=self.right_hip)


@dataclass(frozen=True, slots=True)
class BoundingBoxDiagonal(_Spanned):
    """k % of the diagonal of the box around the ground truth's visible joints: the looser, image-like convention."""

    name = "bbox-diagonal"

    def lengths(self, gt: Floats, visible: Flags) -> tuple[Floats, Floats]:
        return geometry.bbox_diagonals(gt, visible)


@dataclass(frozen=True, slots=True)
class AbsolutePixels(PckNormalization):
    """A fixed distance in coordinate units, whatever the body's size; k is ignored.

    A threshold that is not positive and finite scores nothing.

    >>> AbsolutePixels(0.08).label(), AbsolutePixels(50).label()
    ('absolute-px(0.08)', 'absolute-px(50)')
    """

    name = "absolute-px"
    argument = "T"
    relative = has_area = False
    unscoreable = "the threshold is not positive"

    threshold: float

    @classmethod
    def parse(cls, argument: str, skeleton: Skeleton) -> Self:
        try:
            threshold = float(argument)
        except ValueError:
            threshold = 0.0
        if not (threshold > 0 and math.isfinite(threshold)):
            raise InputError(f"absolute-px needs a distance above 0, such as absolute-px=8; got {argument!r}")
        return cls(threshold)

    def label(self) -> str:
        return f"{self.name}({repr(float(self.threshold)).removesuffix('.0')})"

    def extents(self, gt: Floats, visible: Flags) -> Floats:
        usable = self.threshold > 0 and np.isfinite(self.threshold)
        return np.full(gt.shape[0], float(self.threshold) if usable else np.nan)

    def warning(self, largest: float) -> str:
        if not self.threshold > largest > 0:
            return ""
        return (
            f"{self.label()} is larger than any coordinate (the largest is {largest:g}), so it tells nothing; "
            "give the threshold in the unit of the coordinates"
        )


@dataclass(frozen=True, slots=True)
class TorsoOrBoundingBox(_ByHips):
    """The hip distance, else the box diagonal: what some published harnesses call torso PCK, under its own label."""

    name = "torso-or-bbox"

    def lengths(self, gt: Floats, visible: Flags) -> tuple[Floats, Floats]:
        torso = TorsoDiameter(self.left_hip, self.right_hip).lengths(gt, visible)
        box = BoundingBoxDiagonal().lengths(gt, visible)
        by_box = np.isnan(torso[0])
        return np.where(by_box, box[0], torso[0]), np.where(by_box, box[1], torso[1])


@dataclass(frozen=True, slots=True)
class HeadSize(_Spanned):
    """k % of the distance between two head joints of the ground truth: what PCKh is measured against.

    COCO has no head top, so its head is ear to ear. MPII's own PCKh uses 0.6 of a drawn head box, which key point
    files do not carry: the two joints are in the signature, so that the difference shows.
    """

    name = "head-size"
    unscoreable = "a head joint is not visible, or both are in one place"
    metric = "pckh"

    first: int = 3
    second: int = 4

    @classmethod
    def parse(cls, argument: str, skeleton: Skeleton) -> Self:
        return cls(*_joints(cls.name, argument)) if argument else cls.of(skeleton)

    @classmethod
    def of(cls, skeleton: Skeleton) -> Self:
        if skeleton.head is None:
            raise InputError(
                f"head-size needs the head's two joints; {skeleton.name} has none: give {option('--head A,B')}"
            )
        return cls(*skeleton.head)

    def label(self) -> str:
        return f"{self.name}({self.first}-{self.second})"

    def params(self) -> dict[str, str]:
        return {"head": f"{self.first}-{self.second}"}

    def lengths(self, gt: Floats, visible: Flags) -> tuple[Floats, Floats]:
        return geometry.spans(gt, visible, first=self.first, second=self.second)


_Torso: TypeAlias = TorsoDiameter
_Box: TypeAlias = BoundingBoxDiagonal
_Pixels: TypeAlias = AbsolutePixels
for _rule in (TorsoDiameter, BoundingBoxDiagonal, AbsolutePixels):
    setattr(PckNormalization, _rule.__name__, _rule)


def _joints(name: str, argument: str) -> tuple[int, int]:
    """The two joints of a label, "5-6"."""
    found = re.fullmatch(r"(\d+)-(\d+)", argument)
    if found is None:
        raise InputError(f"{name} takes two joints, as in {name}(5-6); got {argument!r}")
    return int(found[1]), int(found[2])


def checked_norm(norm: PckNormalization | type[PckNormalization]) -> PckNormalization:
    """The normalisation, or `DefinitionError`: a PCK cannot be made without one. A variant that needs nothing may be
    given without brackets, as ADR-173 writes it: `PckNormalization.TorsoDiameter`."""
    if isinstance(norm, type) and issubclass(norm, PckNormalization) and not norm.argument:
        norm = norm()
    if not isinstance(norm, PckNormalization):
        raise DefinitionError(f"a PCK needs its normalisation (TorsoDiameter(), …); got {norm!r}")
    return norm


def norm_spellings() -> list[str]:
    """Every name that `parse_norms` takes: `absolute-px=T`, `all`."""
    return [*(rule.spelling() for _, rule in NORMALIZATIONS.items()), "all"]


def parse_norms(
    names: str | Iterable[str], skeleton: Skeleton, *, px: float = DEFAULT_PX
) -> tuple[PckNormalization, ...]:
    """Normalisations by name, for this skeleton's hips and head; repeats are dropped. `all` are ADR-173's three.

    A name is the registry's, ADR-173's or a label as Rushes prints it, in any case: `bbox-diagonal`,
    `BoundingBoxDiagonal`, `absolute-px=8`, `absolute-px(8)`, `AbsolutePixels(8)`.

    >>> from rushes.instruments.pose.files.skeletons import COCO_17
    >>> [norm.label() for norm in parse_norms(["all", "absolute-px=3"], COCO_17, px=8)]
    ['torso-diameter', 'bbox-diagonal', 'absolute-px(8)', 'absolute-px(3)']
    """
    wanted: dict[str, PckNormalization] = {}
    for typed in [names] if isinstance(names, str) else names:
        for name in _ALL if typed.casefold() == "all" else [typed]:
            rule, argument = _rule_named(name)
            rule = rule or NORMALIZATIONS[name.partition("=")[0]]
            norm = rule.parse(repr(px) if name != typed and rule.argument else argument, skeleton)
            wanted[norm.label()] = norm
    if not wanted:
        raise InputError(f"a PCK needs its normalisation; choose from {', '.join(norm_spellings())}")
    return tuple(wanted.values())


def is_norm(typed: str) -> bool:
    """Whether `parse_norms` knows this name; what follows the name is not looked at."""
    return typed.casefold() == "all" or _rule_named(typed)[0] is not None


def _rule_named(typed: str) -> tuple[type[PckNormalization] | None, str]:
    """The rule that a name means, None where there is none; and what follows the name, behind "=" or in brackets."""
    found = re.fullmatch(r"\s*([^=(]*?)\s*(?:=(.*)|\((.*)\))?\s*", typed)
    name, argument = (found[1].casefold(), found[2] or found[3] or "") if found else (typed, "")
    every = NORMALIZATIONS.items()
    return next((rule for key, rule in every if name in (key.casefold(), rule.__name__.casefold())), None), argument
