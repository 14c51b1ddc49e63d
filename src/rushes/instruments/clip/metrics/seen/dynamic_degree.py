"""VBench's dynamic_degree, as its code computes it: does a clip move much, yes or no; on request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from av.video.reformatter import VideoReformatter
from numpy.typing import NDArray

from rushes.core import Definition, Measurement, signature_params
from rushes.core.metric import ClipMetric
from rushes.instruments.clip.metrics.making import lane
from rushes.instruments.clip.metrics.vbench import opencv_rows
from rushes.instruments.clip.metrics.warping import RAFT_WEIGHTS, require_raft
from rushes.vision.models.catalogue import licence_of

RATE = 8.0
ITERATIONS = 20
TOP = 0.05
"""Share of the pixels with the longest flow, whose mean is a step's motion."""
PIXELS, SIDE = 6.0, 256.0
"""A step moves where its motion is above 6 pixels for a short side of 256."""
STEPS, FRAMES = 4, 16.0
"""A clip moves where 4 steps do of 16 frames."""
SMALLEST = 128
_CELL = 8

_COST = "Cost: 1.3 s of one core a step at 256 × 256, so 11 s for a second of video."

DYNAMIC_DEGREE = Definition(
    name="dynamic_degree",
    unit="1",
    lowest=0,
    highest=1,
    better="neither",
    summary="VBench's dynamic degree of one clip: 1 where it moves much, 0 where it does not; a system's score is the "
    "mean over its clips.",
    formula="1 where at least round(4·n/16) of the n − 1 steps have a motion above 6·s/256 pixels, else 0; the n "
    "frames are every max(1, round(fps/8))-th one, s their short side, a step's motion the mean of the longest 5 % of "
    "its flow (RAFT-things, 20 iterations, padded to multiples of 8, in pixels of the clip's own size)",
    edge_cases="One frame: no value, where VBench gives 0. Frames of less than 128 pixels: no value. With two frames "
    "no step has to move, so VBench says 1. The camera's motion counts, and so does flicker that looks like motion. A "
    f"turned file is measured as it is stored. {_COST}",
    reference="Huang et al. 2024 (VBench), vbench/dynamic_degree.py; its raft-things.pth has the digest of ours. "
    f"Motion is no quality: agreement with people was not measured. {licence_of('raft')}",
    params=signature_params(
        protocol="vbench",
        opencv=4,
        flow="raft-things",
        weights=RAFT_WEIGHTS,
        iterations=ITERATIONS,
        padding="replicate-8",
        frames_per_s=RATE,
        top=TOP,
        pixels=PIXELS,
        steps="4-of-16",
    ),
    depends_on=("frame_size", "fps", "duration"),
    raised_by=("a moving camera", "cuts", "flicker"),
    lowered_by=("a still picture", "motion in less than a twentieth of the picture"),
)


def interval(fps: float | None) -> int:
    """Frames from one that is looked at to the next, as VBench has it (halves go to the even number).

    >>> [interval(fps) for fps in (None, 8.0, 10.0, 12.0, 24.0, 25.0, 30.0)]
    [1, 1, 1, 2, 3, 3, 4]
    """
    return max(1, round(fps / RATE)) if fps else 1


def step_motion(flow: NDArray[np.float32]) -> float:
    """The mean length of the longest 5 % of a flow field, H × W × 2."""
    lengths = np.sqrt(np.square(flow[..., 0]) + np.square(flow[..., 1])).ravel()
    return float(np.mean(-np.sort(-lengths)[: int(lengths.size * TOP)]))


def moves(motions: Sequence[float], *, frames: int, short_side: int) -> bool:
    """Whether enough steps move; see `DYNAMIC_DEGREE`.

    >>> moves([6.5, 7.0, 1.0], frames=8, short_side=256), moves([6.5, 7.0, 1.0], frames=8, short_side=512)
    (True, False)
    """
    limit, wanted = PIXELS * (short_side / SIDE), round(STEPS * (frames / FRAMES))
    return len(motions) > 0 and sum(motion > limit for motion in motions) >= wanted


class DynamicCollector:
    """Keeps one frame, and the motion of each step."""

    def __init__(self, facts: Any) -> None:
        video = facts.video
        self._interval = interval(None if video is None or video.fps is None else float(video.fps))
        self._reformatter = VideoReformatter()
        self._before: NDArray[np.uint8] | None = None
        self._motions: list[float] = []
        self._frames = self._latest = self._short = 0

    def add(self, frame: Any) -> None:
        self._latest = frame.index
        if frame.index % self._interval:
            return
        rows = opencv_rows(self._reformatter, frame.video, 4)
        picture = rows.reshape(rows.shape[0], -1, 3)[..., ::-1]
        self._frames += 1
        self._short = min(picture.shape[:2])
        if self._short < SMALLEST:
            return
        padded = _padded(picture)
        if self._before is not None and self._before.shape == padded.shape:
            from rushes.instruments.clip.flow.raft import flows

            self._motions.append(step_motion(flows(self._before, padded, iterations=ITERATIONS)[0]))
        self._before = padded

    def finish(self) -> Measurement:
        if not self._motions:
            small = self._short < SMALLEST
            why = f"frames of less than {SMALLEST} pixels have no RAFT flow" if small else "fewer than two frames"
            return Measurement.missing(DYNAMIC_DEGREE, why)
        value = float(moves(self._motions, frames=self._frames, short_side=self._short))
        return Measurement(definition=DYNAMIC_DEGREE, value=value, count=len(self._motions))

    def series(self) -> Mapping[str, NDArray[np.float64]]:
        """The motion of each step in pixels, at the frame that it leads to."""
        found = np.full(self._latest + 1, np.nan)
        places = np.arange(1, len(self._motions) + 1) * self._interval
        found[places] = self._motions
        return {"dynamic_degree": found}


def _padded(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Edges repeated to multiples of 8, as much on either side; VBench takes its motion from all of it."""
    down, across = (-side % _CELL for side in picture.shape[:2])
    sides = (down // 2, down - down // 2), (across // 2, across - across // 2), (0, 0)
    return np.ascontiguousarray(np.pad(picture, sides, mode="edge"))


DYNAMIC_DEGREE_METRIC = ClipMetric(
    definition=DYNAMIC_DEGREE,
    start=DynamicCollector,
    on_request=True,
    require=require_raft,
    label="dynamic",
    room="page",
    lane=lane("Step motion", "dynamic_degree", "pixels", (0.0, 12.0)),
)
