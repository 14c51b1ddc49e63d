"""Frames that do not belong: hits, and the changes that are none."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace

import cv2
import numpy as np
import pytest
from tests.clips import write_luma

from rushes.instruments.clip.evaluate import evaluate_clip
from rushes.instruments.clip.frames.outliers import LONGEST, OddFrames
from rushes.instruments.clip.metrics.glitch import odd_frame_score
from rushes.media.luma import LumaPlane


def scores(levels: list[float]) -> np.ndarray:
    """Flat planes of these levels: every step is the difference of two levels."""
    return followed(np.full((8, 8), level, np.uint8) for level in levels)


def followed(planes: Iterable[np.ndarray], *, scale: float = 1.0) -> np.ndarray:
    walk, before = OddFrames(), None
    for plane in planes:
        now = SimpleNamespace(luma=LumaPlane(plane, scale, 0.0, False))
        step = 0.0 if before is None else abs(float(plane[0, 0]) - float(before.luma.values[0, 0])) * scale
        walk.add(now, before, step=step)
        before = now
    return walk.scores


@pytest.mark.parametrize("length", range(1, LONGEST + 1))
def test_a_foreign_run_of_up_to_three_frames(length: int) -> None:
    """In and out by 100, back to within 1: 100 / (1 + 1) … and 0 elsewhere."""
    found = scores([50, 50, 50, *[150] * length, 51, 51, 51])
    assert found[3 : 3 + length].tolist() == [49.5] * length  # out of it by 99
    assert not np.delete(found, range(3, 3 + length)).any()


@pytest.mark.parametrize(
    "levels",
    [
        [50, 50, 50, 150, 150, 150, 150, 150],  # a cut
        [50, 60, 70, 80, 90, 100, 110],  # a fade
        [50, 90, 50, 90, 50, 90, 50],  # a strobe: no frame stands out
        [50, 50, 50, *[150] * (LONGEST + 1), 50, 50],  # a shot of four frames
        [50, 50, 90, 90, 130, 130, 170, 170],  # every frame twice
        [50, 150, 50, 50, 50, 50],  # nothing before it to hold it against
    ],
)
def test_what_is_no_glitch(levels: list[float]) -> None:
    assert scores(levels).max() < 1


def test_the_scale_of_the_luma_does_not_matter() -> None:
    levels = (200, 200, 200, 600, 200, 200)
    assert followed((np.full((8, 8), level, np.uint16) for level in levels), scale=0.25).max() == 100.0


def test_the_measurement() -> None:
    found = odd_frame_score([0.0, 0.0, 7.0, 0.0, 0.0], [0.0, 40.0, 1520.0, 1560.0, 1600.0])
    assert (found.value, found.note, found.count) == (7.0, "1.5 s", 5)
    assert odd_frame_score([0.0] * 5, [0.0] * 5).note == ""
    assert odd_frame_score([0.0] * 3, [0.0] * 3).value is None


def lit(frames: np.ndarray, at: int) -> np.ndarray:
    """The same pictures, one of them in a flash and the next in what is left of it."""
    made = frames.astype(np.float32)
    made[at], made[at + 1] = made[at] * 1.3 + 60, made[at + 1] * 1.1 + 15
    return np.clip(made, 0, 255).astype(np.uint8)


def test_a_flash_of_light_is_no_odd_frame(tmp_path: Path) -> None:
    """A photographer's flash lights the picture; a white frame, a torn and an inverted one are not the picture."""
    rng = np.random.default_rng(4)
    scene = cv2.GaussianBlur(rng.integers(0, 200, (96, 128)).astype(np.float32), (0, 0), 6)
    scene = (scene - scene.min()) / (scene.max() - scene.min()) * 120 + 30
    frames = np.stack([np.roll(scene, n // 4, axis=1) for n in range(30)]).astype(np.uint8)
    arms = {"flash": lit(frames, 14), "white": frames.copy(), "inverted": frames.copy(), "torn": frames.copy()}
    arms["white"][14] = 255
    arms["inverted"][14] = 255 - frames[14]
    arms["torn"][14] = np.roll(frames[14].reshape(6, 16, 128), 40, axis=2).reshape(96, 128)[::-1]
    found = {}
    for name, luma in arms.items():
        write_luma(tmp_path / f"{name}.mkv", luma, "gray")
        found[name] = evaluate_clip(tmp_path / f"{name}.mkv")["odd_frame_score"].value
    assert found["flash"] < 3.5 < min(found["white"], found["inverted"], found["torn"]), found
