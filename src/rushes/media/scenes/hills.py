"""A flight over hills: a height field seen from above, far hills in haze."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rushes.media.scenes.canvas import Canvas, Colours, Plane, between, mix

_LOOKS = (
    ("green", "summer", (0.20, 0.42, 0.16), (0.55, 0.58, 0.30), (0.36, 0.60, 0.90)),
    ("golden", "autumn", (0.46, 0.30, 0.12), (0.80, 0.58, 0.24), (0.62, 0.72, 0.84)),
    ("snowy", "winter", (0.52, 0.58, 0.66), (0.97, 0.98, 1.0), (0.55, 0.70, 0.88)),
    ("red desert", "the evening", (0.50, 0.22, 0.13), (0.88, 0.52, 0.30), (0.80, 0.62, 0.62)),
)
_SPEED, _HORIZON, _FOCAL, _ABOVE = 1.1, 0.36, 0.9, 0.85
_FARTHEST, _SLICES = 14.0, 110
# Across, away, height and phase of the swells of the land.
_LAND = (
    (0.9, 0.7, 0.34, 0.0),
    (-1.7, 1.3, 0.20, 1.3),
    (2.9, -2.2, 0.10, 4.1),
    (5.3, 4.1, 0.055, 2.2),
    (-9.7, 8.3, 0.03, 0.6),
)


def describe(look: int) -> str:
    """The prompt."""
    colour, season, *_ = _LOOKS[look % len(_LOOKS)]
    return f"A flight over {colour} hills in {season}"


def land(x: Plane, z: Plane, look: int) -> Plane:
    """Height of the ground."""
    return sum(
        (high * np.sin(across * x + away * z + phase + 1.7 * look) for across, away, high, phase in _LAND),
        start=np.zeros(np.broadcast_shapes(x.shape, z.shape), np.float32),
    )


def draw(on: Canvas, seconds: float, look: int) -> Colours:
    """Each pixel shows the first slice of land that rises to its line of sight, or the sky."""
    _, _, low, high, sky = _LOOKS[look % len(_LOOKS)]
    depth = np.geomspace(0.7, _FARTHEST, _SLICES, dtype=np.float32)[:, np.newaxis]
    columns = on.x[:1]
    east = columns * depth / _FOCAL + 0.5 * math.sin(0.5 * seconds + look)
    north = depth + _SPEED * seconds
    height = land(east, north, look)
    row = _HORIZON + _FOCAL * (_ABOVE - height) / depth
    crest = np.minimum.accumulate(row, axis=0)
    first = (crest[:, np.newaxis, :] > on.y[np.newaxis, :, :1]).sum(axis=0)  # slices that stay below the pixel
    seen = np.minimum(first, _SLICES - 1)
    ground = _ground(east, north, height, look, low=low, high=high)
    picked = _between_slices(ground, crest, seen, on.y)
    haze = np.clip((depth[:, 0] / _FARTHEST) ** 1.3, 0, 1)[seen]
    horizon = np.asarray(sky, np.float32) * 0.35 + 0.65
    picture = mix(picked, horizon, 0.92 * haze)
    clear = between(sky, horizon, on.y / _HORIZON)
    last = np.clip((crest[-1][np.newaxis, :] - on.y) / on.pixel + 0.5, 0, 1)
    return mix(picture, clear, last)


def _ground(
    east: Plane,
    north: Plane,
    height: Plane,
    look: int,
    *,
    low: tuple[float, float, float],
    high: tuple[float, float, float],
) -> Colours:
    """Colour by height, light by slope, and fields as a finer pattern that fades with distance."""
    step = 0.02
    slope = (land(east + step, north, look) - height) / step - 0.6 * (land(east, north + step, look) - height) / step
    fields = np.sin(7 * east + np.sin(5 * north)) * np.sin(6 * north - np.sin(4 * east))
    woods = np.tanh(
        5 * (np.sin(17 * east + 3 * np.sin(3.1 * north)) * np.sin(15 * north + 2 * np.sin(2.3 * east)) - 0.45)
    )
    near = np.clip(1.3 - (north - north.min()) / 9, 0.15, 1)
    colour = between(low, high, 0.5 + 0.9 * height + 0.22 * fields * near)
    colour = mix(colour, np.asarray(low, np.float32) * 0.55, 0.35 * near * np.clip(woods + 0.5, 0, 1))
    return colour * np.clip(0.78 + 0.45 * slope, 0.35, 1.25)[..., np.newaxis]


def _between_slices(ground: Colours, crest: Plane, seen: NDArray[np.intp], y: Plane) -> Colours:
    """The colour at each pixel's place between the slice it shows and the one before: no steps from slice to slice."""
    before = np.maximum(seen - 1, 0)
    columns = np.arange(crest.shape[1])
    upper, lower = crest[seen, columns], crest[before, columns]
    share = np.clip((y - upper) / np.maximum(lower - upper, 1e-9), 0, 1)
    return mix(ground[seen, columns], ground[before, columns], share)
