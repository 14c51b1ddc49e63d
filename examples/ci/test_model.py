"""Video in a test suite: pytest finds the `rushes` fixture wherever Rushes is installed."""

import pytest


@pytest.mark.parametrize("clip", ["take1", "take2"])
def test_a_clip_is_sound(rushes, clip):
    result = rushes.assert_passes(f"new/{clip}.mp4", profile="general")
    assert result.bundle()["fps"] == 25


def test_the_new_model_is_not_worse(rushes):
    report = rushes.assert_not_worse("runs/new", baseline="runs/old", metrics={"blur_score": "20%"})
    assert report.clips == 2
