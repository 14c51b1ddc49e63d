"""Waves of the sea under a sun that moves; clouds drift."""

from __future__ import annotations

import math

import numpy as np

from rushes.media.scenes.canvas import Canvas, Colours, Plane, between, disc, edge, mix, unit

_LOOKS = (
    ("setting sun", (0.22, 0.23, 0.45), (0.98, 0.62, 0.36), (1.0, 0.86, 0.55), (0.07, 0.16, 0.27), 0.24),
    ("midday sun", (0.20, 0.47, 0.83), (0.72, 0.87, 0.96), (1.0, 0.98, 0.88), (0.04, 0.27, 0.40), 0.12),
    ("full moon", (0.02, 0.04, 0.12), (0.16, 0.23, 0.38), (0.93, 0.95, 1.0), (0.02, 0.06, 0.13), 0.17),
    ("pale morning sun", (0.52, 0.60, 0.74), (0.96, 0.83, 0.78), (1.0, 0.95, 0.86), (0.18, 0.31, 0.38), 0.27),
)
_HORIZON = 0.42
# Direction across and away, length, speed and height of each wave.
_WAVES = (
    (0.30, 1.0, 1.9, 1.5, 1.0),
    (-0.55, 0.9, 3.7, 2.1, 0.7),
    (0.8, 0.7, 7.9, 2.9, 0.42),
    (-0.2, 1.0, 15.0, 3.9, 0.26),
)


def describe(look: int) -> str:
    """The prompt."""
    return f"Waves of the open sea under a {_LOOKS[look % len(_LOOKS)][0]}"


def draw(on: Canvas, seconds: float, look: int) -> Colours:
    """Sky, light and water."""
    _, zenith, low, lamp, deep, height = _LOOKS[look % len(_LOOKS)]
    sun = (0.22 * math.cos(look) + 0.05 * seconds - 0.1, height + 0.012 * seconds)
    sky = between(zenith, low, (on.y / _HORIZON) ** 1.4)
    sky = mix(sky, low, 0.55 * _clouds(on, seconds, look))
    glow = np.exp(-np.square(np.hypot(on.x - sun[0], on.y - sun[1]) / 0.20))
    sky = mix(sky, lamp, 0.55 * glow)
    sky = mix(sky, lamp, edge(disc(on, sun, 0.062), on.pixel))
    return mix(sky, _sea(on, seconds, sun[0], low=low, lamp=lamp, deep=deep), edge(_HORIZON - on.y, on.pixel))


def _clouds(on: Canvas, seconds: float, look: int) -> Plane:
    x, y = on.x - 0.035 * seconds + look, on.y
    bank = np.sin(5 * x + 3 * np.sin(9 * y)) + np.sin(11 * x - 17 * y + look) + 0.6 * np.sin(23 * x + 31 * y)
    return unit(0.35 * bank - 0.1) * unit(on.y / _HORIZON) * unit(4 * (_HORIZON - on.y))


def _sea(
    on: Canvas,
    seconds: float,
    sun: float,
    *,
    low: tuple[float, float, float],
    lamp: tuple[float, float, float],
    deep: tuple[float, float, float],
) -> Colours:
    """Slopes of the waves: towards us they show the deep, away from us the sky, and below the sun they glitter."""
    depth = 0.32 / np.maximum(on.y - _HORIZON, on.pixel)
    across = on.x * depth
    slope = np.zeros_like(depth)
    for aside, away, length, speed, height in _WAVES:
        # A wave finer than two pixels is left out, softly: it would only shimmer.
        seen = np.clip(0.35 / (length * depth**2 * on.pixel * 3), 0, 1)
        slope += seen * height * np.cos(length * (aside * across + away * depth) * 2 + speed * seconds)
    share = np.clip(0.40 + 0.26 * slope, 0, 1)
    haze = np.clip((depth - 1.5) / 14, 0, 0.75)
    water = between(deep, low, np.maximum(share * 0.62, haze))
    crest = np.clip(slope - 1.25, 0, 1) * np.clip(1.6 - depth / 3, 0, 1)
    water = mix(water, (0.94, 0.96, 0.97), np.clip(1.3 * crest, 0, 0.85))
    path = np.exp(-np.square((on.x - sun) / (0.05 + 0.32 * (on.y - _HORIZON).clip(0))))
    return mix(water, lamp, np.clip(path * (0.25 + 0.75 * np.clip(slope, 0, 1.2)), 0, 0.95))
