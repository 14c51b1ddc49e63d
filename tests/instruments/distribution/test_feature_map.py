"""The map of two sets: by hand, against scipy, and the features that a run keeps for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import mahalanobis

from rushes.core.errors import InputError
from rushes.instruments.distribution.evaluate import compare_sets
from rushes.instruments.distribution.features.map import distances_from, map_of, principal_places, set_map
from rushes.instruments.distribution.features.rows import (
    FeatureSet,
    has_features,
    keep_features,
    kept_recipes,
    save_statistics,
)


def made(rows: object, prefix: str = "c", **more: object) -> FeatureSet:
    features = np.asarray(rows, dtype=np.float32)
    names = tuple(f"{prefix}{n}.mp4" for n in range(len(features)))
    return FeatureSet(names=more.get("names", names), digests=("d",) * len(features), features=features)  # type: ignore[arg-type]


def test_places_by_hand() -> None:
    # Points (±3, 0) and (0, ±1) around (10, 20), turned onto the line (0.6, 0.8): the first component is that line,
    # with its larger loading 0.8 positive; the second (0.8, −0.6), since its larger loading is 0.8.
    first, second = np.array([0.6, 0.8]), np.array([0.8, -0.6])
    rows = np.array([10.0, 20.0]) + np.array([3 * first, -3 * first, second, -second])
    places, shares = principal_places(rows)
    assert places == pytest.approx(np.array([[3, 0], [-3, 0], [0, 1], [0, -1]]), abs=1e-12)
    assert shares == pytest.approx((18 / 20, 2 / 20))


def test_places_against_an_eigendecomposition() -> None:
    """Oracle: eigenvectors of the covariance, from numpy's symmetric solver, and the trace for the shares."""
    rows = np.random.default_rng(3).normal(size=(40, 7)) * [5, 1, 3, 1, 1, 2, 1]
    places, shares = principal_places(rows)
    centred = rows - rows.mean(axis=0)
    values, vectors = np.linalg.eigh(centred.T @ centred)
    for axis in (0, 1):
        vector = vectors[:, -1 - axis]
        vector = vector * np.sign(vector[np.argmax(np.abs(vector))])
        assert places[:, axis] == pytest.approx(centred @ vector, abs=1e-9)
        assert shares[axis] == pytest.approx(values[-1 - axis] / values.sum())


def test_more_features_than_clips_and_a_mirrored_set() -> None:
    rows = np.random.default_rng(4).normal(size=(5, 400))
    places, _ = principal_places(rows)
    assert places.shape == (5, 2)
    # Rows in another order lie at the same places: the signs do not depend on the order.
    other, _ = principal_places(rows[::-1])
    assert other[::-1] == pytest.approx(places, abs=1e-9)


def test_distances_against_scipy_with_each_real_clip_left_out() -> None:
    generator = np.random.default_rng(5)
    real, generated = generator.normal(size=(12, 2)), generator.normal(size=(3, 2)) + 2
    found = distances_from(real, generated)
    inverse = np.linalg.inv(np.cov(real.T))
    assert found[:3] == pytest.approx([mahalanobis(place, real.mean(axis=0), inverse) for place in generated])
    for at, place in enumerate(real):
        rest = np.delete(real, at, axis=0)
        assert found[3 + at] == pytest.approx(mahalanobis(place, rest.mean(axis=0), np.linalg.inv(np.cov(rest.T))))


def test_too_few_real_clips_or_a_line_of_them_have_no_distance() -> None:
    assert distances_from(np.eye(3, 2), np.ones((2, 2))) == [None] * 5
    line = np.array([[n, 2.0 * n] for n in range(6)])
    assert distances_from(line, np.ones((1, 2))) == [None] * 7
    found = map_of(made(np.eye(3)), made(np.eye(3) * 2), features="x")
    assert found.outliers() == () and "fewer than four real clips" in found.points[0].distance.note


def test_a_map_names_its_clips_and_carries_its_definition() -> None:
    real = made(np.random.default_rng(6).normal(size=(30, 4)), "r")
    far = np.zeros((3, 4))
    far[2] = 50.0
    found = map_of(made(far, "g"), real, features="i3d-000000000000")
    assert [point.name for point in found.points[:4]] == ["g0.mp4", "g1.mp4", "g2.mp4", "r0.mp4"]
    assert found.outliers(1)[0].name == "g2.mp4" and len(found.outliers()) == 10
    assert found.points[0].x.signature == (
        "set_map_coordinate|arithmetic:fp64-svd|centre:mean-of-both|d:4|features:i3d-000000000000|n_gen:3|n_gt:30|"
        "sign:largest-loading-positive|v:1"
    )
    assert found.points[0].x.place == {"axis": "1", "clip": "g0.mp4", "set": "generated"}
    assert repr(found).startswith("SetMap(3 generated and 30 real clips, ")
    again = map_of(made(far, "g"), real, features="i3d-000000000000")
    assert [point.x.value for point in again.points] == [point.x.value for point in found.points]


def test_windows_of_one_video_are_one_point() -> None:
    windows = made([[0.0, 0.0], [2.0, 0.0], [5.0, 1.0]], names=("a", "a", "b"))
    found = map_of(windows, made([[0.0, 4.0], [1.0, 4.0]], "r"), features="x")
    assert [point.name for point in found.points] == ["a", "b", "r0.mp4", "r1.mp4"]
    # a is the mean of its windows, (1, 0): the centre of all four points is (7/4, 9/4).
    places, _ = principal_places(np.array([[1.0, 0.0], [5.0, 1.0], [0.0, 4.0], [1.0, 4.0]]))
    assert [point.x.value for point in found.points] == pytest.approx(places[:, 0].tolist())


@pytest.mark.parametrize(
    ("gen", "gt", "why"),
    [
        (np.ones((2, 3)), np.ones((2, 3)), "all clips give the same features"),
        (np.ones((2, 3)), np.ones((2, 4)), "rows of 3 features, the ground truth of 4"),
    ],
)
def test_what_cannot_be_mapped_says_why(gen: np.ndarray, gt: np.ndarray, why: str) -> None:
    with pytest.raises(InputError, match=why):
        set_map(gen, gt, features="x")


def test_features_need_a_name() -> None:
    with pytest.raises(InputError, match="features=NAME"):
        set_map(np.eye(3), np.eye(3), features=" ")


def test_a_run_keeps_features_and_their_map(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--save-features"):
        kept_recipes(tmp_path, "generated", "ground_truth")
    rows = np.random.default_rng(7).normal(size=(6, 5))
    how = {"backbone": "i3d", "weights": "ab", "cut": "segments"}
    sets = {"generated": [(how, made(rows, "g"))], "ground_truth": [(how | {"cut": "random"}, made(rows + 1, "r"))]}
    keep_features(tmp_path, sets)
    assert has_features(tmp_path, "generated", "ground_truth")
    ((label, pair),) = kept_recipes(tmp_path, "generated", "ground_truth").items()
    assert label.startswith("i3d-") and len(label) == 16, "how a side is cut may differ between the two"
    found = map_of(*pair, features=label)
    assert len(found.points) == 12 and found.points[0].x.definition.param("features") == label
    save_statistics(tmp_path / "features" / "generated.npz", [({"backbone": "r3d50"}, made(rows))])
    with pytest.raises(InputError, match="no recipe in common"):
        kept_recipes(tmp_path, "generated", "ground_truth")


def test_the_command_keeps_features_on_request(
    sets: Path, random_weights: dict[str, Path], averages: list[Any], tmp_path: Path
) -> None:
    runs = [tmp_path / name for name in ("one", "two")]
    for run in runs:
        compare_sets(
            sets / "gen",
            sets / "gt",
            protocol="genhoi",
            weights=random_weights["i3d"],
            jobs=0,
            run=run,
            keep_features=True,
        )
    ((label, pair),) = kept_recipes(runs[0], "generated", "ground_truth").items()
    found = map_of(*pair, features=label)
    assert [point.name for point in found.points[:2]] == ["take3.mp4", "take6.mp4"] and len(found.points) == 10
    for name in ("generated.npz", "ground_truth.npz"):
        assert (runs[0] / "features" / name).read_bytes() == (runs[1] / "features" / name).read_bytes()
    with pytest.raises(InputError, match="name its folder"):
        compare_sets(sets / "gen", sets / "gt", weights=random_weights["i3d"], keep_features=True)
