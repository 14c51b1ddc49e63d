"""Reasons of review signals in words: of one clip, and as what many clips have in common."""

from __future__ import annotations

import re


def words_of(reason: str) -> str:
    """A reason without its number, which the table and the clip's page have.

    >>> words_of("frozen 1.0–2.4 s (longest_freeze_ms=1320.00 > 450)"), words_of("blur_score=9.00 < 20.0")
    ('frozen 1.0–2.4 s', 'blur_score=9.00 < 20.0')
    """
    return reason.partition(" (")[0]


def general_words(reason: str) -> str:
    """A reason's words without the place and the number of this one clip; "" where it has none.

    >>> general_words("frozen 1.0–2.4 s (longest_freeze_ms=1320.00 > 450)"), general_words("blur_score=9.0 < 20")
    ('frozen', '')
    >>> general_words("glitch at 2.0 s (odd_frame_score=3.97 > 3.5)")
    'glitch'
    """
    words, behind, _ = reason.partition(" (")
    return re.split(r"[,:]|\s(?:at\s)?\d", words)[0] if behind else ""
