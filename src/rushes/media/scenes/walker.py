"""Somebody walks along a brick wall; the camera goes with them."""

from __future__ import annotations

import math

import numpy as np

from rushes.media.scenes.canvas import Canvas, Colours, Plane, between, disc, edge, limb, mix, unit

_LOOKS = (
    ("red coat", (0.75, 0.14, 0.16), (0.62, 0.33, 0.25)),
    ("yellow raincoat", (0.95, 0.78, 0.16), (0.45, 0.42, 0.40)),
    ("blue jacket", (0.16, 0.30, 0.66), (0.70, 0.55, 0.40)),
    ("white shirt", (0.93, 0.93, 0.90), (0.36, 0.40, 0.46)),
)
_STRIDE = 1.15
"""Strides a second, a stride being two steps."""
_WALK = 0.62
"""Heights of the picture walked a second."""
_GROUND, _REACH = 0.90, 0.36
_TROUSERS, _SKIN, _HAIR = (0.17, 0.19, 0.27), (0.86, 0.64, 0.52), (0.20, 0.13, 0.10)

Point = tuple[float, float]


def describe(look: int) -> str:
    """The prompt."""
    return f"A person in a {_LOOKS[look % len(_LOOKS)][0]} walks along a brick wall"


def draw(on: Canvas, seconds: float, look: int) -> Colours:
    """Wall and pavement pass by; the person stays about the middle."""
    _, coat, brick = _LOOKS[look % len(_LOOKS)]
    picture = _street(on, _WALK * seconds + look, brick)
    middle = 0.10 * math.sin(0.7 * seconds + look) - 0.05
    near = np.flatnonzero(np.abs(on.x[0] - middle) < _REACH)
    part = slice(near[0], near[-1] + 1)
    phase = 2 * math.pi * _STRIDE * seconds + look
    picture[:, part] = _person(Canvas(on.x[:, part], on.y[:, part], on.pixel), picture[:, part], middle, phase, coat)
    return picture


def _person(on: Canvas, picture: Colours, middle: float, phase: float, coat: tuple[float, float, float]) -> Colours:
    """From the far arm to the near one; arms and legs swing against one another."""
    bob = 0.012 * math.cos(2 * phase)
    hip: Point = (middle, 0.56 + bob)
    neck: Point = (middle + 0.02, 0.28 + bob)
    cloth = np.asarray(coat, np.float32)
    shadow = np.hypot((on.x - middle) / 0.24, (on.y - _GROUND - 0.015) / 0.035)
    picture = picture * (1 - 0.5 * np.clip(1.4 - shadow, 0, 1)[..., np.newaxis])
    picture = _leg(on, picture, hip, phase + math.pi, 0.62)
    picture = _arm(on, picture, neck, phase, cloth * 0.62)
    picture = _leg(on, picture, hip, phase, 1.0)
    trunk = np.minimum(limb(on, neck, hip, 0.062), limb(on, (neck[0], neck[1] + 0.12), (hip[0], hip[1] + 0.05), 0.075))
    lit = np.clip(0.86 - 1.6 * (on.x - middle), 0.62, 1.12)
    picture = mix(picture, cloth * lit[..., np.newaxis], edge(trunk, on.pixel))
    picture = _head(on, picture, neck)
    return _arm(on, picture, neck, phase + math.pi, cloth * 0.92)


def _street(on: Canvas, way: float, brick: tuple[float, float, float]) -> Colours:
    """Bricks in courses, each of its own shade, windows, and a pavement of slabs."""
    x, y = on.x + way, on.y
    course = np.floor(y * 19)
    along = x * 8.5 + 0.5 * (course % 2)
    tone = np.sin(12.9898 * np.floor(along) + 78.233 * course) * 0.5
    mortar = np.minimum(_gap(along, 0.055, on.pixel * 8.5), _gap(y * 19, 0.10, on.pixel * 19))
    bricks = np.asarray(brick, np.float32) * (1 + 0.22 * tone)[..., np.newaxis]
    wall = mix(np.broadcast_to(np.array((0.66, 0.64, 0.61), np.float32), bricks.shape), bricks, mortar)
    pane = np.maximum(np.abs((x + 0.55) % 1.7 - 0.55) - 0.20, np.abs(y - 0.26) - 0.15)
    frame = mix(wall, (0.93, 0.92, 0.88), edge(pane, on.pixel))
    glass = np.maximum(pane + 0.022, 0.011 - np.abs((x + 0.55) % 1.7 - 0.55))
    sky = between((0.35, 0.48, 0.62), (0.70, 0.80, 0.88), 0.5 + 0.5 * np.sin(9 * (on.x + 0.5 * way) + 6 * y))
    wall = mix(frame, sky, edge(glass, on.pixel))
    slabs = _gap(x * 2.4 + 1.2 * (y - _GROUND), 0.03, on.pixel * 2.4)
    pavement = between((0.40, 0.40, 0.41), (0.66, 0.65, 0.63), slabs * (0.6 + 0.4 * (y - 0.84) / 0.16))
    return mix(wall, pavement, edge(0.84 - y, on.pixel))


def _gap(along: Plane, width: float, pixel: float) -> Plane:
    """0 in the joint at every whole number, 1 elsewhere."""
    return unit((np.abs((along + 0.5) % 1 - 0.5) - width / 2) / pixel + 0.5)


def _leg(on: Canvas, picture: Colours, hip: Point, phase: float, light: float) -> Colours:
    thigh = 0.50 * math.sin(phase)
    shin = thigh - 0.45 * (1 - math.cos(phase + 0.6)) * 0.75
    knee = (hip[0] + 0.165 * math.sin(thigh), hip[1] + 0.165 * math.cos(thigh))
    ankle = (knee[0] + 0.165 * math.sin(shin), knee[1] + 0.165 * math.cos(shin))
    toe = (ankle[0] + 0.06 * math.cos(shin), ankle[1] - 0.06 * math.sin(shin) * 0.4 + 0.012)
    cloth = np.minimum(limb(on, hip, knee, 0.047), limb(on, knee, ankle, 0.036))
    picture = mix(picture, np.asarray(_TROUSERS, np.float32) * light, edge(cloth, on.pixel))
    return mix(picture, np.asarray((0.12, 0.09, 0.08), np.float32), edge(limb(on, ankle, toe, 0.024), on.pixel))


def _arm(on: Canvas, picture: Colours, neck: Point, phase: float, colour: Colours) -> Colours:
    swing = 0.55 * math.sin(phase)
    shoulder = (neck[0] - 0.005, neck[1] + 0.035)
    elbow = (shoulder[0] + 0.135 * math.sin(swing), shoulder[1] + 0.135 * math.cos(swing))
    bent = swing + 0.45
    hand = (elbow[0] + 0.125 * math.sin(bent), elbow[1] + 0.125 * math.cos(bent))
    sleeve = np.minimum(limb(on, shoulder, elbow, 0.036), limb(on, elbow, hand, 0.029))
    picture = mix(picture, colour * 0.55, edge(sleeve - 0.006, on.pixel))
    picture = mix(picture, colour, edge(sleeve, on.pixel))
    return mix(picture, _SKIN, edge(disc(on, hand, 0.027), on.pixel))


def _head(on: Canvas, picture: Colours, neck: Point) -> Colours:
    face = (neck[0] + 0.022, neck[1] - 0.115)
    picture = mix(picture, _SKIN, edge(limb(on, neck, face, 0.030), on.pixel))
    picture = mix(picture, _HAIR, edge(disc(on, (face[0] - 0.012, face[1] - 0.012), 0.076), on.pixel))
    picture = mix(
        picture,
        _SKIN,
        edge(np.maximum(disc(on, face, 0.068), face[0] - 0.02 - on.x - 0.4 * (on.y - face[1])), on.pixel),
    )
    return mix(picture, _HAIR, edge(disc(on, (face[0] + 0.042, face[1] - 0.006), 0.008), on.pixel))
