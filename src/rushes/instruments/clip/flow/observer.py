"""Optical flow in the one pass over a clip: how well each frame follows from the one before it.

OpenCV's DIS flow (Kroeger et al. 2016, preset fast) between frames about a tenth of a second apart, at 192 rows, both
ways. Everything is in pixels at that height, so that a clip reads alike at any size; frames are taken at an even
stride, for an uneven one would itself look like a change of motion.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import TYPE_CHECKING, Any, cast

import cv2
import numpy as np
from numpy.typing import NDArray

from rushes.instruments.clip.frames.detail import reduced
from rushes.instruments.clip.frames.one_thread import on_one_thread

if TYPE_CHECKING:
    from rushes.media import Frame, MediaFacts
    from rushes.media.alike.frames import AlikeFrame

RATE = 10.0
"""Pictures a second that flow is taken between, as nearly as a whole stride allows."""
FLOOR = 0.1
"""Pixels added to the motion that an error is held against: a still picture has errors, and no motion."""
SMALLEST = 32
"""Rows and columns below which no flow is taken."""

Field = NDArray[np.float32]
Grey = NDArray[np.uint8]
Series = NDArray[np.float64]
_NAMES = ("flow_motion", "flow_residual", "flow_backward_error", "flow_acceleration")


@dataclass(frozen=True, slots=True, eq=False)
class MotionObservation:
    """One value per step between the frames looked at, and the index of the frame each leads to."""

    frames: NDArray[np.int64]
    motion: Series
    """Mean length of the flow, pixels."""
    residual: Series
    """Mean |picture − the next one taken back along the flow| over the picture's mean gradient + 0.5, levels."""
    backward_error: Series
    """Mean |F(x) + B(x + F(x))| over motion + `FLOOR`: there and back again."""
    acceleration: Series
    """Mean |F_t(x + F_{t−1}(x)) − F_{t−1}(x)| over the mean motion of both + `FLOOR`; NaN for the first step."""

    def series(self, frames: int) -> dict[str, Series]:
        """For the run: NaN at frames that were not looked at."""
        columns = (self.motion, self.residual, self.backward_error, self.acceleration)
        found = {}
        for name, values in zip(_NAMES, columns, strict=True):
            found[name] = np.full(frames, np.nan)
            # OpenCV's square roots differ in their last digits with where a picture lies in memory.
            found[name][self.frames] = np.round(values, 8)
        return found


def stride(fps: float | None, rate: float = RATE) -> int:
    """Frames from one looked at to the next: the rate nearest to the wanted one, by ratio.

    >>> [stride(fps) for fps in (None, 8.0, 10.0, 24.0, 25.0, 30.0, 60.0)]
    [1, 1, 1, 2, 3, 3, 6]
    """
    if not fps:
        return 1
    near = max(1, int(fps / rate))
    return min((near, near + 1), key=lambda step: max(fps / step / rate, rate * step / fps))


def stride_of(facts: MediaFacts, rate: float = RATE) -> int:
    """The same for a clip."""
    fps = facts.video.fps if facts.video is not None else None
    return stride(None if fps is None else float(fps), rate)


@dataclass(frozen=True, eq=False)
class Arrows:
    """Flow from one picture to the next; where its arrows lead and how long they are is worked out once."""

    field: Field

    @cached_property
    def places(self) -> tuple[Field, Field]:
        """Column and row to which each point goes."""
        rows, columns = _grid(self.field.shape[0], self.field.shape[1])
        return columns + self.field[..., 0], rows + self.field[..., 1]

    @cached_property
    def length(self) -> float:
        """Mean length, pixels."""
        return length(self.field)


class MotionWatch:
    """Looks at every so many frames of one clip as it is decoded."""

    def __init__(self, facts: MediaFacts) -> None:
        self._stride = stride_of(facts)
        self._picture: Grey | None = None
        self._flow: Arrows | None = None
        self._rows: list[tuple[int, float, float, float, float]] = []

    def add(self, frame: Frame | AlikeFrame) -> None:
        if frame.index % self._stride == 0:
            plane = frame.luma
            small = (reduced(plane.values).astype(np.float32) - plane.offset) * plane.scale
            self._look(frame.index, np.clip(np.rint(small), 0, 255).astype(np.uint8))

    def _look(self, index: int, picture: Grey) -> None:
        before, self._picture = self._picture, picture
        if before is None or min(picture.shape) < SMALLEST or before.shape != picture.shape:
            return
        field, back = on_one_thread(lambda: (flow_between(before, picture), flow_between(picture, before)))
        there = Arrows(field)
        values = (
            there.length,
            residual(before, picture, there),
            length(field + carried(back, there)) / (there.length + FLOOR),
            float("nan") if self._flow is None else acceleration(self._flow, there),
        )
        self._flow = there
        self._rows.append((index, *values))

    def finish(self) -> MotionObservation | str:
        """What was seen, or why there is nothing to say."""
        if not self._rows:
            small = self._picture is not None and min(self._picture.shape) < SMALLEST
            return f"frames of less than {SMALLEST} pixels have no flow" if small else "fewer than two frames to follow"
        frames, *columns = np.array(self._rows, dtype=np.float64).T
        return MotionObservation(frames.astype(np.int64), *columns)


def flow_between(before: Any, after: Any, *, fine: bool = False) -> Field:
    """Where each point of a grey picture goes, as (x, y) in pixels; `fine` is refined down to single pixels."""
    found: Field = cast(Any, _dis(fine)).calc(before, after, None)
    return found


def residual(before: Grey, after: Grey, there: Arrows) -> float:
    """Mean |before − after taken back along the flow|, over the mean gradient of `before` + 0.5 levels."""
    returned = cv2.remap(after, *there.places, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    across = cv2.Sobel(before, cv2.CV_32F, 1, 0, scale=0.125)
    down = cv2.Sobel(before, cv2.CV_32F, 0, 1, scale=0.125)
    return _mean(cv2.absdiff(before, returned)) / (_mean(_lengths(across, down)) + 0.5)


def acceleration(before: Arrows, now: Arrows) -> float:
    """How much the motion of each point changes from one step to the next, over the motion itself."""
    change = length(carried(now.field, before) - before.field)
    return change / ((before.length + now.length) / 2 + FLOOR)


def carried(field: Field, along: Arrows) -> Field:
    """The field read where each point has gone: field(x + along(x)), bilinear, edges repeated."""
    moved = cv2.remap(field, *along.places, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(moved, dtype=np.float32)


@lru_cache(maxsize=4)
def _grid(height: int, width: int) -> tuple[Field, Field]:
    rows, columns = np.mgrid[0:height, 0:width].astype(np.float32)
    return rows, columns


def length(flow: Field) -> float:
    """Mean length of its arrows, pixels."""
    return _mean(_lengths(flow[..., 0], flow[..., 1]))


def _lengths(x: Any, y: Any) -> Field:
    """√(x² + y²), each step rounded once; OpenCV's `magnitude` depends on where in memory an array begins."""
    found: Field = np.sqrt(x * x + y * y)
    return found


def _mean(values: Any) -> float:
    """The mean, summed as whole 65536ths: sums of floats depend on where in memory they begin."""
    whole = cv2.sumElems(np.rint(values * np.float32(65536)))[0]  # whole numbers, exact in a double
    return float(whole) / (65536 * int(values.size))


@cache
def _dis(fine: bool) -> cv2.DISOpticalFlow:
    dis = cv2.DISOpticalFlow.create(cv2.DISOPTICAL_FLOW_PRESET_FAST)
    if fine:  # the preset stops at a quarter of the size: 0.05 to 0.36 px off on known shifts, not 0.00 to 0.15
        dis.setFinestScale(0)
    return dis
