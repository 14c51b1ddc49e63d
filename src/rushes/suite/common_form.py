"""The common form of a suite's clips, chosen from what they are: the largest that enlarges, repeats and pads nothing.

Size    the smallest width and the smallest height of any clip
Rate    the lowest of any clip, or a half, a third … of it, down to 5 fps, if only then every clip's rate is a multiple:
        other rates would drop frames unevenly, which looks like judder
Length  that of the shortest clip, in whole frames
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from rushes.core.alike_form import AlikeForm
from rushes.core.errors import MediaError
from rushes.core.grouping import grouped

_SLACK = Fraction(1, 100)
"""Rates and lengths agree to within 1 %, as boards have it."""
_SLOWEST = 5
"""Frames a second below which no common divisor of the rates is looked for."""
_FEWEST = 3
"""Frames of a common form: fewer have no motion to follow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClipShape:
    """Frame size, rate and length of one clip."""

    size: tuple[int, int]
    fps: Fraction
    seconds: Fraction

    @property
    def text(self) -> str:
        return f"{self.size[0]}x{self.size[1]}, {float(self.fps):g} fps, {float(self.seconds):.4g} s"


Shapes = Mapping[str, Mapping[str, ClipShape]]
"""By system and clip."""


def clip_shape(path: Path) -> ClipShape | None:
    """The shape of a clip; None where its file cannot be read or does not say."""
    from rushes.media.probe import probe

    try:
        video = probe(path).video
    except MediaError:
        return None
    if video is None or video.upright is None or not video.fps or not video.duration_ms or video.duration_ms <= 0:
        return None
    return ClipShape(size=video.upright, fps=video.fps, seconds=Fraction(video.duration_ms).limit_denominator() / 1000)


def common_form(shapes: Shapes) -> AlikeForm | None:
    """The form that all clips have; None where the clips of each name are equal already, or too short for any.

    >>> a, b = (ClipShape(size=size, fps=Fraction(fps), seconds=Fraction(s))
    ...         for size, fps, s in (((320, 240), 16, 2), ((256, 256), 24, 3)))
    >>> common_form({"amber": {"p1": a}, "birch": {"p1": b}}).spelling
    '256x240@8,2s,crop'
    """
    every = [shape for clips in shapes.values() for shape in clips.values()]
    if not differing(shapes):
        return None
    fps = common_rate({shape.fps for shape in every})
    shortest = min(shape.seconds for shape in every)
    frames = int(shortest * fps + _SLACK)
    if frames < _FEWEST:
        return None
    return AlikeForm(
        width=min(shape.size[0] for shape in every),
        height=min(shape.size[1] for shape in every),
        fps=fps,
        seconds=Fraction(int(frames / fps * 1000), 1000),
    )


def common_rate(rates: Iterable[Fraction]) -> Fraction:
    """The rate of the form; see the module.

    >>> [str(common_rate(map(Fraction, rates))) for rates in ((10, 10), (16, 24), (25, 30), (24, 25), (8, 30))]
    ['10', '8', '5', '24', '8']
    """
    every = list(rates)
    lowest = min(every)
    parts = (lowest / n for n in range(1, max(1, int(lowest / _SLOWEST)) + 1))
    return next((rate for rate in parts if not uneven(every, rate)), lowest)


def uneven(rates: Iterable[Fraction], rate: Fraction) -> list[Fraction]:
    """Those of the rates that are no multiple of this one."""
    steps = [(each, each / rate) for each in rates]
    return sorted({each for each, step in steps if abs(step - round(step)) > _SLACK * max(round(step), 1)})


def differing(shapes: Shapes) -> list[str]:
    """In what clips of one name differ between systems: of "frame size", "frame rate" and "length"."""
    names = grouped((name, shape) for clips in shapes.values() for name, shape in clips.items())
    found = {
        "frame size": any(len({shape.size for shape in row}) > 1 for row in names.values()),
        "frame rate": any(_apart([shape.fps for shape in row]) for row in names.values()),
        "length": any(_apart([shape.seconds for shape in row]) for row in names.values()),
    }
    return [what for what, differs in found.items() if differs]


def _apart(values: Sequence[Fraction]) -> bool:
    return max(values) - min(values) > _SLACK * max(values)


def form_lines(form: AlikeForm, shapes: Shapes) -> Iterator[str]:
    """The table of a suite file, with what each system has and what the crop leaves of it."""
    yield "[alike]                       # every clip is also measured in this common form, so that systems compare"
    for system, clips in shapes.items():
        usual, often = Counter(clips.values()).most_common(1)[0]
        more = "" if often == len(clips) else f" and {len(set(clips.values())) - 1} other shapes"
        yield f"# {system}: {usual.text}{more}; the crop keeps {_kept(form, usual.size):.0%} of its picture"
    yield f'size = "{form.width}x{form.height}"'.ljust(30) + "# averaged by area, aspect kept"
    yield f'fit = "{form.fit}"'.ljust(30) + '# the middle of the picture; "bars" keeps all of it, before black'
    yield f"fps = {_number(form.fps)}".ljust(30) + "# the frame shown at each 1/fps"
    yield f"seconds = {float(form.seconds):g}".ljust(30) + "# from the first frame on"


def form_remarks(form: AlikeForm, shapes: Shapes) -> Iterator[str]:
    """What the user must know about the choice."""
    shown = f"{form.width}×{form.height}, {float(form.fps):g} fps, the first {float(form.seconds):g} s"
    yield f"systems differ in {' and '.join(differing(shapes))}: clips are also measured in a common form, {shown}"
    if off := uneven((shape.fps for clips in shapes.values() for shape in clips.values()), form.fps):
        rates = ", ".join(f"{float(rate):g}" for rate in off)
        yield f"{rates} fps: not a multiple of {float(form.fps):g} fps, so frames are dropped unevenly in [alike]"
    every = {(system, name): shape for system, clips in shapes.items() for name, shape in clips.items()}
    (system, name), shortest = min(every.items(), key=lambda item: item[1].seconds)
    if 2 * shortest.seconds < sorted(shape.seconds for shape in every.values())[len(every) // 2]:
        yield f"{system}/{name} is {float(shortest.seconds):.4g} s long, which sets the length of [alike] for all clips"


def _kept(form: AlikeForm, size: tuple[int, int]) -> float:
    """The share of a picture that a crop leaves."""
    scale = form.scale(size)
    return float(Fraction(form.width * form.height, size[0] * size[1]) / scale**2)


def _number(rate: Fraction) -> str:
    """A rate in TOML: a number, or a text where it is a fraction that no short decimal has."""
    return f"{float(rate):g}" if Fraction(f"{float(rate):g}") == rate else f'"{rate}"'
