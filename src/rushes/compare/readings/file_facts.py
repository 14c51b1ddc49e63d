"""Facts of the file (length, rate, frames): what a clip is and not how good it is, so no comparison tests them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rushes.instruments.clip.metrics.timing import AUDIO_DURATION_MS, FPS, FRAME_COUNT, VIDEO_DURATION_MS

_IMPORTED = """
    bit_rate bitrate duration duration_ms duration_s file_size frames height length num_frames resolution seconds size
    width
"""
_OURS = (VIDEO_DURATION_MS, AUDIO_DURATION_MS, FPS, FRAME_COUNT)
FILE_FACTS = frozenset((*(definition.name for definition in _OURS), *_IMPORTED.split()))
"""Ours, and what imported columns call them."""
_LENGTHS = {VIDEO_DURATION_MS.name: "clips are", AUDIO_DURATION_MS.name: "sound is"}


class FactMeans(NamedTuple):
    """A fact of the file over the clips of two runs."""

    first: float
    """Mean over the clips that both runs have."""
    second: float
    alike: bool
    """Whether every clip of a run has the same."""


def fact_sentences(means: Mapping[str, FactMeans], letter: str) -> list[str]:
    """What differs between the files of two runs, in plain words; [] where nothing does.

    >>> fact_sentences({"video_duration_ms": FactMeans(3300, 1600, True), "frame_count": FactMeans(33, 16, True)}, "B")
    ["B's clips are shorter: 1.60 s against 3.30 s (16 frames against 33)."]
    >>> fact_sentences({"fps": FactMeans(8, 24, True), "size": FactMeans(1.5, 2, False)}, "B")
    ["B's clips have another frame rate: 24 fps against 8.", 'B: size 2 against 1.5 on average.']
    """
    left = {name: fact for name, fact in means.items() if fact.first != fact.second}
    told = []
    for name, what in _LENGTHS.items():
        if name in left:
            aside = _aside(left) if name == VIDEO_DURATION_MS.name else ""
            fact = left.pop(name)
            told.append(f"{letter}'s {what} {_side(fact, 'longer', 'shorter')}: {_seconds(fact)}{aside}{_mean(fact)}.")
            if aside:
                left.pop(FRAME_COUNT.name)
    if FRAME_COUNT.name in left:
        fact = left.pop(FRAME_COUNT.name)
        told.append(f"{letter}'s clips have {_side(fact, 'more', 'fewer')} frames: {_against(fact)}{_mean(fact)}.")
    if FPS.name in left:
        fact = left.pop(FPS.name)
        told.append(f"{letter}'s clips have another frame rate: {_against(fact, ' fps')}{_mean(fact)}.")
    return told + [f"{letter}: {name} {_against(fact)}{_mean(fact)}." for name, fact in left.items()]


def fact_means(first: Sequence[float], second: Sequence[float]) -> FactMeans:
    """Of the values of the same clips in two runs."""
    alike = len(set(first)) == len(set(second)) == 1
    return FactMeans(sum(first) / len(first), sum(second) / len(second), alike)


def _side(fact: FactMeans, up: str, down: str) -> str:
    return up if fact.second > fact.first else down


def _seconds(fact: FactMeans) -> str:
    """With as many digits as it takes to see the difference."""
    digits = 2 if abs(fact.second - fact.first) >= 10 else 4
    return f"{fact.second / 1000:.{digits}f} s against {fact.first / 1000:.{digits}f} s"


def _aside(left: Mapping[str, FactMeans]) -> str:
    frames = left.get(FRAME_COUNT.name)
    return f" ({_against(frames, ' frames')})" if frames else ""


def _against(fact: FactMeans, unit: str = "") -> str:
    """Whole numbers as they are; a mean with as many digits as it takes to see the difference."""
    digits = 1 if abs(fact.second - fact.first) >= 0.1 else 4
    second, first = (f"{mean:.{digits}f}".rstrip("0").rstrip(".") for mean in (fact.second, fact.first))
    return f"{second}{unit} against {first}"


def _mean(fact: FactMeans) -> str:
    return "" if fact.alike else " on average"
