"""The pictures of a frame sequence, read in order, and what tells one clip of a set from another."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from rushes.core.errors import MediaError
from rushes.media.find.sets import Clip

Pixels: TypeAlias = NDArray[np.uint8]


def local_files(clip: Clip) -> tuple[Path, ...]:
    """The clip's files on this machine."""
    return tuple(place for place in clip.files if isinstance(place, Path))


def clip_digest(clip: Clip) -> str:
    """sha256 of the file's bytes; of the pictures' digests in order for a sequence."""
    digests = []
    for path in local_files(clip):
        try:
            with open(path, "rb") as file:
                digests.append(hashlib.file_digest(file, "sha256").hexdigest())
        except OSError as error:
            raise MediaError(f"{path}: cannot be read ({error.strerror or error})") from None
    if not clip.is_sequence:
        return digests[0]
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()


def gaps_of(clip: Clip) -> tuple[int, ...]:
    """Pictures of a sequence before which a number is missing, by their place; none where no number counts upwards.

    The number is the first one in the names that differs: 12 in `take3_0012_512x512.png`.
    """
    names = [[int(number) for number in re.findall(r"\d+", place.stem)] for place in clip.files]
    if not clip.is_sequence or len({len(numbers) for numbers in names}) != 1:
        return ()
    counting = next((column for column in zip(*names, strict=True) if len(set(column)) == len(column) > 1), ())
    return tuple(place for place, (one, other) in enumerate(pairwise(counting), 1) if other != one + 1)


def picture_frames(clip: Clip, wanted: Callable[[int], bool] = lambda index: True) -> Iterator[Pixels | None]:
    """The pictures of a sequence as RGB, in order; None for one that is not wanted. They must have one size."""
    size: tuple[int, ...] | None = None
    for index, path in enumerate(local_files(clip)):
        if not wanted(index):
            yield None
            continue
        frame = read_picture(path)
        if size is not None and frame.shape != size:
            raise MediaError(
                f"{clip.name}: the size changes from {size[1]}×{size[0]} to {frame.shape[1]}×{frame.shape[0]} "
                f"at {path.name}; give all frames one size"
            )
        size = frame.shape
        yield frame


def picture_kind(path: Path) -> tuple[bool, bool]:
    """Whether a picture is grey by its format, and whether it has an alpha channel; neither where it cannot be read."""
    from PIL import Image

    try:
        with Image.open(path) as image:
            return image.mode in ("1", "L", "LA", "I", "I;16", "F"), image.has_transparency_data
    except (OSError, SyntaxError, ValueError):
        return False, False


def read_picture(path: Path) -> Pixels:
    """A picture as RGB (H, W, 3), 8 bits; alpha is dropped. `MediaError` where it cannot be read."""
    from PIL import Image

    try:
        with Image.open(path) as image:
            if image.mode.startswith("I"):  # 16-bit grey: PIL's own conversion would clip it
                return np.repeat((np.asarray(image).astype(np.uint32) >> 8).astype(np.uint8)[..., None], 3, axis=2)
            return np.array(image.convert("RGB"))
    except (OSError, SyntaxError, ValueError) as error:
        raise MediaError(f"{path}: cannot be read as a picture ({error})") from None
