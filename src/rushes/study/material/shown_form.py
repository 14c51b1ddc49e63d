"""The form in which raters see a study's clips, so that nothing but the picture tells systems apart.

Declared with the study as `alike`:

auto    where the clips of every sample agree in size, rate, length and coding, they are shown as they are; else all of
        the study are encoded again, in one form:
        size    the aspect in the middle (geometric) of the widest and the tallest clip, so that both lose equally
                much to the crop; as many pixels as the largest clip fills. Smaller clips are enlarged, as a browser
                would
        rate    the lowest up to 60 frames a second that is a multiple of every clip's, to 1 %; else 60, as most screens
                have it. Frames are repeated, never dropped or blended, if all clips run at 60 or less
        length  of the shortest clip of the sample, from the start on
        sound   as long as the picture, in stereo. It is a part of what is judged: a clip without stays without
FORM    size, rate, length and fit of `rushes.core.alike_form`, such as 576x320@24,2s,crop; a sample's shorter clips
        shorten it
off     clips are shown as they are; size, rate and length may name the system

A rule that would shrink every clip to the smallest (as `[alike]` of a suite does, for metrics) would take from people
what they are asked to judge.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeVar

from rushes.core.alike_form import AlikeForm
from rushes.core.errors import InputError
from rushes.core.grouping import grouped

AUTO, OFF = "auto", "off"
HIGHEST_RATE = 60
LARGEST = (1920, 1920)
_SLACK = Fraction(1, 100)
Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClipShape:
    """What a file says of itself beside its picture."""

    size: tuple[int, int]
    fps: Fraction
    seconds: Fraction
    coding: str = ""
    """Digest of codec, profile and settings of the picture, which differ between encoders."""
    sound: str = ""
    """The same of the sound; "" where there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownForm:
    """The form of one clip: size, rate, length, and whether its sound is kept."""

    form: AlikeForm
    sound: bool

    @property
    def label(self) -> str:
        """As the study's log states it.

        >>> ShownForm(form=AlikeForm.parse("296x222@60,1.6s"), sound=False).label
        'shown-1(296x222@60,1.6s,crop,silent)'
        """
        return f"shown-1({self.form.spelling},{'sound' if self.sound else 'silent'})"


def check_alike(text: str) -> str:
    """`auto`, `off`, or a form as it is spelt; `InputError` for anything else.

    >>> check_alike("auto"), check_alike("64x36@12.5,2s")
    ('auto', '64x36@25/2,2s,crop')
    """
    if text in (AUTO, OFF):
        return text
    form = AlikeForm.parse(text)
    if form.width % 2 or form.height % 2 or form.fps > HIGHEST_RATE:
        raise InputError(f"clips are shown in even sizes, at {HIGHEST_RATE} fps at most; got {text!r}")
    return form.spelling


def shown_forms(shapes: Mapping[Key, ClipShape], samples: Mapping[Key, str], alike: str) -> dict[Key, ShownForm]:
    """By clip, the form it is to be encoded in; {} where clips are shown as they are.

    `samples` says which clips stand beside one another: their lengths become equal.
    """
    if alike == OFF or not shapes or (alike == AUTO and not differing(shapes, samples)):
        return {}
    common = _common(list(shapes.values())) if alike == AUTO else AlikeForm.parse(alike)
    found: dict[Key, ShownForm] = {}
    for keys in grouped((samples[key], key) for key in shapes).values():
        shortest = min(shapes[key].seconds for key in keys)
        seconds = shortest if alike == AUTO else min(shortest, common.seconds)
        frames = max(1, math.floor(seconds * common.fps + _SLACK))
        form = replace(common, seconds=Fraction(math.floor(Fraction(frames * 1000) / common.fps), 1000))
        found |= {key: ShownForm(form=form, sound=bool(shapes[key].sound)) for key in keys}
    return found


def differing(shapes: Mapping[Key, ClipShape], samples: Mapping[Key, str]) -> list[str]:
    """In what clips of one sample differ: of size, rate, length and coding."""
    rows = list(grouped((samples[key], shape) for key, shape in shapes.items()).values())
    found = {
        "size": any(len({shape.size for shape in row}) > 1 for row in rows),
        "rate": any(_apart([shape.fps for shape in row]) for row in rows),
        "length": any(len({round(shape.seconds * 1000) for shape in row}) > 1 for row in rows),
        "coding": any(
            len({shape.coding for shape in row}) > 1 or len({shape.sound for shape in row} - {""}) > 1 for row in rows
        ),
    }
    return [what for what, differs in found.items() if differs]


def _apart(values: Sequence[Fraction]) -> bool:
    return max(values) - min(values) > _SLACK * max(values)


def _common(shapes: Sequence[ClipShape]) -> AlikeForm:
    width, height = shown_size({shape.size for shape in shapes})
    fps = shown_rate({shape.fps for shape in shapes})
    return AlikeForm(width=width, height=height, fps=fps, seconds=Fraction(1), fit="crop")


def shown_size(sizes: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """One size for pictures of these: see the module.

    >>> shown_size([(256, 256)]), shown_size([(320, 180), (640, 360)]), shown_size([(256, 256), (288, 160)])
    ((256, 256), (640, 360), (296, 220))
    """
    every = list(sizes)
    aspects = [width / height for width, height in every]
    aspect = math.sqrt(min(aspects) * max(aspects))
    if max(aspects) <= min(aspects) * (1 + float(_SLACK)):
        width, height = max(every)
    else:
        pixels = max(width * height for width, height in every)
        width, height = round(math.sqrt(pixels * aspect)), round(math.sqrt(pixels / aspect))
    shrink = min(1.0, LARGEST[0] / width, LARGEST[1] / height)
    return _even(width * shrink), _even(height * shrink)


def _even(side: float) -> int:
    return max(2, 2 * round(side / 2))


def shown_rate(rates: Iterable[Fraction]) -> Fraction:
    """One rate for clips of these: see the module.

    >>> [str(shown_rate(map(Fraction, each))) for each in ((10, 10), (8, 24), (12, 30), (10, 24), (25, 30), (120,))]
    ['10', '24', '60', '60', '60', '60']
    """
    every = sorted(rates)
    for times in range(1, int(HIGHEST_RATE / every[-1]) + 1):
        rate = every[-1] * times
        steps = [rate / each for each in every]
        if all(abs(step - round(step)) <= _SLACK * round(step) for step in steps):
            return rate
    return Fraction(HIGHEST_RATE)
