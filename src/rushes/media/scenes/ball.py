"""A ball that rolls over a chequered floor, with its shadow; the camera goes along a little."""

from __future__ import annotations

import math

import numpy as np

from rushes.media.scenes.canvas import Canvas, Colours, Plane, between, disc, edge, mix, unit

_LOOKS = (
    ("red", (0.86, 0.16, 0.13), "black and white", (0.16, 0.16, 0.18)),
    ("blue", (0.13, 0.35, 0.86), "green and white", (0.16, 0.42, 0.28)),
    ("yellow", (0.95, 0.76, 0.12), "blue and white", (0.17, 0.27, 0.52)),
    ("green", (0.16, 0.62, 0.26), "brown and white", (0.42, 0.27, 0.18)),
)
_HORIZON, _CAMERA = 0.34, 0.5
_RADIUS, _DEPTH = 0.30, 1.25
_SPEED, _PERIOD = 0.9, 6.0
_LIGHT = (-0.496, -0.744, 0.447)
"""Where the light comes from, of length 1."""


def describe(look: int) -> str:
    """The prompt."""
    colour, _, floor, _ = _LOOKS[look % len(_LOOKS)]
    return f"A {colour} ball rolls across a {floor} chequered floor"


def draw(on: Canvas, seconds: float, look: int) -> Colours:
    """The ball swings from side to side as on a hollow floor, and turns with the way it has rolled."""
    _, colour, _, dark = _LOOKS[look % len(_LOOKS)]
    phase = 2 * math.pi * (seconds / _PERIOD + look / 5)
    way = _SPEED * math.sin(phase)
    pan = 0.35 * math.sin(phase - 0.6)
    picture = _room(on, pan, dark)
    centre = ((way - pan) / _DEPTH, _HORIZON + (_CAMERA - _RADIUS) / _DEPTH)
    foot = _HORIZON + _CAMERA / _DEPTH
    radius = _RADIUS / _DEPTH
    shadow = np.hypot((on.x - centre[0] - 0.09) / (1.15 * radius), (on.y - foot) / (0.30 * radius))
    picture *= 1 - 0.62 * np.clip(1.35 - shadow, 0, 1)[..., np.newaxis]
    return mix(
        picture, _ball(on, centre, radius, turn=way / _RADIUS, colour=colour), edge(disc(on, centre, radius), on.pixel)
    )


def _room(on: Canvas, pan: float, dark: tuple[float, float, float]) -> Colours:
    """Wall and floor in perspective; far squares melt into grey before they are finer than a pixel."""
    wall = between((0.55, 0.62, 0.72), (0.83, 0.85, 0.86), on.y / _HORIZON)
    stripes = 0.5 + 0.5 * np.tanh(6 * np.sin(2 * np.pi * 3.1 * (on.x + 0.4 * pan)))
    wall = wall * (1 - 0.10 * stripes[..., np.newaxis])
    depth = _CAMERA / np.maximum(on.y - _HORIZON, on.pixel / 4)
    across, away = (on.x * depth + pan) * 2.2, depth * 2.2
    crisp = np.clip(0.30 / (depth**2 * on.pixel), 0.2, 12)
    squares = 0.5 + 0.5 * np.tanh(crisp * np.sin(np.pi * across) * np.sin(np.pi * away))
    floor = between(dark, (0.93, 0.92, 0.88), squares)
    floor = mix(floor, (0.66, 0.68, 0.71), np.clip((depth - 2.5) / 9, 0, 1))
    return mix(wall, floor, edge(_HORIZON - on.y, on.pixel))


def _ball(
    on: Canvas, centre: tuple[float, float], radius: float, *, turn: float, colour: tuple[float, float, float]
) -> Colours:
    """A beach ball lit from the upper left, its stripes turned by the way it has rolled."""
    x, y = (on.x - centre[0]) / radius, (on.y - centre[1]) / radius
    z = np.sqrt(np.clip(1 - x * x - y * y, 0, 1))
    angle = np.arctan2(y, x) - turn
    stripe: Plane = 0.5 + 0.5 * np.tanh(7 * np.sin(3 * angle) * np.clip(np.hypot(x, y) * 2, 0, 1))
    paint = between(colour, (0.96, 0.95, 0.92), stripe)
    paint = mix(paint, colour, np.clip((0.24 - np.hypot(x, y)) * 20, 0, 1))
    light = unit(x * _LIGHT[0] + y * _LIGHT[1] + z * _LIGHT[2])
    lit: Colours = paint * (0.30 + 0.78 * light)[..., np.newaxis] + 0.55 * (light**28)[..., np.newaxis]
    return lit
