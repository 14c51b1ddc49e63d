"""Pictures in the wrong order, and time that is missing: by construction, each beside the clip in order."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.instruments.clip.pictures.scenes import ENCODERS, coded, scene, shown

from rushes.instruments.clip.evaluate import evaluate_clip
from rushes.instruments.clip.metrics.time.jumps import jump_ratio
from rushes.instruments.clip.metrics.time.order import frame_disorder, replayed_ms, reversed_ms
from rushes.instruments.clip.pictures.order import disorder, turned_end

ORDERED = list(range(100))
BACK = ORDERED[:34] + ORDERED[34:67][::-1] + ORDERED[67:]


def test_in_order_nothing_is_found() -> None:
    seen = shown(ORDERED, noise=0.2)
    assert replayed_ms(seen).value == reversed_ms(seen).value == frame_disorder(seen).value == 0.0
    assert jump_ratio(seen).value < 1.5


def test_half_a_clip_twice() -> None:
    """Frames 50 to 99 show 0 to 49. The last has no step after it to compare with: 49 frames of 40 ms."""
    found = replayed_ms(shown(ORDERED[:50] * 2, noise=0.2))
    assert found.value == pytest.approx(49 * 40.0)
    assert found.note == "2.0–4.0 s, first shown at 0.0 s"


def test_a_second_four_times() -> None:
    """The lag of one second repeats longest: frames 25 to 98."""
    assert replayed_ms(shown([n % 25 for n in range(100)])).value == pytest.approx(74 * 40.0)


def test_a_loop_of_held_frames() -> None:
    """On twos, the second half the first again: 25 pictures of 80 ms, less the last."""
    assert replayed_ms(shown([n // 2 % 25 for n in range(100)])).value == pytest.approx(24 * 80.0)


def test_a_natural_wave_is_no_loop() -> None:
    """It comes back every second, each time a little different: 3 % of the swing, more than half a step."""
    random = np.random.default_rng(4)
    phase, drift = random.uniform(0, 6.28, 256), random.normal(0, 1, 256)
    time = np.arange(100)[:, None]
    wave = 128 + 40 * np.sin(time * 2 * np.pi / 25 + phase) + 0.4 * time * drift
    assert replayed_ms(shown(ORDERED, pictures=wave.reshape(100, 16, 16).astype(np.float32))).value == 0.0


def test_there_and_back() -> None:
    """Frames 50 to 99 show 49 down to 0: the turn lies between frames 49 and 50, which are one picture held."""
    found = reversed_ms(shown(ORDERED[:50] + ORDERED[:50][::-1]))
    assert found.value == pytest.approx(49 * 40.0, abs=80) and found.span is not None
    assert found.span.start_ms == pytest.approx(2000, abs=80)


def test_a_third_backwards_fits_only_the_other_way_round() -> None:
    """Frames 34 to 66 run backwards: 33 frames of 40 ms."""
    found = reversed_ms(shown(BACK, noise=0.2))
    assert found.value == pytest.approx(33 * 40.0) and found.span is not None and found.span.start_ms == 34 * 40.0


def test_a_cut_away_and_back_is_not_reversed() -> None:
    pictures = np.concatenate([scene(40), scene(20, seed=9), scene(80)[40:80]])
    assert reversed_ms(shown(ORDERED, pictures=pictures)).value == 0.0


def test_a_dip_to_black_is_not_reversed() -> None:
    gain = np.clip(np.abs(np.arange(100) - 50) / 15, 0, 1)[:, None, None].astype(np.float32)
    assert reversed_ms(shown(ORDERED, pictures=scene(100) * gain)).value == 0.0


@pytest.mark.parametrize("times", [2, 3])
def test_shuffled_frames(times: int) -> None:
    turned = [start + (k + 1) % times for start in range(0, 96, times) for k in range(times)]
    assert frame_disorder(shown(turned, noise=0.2)).value > 0.15


@pytest.mark.parametrize(
    ("order", "begins", "ends"),
    [(ORDERED[:50] + ORDERED[50:][::-1], 50, 100), (ORDERED[:50][::-1] + ORDERED[50:], 0, 50)],
)
def test_half_a_clip_backwards(order: list[int], begins: int, ends: int) -> None:
    """One leap, across which the far end of the half follows: its span is the whole half."""
    found = reversed_ms(shown(order, noise=0.2))
    assert found.span is not None and (found.span.start_ms, found.span.end_ms) == (begins * 40.0, ends * 40.0)


def test_places_on_a_line_turned_at_the_end() -> None:
    """0 … 11 and then 23 … 12: the leap of 12 is 12 steps, and from 11 to the last one it is a step."""
    places = np.array([*range(12), *range(23, 11, -1)], dtype=float)
    apart = np.abs(places[:, None] - places)
    assert turned_end(apart, least=10) == (12, 23, 11)
    assert turned_end(apart[::-1, ::-1], least=10) == (0, 11, 12)
    assert turned_end(apart, least=13) is None, "both sides of the leap are too short"
    assert turned_end(apart + 7 * (places[:, None] != places), least=10) is None, "the far end is as far as a cut"


def test_a_cut_away_and_back_is_not_turned() -> None:
    """The last frame is near the one before the cut, but the way back is a leap as well."""
    here, there = scene(100, speed=0.3), scene(100, seed=5)
    pictures = np.concatenate([here[:40], there[:30], here[40:43]])
    assert reversed_ms(shown(range(73), pictures=pictures, noise=0.2)).value == 0.0


def test_disorder_by_hand() -> None:
    """Places on a line, shown as 0 2 1 3 4 5: 2 + 1 + 2 + 1 + 1 = 7 as shown, 5 in order."""
    places = np.array([0.0, 2, 1, 3, 4, 5])
    assert disorder(np.abs(places[:, None] - places)) == pytest.approx(1 - 5 / 7)
    assert disorder(np.zeros((6, 6))) is None and disorder(np.zeros((5, 5))) is None


def test_a_jump_within_a_shot() -> None:
    """Seven frames are missing: the step there is about eight of those around it, less for the turns on the way.

    The three steps that begin before it and end after it are ten, so that the square of 10 / 8 is taken off.
    """
    found = jump_ratio(shown(ORDERED[:40] + ORDERED[47:]))
    assert 4.5 < found.value < 8 / (10 / 8) ** 2 and found.span is not None and found.span.start_ms == 40 * 40.0


def test_a_cut_a_flash_and_a_still_scene_do_not_jump() -> None:
    cut = np.concatenate([scene(50), scene(50, seed=9)])
    flash = scene(100)
    flash[50] += 60
    still = np.repeat(scene(2, speed=0.2), 50, axis=0)
    for pictures in (cut, flash, still):
        assert jump_ratio(shown(ORDERED, pictures=pictures)).value < 1.5


def test_too_few_pictures() -> None:
    metrics = (replayed_ms, reversed_ms, frame_disorder, jump_ratio)
    assert {metric(shown([0])).value for metric in metrics} == {None}
    for seen in (shown(range(5)), shown([0] * 50)):
        assert {metric(seen).value for metric in metrics} == {0.0}


@pytest.mark.parametrize("encoder", [*ENCODERS])
def test_coded_clips(tmp_path: Path, encoder: str) -> None:
    orders = {
        "loop": [n % 24 for n in range(48)],
        "back": ORDERED[:16] + ORDERED[16:32][::-1] + ORDERED[32:48],
        "mixed": [n + 1 - 2 * (n % 2) for n in range(48)],
        "gap": ORDERED[:24] + ORDERED[31:55],
        "plain": ORDERED[:48],
    }
    found = {
        name: evaluate_clip(coded(tmp_path / f"{name}.mkv", order, encoder, speed=1.5))
        for name, order in orders.items()
    }
    assert found["loop"]["replayed_ms"].value > 900
    assert found["back"]["reversed_ms"].value == pytest.approx(16 * 1000 / 24, abs=45)
    assert found["mixed"]["frame_disorder"].value > 0.12
    assert found["gap"]["jump_ratio"].value > 3
    plain = found["plain"]
    assert plain["replayed_ms"].value == plain["reversed_ms"].value == 0.0
    assert plain["frame_disorder"].value < 0.01 and plain["jump_ratio"].value < 1.5
