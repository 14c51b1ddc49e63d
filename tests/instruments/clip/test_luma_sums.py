"""The sums of the loops in C equal the plain ones, number for number."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from tests.plane_sums import reference_sums as reference_frame

from rushes.instruments.clip.frames.luma_sums import (
    BlockEdges,
    FrameSums,
    LumaSums,
    absolute_difference,
    frame_sums,
    luma_sums,
)


def reference_sums(plane: np.ndarray, before: np.ndarray | None) -> LumaSums:
    return reference_frame(plane, before, BlockEdges.of(plane.shape, (1, 1)), False).whole


def equal(one: FrameSums, other: FrameSums) -> bool:
    return one.whole == other.whole and one.blocks.tolist() == other.blocks.tolist()


def test_blocks_by_hand() -> None:
    # 2 × 4 in two blocks of 2 × 2: ΣY 1 + 2 + 5 + 6 and 3 + 4 + 7 + 8; the step is 1 everywhere;
    # to the right neighbour 1 everywhere, but in the last column there is none
    plane = np.arange(1, 9, dtype=np.uint8).reshape(2, 4)
    blocks = frame_sums(plane, plane - 1, BlockEdges.of((2, 4), (1, 2)), True).blocks
    assert blocks.tolist() == [[[14, 22]], [[4, 4]], [[4, 2]]]


@pytest.mark.parametrize("shape", [(1, 7), (9, 2), (33, 70), (600, 24), (5, 4097)])
@pytest.mark.parametrize("textured", [False, True])
@pytest.mark.parametrize(("dtype", "levels"), [(np.uint8, 256), (np.uint16, 65536)])
def test_blocks_equal_the_reference(shape: tuple[int, int], textured: bool, dtype: type, levels: int) -> None:
    rng = np.random.default_rng(2)
    padded = rng.integers(0, levels, (shape[0], shape[1] + 13)).astype(dtype)
    plane, before = padded[:, : shape[1]], rng.integers(0, levels, shape).astype(dtype)
    edges = BlockEdges.of(shape, (min(shape[0], 2), min(shape[1], 5)))
    assert equal(frame_sums(plane, before, edges, textured), reference_frame(plane, before, edges, textured))
    assert equal(frame_sums(plane, None, edges, textured), reference_frame(plane, None, edges, textured))


def test_blocks_of_white_do_not_overflow() -> None:
    board = (np.indices((600, 40)).sum(axis=0) % 2 * 255).astype(np.uint8)
    edges = BlockEdges.of(board.shape, (1, 1))
    assert equal(frame_sums(board, 255 - board, edges, True), reference_frame(board, 255 - board, edges, True))


def test_by_hand() -> None:
    # 3×3, centre 10, rest 0, against all 1: Σ = 10; Σ|Y − 1| = 9 + 8 = 17
    # L: centre −40; its four neighbours see it once, but reflection shows it twice to each: 20 each; corners 0
    plane = np.zeros((3, 3), np.uint8)
    plane[1, 1] = 10
    assert luma_sums(plane, np.ones((3, 3), np.uint8)) == LumaSums(10, 17, -40 + 4 * 20, 1600 + 4 * 400)


def test_the_first_frame_has_no_difference() -> None:
    assert luma_sums(np.full((4, 4), 9, np.uint8), None).difference == 0


@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (7, 1), (2, 2), (2, 9), (9, 2), (33, 70), (3, 4097)])
@pytest.mark.parametrize(("dtype", "levels"), [(np.uint8, 256), (np.uint16, 1024), (np.uint16, 65536)])
def test_equal_to_the_reference(shape: tuple[int, int], dtype: type, levels: int) -> None:
    rng = np.random.default_rng(1)
    padded = rng.integers(0, levels, (shape[0], shape[1] + 13)).astype(dtype)
    plane, before = padded[:, : shape[1]], rng.integers(0, levels, shape).astype(dtype)
    assert luma_sums(plane, before) == reference_sums(plane, before)
    assert luma_sums(plane, None) == reference_sums(plane, None)


def test_the_largest_sums_do_not_overflow() -> None:
    board = (np.indices((8, 9000)).sum(axis=0) % 2 * 255).astype(np.uint8)
    # every inner pixel differs from its four neighbours by 255, so |L| = 1020 everywhere
    assert luma_sums(board, 255 - board) == reference_sums(board, 255 - board)
    assert luma_sums(board, None).laplacian_squared == 1020**2 * board.size


@settings(max_examples=60, deadline=None)
@given(arrays.arrays(np.uint8, st.tuples(st.integers(1, 12), st.integers(1, 140))))
def test_any_plane(plane: np.ndarray) -> None:
    assert luma_sums(plane, plane[::-1].copy()) == reference_sums(plane, plane[::-1].copy())


def test_rows_that_go_upwards_or_lie_apart() -> None:
    rng = np.random.default_rng(4)
    both = rng.integers(0, 256, (2, 40, 50)).astype(np.uint8)
    edges = BlockEdges.of((40, 25), (3, 4))
    for plane, before in (both[:, ::-1, :25], both[:, :, ::2], (both[0, :, 49:24:-1], both[1, ::-1, ::2])):
        assert equal(frame_sums(plane, before, edges, True), reference_frame(plane, before, edges, True))
        assert equal(frame_sums(plane, None, edges, True), reference_frame(plane, None, edges, True))


def test_a_depth_that_changes_within_a_clip() -> None:
    plane, before = np.full((4, 6), 200, np.uint8), np.full((4, 6), 1000, np.uint16)
    assert luma_sums(plane, before) == reference_sums(plane, before)
    assert absolute_difference(plane, before) == absolute_difference(before, plane) == 24 * 800
