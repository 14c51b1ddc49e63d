"""What a reader must know about the clips behind a distance: lengths, rates, padding, gaps; and how notes are kept.

A network is shown frames. Sets whose clips differ in length, in frame rate or in how many frames were filled up differ
in that too, and the distance sees it: 9-frame clips against 16-frame ones are far apart however good they look.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rushes.instruments.distribution.clips.segments import Windows

_SEPARATOR = " · "
_LENGTH_SLACK = 0.05
"""Sets of clips of many lengths never agree to the frame; a mean that is five per cent off is said."""
_CLOCK_MS, _STEP_SLACK = 1.5, 0.1
"""Containers with a clock of milliseconds show a frame up to one early or late."""
_RATE_SLACK = 0.01
"""Rates within one per cent are the same: 29.97 and 30."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadFacts:
    """What reading one clip showed beside its frames."""

    frames: int
    """Frames that were read, before padding: all there are, or as many as the protocol takes."""
    fps: float | None = None
    """The average frame rate; None where there is none (pictures)."""
    variable: bool = False
    """Whether the time between frames changes."""
    padded: int = 0
    """Frames added to fill the last window up, each a copy of the last."""

    @property
    def stored(self) -> list[float | None]:
        """As files keep it; `read_back` reads it."""
        return [self.frames, self.fps, self.variable, self.padded]

    @classmethod
    def read_back(cls, frames: float, fps: float | None, variable: float, padded: float) -> ReadFacts:
        rate = None if fps is None or math.isnan(fps) else float(fps)
        return cls(frames=int(frames), fps=rate, variable=bool(variable), padded=int(padded))


def read_facts(frames: int, windows: Windows, *, fps: float | None = None, times_ms: Sequence[float] = ()) -> ReadFacts:
    """The facts of a clip of which so many frames were read, to be cut so; `times_ms` is when each is shown.

    >>> read_facts(20, Windows(cut="segments-repeat-last", length=16), fps=25.0)
    ReadFacts(frames=20, fps=25.0, variable=False, padded=12)
    """
    padded = -frames % windows.length if windows.cut == "segments-repeat-last" else 0
    return ReadFacts(frames=frames, fps=fps, variable=is_variable(times_ms), padded=padded)


def is_variable(times_ms: Sequence[float]) -> bool:
    """Whether the time from frame to frame changes by more than a tenth, or the rounding of a container's clock.

    >>> is_variable([0, 33, 67, 100]), is_variable([0, 40, 120, 160]), is_variable([0, 40])
    (False, True, False)
    """
    steps = sorted(b - a for a, b in pairwise(times_ms))
    if len(steps) < 2:
        return False
    usual = steps[len(steps) // 2]
    return max(steps[-1] - usual, usual - steps[0]) > max(_CLOCK_MS, _STEP_SLACK * usual)


Facts = Mapping[str, ReadFacts]
"""By the clip's name; clips of older statistics have none."""


def remarks_on(gen: Collection[ReadFacts], gt: Collection[ReadFacts]) -> list[str]:
    """What differs between the clips of two sets, or is odd in one of them, one sentence each.

    A set without facts (statistics of an older version) is not spoken of.
    """
    sides = [(name, facts) for name, facts in (("generated", gen), ("real", gt)) if facts]
    found = [] if len(sides) < 2 else [*_lengths(gen, gt), *_rates(gen, gt)]
    for side, facts in sides:
        found += _odd(side, facts)
    return found


def _lengths(gen: Collection[ReadFacts], gt: Collection[ReadFacts]) -> Iterator[str]:
    one, other = ([fact.frames for fact in facts] for facts in (gen, gt))
    if not _close(sum(one) / len(one), sum(other) / len(other), _LENGTH_SLACK):
        yield f"lengths differ: generated clips have {_frames(one)}, real ones {_frames(other)}"


def _rates(gen: Collection[ReadFacts], gt: Collection[ReadFacts]) -> Iterator[str]:
    one, other = (sorted({round(fact.fps, 3) for fact in facts if fact.fps}) for facts in (gen, gt))
    if not one or not other:
        return
    if not (_close(one[0], other[0], _RATE_SLACK) and _close(one[-1], other[-1], _RATE_SLACK)):
        yield f"frame rates differ: generated clips have {_spread(one)} frames a second, real ones {_spread(other)}"


def _odd(side: str, facts: Collection[ReadFacts]) -> Iterator[str]:
    total = len(facts)
    if padded := sorted({fact.padded for fact in facts if fact.padded}):
        count = sum(fact.padded > 0 for fact in facts)
        yield f"{_clips(count, total, side)} padded by repeating the last frame ({_spread(padded)} each)"
    if single := sum(fact.frames == 1 for fact in facts):
        yield f"{_clips(single, total, side)} of one frame only"
    if variable := sum(fact.variable for fact in facts):
        yield f"{_clips(variable, total, side)} of a variable frame rate, whose frames were taken as they are stored"


def _close(one: float, other: float, slack: float) -> bool:
    return abs(one - other) <= slack * max(one, other)


def _clips(count: int, total: int, side: str) -> str:
    return f"{count} of {total} clips of the {side} set"


def _frames(lengths: Sequence[int]) -> str:
    """
    >>> _frames([16, 16]), _frames([1, 1]), _frames([9, 16, 40])
    ('16 frames', '1 frame', '9 to 40 frames (21.7 on average)')
    """
    different = sorted(set(lengths))
    if len(different) == 1:
        return f"{different[0]} frame{'' if different[0] == 1 else 's'}"
    return f"{_spread(different)} frames ({sum(lengths) / len(lengths):.1f} on average)"


def _spread(values: Sequence[float]) -> str:
    """
    >>> _spread([16]), _spread([9, 16, 40]), _spread([23.976])
    ('16', '9 to 40', '23.976')
    """
    return f"{values[0]:g}" if len(values) == 1 else f"{values[0]:g} to {values[-1]:g}"


def as_note(sentences: Iterable[str]) -> str:
    """Several sentences as one note, each once, in order; `sentences_of` takes them apart again.

    >>> as_note(["few clips; use kvd", "random weights", "", "random weights"])
    'few clips; use kvd · random weights'
    """
    return _SEPARATOR.join(dict.fromkeys(text.replace(_SEPARATOR, ", ") for text in sentences if text))


def sentences_of(note: str) -> list[str]:
    """
    >>> sentences_of("few clips; use kvd · random weights"), sentences_of("")
    (['few clips; use kvd', 'random weights'], [])
    """
    return note.split(_SEPARATOR) if note else []
