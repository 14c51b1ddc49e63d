"""One clip to the arrays the network takes: frames read one at a time, prepared, cut by the protocol.

Nothing but the window under way is held, so memory does not grow with a video's length (a protocol that passes the
whole video through at once needs all of its prepared frames, and only those). A video in memory is cut the same way.

Published code that decodes by `ffmpeg -i clip -f rawvideo` never sees the frames a file stores: the command repeats
and drops frames until there is one for each tick of the file's nominal rate. A screen recording of 24 stored frames
can become 47. Where a protocol's numbers were made so, that is part of the protocol (`constant_rate`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

import numpy as np

from rushes.core.errors import MediaError
from rushes.instruments.distribution.clips.preparation import Prepared, prepared
from rushes.instruments.distribution.clips.segments import Windows, cut_frames, random_start
from rushes.instruments.distribution.protocols import Recipe, Side, Timing
from rushes.media.find.sequences import Pixels, clip_digest, gaps_of, local_files, picture_frames
from rushes.media.find.sets import Clip
from rushes.media.video_arrays import VideoArray
from rushes.storage.remote.transfer import local_copy

if TYPE_CHECKING:
    from rushes.media import ClipReader, Frame

Segment: TypeAlias = Prepared
Item = TypeVar("Item")

_FRAMES_AT_ONCE = 64
"""That go to a device together."""
_SLACK = 1.1
"""How far, in ticks, a frame may be from its place before frames are repeated or dropped."""
_EARLY = 0.6


@dataclass(frozen=True, slots=True)
class Task:
    """One clip to read: everything a worker process needs to know."""

    clip: Clip
    recipe: Recipe
    side: Side
    raw: bool = False
    """Whether frames are handed over as decoded; otherwise windows, prepared."""
    slots: int = 0
    """How many slots of shared memory a process has for raw frames; 0: they are in the messages."""

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


def clip_frames(task: Task, *, seen: Seen | None = None, look: Callable[[Frame], Any] | None = None) -> Iterator[Any]:
    """The frames that the clip's windows are cut from, in order; `MediaError` at the end where there are too few.

    RGB (H, W, 3); of a video, what `look` takes of a frame. `seen` is told how many they were, and what else showed.
    """
    windows, start = task.windows, 0
    if windows.cut == "random":
        total = count_frames(task.clip, timing=task.recipe.vfr)
        _need_frames(task, total)
        start = random_start(total - windows.span + 1, seed=task.recipe.seed, content=clip_digest(task.clip))
    end = None if windows.enough is None else start + windows.enough
    count = 0
    noted = Seen() if seen is None else seen
    frames = rgb_frames(task.clip, wanted=lambda index: index >= start, timing=task.recipe.vfr, seen=noted, look=look)
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
    stack: Callable[[list[Any]], Any] = np.stack
    ready: Iterator[Any] = (prepared(frame, chosen) for frame in frames)
    if preparation is not None:
        import torch

        stack, ready = torch.stack, _prepared_there(frames, preparation)
    yield from map(stack, cut_frames(ready, windows))


def _prepared_there(frames: Iterator[np.ndarray], preparation: Any) -> Iterator[Any]:
    import torch

    while some := list(islice(frames, _FRAMES_AT_ONCE)):
        yield from preparation(torch.from_numpy(np.stack(some)).to(preparation.device))


@dataclass(frozen=True, slots=True)
class Timed(Generic[Item]):
    """A frame, when it is shown and for how long, in ticks of the constant rate."""

    item: Item
    start: float
    length: float = 1.0


def constant_rate(frames: Iterable[Timed[Item]], *, late_start: bool = False) -> Iterator[Item]:
    """One item for each tick: a frame is repeated while it lasts, and left out where another took its place.

    `late_start`: a first frame that is not at 0 is not repeated backwards; so ffmpeg treats a file of one stream.

    Edge cases  frames at 0, 1, 2 …: as they are. A clip that ends on a long frame keeps it for its length.
    Reference   `-vsync cfr` of ffmpeg 4 and 5, which is what their raw video output uses.

    >>> "".join(constant_rate([Timed("a", 0, 3), Timed("b", 0.5), Timed("c", 3)]))
    'aaac'
    """
    ticks, before = 0, None
    repeats: deque[int] = deque([0, 0, 0], maxlen=3)
    for frame in frames:
        length = float(round(frame.length)) or 1.0  # a length that is not known is one tick
        early = frame.start - ticks
        reach = early + length
        if early < 0 < reach:
            early = 0.0
        if late_start and before is None and early >= 0.5:
            ticks, reach, early = round(frame.start), length, 0.0
        count, older = 1, 0
        if reach < -_SLACK:
            count = 0
        elif reach > _SLACK:
            count = round(reach)
            older = max(round(early - _EARLY), 0) if early > _SLACK else 0
        repeats.append(older)
        for number in range(count):
            yield before.item if number < older and before is not None else frame.item
        ticks += count
        before = frame
    if before is not None:
        for _ in range(sorted(repeats)[1]):
            yield before.item


def count_frames(clip: Clip, *, timing: Timing = "stored") -> int:
    """How many frames a clip has, by decoding it."""
    return sum(1 for _ in rgb_frames(clip, wanted=lambda index: False, timing=timing))


@dataclass(slots=True)
class Seen:
    """What showed while frames were read, beside the frames."""

    fps: float | None = None
    """The average frame rate that the file states; None for pictures."""
    frames: int = 0
    """Frames that windows are cut from."""
    times_ms: list[float] = field(default_factory=list)
    """When each frame is shown; of stored frames only."""


def rgb_frames(
    clip: Clip,
    *,
    wanted: Callable[[int], bool] = lambda index: True,
    timing: Timing = "stored",
    seen: Seen | None = None,
    look: Callable[[Frame], Any] | None = None,
) -> Iterator[Any]:
    """RGB frames (H, W, 3) in order; None for one that is not wanted. A frame that does not decode fails the clip.

    With the timing "constant" a video's frames are repeated and left out as ffmpeg's command line does it; pictures and
    GIFs have the frames they have. `seen` is told the rate and the times. Of a video `look` may take something else
    than RGB of each frame, before the next is decoded.
    """
    if clip.is_sequence:
        yield from picture_frames(clip, wanted)
        return
    from rushes.media import ClipReader, Frame

    with ClipReader(local_files(clip)[0]) as reader:
        frames = iter(reader) if timing == "stored" else _at_constant_rate(reader)
        taken = _gif_rgb if reader.path.suffix.lower() == ".gif" else look or Frame.rgb
        noted = Seen() if seen is None else seen
        video = reader.facts.video
        noted.fps = float(video.fps) if video is not None and video.fps else None
        for index, frame in enumerate(frames):
            if timing == "stored":
                noted.times_ms.append(frame.time_ms)
            yield taken(frame) if wanted(index) else None
        broken = reader.decode_failures + reader.corrupt_frames
        if broken:
            raise MediaError(f"{clip.name}: {broken} frames are damaged or could not be decoded; re-export it")


def _gif_rgb(frame: Frame) -> Pixels:
    """A GIF's frame with black where it is transparent, as PIL gives it to published code; libav has white there."""
    with_alpha = frame.video.to_ndarray(format="rgba")
    return np.ascontiguousarray(np.where(with_alpha[..., 3:] > 0, with_alpha[..., :3], np.uint8(0)))


def _at_constant_rate(reader: ClipReader) -> Iterator[Frame]:
    """The reader's frames, one for each tick of the rate that the file's clock was made for."""
    from rushes.media.opening import need_video, open_media
    from rushes.media.pyav import ratio

    with open_media(reader.path) as container:
        stream = need_video(container, reader.path)
        rate, alone, is_gif = ratio(stream.guessed_rate), len(container.streams) == 1, container.format.name == "gif"
        # Of frames that are stored in another order than shown ffmpeg 4 and 5 know no length: one tick each.
        has_lengths = not stream.codec_context.has_b_frames
    if not rate or is_gif:
        return iter(reader)

    def timed() -> Iterator[Timed[Frame]]:
        for frame in reader:
            video = frame.video
            length = float(video.duration * (ratio(video.time_base) or 0) * rate) if has_lengths else 1.0
            yield Timed(frame, frame.time_ms / 1000 * float(rate), length)

    return constant_rate(timed(), late_start=alone)
