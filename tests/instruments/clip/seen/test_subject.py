"""Subject and background: the mask is rembg's, the features FID's, and the values are those worked out by hand."""

from __future__ import annotations

import json
from pathlib import Path

import cv2
import numpy as np
import pytest

import rushes
from rushes.core.errors import MissingDependency
from rushes.instruments.clip.metrics import METRICS
from rushes.instruments.clip.metrics.seen.subject import drifts, straightness
from rushes.instruments.clip.seen.subject import pooled, sharpness, weighted
from rushes.media import write_clip
from rushes.vision.models.cache import is_pulled, model_path
from rushes.vision.models.catalogue import group_named

torch = pytest.importorskip("torch")
from rushes.vision.inception import feature_map  # noqa: E402
from rushes.vision.subject import subject_mask  # noqa: E402

here = all(is_pulled(group_named(name)) for name in ("subject", "inception", "astronaut"))
pulled = pytest.mark.skipif(not here, reason="rushes models pull subject inception astronaut")
GOLDENS = Path(__file__).parents[3] / "goldens" / "subject.json"
NAMES = ("feature_drift", "subject_drift", "background_drift", "subject_straightness", "subject_sharpness")


def _astronaut() -> np.ndarray:
    return np.ascontiguousarray(cv2.imread(str(model_path("astronaut.png")))[..., ::-1])


# --- by hand


def test_drift_is_taken_between_looks_400_ms_apart() -> None:
    features = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [4.0, 1.0], [3.0, 4.0], [1.0, 1.0]])
    values, later = drifts(features, np.array([0.0, 100.0, 200.0, 300.0, 400.0, 500.0]))
    # (0,0) → (3,4): 5; (1,0) → (1,1): 1.
    assert values.tolist() == [5.0, 1.0] and later.tolist() == [4, 5]
    assert len(drifts(features[:3], np.array([0.0, 100.0, 200.0]))[0]) == 0


def test_straightness_by_hand() -> None:
    there_and_back = np.array([[0.0], [2.0], [0.0]])
    assert straightness(there_and_back) == 0.0 and straightness(np.array([[0.0], [1.0], [5.0]])) == 1.0
    assert straightness(np.zeros((3, 2))) is None and straightness(there_and_back[:2]) is None


def test_parts_by_hand() -> None:
    found = np.arange(4, dtype=np.float32).reshape(1, 2, 2)
    mask = np.array([[1, 0], [0, 0.5]], np.float32)
    # Inside (0·1 + 3·½) / 1½ = 1; outside (1 + 2 + 3·½) / 2½ = 1.8; whole 1.5.
    assert pooled(found, mask).ravel().tolist() == pytest.approx([1.0, 1.8, 1.5])
    assert np.isnan(weighted(np.ones((10, 10)), np.zeros((10, 10))))


def test_one_half_is_sharp_and_the_other_soft() -> None:
    random = np.random.default_rng(1).integers(0, 255, (64, 64)).astype(np.float32)
    soft = cv2.GaussianBlur(random, (0, 0), 3)
    left = np.zeros((64, 64), np.float32)
    left[:, :32] = 1
    plane = np.where(left > 0, random, soft).astype(np.float32)
    assert sharpness(plane, left) > 0.8 and sharpness(plane, 1 - left) < 0.6
    assert np.isnan(sharpness(np.full((64, 64), 9, np.float32), left))


# --- rembg's session and torchmetrics' input as the oracles


@pulled
def test_the_mask_is_that_of_rembg() -> None:
    expected = np.array(json.loads(GOLDENS.read_text(encoding="utf-8"))["astronaut"])
    mask = cv2.resize(subject_mask(_astronaut()), (512, 512), interpolation=cv2.INTER_CUBIC)
    cells = mask.reshape(16, 32, 16, 32).mean(axis=(1, 3))
    assert np.abs(cells - expected).max() < 0.02 and 0.2 < cells.mean() < 0.8


@pulled
def test_the_map_has_the_mean_that_fid_uses() -> None:
    from rushes.instruments.distribution.networks.inception import FrameInception

    network = FrameInception()
    with np.load(model_path("fid-inception-v3.npz")) as stored:
        network.load_state_dict({name: torch.from_numpy(stored[name]) for name in stored.files})
    picture = np.ascontiguousarray(_astronaut()[:299, :299])
    with torch.inference_mode():
        clip = torch.from_numpy(picture.transpose(2, 0, 1)[None, :, None].astype(np.float32)) - 128
        expected = network.eval()(clip)[0].numpy()
    assert feature_map(picture).mean(axis=(1, 2)) == pytest.approx(expected, abs=1e-4)


@pulled
def test_a_still_clip_does_not_drift_and_a_changing_subject_does(tmp_path: Path) -> None:
    small = cv2.resize(_astronaut(), (128, 128), interpolation=cv2.INTER_AREA)
    other = np.ascontiguousarray(small[::-1])
    write_clip(tmp_path / "still.mp4", [small] * 6, fps=10)
    write_clip(tmp_path / "turned.mp4", [small] * 3 + [other] * 3, fps=10)
    still, turned = (rushes.clip.evaluate_clip(tmp_path / f"{n}.mp4", metrics=NAMES) for n in ("still", "turned"))
    assert still["feature_drift"].count == 2 and still["subject_sharpness"].value is not None
    for name in NAMES[:3]:
        assert still[name].value < 1.5 < 5 < turned[name].value
    assert turned["subject_straightness"].value > 0.5


def test_without_the_networks_the_command_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUSHES_CACHE", str(tmp_path))
    with pytest.raises(MissingDependency, match="rushes models pull subject inception"):
        METRICS["subject_drift"].require()
