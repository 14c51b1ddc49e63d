"""Faults of the sound, sample by sample."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from benchmarks.planting.kinds import sound
from benchmarks.planting.source import SOUND_RATE, Source

FRAME = np.zeros((16, 16, 3), np.uint8)
RAMP = np.arange(1, 2 * SOUND_RATE + 1, dtype=np.float32)  # 2 s in which no sample equals another, and none is 0


def speaker(samples: np.ndarray = RAMP) -> Source:
    return Source(name="speaker", frames=[FRAME] * 50, fps=Fraction(25), sound=samples)


def heard(source: Source) -> np.ndarray:
    assert source.sound is not None
    return source.sound


def test_long_sound_goes_on_with_its_own_end() -> None:
    longer = heard(sound.long_sound(speaker(), 0.9))
    extra = SOUND_RATE * 9 // 10
    assert len(longer) == len(RAMP) + extra
    assert np.array_equal(longer[: len(RAMP)], RAMP)
    assert np.array_equal(longer[len(RAMP) :], RAMP[-extra:])


def test_late_and_early_sound_are_shifted_and_as_long_as_before() -> None:
    shift = SOUND_RATE // 2
    late, early = heard(sound.late_sound(speaker(), 0.5)), heard(sound.late_sound(speaker(), -0.5))
    assert not late[:shift].any() and np.array_equal(late[shift:], RAMP[:-shift])
    assert np.array_equal(early[:-shift], RAMP[shift:]) and not early[-shift:].any()


def test_swapped_sound_is_the_other_speakers_cut_or_repeated() -> None:
    other = speaker(-RAMP[: len(RAMP) // 2])
    swapped = heard(sound.swapped_sound(speaker(), other))
    assert np.array_equal(swapped, np.concatenate([-RAMP[: len(RAMP) // 2]] * 2))
    assert len(heard(sound.swapped_sound(other, speaker()))) == len(RAMP) // 2
