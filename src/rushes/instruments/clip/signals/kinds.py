"""What a clip is, by measured facts, and which profile is for it: the rule behind the profile `auto`.

In this order, the first that holds:

talking head   a face in at least half of the frames, and speech to go with it
screen         at least 30 % of the picture is plain, and from frame to frame at most 2 % of it moves
animation      at least 40 % of the frames repeat the one before, as drawings on twos and threes do, and at least 20 %
               of the picture is plain; or at least 55 % of it is and most frames have no face
anything else  a film, or generated video: what generates it leaves no mark that could be relied on, and `generated` has
               the rules for both

What was not measured holds for nothing: without faces (tier 0) no clip is a talking head.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rushes.core import Measurement

PLAIN, STILL, HELD, HELD_PLAIN, DRAWN, FACE = 0.3, 0.02, 0.4, 0.2, 0.55, 0.5
OTHERWISE = "generated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What a clip is taken for."""

    profile: str
    because: str
    """ "42 % of the picture is plain and 1 % moves"."""


def kind_of(measurements: Mapping[str, Measurement]) -> Kind:
    """The kind of a clip, from its numbers by reading."""
    face, speech = _value(measurements, "face_present_ratio"), _value(measurements, "mouth_speech_motion")
    if face is not None and face >= FACE and speech is not None:
        return Kind(profile="talking-head", because=f"a face in {_percent(face)} of the frames, and speech")
    plain, moving = _value(measurements, "plain_area_ratio"), _value(measurements, "moving_area_ratio")
    if plain is not None and moving is not None and plain >= PLAIN and moving <= STILL:
        because = f"{_percent(plain)} of the picture is plain and {_percent(moving)} of it moves"
        return Kind(profile="screen", because=because)
    held = _value(measurements, "repeated_frame_ratio")
    if held is not None and held >= HELD and plain is not None and plain >= HELD_PLAIN:
        because = f"{_percent(held)} of the frames repeat the one before and {_percent(plain)} of the picture is plain"
        return Kind(profile="animation", because=because)
    if plain is not None and plain >= DRAWN and (face is None or face < FACE):
        return Kind(profile="animation", because=f"{_percent(plain)} of the picture is plain")
    return Kind(profile=OTHERWISE, because="neither a talking head nor a screen nor a drawn animation")


def _value(measurements: Mapping[str, Measurement], name: str) -> float | None:
    found = measurements.get(name)
    return None if found is None or found.value is None else float(found.value)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
