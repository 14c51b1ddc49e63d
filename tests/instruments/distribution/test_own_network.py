"""A network of the user's own behind a distance: features by our own numpy, distances by SciPy's and by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from av.video.frame import VideoFrame
from scipy.linalg import sqrtm
from tests.clips import write_frames
from tests.vision.networks import small_networks as small

from rushes import compare_sets
from rushes.core.errors import DefinitionMismatch, InputError
from rushes.storage.runs import read_run

pytest.importorskip("onnxruntime")
pytest.importorskip("torch")
CLIPS, FRAMES = 9, 5


def write_set(folder: Path, seed: int) -> np.ndarray:
    """Clips of noise around a level of their own; the frames that were written, (clips, T, 8, 8, 3)."""
    folder.mkdir()
    rng = np.random.default_rng(seed)
    levels = rng.integers(40, 160, (CLIPS, 1, 1, 1, 3))
    frames = (levels + rng.integers(0, 90, (CLIPS, FRAMES, 8, 8, 3))).astype(np.uint8)
    for number, clip in enumerate(frames):
        pictures = (VideoFrame.from_ndarray(f, format="rgb24").reformat(format="bgr0") for f in clip)
        write_frames(folder / f"{number}.mkv", pictures)
    return frames


@pytest.fixture(scope="module")
def sets(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, np.ndarray, np.ndarray]:
    folder = tmp_path_factory.mktemp("sets")
    return folder, write_set(folder / "gen", 1), write_set(folder / "gt", 2)


def rows(frames: np.ndarray, chosen: list[int]) -> np.ndarray:
    return np.array([small.in_numpy(clip[chosen], small.FEATURES).mean(axis=0) for clip in frames])


def frechet(x: np.ndarray, y: np.ndarray) -> float:
    a, b = np.cov(x, rowvar=False), np.cov(y, rowvar=False)
    return float(((x.mean(0) - y.mean(0)) ** 2).sum() + np.trace(a + b - 2 * sqrtm(a @ b).real))


@pytest.mark.parametrize(
    ("frames", "chosen"),
    [
        ("", [0, 1, 2, 3, 4]),
        ("[frames]\nstep = 2", [0, 2, 4]),
        ('[frames]\ntake = "first"\ncount = 2', [0, 1]),
        ('[frames]\ntake = "uniform"\ncount = 2', [0, 3]),  # parts 0–1 and 2–4
    ],
)
def test_fvd_on_its_features_is_scipys_frechet_distance(sets, tmp_path: Path, frames: str, chosen: list[int]) -> None:
    folder, gen, gt = sets
    manifest = small.features(tmp_path, {"[input]": f"{frames}\n[input]"})
    found = compare_sets(folder / "gen", folder / "gt", network=manifest)
    (distance,) = found.measurements
    assert distance.name == "fvd" and distance.count == 2 * CLIPS
    assert distance.value == pytest.approx(frechet(rows(gen, chosen), rows(gt, chosen)), rel=1e-4)
    params = dict(distance.definition.params)
    assert params["backbone"] == "tiny_dino" and params["d"] == "5" and params["protocol"] == "network"
    assert params["resize"] == "opencv-bilinear-squash-8x8" and params["precision"] == "fp32"
    digest = found.weights_files[0].name, params["weights"]
    assert digest[0] == "features.onnx" and len(digest[1]) == 12


def test_jedis_kernel_by_hand(sets, tmp_path: Path) -> None:
    folder, gen, gt = sets
    manifest = small.features(tmp_path)
    x, y = rows(gen, list(range(FRAMES))), rows(gt, list(range(FRAMES)))

    def kernel(a: np.ndarray, b: np.ndarray) -> float:
        return float(((a @ b.T / 5) ** 2).mean())

    biased = kernel(x, x) + kernel(y, y) - 2 * kernel(x, y)
    found = compare_sets(folder / "gen", folder / "gt", network=manifest, metrics="kvd", kernel="jedi")["kvd"]
    assert found.value == pytest.approx(biased, rel=1e-4)
    assert "degree:2|" in found.signature and "estimator:biased" in found.signature and "coef0:0.0" in found.signature
    plain = compare_sets(folder / "gen", folder / "gt", network=manifest, metrics=["kvd", "prdc"])
    assert "degree:3|" in plain["kvd"].signature and plain["precision"].value is not None


def test_frames_may_each_be_a_row(sets, tmp_path: Path) -> None:
    folder, gen, gt = sets
    found = compare_sets(folder / "gen", folder / "gt", network=small.features(tmp_path), rows="window")["fvd"]
    every = [small.in_numpy(part.reshape(-1, 8, 8, 3), small.FEATURES) for part in (gen, gt)]
    assert found.count == 2 * CLIPS * FRAMES and found.value == pytest.approx(frechet(*every), rel=1e-4)


def test_a_run_keeps_the_network_and_the_image_tower_of_two_serves(sets, tmp_path: Path) -> None:
    folder, _, _ = sets
    done = compare_sets(folder / "gen", folder / "gt", network=small.two_towers(tmp_path), run=tmp_path / "run")
    run = read_run(tmp_path / "run")
    assert run.info["settings"]["network"] in (tmp_path / "clip.toml").read_text()
    assert [m.signature for m in run.entries[0].measurements] == [done.measurements[0].signature]


def test_saved_statistics_serve_again_and_only_under_the_same_network(sets, tmp_path: Path) -> None:
    folder, _, _ = sets
    manifest, saved = small.features(tmp_path), tmp_path / "gt.npz"
    first = compare_sets(folder / "gen", folder / "gt", network=manifest, save_gt=saved)["fvd"]
    assert compare_sets(folder / "gen", saved, network=manifest)["fvd"].value == first.value
    other = small.features(tmp_path, {"size = 8": 'size = 8\norder = "bgr"'})
    with pytest.raises(DefinitionMismatch, match="made under another recipe: resize is"):
        compare_sets(folder / "gen", saved, network=other)


def test_what_a_network_cannot_be_is_said(sets, tmp_path: Path) -> None:
    folder, _, _ = sets
    pair = folder / "gen", folder / "gt"
    with pytest.raises(InputError, match="a distance needs features; this network is of kind quality"):
        compare_sets(*pair, network=small.quality(tmp_path))
    manifest = small.features(tmp_path)
    for options, said in (
        ({"metrics": "fid"}, "fid has a network of its own; with tiny_dino, use fvd or kvd"),
        ({"protocol": "videogpt"}, "says how clips are read; leave out protocol videogpt"),
        ({"sample_duration": 8}, "says which frames the network sees; got sample_duration 8"),
        ({"precision": "fp16"}, "runs in fp32; got precision fp16"),
        ({"sensitivity": True}, "a network of your own has none"),
    ):
        with pytest.raises(InputError, match=said):
            compare_sets(*pair, network=manifest, **options)
    with pytest.raises(InputError, match="a kernel is for a network of your own"):
        compare_sets(*pair, kernel="jedi")
    with pytest.raises(InputError, match="takes frames by number"):
        compare_sets(*pair, network=small.features(tmp_path, {"[input]": '[frames]\ntake = "rate"\n[input]'}))
