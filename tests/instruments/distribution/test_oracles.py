"""Each protocol against its peer's own code, whose inputs, features and distances are kept as goldens.

What the network is fed, what it gives, and what becomes of features are compared one after the other, so that all but
the second needs no weights. `tests/oracle/fvd_peers.py` and `fvd_tensorflow.py` make the goldens.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.oracle.fvd_clips import SETS, frames, sample, write_lossless, write_pictures

from rushes.core.errors import WeightsError
from rushes.instruments.distribution.clips.reading import Task, clip_segments
from rushes.instruments.distribution.distances.labelled import distance_of
from rushes.instruments.distribution.features.extraction import CpuExtractor
from rushes.instruments.distribution.features.weights import find_weights
from rushes.instruments.distribution.protocols import Metric
from rushes.instruments.distribution.recipes import recipe
from rushes.media.find.sets import Clip, read_set

GOLDENS = Path(__file__).parents[2] / "goldens"

# golden: protocol, metric, set of clips, given as
CASES: dict[str, tuple[str, Metric, str, str]] = {
    "disco": ("disco", "fvd", "mixed", "videos"),
    "disco pictures": ("disco", "fvd", "mixed", "pictures"),
    "disco fid-vid": ("disco", "fid-vid", "mixed", "videos"),
    "disco fid-vid pictures": ("disco", "fid-vid", "mixed", "pictures"),
    "videogpt": ("videogpt", "fvd", "mixed", "videos"),
    "cd-fvd": ("cd-fvd", "fvd", "mixed", "videos"),
    "google-tf": ("google-tf", "fvd", "mixed", "videos"),
    "stylegan-v": ("stylegan-v", "fvd", "square", "videos"),
    "stylegan-v-128-subsample8": ("stylegan-v-128-subsample8", "fvd", "long", "videos"),
    "common-metrics-styleganv": ("common-metrics-styleganv", "fvd", "square", "videos"),
    "common-metrics-videogpt": ("common-metrics-videogpt", "fvd", "square", "videos"),
}


def golden(name: str) -> dict[str, NDArray[np.float32]]:
    if name == "google-tf":
        return dict(np.load(GOLDENS / "fvd_tensorflow.npz"))
    stored = np.load(GOLDENS / "fvd_peers.npz")
    return {part: stored[f"{name}.{part}"] for part in ("value", "features", "fed")}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every set as lossless videos; the mixed one as pictures too."""
    root = tmp_path_factory.mktemp("peers")
    for name, sides in SETS.items():
        for side, looks in sides.items():
            place = root / name / "videos" / side
            place.mkdir(parents=True)
            for number, look in enumerate(looks, 1):
                pictures = frames(*look)
                write_lossless(place / f"c{number}.mp4", pictures)
                if name == "mixed":
                    write_pictures(root / name / "pictures" / side, pictures, prefix=f"TiktokDance_{number:03}_")
    return root


def segments(folder: Path, name: str) -> Iterator[tuple[str, Clip, list[NDArray[np.float32]]]]:
    protocol, metric, which, given = CASES[name]
    chosen = recipe(protocol, metric)
    for side in ("gen", "gt"):
        clips = read_set(folder / which / given / side).clips
        for clip in clips[:1] if which == "long" else clips:  # a long one takes a while
            yield side, clip, list(clip_segments(Task(clip, chosen, side)))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", CASES)
def test_the_network_is_fed_what_the_peers_is(folder: Path, name: str) -> None:
    fed = np.stack([sample(window) for _, _, windows in segments(folder, name) for window in windows])
    wanted = golden(name)["fed"][:: 3 if CASES[name][2] == "long" else 1]
    assert fed.shape == wanted.shape  # as many windows, from both sides
    scale = 255.0 if CASES[name][1] == "fid-vid" else 2.0
    np.testing.assert_allclose(fed, wanted, atol=2e-6 * scale)


@pytest.mark.parametrize("name", CASES)
def test_features_make_the_peers_distance(name: str) -> None:
    stored = golden(name)
    protocol, metric, _, _ = CASES[name]
    rows = len(stored["features"])
    first = rows if name not in ("disco pictures", "disco fid-vid pictures") else 0
    count = first // 2 if first else sum(look[1] - 15 for look in SETS["mixed"]["gen"])
    features = stored["features"].astype(np.float64)
    if name == "disco fid-vid":  # two segments a clip where it has more than sixteen frames, averaged
        features = _averaged(features)
        count = len(features) // 2
    got = distance_of(metric, recipe(protocol, metric))(features[:count], features[count:])
    assert got == pytest.approx(float(stored["value"]), rel=1e-4)


def _averaged(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    counts = [-(-look[1] // 16) for side in ("gen", "gt") for look in SETS["mixed"][side]]
    edges = np.cumsum([0, *counts])
    return np.stack([rows[a:b].mean(axis=0) for a, b in zip(edges[:-1], edges[1:], strict=True)])


@pytest.mark.parametrize("name", ["disco", "google-tf", "videogpt"])
def test_the_network_gives_what_the_peers_gives(folder: Path, name: str) -> None:
    try:
        weights = find_weights("i3d", ())
    except WeightsError:
        pytest.skip("I3D's trained weights are not here (rushes models pull i3d)")
    if weights.is_random:
        pytest.skip("the I3D weights found here are random")
    protocol, metric, _, _ = CASES[name]
    _, _, windows = next(segments(folder, name))
    (got,) = CpuExtractor(weights, recipe(protocol, metric)).features(windows)
    wanted = golden(name)["features"][0]
    assert np.linalg.norm(got - wanted) <= 1e-5 * np.linalg.norm(wanted)
