"""The common form: every clip at one frame size, one rate and one length, so that metrics compare.

    160x120@10,1.6s,crop

Size    the upright luma, averaged by area (`rushes.media.alike.area`), never enlarged. The aspect is kept: "crop" fills
        the frame and cuts what stands over, the same on both sides; "bars" shows the whole picture before black. Pixels
        count as square.
Colour  luma of 8 bits, full range. RGB, for metrics that look at it, is averaged channel by channel.
Rate    output frame k is the frame shown k/fps after the first one: the last whose time is at most 1 ms later, as some
        containers round times to whole milliseconds. Frames are dropped, and repeated only where the clip itself holds
        a frame that long; they are never blended. A clip of a lower average rate has no such form.
Length  the first `seconds` of the clip, ⌈seconds · fps⌉ frames. A clip that ends more than half a frame before that has
        no such form: nothing is padded.

Everything else that could move a value is fixed by `VERSION`.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, TypeAlias, cast, get_args

from rushes.core.errors import InputError
from rushes.core.media_facts import MediaFacts, exact_rate

VERSION = 1
"""Of the rules above; it is in every signature."""
Fit: TypeAlias = Literal["crop", "bars"]
FIXED_FACTS = ("frame_size", "fps", "duration", "range", "bit_depth")
"""Facts of the medium that are the same for every clip in this form."""
LARGEST = 16384
"""Pixels of a side, of the form and of clips: sums of weights then fit into 32 bits."""
SLACK_MS = 1.0
"""How much later than k/fps a frame may start."""
_LOWER_RATE = Fraction(99, 100)
"""Rates agree to within 1 %: a clip of 29.97 frames a second has a form of 30."""
_SPELLING = re.compile(r"([0-9]+)x([0-9]+)@([0-9./]+),([0-9]+(?:\.[0-9]{1,3})?)s(?:,([a-z]+))?")
_LABEL = re.compile(rf"alike-([0-9]+)\(({_SPELLING.pattern})\)")
EXAMPLE = "160x120@8,2s"


@dataclass(frozen=True, slots=True, kw_only=True)
class AlikeForm:
    """One common form; `AlikeForm.parse("160x120@8,2s")` reads its spelling."""

    width: int
    height: int
    fps: Fraction
    seconds: Fraction
    fit: Fit = "crop"

    def __post_init__(self) -> None:
        if not (1 <= self.width <= LARGEST and 1 <= self.height <= LARGEST):
            raise InputError(f"a common form has sides of 1 to {LARGEST} pixels; got {self.width}x{self.height}")
        if self.fit not in get_args(Fit):
            raise InputError(f"the fit of a common form is crop or bars; got {self.fit!r}")
        if self.seconds <= 0 or self.seconds * 1000 % 1:
            raise InputError(f"the length of a common form is seconds with up to 3 decimals; got {float(self.seconds)}")

    @classmethod
    def parse(cls, text: str) -> AlikeForm:
        """The form that a text spells; `InputError` where it spells none.

        >>> AlikeForm.parse("160x120@8,2s").frames, AlikeForm.parse("64x36@30000/1001,0.5s,bars").frames
        (16, 15)
        """
        found = _SPELLING.fullmatch(text.strip())
        if found is None:
            raise InputError(f"a common form is WIDTHxHEIGHT@FPS,SECONDSs[,crop|,bars], as {EXAMPLE}; got {text!r}")
        width, height, fps, seconds, fit = found.groups()
        return cls(
            width=int(width),
            height=int(height),
            fps=exact_rate(fps),
            seconds=Fraction(seconds),
            fit=cast(Fit, fit or "crop"),
        )

    @property
    def spelling(self) -> str:
        """As `parse` reads it.

        >>> AlikeForm.parse("160x120@12.5,2.50s").spelling
        '160x120@25/2,2.5s,crop'
        """
        return f"{self.width}x{self.height}@{self.fps},{float(self.seconds):g}s,{self.fit}"

    @property
    def label(self) -> str:
        """`input` in the signature of a value measured in this form.

        >>> AlikeForm.parse("160x120@8,2s").label
        'alike-1(160x120@8,2s,crop)'
        """
        return f"alike-{VERSION}({self.spelling})"

    @property
    def frames(self) -> int:
        return math.ceil(self.seconds * self.fps)

    def time_ms(self, frame: int) -> float:
        """When a frame of the form is shown, from the clip's first frame on."""
        return float(frame * 1000 / self.fps)

    def scale(self, size: tuple[int, int]) -> Fraction:
        """What a picture's sides are multiplied by; above 1 it would be enlarged."""
        ratios = Fraction(self.width, size[0]), Fraction(self.height, size[1])
        return max(ratios) if self.fit == "crop" else min(ratios)

    def why_not(self, facts: MediaFacts) -> str:
        """Why a clip of these facts has no such form; "" where it has one, if it is long enough."""
        video = facts.video
        if video is None or video.upright is None:
            return "the clip has no picture"
        width, height = video.upright
        if max(video.upright) > LARGEST:
            return f"frames of more than {LARGEST} pixels have no common form"
        if self.scale(video.upright) > 1:
            return f"{width}×{height} is smaller than the common form {self.width}×{self.height}"
        return self.too_slow(video.fps)

    def too_slow(self, fps: Fraction | float | None) -> str:
        """Why a clip of this average rate has no such form; "" where it has one, or the rate is not known."""
        if fps is None or fps >= self.fps * _LOWER_RATE:
            return ""
        return f"{float(fps):.4g} fps is less than the {float(self.fps):.4g} fps of the common form"

    def too_short(self, length_ms: float | None) -> str:
        """Why a clip of this length has no such form; "" where it is long enough."""
        if length_ms is not None and length_ms >= float(self.seconds * 1000 - 500 / self.fps):
            return ""
        length = "of unknown length" if length_ms is None else f"{length_ms / 1000:.2f} s long"
        return f"the clip is {length}; the common form takes its first {float(self.seconds):g} s"

    def facts(self, facts: MediaFacts) -> MediaFacts:
        """The facts of a clip in this form."""
        assert facts.video is not None
        length = float(self.frames * 1000 / self.fps)
        video = replace(
            facts.video,
            width=self.width,
            height=self.height,
            rotation=0,
            mirrored=False,
            bits=8,
            color_range="full",
            fps=self.fps,
            duration_ms=length,
            frames_declared=self.frames,
        )
        return replace(facts, video=video, audio=None, duration_ms=length)


def form_of(label: str) -> AlikeForm | None:
    """The form that `input` of a signature names; None for another input, and for a form of other rules.

    >>> form_of("alike-1(160x120@8,2s,crop)") == AlikeForm.parse("160x120@8,2s"), form_of("raw")
    (True, None)
    """
    found = _LABEL.fullmatch(label)
    return AlikeForm.parse(found[2]) if found and int(found[1]) == VERSION else None
