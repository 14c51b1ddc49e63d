"""Reasons of review signals in words: without the numbers in brackets, which the table beside them has."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

_METRIC = re.compile(r"(?:^|\()([a-z][a-z0-9_]*)=")
_NUMBERS = re.compile(r" \([a-z][a-z0-9_]*=[^()]*\)$")
_BARE = re.compile(r"^([a-z][a-z0-9_]*)=(\S+) ([<>]) (\S+)$")
_SIDES = {"<": "below", ">": "above"}


def reason_metric(reason: str) -> str:
    """The metric a reason is about; of one without a metric the words, which other clips share.

    >>> reason_metric("freeze_frame_ratio=0.46 > 0.3"), reason_metric("frozen 1.0–2.4 s (longest_freeze_ms=1400 > 450)")
    ('freeze_frame_ratio', 'longest_freeze_ms')
    >>> reason_metric("crashed"), reason_metric("105 of 200 frames missing")
    ('crashed', '… of … frames missing')
    """
    found = _METRIC.search(reason)
    return found[1] if found else re.sub(r"\d[\d.,]*", "…", reason.partition(" (")[0])


def reason_words(reason: str) -> str:
    """A reason for people: the numbers in brackets left out; of one that is nothing but numbers, those in words.

    >>> reason_words("frozen 1.0–2.4 s (longest_freeze_ms=1400 > 450)"), reason_words("freeze_frame_ratio=0.46 > 0.3")
    ('frozen 1.0–2.4 s', 'freeze_frame_ratio 0.46, above 0.3')
    >>> reason_words("cannot be decoded: expected a video, got something else (Invalid data) (decode_ok=false)")
    'cannot be decoded'
    """
    if bare := _BARE.match(reason):
        return f"{bare[1]} {bare[2]}, {_SIDES[bare[3]]} {bare[4]}"
    return _NUMBERS.sub("", reason).partition(": ")[0]


def reason_kind(reason: str) -> str:
    """What a reason has in common with those of other clips: its words without place and size.

    >>> reason_kind("frozen 1.0–2.4 s (longest_freeze_ms=1400 > 450)"), reason_kind("freeze_frame_ratio=0.46 > 0.3")
    ('frozen', 'freeze_frame_ratio')
    >>> reason_kind("out of sync, sound about 200 ms early (mouth_audio_margin=-1 < 0.0)"), reason_kind("glitch at 2 s")
    ('out of sync', 'glitch')
    >>> reason_kind("105 of 200 frames missing")
    '… of … frames missing'
    """
    if _BARE.match(reason):
        return reason_metric(reason)
    if reason[:1].isdigit():
        return reason_metric(reason_words(reason))
    return re.split(r",|: | \d| \(", _NUMBERS.sub("", reason))[0].removesuffix(" at")


def tally(names: Iterable[str]) -> list[tuple[str, int]]:
    """Most frequent first, by name among equals."""
    return ranked(Counter(names))


def ranked(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """The same of what is counted already."""
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
