"""Numbers that others have published, with the trained weights where they are here."""

from __future__ import annotations

import pytest

from rushes.core.errors import WeightsError
from rushes.instruments.distribution.features.weights import Weights, find_weights
from rushes.instruments.distribution.self_test import (
    CONSTANT_VIDEOS,
    PYTORCH_TOLERANCE,
    TENSORFLOW_30_FRAMES,
    constant_video_distance,
)


@pytest.fixture(scope="module")
def trained() -> Weights:
    """I3D's trained weights, where they were pulled or placed."""
    try:
        weights = find_weights("i3d", ())
    except WeightsError:
        pytest.skip("I3D's trained weights are not here (rushes models pull i3d)")
    if weights.is_random:
        pytest.skip("the I3D weights found here are random")
    return weights


def test_tensorflows_value_to_five_digits(trained: Weights) -> None:
    got = constant_video_distance(trained, "google-tf", 30)
    assert got == pytest.approx(TENSORFLOW_30_FRAMES, rel=1e-5)
    assert got == pytest.approx(CONSTANT_VIDEOS[30], rel=PYTORCH_TOLERANCE)


@pytest.mark.parametrize("frames", [10, 16])
def test_the_published_pytorch_values(trained: Weights, frames: int) -> None:
    got = constant_video_distance(trained, "common-metrics-styleganv", frames)
    assert got == pytest.approx(CONSTANT_VIDEOS[frames], rel=PYTORCH_TOLERANCE)


def test_the_two_pools_are_one_up_to_sixteen_frames(trained: Weights) -> None:
    one, other = (constant_video_distance(trained, name, 12) for name in ("disco", "stylegan-v"))
    assert one == pytest.approx(other, rel=1e-6)
    assert one == pytest.approx(CONSTANT_VIDEOS[12], rel=PYTORCH_TOLERANCE)


def test_the_published_ladder_is_whole() -> None:
    assert list(CONSTANT_VIDEOS) == list(range(10, 31))
    assert (CONSTANT_VIDEOS[10], CONSTANT_VIDEOS[16]) == (569.2296293622766, 152.91750309134142)
