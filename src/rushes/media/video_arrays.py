"""Videos in memory to RGB frames: the order of the axes and the range of the values are declared, never guessed."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rushes.core.errors import InputError

ValueRange: TypeAlias = Literal["0-255", "0-1", "-1-1"]

_TO_LEVELS: dict[str, tuple[float, float]] = {"0-255": (0.0, 1.0), "0-1": (0.0, 255.0), "-1-1": (1.0, 127.5)}
"""(x + shift) · scale is the value on the 0–255 scale."""
_DECLARE = "declare value_range='0-1', '-1-1' or '0-255'"


@dataclass(frozen=True, slots=True, kw_only=True)
class VideoArray:
    """One video in memory, on the 0–255 scale."""

    values: NDArray[Any]
    """(T, H, W, 3): uint8, or float32 where nothing was rounded."""
    name: str | None = None

    def __len__(self) -> int:
        return len(self.values)

    def frames(self, start: int = 0, end: int | None = None) -> Iterator[NDArray[Any]]:
        """Frames (H, W, 3) from one number to another."""
        return (np.ascontiguousarray(frame) for frame in self.values[start:end])

    def digest(self) -> str:
        """sha256 over the size and every frame: equal pictures have equal digests, however they were given."""
        state = hashlib.sha256("x".join(map(str, (*self.values.shape, self.values.dtype.str))).encode())
        for frame in self.frames():
            state.update(frame.data)
        return state.hexdigest()


def levels(frames: NDArray[Any], value_range: ValueRange, *, quantise: bool = True) -> NDArray[Any]:
    """Frames of a range on the 0–255 scale, as uint8, or as float32 between the levels.

    Formula     uint8 as it is; round(x), round(255·x), round(127.5·(x + 1)), halves to the even level; in float32, or
                in double where the frames are

    >>> levels(np.array([-1.0, 0.0, 1.0]), "-1-1").tolist(), levels(np.array([0.5, 1.5]), "0-255").tolist()
    ([0, 128, 255], [0, 2])
    """
    if frames.dtype == np.uint8:
        return frames
    shift, scale = _TO_LEVELS[value_range]
    wide = np.float32 if frames.dtype in (np.float16, np.float32) else np.float64
    found = np.empty(frames.shape, np.uint8 if quantise else np.float32)
    for number, frame in enumerate(frames):  # a frame at a time: a video of floats is large enough once
        scaled = np.clip((frame.astype(wide) + wide(shift)) * wide(scale), 0.0, 255.0)
        found[number] = np.rint(scaled) if quantise else scaled
    return found


def video_arrays(
    given: Any,
    *,
    layout: str,
    value_range: ValueRange | None = None,
    names: Sequence[str] | None = None,
    quantise: bool = True,
) -> list[VideoArray]:
    """The videos of an array or tensor, or of a sequence of them, each of its own size and length.

    `layout` names the axes: the letters T, H, W and C in their order, and B where there is one of videos. Raises
    `InputError` for what does not fit it, for floats whose range is not declared, and for values outside of it.
    """
    axes = _axes(layout)
    arrays = [*_split(given, axes)]
    if not arrays:
        raise InputError("expected at least one video; got none")
    if isinstance(names, str):
        raise InputError(f"expected a sequence of names, one for each video; got the text {names!r}")
    if names is not None and len(names) != len(arrays):
        raise InputError(f"expected a name for each of {len(arrays)} videos; got {len(names)}")
    labels = list(names) if names is not None else [f"video {number}" for number in range(len(arrays))]
    order = tuple(axes.replace("B", "").index(axis) for axis in "THWC")
    return [
        VideoArray(
            values=levels(
                _checked(array.transpose(order), label, layout),
                _range(array, value_range, label),
                quantise=quantise,
            ),
            name=None if names is None else label,
        )
        for array, label in zip(arrays, labels, strict=True)
    ]


def _axes(layout: str) -> str:
    if not isinstance(layout, str) or sorted(layout) not in (sorted("THWC"), sorted("BTHWC")):
        raise InputError(
            "layout names the axes in order, T H W C and B where there is one of videos, such as 'BTCHW' or 'THWC'; "
            f"got {layout!r}"
        )
    return layout


def _split(given: Any, axes: str) -> Iterator[NDArray[Any]]:
    """Arrays of four axes, one a video."""
    if isinstance(given, list | tuple) or (isinstance(given, Iterable) and not hasattr(given, "shape")):
        if "B" in axes:
            raise InputError(
                f"in a sequence each item is one video of four axes; got layout {axes!r}: leave out its B, "
                "or give one array"
            )
        yield from (_array(video, axes) for video in given)
        return
    array = _array(given, axes)
    if "B" in axes:
        yield from np.moveaxis(array, axes.index("B"), 0)
    else:
        yield array


def plain_array(given: Any) -> NDArray[Any]:
    """A numpy array of an array, or of a tensor on any device."""
    if hasattr(given, "detach"):
        given = given.detach().cpu()
        if str(given.dtype) == "torch.bfloat16":  # numpy has no such type; float32 holds every one of its values
            given = given.float()
        given = given.numpy()
    return np.asarray(given)


def _array(given: Any, axes: str) -> NDArray[Any]:
    array = plain_array(given)
    if array.dtype.kind not in "fiu":
        raise InputError(f"expected a video of whole numbers or floats; got {array.dtype}")
    if array.ndim != len(axes):
        raise InputError(f"layout {axes!r} has {len(axes)} axes; got an array of {array.ndim}, shape {array.shape}")
    return array


def _checked(video: NDArray[Any], label: str, layout: str) -> NDArray[Any]:
    if 0 in video.shape:
        raise InputError(f"{label}: expected frames; got an empty array, (T, H, W, C) = {video.shape}")
    if video.shape[3] != 3:
        raise InputError(
            f"{label}: expected 3 channels, red, green, blue; layout {layout!r} finds {video.shape[3]} in "
            f"(T, H, W, C) = {video.shape}"
        )
    return video


def _range(array: NDArray[Any], declared: str | None, label: str) -> ValueRange:
    """The declared range, once every value was seen to lie in it; what rounds to its last level is in it."""
    if array.dtype == np.uint8:
        if declared not in (None, "0-255"):
            raise InputError(f"{label}: uint8 is 0-255; got value_range={declared!r}")
        return "0-255"
    if declared is None:
        raise InputError(f"{label}: values are {array.dtype}; {_DECLARE}")
    if declared not in _TO_LEVELS:
        raise InputError(f"expected value_range '0-1', '-1-1' or '0-255'; got {declared!r}")
    if 0 in array.shape:
        return declared  # type: ignore[return-value]  # refused for its shape
    low, high = float(array.min()), float(array.max())
    shift, scale = _TO_LEVELS[declared]
    if not (math.isfinite(low) and math.isfinite(high)):
        raise InputError(f"{label}: holds NaN or infinite values")
    if (low + shift) * scale < -0.5 or (high + shift) * scale > 255.5:
        raise InputError(
            f"{label}: values from {low:g} to {high:g} in a range declared {declared}; clamp them, or {_DECLARE}"
        )
    return declared  # type: ignore[return-value]
