"""A picture that goes on round its edges and is broken inside."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest

from rushes.instruments.clip import evaluate_clip
from rushes.instruments.clip.frames.wrapped_edges import wrapped, wrapped_along
from rushes.media.encode import write_clip
from rushes.media.luma import LumaPlane

LIMIT = 0.15


def scene(seed: int = 3, height: int = 180, width: int = 240) -> np.ndarray:
    """Blobs of many sizes: a picture whose edges are unlike."""
    rng = np.random.default_rng(seed)
    fine = sum(cv2.GaussianBlur(rng.normal(0, 1, (height, width)), (0, 0), s) * s * 25 for s in (1.5, 4, 12))
    return np.clip(120 + fine, 0, 255).astype(np.float32)


def of_picture(picture: np.ndarray) -> float:
    return wrapped(LumaPlane(picture, 1.0, 0.0, False))  # type: ignore[arg-type]  # finer than coded values


def test_by_hand() -> None:
    # twelve columns, of which the outermost alone have details, the same ones (r = 1, q = 0); from the sixth on all are
    # lighter by 20: the seam is a step of 20 (S) beside steps of 0, and the outermost columns are 20 apart (E)
    rows = np.full((60, 12), 60, np.float32)
    rows[:, 0] = rows[:, -1] = np.tile([40.0, 80.0], 30)
    rows[:, 6:] += 20
    assert wrapped_along(rows) == pytest.approx(20 / (20 + 20 + 3))
    rows[:, -1] -= 20  # now they are the same
    assert wrapped_along(rows) == pytest.approx(20 / (20 + 0 + 3))


@pytest.mark.parametrize("shift", [(0, 120), (90, 0), (90, 120), (0, 50), (31, 0)])
def test_shifted_round(shift: tuple[int, int]) -> None:
    assert of_picture(np.roll(scene(), shift, axis=(0, 1))) > 0.5


def test_a_picture_as_it_is() -> None:
    assert of_picture(scene()) == 0.0


def panorama() -> np.ndarray:
    """The picture and itself mirrored: it goes on round its edges, and nothing in it is broken."""
    return np.concatenate([scene(), scene()[:, ::-1]], axis=1)


def split_screen() -> np.ndarray:
    return np.concatenate([scene(3)[:, :120], scene(4)[:, :120]], axis=1)


def tiled() -> np.ndarray:
    """A wallpaper of 12 × 12 pixels: it goes on round its edges and is not broken."""
    tile = scene(5, 12, 12)
    return np.tile(tile, (15, 20))


def bricks() -> np.ndarray:
    """Tiles of 24 × 20 pixels with light joints between them, upright and level."""
    picture = np.full((180, 240), 90, np.float32)
    for first in range(3):
        picture[first + 5 :: 20] = 200
        picture[:, first + 7 :: 24] = 200
    return picture


def symmetrical() -> np.ndarray:
    """Mirrored about a bright post in the middle."""
    picture = panorama()
    picture[:, 236:244] = 250
    return picture


def boxed() -> np.ndarray:
    picture = scene()
    picture[:25] = picture[-25:] = 16
    return picture


def post_before_plain_walls() -> np.ndarray:
    picture = np.full((180, 240), 130, np.float32)
    picture[:, 118:] = 90
    picture[:, 121:] = 130
    return picture


@pytest.mark.parametrize("made", [split_screen, tiled, bricks, boxed, post_before_plain_walls, panorama, symmetrical])
def test_what_is_made_like_that(made: object) -> None:
    assert of_picture(made()) < LIMIT  # type: ignore[operator]


def test_two_copies_side_by_side_are_no_clearer_than_their_seam() -> None:
    # the step round the edges is that in the middle: S = E at most, and what is there has little to do with each other
    assert of_picture(np.concatenate([scene(), scene()], axis=1)) < LIMIT


def test_too_narrow_for_a_seam() -> None:
    assert wrapped_along(np.zeros((90, 5), np.float32)) == 0.0


def clip(path: Path, rolled: bool) -> Path:
    frames = [scene() for _ in range(50)]
    frames = [np.roll(f, 3 * n, axis=0) if rolled else f for n, f in enumerate(frames)]
    return write_clip(path, [np.repeat(f[..., None].astype(np.uint8), 3, axis=2) for f in frames], fps=25)


def test_a_clip_that_rolls(tmp_path: Path) -> None:
    found = [
        evaluate_clip(clip(tmp_path / f"{rolled}.mp4", rolled), metrics=["picture_wrapped"])["picture_wrapped"].value
        for rolled in (True, False)
    ]
    assert found[0] is not None and found[0] > LIMIT
    assert found[1] == 0.0
