"""How long pictures are held: every cadence by construction, and a stutter that is none of them."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from tests.instruments.clip.pictures.scenes import ENCODERS, coded, scene, shown

from rushes.instruments.clip.evaluate import evaluate_clip
from rushes.instruments.clip.metrics.stillness import repeated_frame_ratio
from rushes.instruments.clip.metrics.time.cadence import native_fps, stutter_ratio
from rushes.instruments.clip.pictures.cadence import Kind, repeats_of


def held(pattern: list[int], count: int) -> list[int]:
    """Pictures 0, 1, 2 … each for as many frames as the pattern says in turn."""
    return list(chain.from_iterable([n] * pattern[n % len(pattern)] for n in range(count)))


@pytest.mark.parametrize(
    ("pattern", "fps", "kind", "native"),
    [
        ([1], 24, Kind.NATIVE, 24),
        ([2], 24, Kind.EVERY, 12),
        ([3], 24, Kind.EVERY, 8),
        ([2, 3], 60, Kind.PULLDOWN, 24),
        ([1, 1, 1, 2], 30, Kind.PULLDOWN, 24),
        ([1, 1, 1, 1, 2], 30, Kind.PULLDOWN, 25),
        ([2, 3], 30, Kind.PULLDOWN, 12),
        ([1, 2], 12, Kind.PULLDOWN, 8),
        # Limited animation: no even holds, and none that stands for dropped frames.
        ([2, 2, 3, 1, 4, 2, 3], 24, Kind.HELD, 24 * 7 / 17),
    ],
)
def test_cadences(pattern: list[int], fps: int, kind: Kind, native: float) -> None:
    seen = shown(held(pattern, 60), fps=fps, noise=0.3)
    assert seen.cadence.kind is kind
    assert native_fps(seen).value == pytest.approx(native, rel=0.05)
    assert stutter_ratio(seen).value == 0.0


def test_the_note_names_the_cadence() -> None:
    assert native_fps(shown(held([2], 40), fps=24)).note == "each picture 2 times: 12 fps shown at 24"
    assert native_fps(shown(held([2, 3], 40), fps=60)).note.startswith("pull-down: ")
    assert native_fps(shown(range(40), fps=24)).note == ""


def test_one_frame_in_eight_shown_in_place_of_the_next_is_a_stutter() -> None:
    """96 frames at 24: frames 7, 15, … 95 show the picture before. Of 95 steps 12 repeat; the last has no step after it
    and is at an end of the clip, so it is a repeat but not amid motion: 11 of 95."""
    seen = shown([n - (n % 8 == 7) for n in range(96)], fps=24)
    assert seen.cadence.kind is Kind.STUTTER
    assert stutter_ratio(seen).value == pytest.approx(11 / 95)
    assert repeated_frame_ratio(seen).value == pytest.approx(12 / 95)


def test_repeats_at_random_are_a_stutter() -> None:
    drops = np.random.default_rng(5).random(100) < 0.15
    order = [0]
    for n in range(1, 100):
        order.append(order[-1] if drops[n] else n)
    assert stutter_ratio(shown(order, fps=25)).value > 0.1


def test_a_converted_rate_is_no_stutter_whatever_the_rate() -> None:
    """Every seventh picture twice, and none left out: 21 of 24, with even steps."""
    seen = shown(held([1, 1, 1, 1, 1, 1, 2], 90), fps=24)
    assert stutter_ratio(seen).value == 0.0 and native_fps(seen).value == pytest.approx(21, rel=0.02)


@pytest.mark.parametrize(("after", "stutters"), [(138, False), (150, True)])
def test_the_step_after_a_repeat_makes_up_for_a_frame(after: int, stutters: bool) -> None:
    """Every eighth frame repeats; the step after it is 1.38 (1.5) times the others, 38 % (half) of the way to two."""
    order = np.cumsum([0] + [{7: 0, 0: after}.get(n % 8, 100) for n in range(1, 96)])
    seen = shown(order.tolist(), pictures=scene(int(order[-1]) + 1, speed=0.01), fps=24)
    assert (stutter_ratio(seen).value > 0) is stutters


def test_below_twelve_frames_a_second_nothing_stutters() -> None:
    assert stutter_ratio(shown([n - (n % 8 == 7) for n in range(96)], fps=10)).value == 0.0


def test_fits_and_starts_do_not_stutter() -> None:
    """A screen: the picture changes at every third to ninth frame, now by little, now by much."""
    random = np.random.default_rng(2)
    pictures = np.repeat(scene(30)[random.permutation(30)], random.integers(2, 9, 30), axis=0)
    assert stutter_ratio(shown(range(len(pictures)), pictures=pictures, fps=30)).value == 0.0


def test_a_step_on_the_limit_repeats() -> None:
    assert repeats_of(np.array([1.0, 0.3, 1.0]), 25).tolist() == [False, True, False]
    assert repeats_of(np.array([1.0, 0.31, 1.0]), 25).tolist() == [False, False, False]
    assert not repeats_of(np.zeros(9), 25).any() and not len(repeats_of(np.zeros(0), 25))


def test_too_few_pictures() -> None:
    assert native_fps(shown(range(5))).value is None and stutter_ratio(shown([0])).value is None
    assert stutter_ratio(shown([0] * 5)).value == repeated_frame_ratio(shown([0] * 5)).value == 0.0


@pytest.mark.parametrize("encoder", [*ENCODERS])
def test_coded_clips(tmp_path: Path, encoder: str) -> None:
    """Repeats that were coded are found by every encoder, and named; film at its own rate has none."""
    orders = {
        "doubled": [n // 2 * 2 for n in range(48)],
        "stutter": [n - (n % 8 == 7) for n in range(48)],
        "plain": list(range(48)),
    }
    found = {
        name: evaluate_clip(coded(tmp_path / f"{name}.mkv", order, encoder, speed=1.5))
        for name, order in orders.items()
    }
    assert found["doubled"]["repeated_frame_ratio"].value == pytest.approx(0.5, abs=0.04)
    assert found["doubled"]["native_fps"].value == pytest.approx(12, rel=0.002)
    assert found["doubled"]["stutter_ratio"].value == 0.0
    assert found["stutter"]["stutter_ratio"].value > 0.08
    assert found["plain"]["repeated_frame_ratio"].value == found["plain"]["stutter_ratio"].value == 0.0
    assert all(clip["longest_freeze_ms"].value < 100 for clip in found.values())
