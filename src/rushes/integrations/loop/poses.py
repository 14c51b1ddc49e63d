"""`rushes pose` on key points in memory: PCK, MPJPE and the others, batch by batch."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rushes.core import Measurement
from rushes.core.errors import InputError
from rushes.instruments.pose.files.batch import PoseSet
from rushes.instruments.pose.files.poses import Columns, split_columns
from rushes.instruments.pose.files.skeletons import COCO_17, named_skeleton
from rushes.instruments.pose.measurements import set_measurements
from rushes.instruments.pose.pair_scoring import score_sides
from rushes.instruments.pose.pairing.question import DEFAULT_KS, PoseQuestion
from rushes.instruments.pose.scores.normalization import DEFAULT_PX, parse_norms
from rushes.instruments.pose.scoring import Root
from rushes.integrations.loop.rows import Row, RowMetric
from rushes.media.video_arrays import plain_array


class Pose(RowMetric):
    """Predicted against true key points, both in memory, as `rushes pose` scores folders of `.npy` files.

    `norm` is one or several normalisations; the others are those of `rushes.score_pose`. `compute` gives each number
    pooled over every joint and as the mean of the clips, both with intervals over clips: `found.one("pck", k=20,
    norm="torso-diameter", aggregate="pooled")`; `compute().clips` has each clip's own.

        pose = rushes.Pose(norm="torso-diameter")
        pose.update(predicted, true, layout="BTJC")
        pose.compute().one("pck", k=20, aggregate="pooled").value
    """

    kind = "Pose"

    def __init__(
        self,
        norm: str | Iterable[str],
        *,
        ks: float | Iterable[float] = DEFAULT_KS,
        skeleton: str | None = None,
        hips: tuple[int, int] | None = None,
        head: tuple[int, int] | None = None,
        columns: Columns | None = None,
        dims: Literal[2, 3] | None = None,
        unit: str | None = None,
        root: Root = "as-given",
        px: float = DEFAULT_PX,
    ) -> None:
        super().__init__()
        self._question = PoseQuestion(
            norms=norm if isinstance(norm, str) else tuple(norm),
            ks=ks if isinstance(ks, int | float) else tuple(ks),
            skeleton=skeleton,
            hips=hips,
            head=head,
            columns=columns,
            dims=dims,
            unit=unit,
            root=root,
            px=px,
        )
        self._norms = [each.label() for each in parse_norms(self._question.norms, COCO_17, px=px)]
        self._ks = list(self._question.wanted_ks())

    def update(
        self,
        pred: Any,
        gt: Any,
        *,
        layout: str,
        visibility: Any = None,
        names: Sequence[str] | None = None,
    ) -> None:
        """Score these poses and keep the numbers.

        `pred` and `gt` are arrays or tensors of coordinates. `layout` names the axes in order: "BTJC" or "TJC", with T
        frames, J joints and C columns (x y, or x y z; `columns="xyv"` for x y visibility); sequences of "TJC" where
        lengths differ. `visibility` is the truth's, with the same axes but C. A prediction that is NaN was not found.
        Raises `InputError` where the sides do not fit; then none is counted.
        """
        ours, theirs = _split(pred, layout, "pred"), _split(gt, layout, "gt")
        seen = [None] * len(theirs) if visibility is None else _split(visibility, layout.replace("C", ""), "visibility")
        if not len(ours) == len(theirs) == len(seen):
            raise InputError(f"expected a truth for each prediction; got {len(ours)} and {len(theirs)} of {len(seen)}")
        if isinstance(names, str) or (names is not None and len(names) != len(ours)):
            raise InputError(f"expected a name for each of {len(ours)} clips; got {names!r}")
        labels: Sequence[str | None] = [None] * len(ours) if names is None else names
        self._take(
            [
                self._row(one, other, visible, label, number)
                for number, (one, other, visible, label) in enumerate(zip(ours, theirs, seen, labels, strict=True))
            ]
        )

    def _row(
        self, pred: NDArray[Any], gt: NDArray[Any], visible: NDArray[Any] | None, label: str | None, number: int
    ) -> Row:
        what = label or f"clip {number}"
        if len(pred) != len(gt):
            raise InputError(f"{what}: {len(pred)} predicted frames but {len(gt)} true ones; they pair in order")
        predicted = self._poses(pred, None, f"{what} (pred)")
        truth = self._poses(gt, visible, f"{what} (gt)")
        done = score_sides(predicted, truth, self._question)
        return Row(name=label, digest=_digest(pred, gt, visible), measurements=done.measurements)

    def _poses(self, array: NDArray[Any], visible: NDArray[Any] | None, name: str) -> PoseSet:
        points, own = split_columns(array, name, "xyz" if visible is not None else self._question.columns)
        return PoseSet(path=name, points=points, visibility=own if visible is None else visible)

    def _settings(self) -> Mapping[str, object]:
        asked = self._question
        return asked.stored() | {
            "norms": self._norms,
            "ks": self._ks,
            "skeleton": asked.skeleton or "",
            "hips": list(asked.hips or ()),
            "head": list(asked.head or ()),
            "dims": asked.dims or 0,
            "unit": asked.unit or "",
            "root": asked.root,
        }

    def _numbers(self, rows: Sequence[Row]) -> tuple[Measurement, ...]:
        return tuple(set_measurements([row.measurements for row in rows] or [self._nothing()]))

    def _nothing(self) -> list[Measurement]:
        """Every number missing, with the skeleton as far as it was named; without one, that of COCO."""
        asked = self._question
        joints = len(named_skeleton(asked.skeleton).joints) if asked.skeleton else 17
        joints = max(joints, *(joint + 1 for pair in (asked.hips, asked.head) for joint in pair or ()), 1)
        empty = PoseSet(path="no poses", points=np.zeros((1, joints, asked.dims or 2)))
        template = score_sides(empty, empty, self._question).measurements
        return [Measurement.missing(m.definition, "no poses were given", at=m.at) for m in template]


def _split(given: Any, layout: str, what: str) -> list[NDArray[Any]]:
    """Arrays T × J × C (or T × J), one a clip."""
    if not isinstance(layout, str) or sorted(layout.replace("B", "")) not in (sorted("TJC"), sorted("TJ")):
        raise InputError(f"layout names the axes in order, T J C and B where there is one of clips; got {layout!r}")
    own = layout.replace("B", "")
    order = tuple(own.index(axis) for axis in ("TJC" if "C" in own else "TJ"))
    if isinstance(given, list | tuple):
        if "B" in layout:
            raise InputError(f"in a sequence each item is one clip; got layout {layout!r}: leave out its B")
        arrays = [plain_array(item) for item in given]
    else:
        whole = plain_array(given)
        if whole.ndim != len(layout):
            raise InputError(f"{what}: layout {layout!r} has {len(layout)} axes; got shape {whole.shape}")
        arrays = [*np.moveaxis(whole, layout.index("B"), 0)] if "B" in layout else [whole]
    for array in arrays:
        if array.ndim != len(own):
            raise InputError(f"{what}: layout {own!r} has {len(own)} axes; got shape {array.shape}")
    return [array.transpose(order) for array in arrays]


def _digest(*arrays: NDArray[Any] | None) -> str:
    """sha256 over shapes, types and values."""
    state = hashlib.sha256()
    for array in arrays:
        state.update(b"none" if array is None else f"{array.shape}{array.dtype.str}".encode())
        if array is not None:
            state.update(np.ascontiguousarray(array).data)
    return state.hexdigest()
