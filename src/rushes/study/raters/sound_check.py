"""The sound check: a few groups of tones that a rater counts and types in, before clips with sound are judged.

Made here, from the study's seed and the rater's code, so that nothing comes from elsewhere. A wrong answer gets another
sequence. It shows that the rater hears something at all; it says nothing about how well.
"""

from __future__ import annotations

import array
import io
import math
import wave
from typing import Any

from sqlalchemy import Connection, Row, select

from rushes.instruments.preference.pairs import seeded_order
from rushes.study.database.tables import clip
from rushes.study.queries import log, set_rater

GROUPS = 4
MOST_TRIES = 5
"""Then the rater stops, with a code: guessing must not pass."""
MOST_TONES = 4
_RATE = 16_000
_TONE_S, _GAP_S, _REST_S = 0.18, 0.14, 0.75
_HERTZ = 660.0
_LOUD = 0.4
_FADE_S = 0.01


def sequence(seed: int, code: str, tries: int) -> str:
    """How many tones each group has, one digit each; another for every try.

    >>> len(sequence(1, "rater_01", 0)), set(sequence(1, "rater_01", 0)) <= set("1234")
    (4, True)
    """
    return "".join(
        str(1 + seeded_order(seed, "sound check", code, str(tries), str(group)) % MOST_TONES) for group in range(GROUPS)
    )


def sequence_wav(digits: str) -> bytes:
    """The tones as a WAV file: 16 bits, one channel, the same bytes every time."""
    samples = array.array("h", _silence(_REST_S))
    for digit in digits:
        for _ in range(int(digit)):
            samples.extend(_tone())
            samples.extend(_silence(_GAP_S))
        samples.extend(_silence(_REST_S))
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(_RATE)
        file.writeframes(samples.tobytes())
    return out.getvalue()


def _silence(seconds: float) -> list[int]:
    return [0] * round(seconds * _RATE)


def _tone() -> list[int]:
    count = round(_TONE_S * _RATE)
    fade = round(_FADE_S * _RATE)
    return [
        round(32767 * _LOUD * min(1.0, n / fade, (count - n) / fade) * math.sin(2 * math.pi * _HERTZ * n / _RATE))
        for n in range(count)
    ]


def still_to_pass(connection: Connection, who: Row[Any]) -> bool:
    """Whether the rater has to pass the check before going on: the study asks for it, and a clip of it has sound."""
    if not who.audio_check or who.sound_ms is not None:
        return False
    sounding = select(clip.c.id).where(clip.c.study_id == who.study_id, clip.c.has_audio).limit(1)
    return connection.execute(sounding).first() is not None


def answer(connection: Connection, who: Row[Any], typed: str, *, now: int) -> bool:
    """Whether the rater typed the sequence in; a right answer is kept, a wrong one gets another sequence."""
    if who.sound_tries >= MOST_TRIES:
        return False
    heard = "".join(sign for sign in typed if sign.isdecimal()) == sequence(who.seed, who.code, who.sound_tries)
    values = {"sound_ms": now} if heard else {"sound_tries": who.sound_tries + 1}
    set_rater(connection, who.id, **values)
    action = "passed the sound check" if heard else "failed the sound check"
    log(connection, study_id=who.study_id, actor=who.code, action=action, now=now)
    return heard
