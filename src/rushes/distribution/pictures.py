"""One clip to its RGB frames, upright, in order: a video file, or the pictures of a sequence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from rushes.distribution.sets import Clip
from rushes.errors import MediaError

Pixels: TypeAlias = NDArray[np.uint8]


def local_files(clip: Clip) -> tuple[Path, ...]:
    """The clip's files on this machine."""
    return tuple(place for place in clip.files if isinstance(place, Path))


def count_frames(clip: Clip) -> int:
    """How many frames a clip has, by decoding it."""
    return sum(1 for _ in rgb_frames(clip, wanted=lambda index: False))


def rgb_frames(clip: Clip, *, wanted: Callable[[int], bool] = lambda index: True) -> Iterator[Pixels | None]:
    """RGB frames (H, W, 3) in order; None for one that is not wanted. A frame that does not decode fails the clip."""
    if clip.is_sequence:
        yield from _from_images(clip, wanted)
        return
    from rushes.media import ClipReader

    with ClipReader(local_files(clip)[0]) as reader:
        for index, frame in enumerate(reader):
            yield frame.rgb() if wanted(index) else None
        broken = reader.decode_failures + reader.corrupt_frames
        if broken:
            raise MediaError(f"{clip.name}: {broken} frames are damaged or could not be decoded; re-export it")


def _from_images(clip: Clip, wanted: Callable[[int], bool]) -> Iterator[Pixels | None]:
    size: tuple[int, ...] | None = None
    for index, path in enumerate(local_files(clip)):
        if not wanted(index):
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


def _picture(path: Path) -> Pixels:
    from PIL import Image

    try:
        with Image.open(path) as image:
            if image.mode.startswith("I"):  # 16-bit grey: PIL's own conversion would clip it
                return np.repeat((np.asarray(image).astype(np.uint32) >> 8).astype(np.uint8)[..., None], 3, axis=2)
            return np.array(image.convert("RGB"))
    except (OSError, SyntaxError, ValueError) as error:
        raise MediaError(f"{path}: cannot be read as a picture ({error})") from None
