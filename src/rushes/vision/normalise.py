"""Frames on the 0–255 scale as a network was trained to see them."""

from __future__ import annotations

import re
from typing import Any, TypeVar, cast

from rushes.core.errors import InputError

Array = TypeVar("Array")

_NUMBER = r"-?[\d.]+(?:e-?\d+)?"
_TRIPLE = rf"{_NUMBER},{_NUMBER},{_NUMBER}"
_MEAN_OFF = re.compile(rf"x-\[(?P<mean>{_TRIPLE})\]")
_STANDARD = re.compile(rf"\(x/255-\[(?P<mean>{_TRIPLE})\]\)/\[(?P<spread>{_TRIPLE})\]")


def normalised(frames: Array, how: str) -> Array:
    """Frames on the 0–255 scale as the network was trained to see them; the arithmetic is as `how` reads, in float32.

    Takes and gives an array of numpy or of torch. Besides the forms that protocols name, `x-[r,g,b]` takes a mean off
    each channel, and `(x/255-[r,g,b])/[r,g,b]` a mean and then a spread.

    >>> import numpy as np
    >>> normalised(np.array([0.0, 255.0], np.float32), "x/127.5-1").tolist()
    [-1.0, 1.0]
    >>> normalised(np.full(3, 127.5, np.float32), "(x/255-[0.5,0.25,0.0])/[1,0.5,0.25]").tolist()
    [0.0, 0.5, 2.0]
    """
    x: Any = frames
    if how == "2x/255-1":
        x = 2.0 * x / 255.0 - 1.0
    elif how == "(x/255-0.5)*2":
        x = (x / 255.0 - 0.5) * 2.0
    elif how == "x/127.5-1":
        x = x / 127.5 - 1.0
    elif found := _MEAN_OFF.fullmatch(how):
        x = x - _channels(found["mean"], x)
    elif found := _STANDARD.fullmatch(how):
        x = (x / 255.0 - _channels(found["mean"], x)) / _channels(found["spread"], x)
    else:
        raise InputError(f"{how!r} is not a normalisation; expected one such as x/127.5-1 or (x/255-[r,g,b])/[r,g,b]")
    return cast(Array, x)


def _channels(text: str, like: Any) -> Any:
    import numpy as np

    values = [float(value) for value in text.split(",")]
    return np.array(values, np.float32) if isinstance(like, np.ndarray) else like.new_tensor(values)
