"""PCK: the share of key points within a tolerance. Counts first; a ratio never leaves without its normalisation.

A key point is correct when d ≤ k·e/100. What is compared is d²·10⁴ ≤ k²·e²: for whole pixels below some 900,000 every
term is a whole number that fp64 holds exactly, so a key point on the edge is on the edge, slanted hips or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rushes.core import Definition, signature_params
from rushes.core.definition import ratio_definition
from rushes.core.errors import InputError
from rushes.instruments.pose.files.batch import Chunk, single_pose
from rushes.instruments.pose.scores.geometry import Flags, Floats, roots, squared_distances
from rushes.instruments.pose.scores.joint_errors import Summed
from rushes.instruments.pose.scores.normalization import PckNormalization, checked_norm

Counts: TypeAlias = NDArray[np.int64]

CURVE_TOP = 50
"""The last k of the PCK-against-k curve and of its area."""
_LARGE = 1e300
"""Beyond this, k²·e² is near the end of fp64."""
_LARGEST_K = 1_000_000
CURVE_SERIES = "pck_curve."
"""What a run's series of PCK against k is called, before the normalisation's label."""

_TOLERANCE = "τ = k/100 · extent (absolute-px: τ is the threshold itself); correct when ‖pred − gt‖ ≤ τ in x and y"
_EDGES = (
    "a joint counts when its ground-truth visibility is ≥ 0.5; the extent must be > 1e-6 and finite, or the frame "
    "adds (0, 0); torso-diameter needs both hips visible and never falls back; a NaN or infinite prediction is wrong; "
    "an error equal to τ is correct: d²·10⁴ ≤ k²·extent² in fp64 without an epsilon, which is exact for whole pixels; "
    "a predicted joint written as 0, 0 with confidence 0 is missing; nothing scoreable: null with count 0"
)
_HISTORY = (
    "first release",
    "ties compared by squares, exact for whole pixels; 0, 0 with confidence 0 is no prediction; null over nothing",
)
_pck = partial(ratio_definition, better="higher", history=_HISTORY)

PCK = _pck(
    name="pck",
    summary="Share of visible key points that lie within k % of the named reference length.",
    formula=f"Σ correct / Σ visible over all scoreable frames, of one joint where `at` names it; {_TOLERANCE}",
    edge_cases=f"{_EDGES}; a joint that is never visible in a scoreable frame: no value",
    reference="PCK with a declared normalisation (the pose specification ADR-173); the joints are COCO-17 unless a "
    "skeleton is in the signature",
    open_params=("k", "norm"),
    named_by=("norm", "hips", "k"),
)
PCK_AUC = _pck(
    name="pck_auc",
    summary="Area under PCK against k: the score without having to choose a k.",
    formula=f"trapezoids over PCK@0, PCK@1, … PCK@{CURVE_TOP}, divided by {CURVE_TOP}",
    edge_cases=f"{_EDGES}; not defined for absolute-px, which ignores k",
    reference="AUC as in Mehta et al. 2017 (MPI-INF-3DHP), over k instead of millimetres",
    params=signature_params(k_from=0, k_to=CURVE_TOP, k_step=1),
    open_params=("norm",),
    named_by=("norm", "hips"),
)
PCKH = _pck(
    name="pckh",
    summary="Share of visible key points that lie within k % of the head's size.",
    formula="as pck, with the distance of the two head joints named in the signature as extent",
    edge_cases=f"both head joints must be visible; {_EDGES}",
    reference="after Andriluka et al. 2014 (MPII), which uses 0.6 of a drawn head box instead of two joints",
    open_params=("head", "k"),
    named_by=("head", "k"),
)


PCKH_AUC = _pck(
    name="pckh_auc",
    summary="Area under PCKh against k: head-normalised PCK without having to choose a k.",
    formula=f"trapezoids over PCKh@0, PCKh@1, … PCKh@{CURVE_TOP}, divided by {CURVE_TOP}",
    edge_cases=f"both head joints must be visible; {_EDGES}",
    reference="as MPII's AUC of PCKh from 0 to 0.5, with the head joints in the signature",
    params=signature_params(k_from=0, k_to=CURVE_TOP, k_step=1),
    open_params=("head",),
    named_by=("head",),
    history=_HISTORY[:1],
)


@dataclass(frozen=True, slots=True)
class PckTally(Summed):
    """What PCK under one normalisation is made of: whole numbers, which add up the same in any order."""

    correct: Counts
    """ks × joints."""
    total: Counts
    """Visible joints of scoreable frames, per joint."""
    scored_frames: int
    curve: Counts
    """For k = 0 … 50, the key points whose smallest passing whole k is that one; empty when not asked for."""

    def ratios(self) -> list[float]:
        """PCK of each k; 0.0 where nothing was scoreable, as the seed fixes it: read it with the total."""
        total = int(self.total.sum())
        return [int(row.sum()) / total if total else 0.0 for row in self.correct]

    def curve_ratios(self) -> list[float]:
        """PCK@0 … PCK@50."""
        total = int(self.total.sum())
        return [int(count) / total if total else 0.0 for count in np.cumsum(self.curve)]

    def area(self) -> float:
        """Area under the curve, 0 to 1."""
        values = self.curve_ratios()
        return sum((a + b) / 2 for a, b in zip(values, values[1:], strict=False)) / CURVE_TOP


@dataclass(frozen=True, slots=True)
class FlatErrors:
    """Distances in x and y and their squares, joints × frames, so that each joint's row is contiguous."""

    distances: Floats
    squares: Floats


def flat_errors(chunk: Chunk) -> FlatErrors:
    """The errors that PCK is counted from."""
    squares = squared_distances(chunk.pred, chunk.gt, columns=2)
    distances = roots(squares, chunk.pred, chunk.gt, columns=2)
    return FlatErrors(np.ascontiguousarray(distances.T), np.ascontiguousarray(squares.T))


def pck_tally(
    chunk: Chunk, errors: FlatErrors, visible: Flags, *, ks: Sequence[int], norm: PckNormalization, curve: bool
) -> PckTally:
    """Counts of one chunk; `visible` is joints × frames, as the errors are."""
    extents, squares = norm.lengths(chunk.gt, chunk.visible)
    scoreable = ~np.isnan(extents)
    counted = visible & scoreable
    correct = np.empty((len(ks), len(visible)), dtype=np.int64)
    with np.errstate(invalid="ignore", over="ignore"):
        for row, k in enumerate(ks):
            percent = float(k) if norm.relative else None
            correct[row] = _per_joint(_within(errors, extents, squares, percent) & counted)
        steps = np.zeros(0, dtype=np.int64)
        if curve:
            steps = _first_passing_k(errors, counted, extents, squares, relative=norm.relative)
    return PckTally(correct, _per_joint(counted), int(np.count_nonzero(scoreable)), steps)


def _within(errors: FlatErrors, extents: Floats, squares: Floats, k: float | Floats | None) -> Flags:
    """Which errors are within k % of the extents, or where k is None within the extents themselves.

    NaN compares false: never correct. Nor is what is infinite.
    """
    if k is None:
        found, limits, reach = errors.squares, squares, extents
    else:
        found, limits, reach = errors.squares * 1e4, k * k * squares, k * extents / 100.0
    within: Flags = found <= limits
    beyond = ~(limits < _LARGE) & ~np.isnan(extents)
    if beyond.any():  # squares overflow, or nearly: by the lengths themselves
        within = np.where(beyond, np.isfinite(errors.distances) & (errors.distances <= reach), within)
    return within


def _per_joint(flags: Flags) -> Counts:
    """True entries of each row; row by row, numpy counts without making numbers of them first."""
    return np.array([np.count_nonzero(row) for row in flags], dtype=np.int64)


def _first_passing_k(errors: FlatErrors, counted: Flags, extents: Floats, squares: Floats, *, relative: bool) -> Counts:
    """Histogram of the smallest whole k from 0 to 50 at which each key point is correct."""
    joint, frame = np.nonzero(counted & np.isfinite(errors.distances))
    own = FlatErrors(errors.distances[joint, frame], errors.squares[joint, frame])
    extent, square = extents[frame], squares[frame]
    if not relative:  # the same tolerance at every k
        within = np.zeros(np.count_nonzero(_within(own, extent, square, None)), dtype=np.int64)
        return np.bincount(within, minlength=CURVE_TOP + 1)
    k = np.minimum(np.ceil(100.0 * own.distances / extent), CURVE_TOP + 1)
    # The quotient may round across a whole number; the comparison itself decides, as it does for a single k.
    k -= (k > 0) & _within(own, extent, square, k - 1)
    k += ~_within(own, extent, square, k)
    return np.bincount(k.astype(np.int64), minlength=CURVE_TOP + 1)[: CURVE_TOP + 1].astype(np.int64)


def pck_at(
    pred: ArrayLike, gt: ArrayLike, vis: ArrayLike, k: float, norm: PckNormalization | type[PckNormalization]
) -> tuple[int, int, float]:
    """(correct, total, PCK@k) of one pose under one normalisation.

    Formula     correct / total, over visible joints; correct when ‖pred − gt‖ ≤ τ in x and y, τ = k/100 · extent
    Inputs      joints × 2 or 3 coordinates (x and y are used), visibility per joint (≥ 0.5: visible), k in percent
    Edge cases  nothing visible, or a degenerate reference length: (0, 0, 0.0). NaN in a prediction: wrong.
    Reference   ADR-173

    >>> from rushes.instruments.pose import AbsolutePixels
    >>> pck_at([[0, 0], [9, 9]], [[0, 3], [9, 0]], [2, 2], 20, AbsolutePixels(3))
    (1, 2, 0.5)
    """
    (chunk,) = single_pose(pred, gt, vis).chunks()
    (k,) = checked_ks([k])
    tally = pck_tally(chunk, flat_errors(chunk), chunk.visible.T, ks=[k], norm=checked_norm(norm), curve=False)
    return int(tally.correct.sum()), int(tally.total.sum()), tally.ratios()[0]


def checked_ks(ks: Sequence[float]) -> list[int]:
    """The ks, ascending and without repeats: whole percentages from 0 to a million.

    >>> checked_ks([20, 5.0, 20.0])
    [5, 20]
    """
    for k in ks:
        number = isinstance(k, (int, float, np.integer, np.floating)) and not isinstance(k, bool)
        if not number or not 0 <= k <= _LARGEST_K or k != int(k):
            raise InputError(f"k is a whole percentage from 0, such as 20; got {k!r}")
    return sorted({int(k) for k in ks})


_METRICS = {definition.name: definition for definition in (PCK, PCKH)}
_AREAS = {"pck": PCK_AUC, "pckh": PCKH_AUC}


def area_definition(norm: PckNormalization) -> Definition:
    """The label of the area under one normalisation's curve."""
    return _AREAS[norm.metric].add_params(**norm.params())


def pck_definition(k: int, norm: PckNormalization) -> Definition:
    """The label of one PCK: `pck|k:20|norm:torso-diameter|v:2`, or `pckh` for a head-normalised one.

    >>> from rushes.instruments.pose import TorsoDiameter, HeadSize
    >>> pck_definition(20, TorsoDiameter()).signature, pck_definition(50, HeadSize(3, 4)).signature
    ('pck|k:20|norm:torso-diameter|v:2', 'pckh|head:3-4|k:50|v:2')
    >>> pck_definition(20, TorsoDiameter(5, 6)).signature
    'pck|hips:5-6|k:20|norm:torso-diameter|v:2'
    """
    return _METRICS[checked_norm(norm).metric].add_params(k=k, **norm.params())
