"""FID and KID of frames: the network against NVIDIA's port of it, the formulas against torchmetrics and sklearn."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import rushes
from rushes.core.errors import InputError, WeightsError
from rushes.core.selection import keys_of
from rushes.instruments.distribution import BACKBONES
from rushes.instruments.distribution.clips.preparation import prepared
from rushes.instruments.distribution.distances.formulas import polynomial_mmd
from rushes.instruments.distribution.distances.labelled import distance_of
from rushes.instruments.distribution.features.extraction import CpuExtractor
from rushes.instruments.distribution.features.random_weights import random_state, write_random_checkpoint
from rushes.instruments.distribution.features.weights import Weights, find_weights, read_weights
from rushes.instruments.distribution.protocols import ALL, FRAMES, Choices
from rushes.instruments.distribution.recipes import recipe, recipes
from rushes.instruments.distribution.seed.video_metrics import as_results

GOLDEN = json.loads((Path(__file__).parents[2] / "goldens" / "inception.json").read_text(encoding="utf-8"))


def picture(height: int, width: int) -> np.ndarray:
    """As tests/oracle/inception.py makes it."""
    y, x = np.mgrid[0:height, 0:width] / max(height, width)
    waves = np.stack([np.sin(9 * x + 4 * y), np.cos(7 * y), np.sin(5 * x * y + 1)], axis=-1) * 90 + 128
    noise = np.random.RandomState(height).randint(-30, 31, waves.shape)
    return np.clip(waves + noise, 0, 255).astype(np.uint8)


def is_golden(vector: np.ndarray, golden: dict[str, Any], *, rel: float) -> bool:
    """Each number within `rel` of the vector's length, the sum and the length within `rel` of theirs."""
    near = np.abs(vector[:8] - np.array(golden["first"])).max() <= rel * golden["norm"]
    return bool(
        near
        and vector.sum(dtype=np.float64) == pytest.approx(golden["sum"], rel=rel)
        and np.linalg.norm(vector.astype(np.float64)) == pytest.approx(golden["norm"], rel=rel)
    )


@pytest.fixture(scope="module")
def trained() -> Weights:
    """The network as `rushes models pull inception` leaves it."""
    try:
        return find_weights("inception", [])
    except WeightsError:
        pytest.skip("the trained Inception is not here: rushes models pull inception")


# ---- the network -----------------------------------------------------------------------------------------------------


def test_the_network_is_the_published_graph() -> None:
    """Random weights, so that it is known without the trained file; names and shapes are the published file's."""
    state = random_state("inception", 0)
    assert len(state) == 4 * 94 and all(name.startswith("net.layers.") for name in state)
    network = BACKBONES["inception"].build(FRAMES).eval()
    network.load_state_dict(state)
    clip = torch.from_numpy(picture(299, 299).astype(np.float32) - 128).permute(2, 0, 1)[None, :, None]
    with torch.inference_mode():
        one = network(clip)[0]
        two = network(clip[:, :, :1].repeat(1, 1, 2, 1, 1))[0]
    assert is_golden(one.numpy(), GOLDEN["random"], rel=1e-5)
    assert torch.allclose(one, two, rtol=1e-5, atol=1e-4)  # the mean over two equal frames


@pytest.mark.parametrize("size", [(299, 299), (64, 96), (480, 360)])
def test_trained_features_are_those_of_the_torchscript(trained: Weights, size: tuple[int, int]) -> None:
    (vector,) = CpuExtractor(trained, FRAMES, threads=1).features([prepared(picture(*size), FRAMES)[None]])
    assert is_golden(vector, GOLDEN["trained"][f"{size[0]}x{size[1]}"], rel=2e-5)


@pytest.mark.soak  # features and distance have goldens of their own
def test_kid_of_the_example_that_torchmetrics_documents(trained: Weights) -> None:
    """0.0312 ± 0.0025 over subsets of 50 of two ranges of noise that overlap; here 16 of each, so it spreads more."""
    draw = torch.Generator().manual_seed(123)
    extractor = CpuExtractor(trained, FRAMES)
    rows = []
    for low, high in ((0, 200), (100, 255)):
        noise = torch.randint(low, high, (16, 1, 299, 299, 3), generator=draw, dtype=torch.uint8).numpy()
        rows.append(np.stack([*extractor.features(prepared(clip[0], FRAMES)[None] for clip in noise)]))
    assert polynomial_mmd(*rows) == pytest.approx(0.0312, abs=0.012)


def test_the_random_checkpoint_is_recognised(tmp_path: Path) -> None:
    path = write_random_checkpoint("inception", tmp_path / "inception.pt", seed=2)
    assert read_weights(path).backbone == "inception" and read_weights(path).is_random


# ---- the formulas ----------------------------------------------------------------------------------------------------


def test_fid_and_kid_against_torchmetrics_and_sklearn() -> None:
    draw = np.random.RandomState(5)
    gen, real = draw.gamma(0.4, 1, (60, 24)), draw.gamma(0.5, 1, (50, 24))
    wanted = GOLDEN["distances"]
    assert distance_of("fid", FRAMES)(gen, real) == pytest.approx(wanted["fid_torchmetrics"], rel=1e-6)
    kid = distance_of("kid", FRAMES)(gen, real)
    assert kid == pytest.approx(wanted["kid_sklearn"], rel=1e-10)
    # its mean over 400 random subsets of 50 is the same but for the draw
    assert kid == pytest.approx(wanted["kid_torchmetrics_mean"], abs=3 * wanted["kid_torchmetrics_std"] / 400**0.5)


# ---- frames as rows --------------------------------------------------------------------------------------------------


def test_every_frame_is_a_row_from_files_and_from_memory(few: Path, tmp_path: Path, averages: list[Any]) -> None:
    """Clips of 16, 17 and 20 frames a side: 53 rows of three videos, in the same bits."""
    from rushes.instruments.distribution.clips.reading import rgb_frames
    from rushes.media.find.sets import read_set

    weights = write_random_checkpoint("inception", tmp_path / "inception.pt")
    options: dict[str, Any] = {"metrics": ("fid", "kid"), "weights": weights, "device": "cpu"}
    files = rushes.compare_sets(few / "gen", few / "gt", jobs=0, save_gt=tmp_path / "gt.npz", **options)
    keys = keys_of(files["fid"])
    assert (keys["n_gen"], keys["protocol"], keys["rows"], keys["stride"]) == ("53", "fid", "window", "1")
    assert "53 of 3 videos against 53 of 3" in files["fid"].note and "fewer frames than features" in files["fid"].note
    assert "fewer frames" not in files["kid"].note and keys_of(files["kid"])["subsets"] == "none"
    assert len(averages) == 1  # which both sides and both metrics share
    assert list(as_results(files)) == ["FID-Inception", "KID-Inception"]

    memory = rushes.FVD(real=tmp_path / "gt.npz", decoder="pyav", **options)
    for clip in read_set(few / "gen").clips:
        frames = [frame for frame in rgb_frames(clip) if frame is not None]
        memory.update(np.stack(frames), real=False, layout="THWC", names=[clip.name])
    found = memory.compute()
    assert [m.as_dict() for m in found.measurements] == [m.as_dict() for m in files.measurements]


def test_frames_have_one_recipe_under_every_protocol() -> None:
    assert recipe("cd-fvd", "fid") == recipe("genhoi", "kid", sample_duration=8) == FRAMES
    assert recipe("genhoi", "fid", choices=Choices(stride=4)).stride == 4
    assert [(m, r.protocol) for m, r in recipes(ALL, ("fid", "fvd"))][:2] == [("fid", "fid"), ("fvd", "genhoi")]
    with pytest.raises(InputError, match="fid is defined on inception features; on i3d it is fvd or kvd"):
        recipe("genhoi", "fid", backbone="i3d")
    with pytest.raises(InputError, match="on inception features the metrics are fid and kid; got fvd"):
        recipe("genhoi", "fvd", backbone="inception")
