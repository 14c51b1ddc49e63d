"""One clip to the arrays the network takes: frames read one at a time, resized, normalised, cut by the protocol.

Nothing but the segment under way is held, so memory does not grow with a video's length (a protocol that passes the
whole video through at once needs all of its resized frames, and only those).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rushes.distribution.protocols import Recipe, Side, least_frames
from rushes.distribution.resize import resize_frames
from rushes.distribution.segments import fill_segments, last_needed, needs_total, segment_indices
from rushes.distribution.sets import Clip
from rushes.errors import InputError, MediaError
from rushes.remote.transfer import local_copy

Frame: TypeAlias = NDArray[np.uint8]
Segment: TypeAlias = NDArray[np.float32]

_TRIPLE = r"[\d.]+,[\d.]+,[\d.]+"
_MEAN_OFF = re.compile(rf"x-\[(?P<mean>{_TRIPLE})\]")
_STANDARD = re.compile(rf"\(x/255-\[(?P<mean>{_TRIPLE})\]\)/\[(?P<spread>{_TRIPLE})\]")


@dataclass(frozen=True, slots=True)
class Task:
    """One clip to read: everything a worker process needs to know."""

    clip: Clip
    recipe: Recipe
    side: Side


def clip_segments(task: Task) -> Iterator[Segment]:
    """Segments (T, S, S, 3) of one clip, float32, normalised; `MediaError` when it cannot be read or is too short."""
    clip, recipe = task.clip, task.recipe
    cut = recipe.cut(task.side)
    wanted, most = None, last_needed(cut, recipe.frames)
    if needs_total(cut):
        total = sum(1 for _ in _pictures(clip, convert=False))
        _need_frames(task, total)
        wanted = set(segment_indices(total, recipe.frames, cut, seed=recipe.seed, name=clip.name)[0])
        most = max(wanted) + 1
    kept = _prepared(task, wanted, most)
    if cut == "segments-repeat-last":
        count = 0
        for segment in fill_segments(iter(kept), recipe.frames):
            count += 1
            yield np.stack([np.asarray(frame, np.float32) for frame in segment])
        _need_frames(task, count)
        return
    frames = list(kept)
    _need_frames(task, len(frames))
    yield np.stack(frames)


def _need_frames(task: Task, total: int) -> None:
    least = least_frames(task.recipe, task.side)
    if total < least:
        frames = "frame" if total == 1 else "frames"
        raise MediaError(f"{task.clip.name}: {total} {frames}; protocol {task.recipe.protocol} needs {least}")


def _prepared(task: Task, wanted: set[int] | None, most: int | None) -> Iterator[Segment]:
    """Resized, normalised frames, those in `wanted` (all when None), the first `most` at most."""
    recipe = task.recipe
    for index, frame in enumerate(_pictures(task.clip, convert=True, wanted=wanted)):
        if most is not None and index >= most:
            return
        if frame is not None:
            yield normalised(resize_frames(frame[None], recipe.size, recipe.resize)[0], recipe.normalise)


def normalised(frames: Segment, how: str) -> Segment:
    """Frames on the 0–255 scale as the network was trained to see them; the arithmetic is as `how` reads, in float32.

    Besides the forms that protocols name, `x-[r,g,b]` takes a mean off each channel, and `(x/255-[r,g,b])/[r,g,b]` a
    mean and then a spread.

    >>> normalised(np.array([0.0, 255.0], np.float32), "x/127.5-1").tolist()
    [-1.0, 1.0]
    >>> normalised(np.full(3, 127.5, np.float32), "(x/255-[0.5,0.25,0.0])/[1,0.5,0.25]").tolist()
    [0.0, 0.5, 2.0]
    """
    one, two = np.float32(1), np.float32(2)
    if how == "2x/255-1":
        return two * frames / np.float32(255) - one
    if how == "(x/255-0.5)*2":
        return (frames / np.float32(255) - np.float32(0.5)) * two
    if how == "x/127.5-1":
        return frames / np.float32(127.5) - one
    if found := _MEAN_OFF.fullmatch(how):
        return frames - _channels(found["mean"])
    if found := _STANDARD.fullmatch(how):
        return (frames / np.float32(255) - _channels(found["mean"])) / _channels(found["spread"])
    raise InputError(f"{how!r} is no normalisation; expected one such as x/127.5-1 or (x/255-[r,g,b])/[r,g,b]")


def _channels(text: str) -> Segment:
    return np.array([float(value) for value in text.split(",")], np.float32)


def _pictures(clip: Clip, *, convert: bool, wanted: set[int] | None = None) -> Iterator[Frame | None]:
    """RGB frames in order; None for one that is not converted. A frame that does not decode fails the clip."""
    if clip.is_sequence:
        yield from _from_images(clip, convert, wanted)
        return
    from rushes.media import ClipReader

    with ClipReader(_local_files(clip)[0]) as reader:
        for index, frame in enumerate(reader):
            yield frame.rgb() if convert and (wanted is None or index in wanted) else None
        broken = reader.decode_failures + reader.corrupt_frames
        if broken:
            raise MediaError(f"{clip.name}: {broken} frames are damaged or could not be decoded; re-export it")


def _from_images(clip: Clip, convert: bool, wanted: set[int] | None) -> Iterator[Frame | None]:
    size: tuple[int, ...] | None = None
    for index, path in enumerate(_local_files(clip)):
        if not convert or (wanted is not None and index not in wanted):
            yield None
            continue
        frame = _picture(path)
        if size is not None and frame.shape != size:
            raise MediaError(
                f"{clip.name}: the size changes from {size[1]}×{size[0]} to {frame.shape[1]}×{frame.shape[0]} "
                f"at {path.name}; a sequence has one size"
            )
        size = frame.shape
        yield frame


def _picture(path: Path) -> Frame:
    from PIL import Image

    try:
        with Image.open(path) as image:
            if image.mode.startswith("I"):  # 16-bit grey: PIL's own conversion would clip it
                return np.repeat((np.asarray(image).astype(np.uint32) >> 8).astype(np.uint8)[..., None], 3, axis=2)
            return np.array(image.convert("RGB"))
    except (OSError, SyntaxError, ValueError) as error:
        raise MediaError(f"{path}: cannot be read as a picture ({error})") from None


def crash_line(clip: Clip) -> str:
    """Why a clip was left out whose reading took its process down."""
    return f"{clip.name}: the decoder crashed on it; re-export it"


@contextmanager
def at_hand(task: Task) -> Iterator[Task]:
    """The task on a clip whose files are on this machine, as copies that go away afterwards where they are objects."""
    with ExitStack() as stack:
        files = tuple(stack.enter_context(local_copy(place)).path for place in task.clip.files)
        yield replace(task, clip=replace(task.clip, files=files))


def _local_files(clip: Clip) -> tuple[Path, ...]:
    return tuple(place for place in clip.files if isinstance(place, Path))


def clip_digest(clip: Clip) -> str:
    """sha256 of the file's bytes; of the pictures' digests in order for a sequence."""
    digests = []
    for path in _local_files(clip):
        try:
            with open(path, "rb") as file:
                digests.append(hashlib.file_digest(file, "sha256").hexdigest())
        except OSError as error:
            raise MediaError(f"{path}: cannot be read ({error.strerror or error})") from None
    if not clip.is_sequence:
        return digests[0]
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()


Kind: TypeAlias = Literal["segment", "done", "failed", "lost"]
