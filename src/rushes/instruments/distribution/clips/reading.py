"""One clip to the arrays the network takes: frames read one at a time, prepared, cut by the protocol.

Nothing but the window under way is held, so memory does not grow with a video's length (a protocol that passes the
whole video through at once needs all of its prepared frames, and only those). A video in memory is cut the same way.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, TypeAlias

import numpy as np

from rushes.core.errors import MediaError
from rushes.instruments.distribution.clips.pictures import Seen, count_frames, rgb_frames
from rushes.instruments.distribution.clips.preparation import Prepared, prepared
from rushes.instruments.distribution.clips.segments import Windows, cut_frames, random_start
from rushes.instruments.distribution.protocols import Recipe, Side
from rushes.media.find.sequences import Pixels, clip_digest, gaps_of
from rushes.media.find.sets import Clip
from rushes.media.video_arrays import VideoArray
from rushes.storage.remote.transfer import local_copy

Segment: TypeAlias = Prepared


@dataclass(frozen=True, slots=True)
class Task:
    """One clip to read: everything a worker process needs to know."""

    clip: Clip
    recipe: Recipe
    side: Side
    raw: bool = False
    """Whether frames are handed over as decoded; otherwise windows, prepared."""
    in_slots: bool = False
    """Whether raw frames are left in shared memory; otherwise they are in the messages."""

    @property
    def windows(self) -> Windows:
        """How this clip is cut."""
        windows = self.recipe.windows(self.side, pictures=self.clip.is_sequence)
        return replace(windows, gaps=gaps_of(self.clip)) if windows.cut == "sliding" else windows


def clip_segments(task: Task, *, seen: Seen | None = None) -> Iterator[Segment]:
    """Windows (T, S, S, 3) of one clip, float32, normalised; `MediaError` when it cannot be read or is too short."""
    frames = (prepared(frame, task.recipe) for frame in clip_frames(task, seen=seen))
    for window in cut_frames(frames, task.windows):
        yield np.stack(window)


def clip_frames(task: Task, *, seen: Seen | None = None) -> Iterator[Pixels]:
    """The frames that the clip's windows are cut from, in order; `MediaError` at the end where there are too few.

    `seen` is told how many they were, and what else showed.
    """
    windows, start = task.windows, 0
    if windows.cut == "random":
        total = count_frames(task.clip, timing=task.recipe.vfr)
        _need_frames(task, total)
        start = random_start(total - windows.span + 1, seed=task.recipe.seed, content=clip_digest(task.clip))
    end = None if windows.enough is None else start + windows.enough
    count = 0
    noted = Seen() if seen is None else seen
    frames = rgb_frames(task.clip, wanted=lambda index: index >= start, timing=task.recipe.vfr, seen=noted)
    for frame in islice(frames, start, end):
        assert frame is not None
        count += 1
        noted.frames = count
        yield frame
    _need_frames(task, start + count)


def least_frames(recipe: Recipe, windows: Windows) -> int:
    """Frames a clip must have: a window that is not padded must be whole, and the network's pool must have enough."""
    if windows.cut == "whole":
        return recipe.network_frames
    if windows.cut == "segments-repeat-last":
        return 1
    return windows.span if windows.cut == "sliding" else windows.length * windows.step


def _need_frames(task: Task, total: int) -> None:
    least = least_frames(task.recipe, task.windows)
    if total < least:
        frames = "frame" if total == 1 else "frames"
        raise MediaError(f"{task.clip.name}: {total} {frames}; protocol {task.recipe.protocol} needs {least}")


def crash_line(clip: Clip) -> str:
    """Why a clip was left out whose reading took its process down."""
    return f"{clip.name}: the decoder crashed on it; re-export it"


@contextmanager
def at_hand(task: Task) -> Iterator[Task]:
    """The task on a clip whose files are on this machine, as copies that go away afterwards where they are objects."""
    with ExitStack() as stack:
        files = tuple(stack.enter_context(local_copy(place)).path for place in task.clip.files)
        yield replace(task, clip=replace(task.clip, files=files))


_FRAMES_AT_ONCE = 64
"""That go to a device together."""


def video_segments(
    video: VideoArray, chosen: Recipe, side: Side, *, digest: str, preparation: Any = None
) -> Iterator[Any]:
    """Windows (T, S, S, 3) of a video, as `clip_segments` cuts a file.

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
