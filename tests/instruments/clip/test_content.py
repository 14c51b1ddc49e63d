"""How much of a picture is plain: without texture, or dithered from a few colours."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from tests.picture_grids import grid

from rushes.instruments.clip.metrics.content import plain_area_ratio

STEEP = np.arange(20, dtype=np.float32).reshape(4, 5)
"""No block has the light of one beside it."""


def plain(luma: np.ndarray, *, texture: float = 8.0, blue: np.ndarray | float = 0.0) -> float | None:
    """Of one frame of 4 × 5 blocks."""
    seen = grid(luma[None], blue=blue, texture=texture)
    return plain_area_ratio(SimpleNamespace(grid=seen)).value


def test_a_block_without_texture_is_plain() -> None:
    assert (plain(STEEP, texture=0.29), plain(STEEP, texture=0.3)) == (1.0, 0.0)


@pytest.mark.parametrize(("off", "expected"), [(0.25, 0.45), (0.26, 0.0)])
def test_a_dithered_plane_is_plain_however_it_is_textured(off: float, expected: float) -> None:
    """3 × 3 of the 20 blocks are alike, each beside two others or more; an edge of a plane does not reach beyond it."""
    luma = 50 * STEEP
    luma[:3, :3] = 500 + off * np.indices((3, 3)).sum(axis=0)
    assert plain(luma) == expected


def test_a_line_of_blocks_is_no_plane_but_its_middle() -> None:
    luma = 50 * STEEP
    luma[1] = 7
    assert plain(luma) == 3 / 20  # those at the ends have one neighbour of their light


def test_planes_of_equal_light_and_other_colour_are_not_alike() -> None:
    assert plain(0 * STEEP) == 1.0
    assert plain(0 * STEEP, blue=STEEP) == 0.0
