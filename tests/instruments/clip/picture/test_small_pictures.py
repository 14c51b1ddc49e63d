"""The first frames of a clip as small pictures."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from rushes.instruments.clip.frames.small_pictures import MOST, SmallWatch, layout, small_picture
from rushes.media.luma import LumaPlane


def frame(values: np.ndarray, scale: float = 1.0, offset: float = 0.0) -> SimpleNamespace:
    return SimpleNamespace(luma=LumaPlane(values, scale, offset, False))


def test_points_and_weights_by_hand() -> None:
    apart, weights = layout(120)  # two pixels apart, a bell of half a pixel: 64·e^(−2) beside 64
    assert apart == 2 and weights.tolist() == [9, 64, 9]
    plane = np.zeros((5, 5), np.uint8)
    plane[1, 1], plane[1, 2] = 82, 41
    found = small_picture(plane, apart, weights, 1.0, 0.0)
    # points at (1, 1) and (1, 3); the next row of them would be at 1 + 2 · 2 = 5, which is outside
    assert found.shape == (1, 2)
    assert found[0, 0] == pytest.approx((64 * 64 * 82 + 64 * 9 * 41) / 82**2)
    assert found[0, 1] == pytest.approx(64 * 9 * 41 / 82**2)


@pytest.mark.parametrize("kind", [np.uint8, np.uint16])
def test_as_numpy_has_it(kind: type) -> None:
    plane = np.random.default_rng(1).integers(0, np.iinfo(kind).max + 1, (250, 333), dtype=kind)
    apart, weights = layout(250)
    reach = len(weights) // 2
    bell = np.outer(weights, weights) / weights.sum() ** 2
    found = small_picture(plane, apart, weights, 0.5, 16.0)
    for i, j in ((0, 0), (3, 7), (found.shape[0] - 1, found.shape[1] - 1)):
        top, left = 2 * apart * i, apart * j
        part = plane[top : top + 2 * reach + 1, left : left + 2 * reach + 1]
        assert found[i, j] == pytest.approx(((bell * part).sum() - 16) * 0.5, rel=1e-5)


def test_a_plane_that_goes_upwards_reads_as_its_copy() -> None:
    plane = np.random.default_rng(2).integers(0, 256, (240, 320), dtype=np.uint8)
    turned = plane[::-1]
    expected = small_picture(np.ascontiguousarray(turned), *layout(240), 1.0, 0.0)
    assert (small_picture(turned, *layout(240), 1.0, 0.0) == expected).all()


def test_one_tone_keeps_its_level() -> None:
    found = small_picture(np.full((720, 1280), 126, np.uint8), *layout(720), 255 / 219, 16.0)
    assert found == pytest.approx(np.full(found.shape, 110 * 255 / 219))


def test_the_watch_stops_where_the_size_changes_and_after_enough() -> None:
    watch = SmallWatch()
    for size in ((240, 320), (240, 320), (320, 240), (240, 320)):
        watch.add(frame(np.zeros(size, np.uint8)))
    assert len(watch.finish()) == 2
    long = SmallWatch()
    for _ in range(MOST + 5):
        long.add(frame(np.zeros((120, 120), np.uint8)))
    assert len(long.finish()) == MOST


def test_why_there_is_nothing() -> None:
    watch = SmallWatch()
    assert watch.finish() == "no frame could be decoded"
    watch.add(frame(np.zeros((100, 320), np.uint8)))
    assert watch.finish() == "frames of less than 120 pixels"
