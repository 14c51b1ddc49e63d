"""Light and colour of the whole picture, followed through motion, stopped at cuts and fades."""

from __future__ import annotations

import numpy as np
import pytest
from tests.picture_grids import column, grid, scene, times

from rushes.instruments.clip.metrics import METRICS
from rushes.instruments.clip.metrics.picture.changes import common_path, fading, kept
from rushes.instruments.clip.metrics.picture.drift import colour_drift, light_drift, light_pumping


def measured(name: str, made, fps: float = 10.0):
    class Seen:
        grid, error = made, ""
        time_ms = np.array(times(len(made), fps))

    return METRICS[name].measure(Seen)


def test_a_steady_clip_does_not_drift() -> None:
    still = grid(np.repeat(scene()[None], 30, axis=0), blue=20.0, red=-10.0)
    for name in ("light_drift", "light_pumping", "colour_drift", "hue_drift", "colour_loss"):
        assert measured(name, still).value == 0 and measured(name, still).note == ""


def test_light_that_rises_by_two_levels_a_frame() -> None:
    # 31 frames at 10 a second: the path is 0, 2, … 60. Averaged over 5 values with the ends repeated it begins with
    # (0 + 0 + 0 + 2 + 4) / 5 = 1.2 and ends with 58.8: 57.6, from the first frame to the last
    rising = grid(scene()[None] + column(2.0 * np.arange(31)))
    found = measured("light_drift", rising)
    assert found.value == pytest.approx(57.6, abs=1e-3)
    assert (found.span.start_ms, found.span.end_ms) == (0.0, 3000.0)
    assert measured("light_pumping", rising).value == 0


def test_only_five_seconds_count() -> None:
    # 2 levels a second for 20 s: 10 levels within 5 s
    slow = grid(scene()[None] + column(0.2 * np.arange(200)))
    assert measured("light_drift", slow).value == pytest.approx(10.0, abs=0.1)


def test_what_moves_is_not_light() -> None:
    # a bright thing of 2 × 3 blocks goes through the picture
    luma = np.repeat(scene()[None], 24, axis=0)
    for frame in range(24):
        luma[frame, 3:5, frame % 8 : frame % 8 + 3] = 250
    assert measured("light_drift", grid(luma)).value == 0


def test_a_cut_and_a_fade_are_no_drift() -> None:
    cut = np.concatenate([np.repeat(scene(1)[None], 15, axis=0), np.repeat(scene(2)[None] + 50, 15, axis=0)])
    assert kept(grid(cut)).min() < 0.8
    assert measured("light_drift", grid(cut)).value == 0
    gain = np.r_[np.linspace(0.0, 1.0, 10), np.ones(20)]
    faded = grid(scene()[None] * column(gain), blue=30 * column(gain))
    assert fading(faded)[:9].all() and not fading(faded)[13:].any()
    assert measured("light_drift", faded).value < 1
    assert measured("colour_drift", faded).value < 1


def test_a_camera_that_goes_elsewhere_is_no_drift() -> None:
    # the view slides by half a block a frame over a picture that gets lighter to the right
    wide = np.concatenate([scene(seed) + 8 * seed for seed in range(8)], axis=1)
    views = [wide[:, frame : frame + 10] for frame in range(60)]
    assert measured("light_drift", grid(np.stack(views))).value < 20


def test_light_that_pumps_once_a_second() -> None:
    # ± 20 levels at 1 Hz, 4 s; averaged over 3 of 10 values a second: (1 + 2 cos 36°) / 3 = 0.873 of it
    swing = 20 * np.sin(2 * np.pi * np.arange(40) / 10)
    found = measured("light_pumping", grid(scene()[None] + column(swing)))
    assert found.value == pytest.approx(2 * 20 * np.sin(np.radians(72)) * 0.873, rel=0.02)
    half = measured("light_pumping", grid(scene()[None] + column(swing[:12])))
    assert half.value < 1, "one period is no pumping"


def test_casts_hues_and_saturation() -> None:
    still = np.repeat(scene()[None], 31, axis=0)
    along = np.arange(31) / 30
    # averaged over 5 of 31 values, 0.96 of a straight way is left
    cast = measured("colour_drift", grid(still, blue=column(9 * along), red=column(-12 * along)))
    assert cast.value == pytest.approx(15 * 0.96, rel=0.01)
    turn = 0.5 * along
    hues = grid(still, blue=column(20 * np.cos(turn)), red=column(20 * np.sin(turn)))
    assert measured("colour_drift", hues).value == pytest.approx(20 * 0.5 * 0.96, rel=0.03)
    # half a radian, at any saturation: 28.65°
    for strength in (20, 60):
        hues = grid(still, blue=column(strength * np.cos(turn)), red=column(strength * np.sin(turn)))
        assert measured("hue_drift", hues).value == pytest.approx(np.degrees(0.5) * 0.96, rel=0.03)
    faint = grid(still, blue=column(7 * np.cos(turn)), red=column(7 * np.sin(turn)))
    assert measured("hue_drift", faint).value == 0
    # half of the blocks blue and half yellow: no cast, but saturation grows by 10
    sides = np.repeat([1.0, -1.0], still.shape[2] // 2)
    burnt = grid(still, blue=column(10 + 10 * along) * sides)
    assert measured("colour_drift", burnt).value == pytest.approx(10 * 0.96, rel=0.01)


def test_colour_that_is_lost_while_the_picture_stays() -> None:
    # |z| = 5 in the first ten of 31 frames, then less and less to a tenth of it in the last
    left = np.r_[np.ones(10), np.linspace(1.0, 0.1, 21)]
    still = np.repeat(scene()[None], 31, axis=0)
    found = measured("colour_loss", grid(still, blue=3 * column(left), red=4 * column(left)))
    assert found.value == pytest.approx(0.9, abs=1e-6)
    assert found.span.end_ms == 3000.0
    gained = measured("colour_loss", grid(still, blue=3 * column(left[::-1]), red=4 * column(left[::-1])))
    assert gained.value == pytest.approx(found.value, abs=1e-6)
    half = measured("colour_loss", grid(still, blue=3 * column(0.5 + left / 2), red=4 * column(0.5 + left / 2)))
    assert half.value == pytest.approx(0.45, abs=1e-6)  # 0.55 of 1 is left


def test_colour_that_goes_with_the_light_or_with_the_scene_is_not_lost() -> None:
    gain = np.r_[np.ones(10), np.linspace(1.0, 0.0, 21)]
    dark = grid(scene()[None] * column(gain), blue=20 * column(gain))
    assert measured("colour_loss", dark).value < 0.5  # as much as is lost before a third of the light is
    has_colour = column((np.arange(30) < 15).astype(float))
    cut = np.concatenate([np.repeat(scene(1)[None], 15, axis=0), np.repeat(scene(2)[None], 15, axis=0)])
    assert measured("colour_loss", grid(cut, blue=20 * has_colour)).value == 0
    faint = grid(np.repeat(scene()[None], 30, axis=0), blue=2.9 * has_colour)
    assert measured("colour_loss", faint).value == 0


def test_a_few_coloured_blocks_are_not_the_picture() -> None:
    still = np.repeat(scene()[None], 31, axis=0)
    spot = np.zeros(still.shape)
    spot[:, :2, :2] = column(np.arange(31))
    assert measured("colour_drift", grid(still, blue=spot)).value == 0


def test_too_short() -> None:
    short = grid(np.repeat(scene()[None], 3, axis=0))
    for name in ("light_drift", "light_pumping", "colour_drift"):
        assert measured(name, short).value is None and "four frames" in measured(name, short).note


def test_functions_take_a_path() -> None:
    made, at = grid(scene()[None] + column(np.arange(20))), times(20)
    path = common_path(made, tuple(at))
    assert path.light.tolist() == pytest.approx(list(range(20)), abs=1e-4)
    for function in (light_drift, light_pumping, colour_drift):
        assert function(path, at).count == 20
