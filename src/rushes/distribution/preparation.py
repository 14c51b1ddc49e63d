"""From a decoded frame to what the network takes, on the host: resized and normalised as the protocol names it."""

from __future__ import annotations

import re
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from rushes.distribution.pictures import Pixels
from rushes.distribution.protocols import Recipe
from rushes.distribution.resize import resize_frames
from rushes.errors import InputError

Prepared: TypeAlias = NDArray[np.float32]

_TRIPLE = r"[\d.]+,[\d.]+,[\d.]+"
_MEAN_OFF = re.compile(rf"x-\[(?P<mean>{_TRIPLE})\]")
_STANDARD = re.compile(rf"\(x/255-\[(?P<mean>{_TRIPLE})\]\)/\[(?P<spread>{_TRIPLE})\]")


def prepared(frame: Pixels, recipe: Recipe) -> Prepared:
    """A frame (H, W, 3) of 0–255 as the recipe's network takes it: (S, S, 3), float32."""
    return normalised(resize_frames(frame[None], recipe.size, recipe.resize)[0], recipe.normalise)


def normalised(frames: Prepared, how: str) -> Prepared:
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


def _channels(text: str) -> Prepared:
    return np.array([float(value) for value in text.split(",")], np.float32)
