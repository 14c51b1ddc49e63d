"""Windows of a video in memory, cut and prepared as those of a file are."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from rushes.distribution.preparation import prepared
from rushes.distribution.protocols import Recipe, Side
from rushes.distribution.segments import cut_frames, random_start
from rushes.media.video_arrays import VideoArray

_FRAMES_AT_ONCE = 64
"""That go to a device together."""


def video_segments(
    video: VideoArray, chosen: Recipe, side: Side, *, digest: str, preparation: Any = None
) -> Iterator[Any]:
    """Windows (T, S, S, 3) of a video, as `clip_reading.clip_segments` cuts a file.

    Arrays that were prepared on the host; tensors where `preparation` makes them, on its device.
    """
    windows, start = chosen.windows(side), 0
    if windows.cut == "random":
        start = random_start(len(video) - windows.span + 1, seed=chosen.seed, content=digest)
    frames = video.frames(start, None if windows.enough is None else start + windows.enough)
    if preparation is None:
        for window in cut_frames((prepared(frame, chosen) for frame in frames), windows):
            yield np.stack(window)
        return
    import torch

    for shown in cut_frames(_prepared_there(frames, preparation), windows):
        yield torch.stack(shown)


def _prepared_there(frames: Iterator[np.ndarray], preparation: Any) -> Iterator[Any]:
    import torch

    while some := list(islice(frames, _FRAMES_AT_ONCE)):
        yield from preparation(torch.from_numpy(np.stack(some)).to(preparation.device))
