"""temporal_disorder: its parts by hand, planted faults that must not calm it, and the sizes it does not depend on."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import cv2
import numpy as np
import pytest
from tests.compare.planted import moving_texture

import rushes
from rushes.core import Measurement
from rushes.instruments.clip.metrics import METRICS
from rushes.instruments.clip.metrics.disorder import (
    TEMPORAL_DISORDER,
    DisorderCollector,
    temporal_disorder,
    weighted_median,
)
from rushes.media import write_clip

Pictures = list[np.ndarray]
FRAMES = 16


class _Luma:
    offset, scale = 0.0, 1.0

    def __init__(self, values: np.ndarray) -> None:
        self.values = values


class _Frame:
    def __init__(self, index: int, picture: np.ndarray) -> None:
        self.index, self.luma = index, _Luma(picture)


class _Video:
    def __init__(self, fps: int) -> None:
        self.fps = Fraction(fps)


class _Facts:
    def __init__(self, fps: int = 10) -> None:
        self.video = _Video(fps)


def seen(pictures: Pictures, *, fps: int = 10) -> DisorderCollector:
    collector = DisorderCollector(_Facts(fps))  # type: ignore[arg-type]
    for index, picture in enumerate(pictures):
        collector.add(_Frame(index, picture))  # type: ignore[arg-type]
    return collector


def measured(pictures: Pictures, **more: int) -> Measurement:
    return seen(pictures, **more).finish()


def value(pictures: Pictures, **more: int) -> float:
    found = measured(pictures, **more).value
    assert found is not None
    return float(found)


def panning(seed: int = 3, *, size: tuple[int, int] = (192, 128), frames: int = FRAMES) -> Pictures:
    return [picture[..., 1] for picture in moving_texture(seed, frames=frames, size=size)]


def test_the_formula_by_hand() -> None:
    # (1.5 + 0.5) · (0.9 + 0.1) · 4 = 8, whose cube root is 2; without a change that is not motion there is none.
    assert math.isclose(temporal_disorder(1.5, 0.9, 4.0), 2.0)
    assert temporal_disorder(1.5, 0.9, 0.0) == 0.0


def test_the_weighted_median_by_hand() -> None:
    # Of 1 + 2 + 4 = 7 parts of weight, 3.5 are reached at the value 9 (1 + 2 = 3, and then 4 more).
    assert weighted_median([5.0, 1.0, 9.0], [2, 1, 4]) == 9.0
    assert weighted_median([1.0, 2.0], [1, 1]) == 1.0  # half is reached at the lower
    assert weighted_median([7.0, 0.0], [3, 0]) == 7.0
    assert math.isnan(weighted_median([7.0], [0])) and math.isnan(weighted_median([], []))


@pytest.mark.parametrize(
    ("pictures", "why"),
    [
        (panning(frames=2), "needs at least three frames"),
        ([np.full((128, 128), 90, np.uint8)] * 9, "nothing changes from frame to frame"),
        ([p[:95] for p in panning()], "less than 96 pixels"),
        (panning(frames=3) + panning(frames=3, size=(128, 128)), ""),
    ],
)
def test_edges(pictures: Pictures, why: str) -> None:
    found = measured(pictures)
    assert (found.value is None) == bool(why) and why in found.note


def noisy(pictures: Pictures) -> Pictures:
    rng = np.random.default_rng(5)
    return [np.clip(p + rng.normal(0, 12, p.shape), 0, 255).astype(np.uint8) for p in pictures]


def strobing(pictures: Pictures) -> Pictures:
    return [np.clip(p.astype(int) + 8 * (t % 2), 0, 255).astype(np.uint8) for t, p in enumerate(pictures)]


def shaking(pictures: Pictures) -> Pictures:
    rng = np.random.default_rng(5)
    return [np.roll(p, rng.integers(-3, 4, 2), (0, 1)) for p in pictures]


def morphing(pictures: Pictures) -> Pictures:
    """Everything turns into another picture, without a motion that would take it there."""
    other = panning(4)
    shares = np.linspace(0, 1, len(pictures))
    return [np.rint((1 - s) * p + s * q).astype(np.uint8) for s, p, q in zip(shares, pictures, other, strict=True)]


def held_twice(pictures: Pictures) -> Pictures:
    return [pictures[t - t % 2] for t in range(len(pictures))]


def held_at_the_end(pictures: Pictures) -> Pictures:
    return pictures[:8] + [pictures[7]] * 8


def without_every_fourth(pictures: Pictures) -> Pictures:
    return [p for t, p in enumerate(pictures) if t % 4 != 3]


WORSE = (noisy, strobing, shaking, morphing, held_twice, without_every_fourth)


@pytest.mark.parametrize("fault", WORSE, ids=lambda fault: fault.__name__)
def test_a_fault_raises_it(fault: Callable[[Pictures], Pictures]) -> None:
    for seed in (3, 8, 12):
        clean = panning(seed)
        assert value(fault(clean)) > 1.05 * value(clean), seed


def test_a_freeze_does_not_calm_it_and_what_does_is_declared() -> None:
    clean = panning()
    assert math.isclose(value(held_at_the_end(clean)), value(clean), rel_tol=0.15)
    assert {"blur and compression", "steady camera motion"} <= set(TEMPORAL_DISORDER.lowered_by)
    assert not TEMPORAL_DISORDER.judges  # so that no board ranks by it


def test_frame_size_and_a_multiple_of_the_rate_do_not_move_it() -> None:
    clean = panning(size=(384, 256))
    halved = [cv2.resize(p, (192, 128), interpolation=cv2.INTER_AREA) for p in clean]
    assert math.isclose(value(clean), value(halved), rel_tol=0.05)
    thrice = [p for p in clean for _ in range(3)]  # at 30 frames a second every third is looked at
    assert value(thrice, fps=30) == value(clean)
    assert "frame_size" not in TEMPORAL_DISORDER.depends_on and "fps" in TEMPORAL_DISORDER.depends_on


def test_on_request_in_a_run_with_its_lane(tmp_path: Path) -> None:
    clip = write_clip(tmp_path / "pan.mp4", moving_texture(3, frames=9, size=(128, 96)), 10)
    assert METRICS["temporal_disorder"].on_request
    assert "temporal_disorder" not in [m.name for m in rushes.evaluate_clip(clip).measurements]
    found = rushes.evaluate_clip(clip, metrics="temporal_disorder")["temporal_disorder"]
    assert found.value is not None and found.count == 7  # 9 pictures, 8 steps, the first without one before it
    assert "short_side:96" in found.signature
    series = seen([p[..., 1] for p in moving_texture(3, frames=9, size=(128, 96))]).series()["unmoved_change"]
    assert len(series) == 9 and int(np.isfinite(series).sum()) == 7


@pytest.mark.soak
def test_on_the_clips_of_fetv_ground_truth_comes_first(shared: Path, tmp_path: Path) -> None:
    """The means that docs/evaluation-section.md prints."""
    means = {}
    for folder in sorted(p for p in (shared / "suites" / "fetv").iterdir() if p.is_dir()):
        done = rushes.evaluate_clips(folder, run=tmp_path / folder.name, metrics=["temporal_disorder"])
        found = [m.value for m in done.select("temporal_disorder")]
        assert len(found) == 17 and None not in found
        means[folder.name] = round(sum(map(float, found)) / 17, 2)  # type: ignore[arg-type]
    assert min(means, key=means.__getitem__) == "ground-truth"
    printed = {"ground-truth": 0.52, "zeroscope": 0.55, "modelscope": 0.65, "cogvideo": 0.98, "text2video-zero": 1.43}
    assert means == pytest.approx(printed, abs=0.011)
