"""Features from elsewhere: what is read, what is refused, and the same bits as from our own networks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

import rushes
from rushes.cli.main import app
from rushes.core.errors import InputError
from rushes.core.selection import keys_of
from rushes.instruments.distribution.definitions import Kernel
from rushes.instruments.distribution.features.files import given_features
from rushes.instruments.distribution.show.charts import charts
from rushes.instruments.distribution.show.section import summary
from rushes.instruments.distribution.show.tables import distance_rows, distances_table

DRAW = np.random.RandomState(3)
GEN, GT = DRAW.normal(0.3, 1, (12, 5)).astype(np.float32), DRAW.normal(0, 1, (9, 5)).astype(np.float32)


def command(*words: object, code: int = 0) -> str:
    result = CliRunner().invoke(app, [*map(str, words)])
    assert result.exit_code == code, result.output
    return " ".join(result.output.replace("│", " ").split())


@pytest.fixture
def files(tmp_path: Path) -> Path:
    np.save(tmp_path / "gen.npy", GEN)
    np.save(tmp_path / "gt.npy", GT)
    return tmp_path


# ---- values ----------------------------------------------------------------------------------------------------------


def test_by_hand_and_by_its_name() -> None:
    """Two points each, one apart by 3: no spread differs, so the distance is 3² and nothing is called FVD."""
    found = rushes.compare_features([[0.0], [2.0]], [[3.0], [5.0]], extractor="  thumb\tv2 ")
    assert found["frechet_distance"].value == 9.0 and found["frechet_distance"].count == 4
    assert found["frechet_distance"].signature == (
        "frechet_distance|arithmetic:fp64-qr-nuclear|backbone:given|covariance:1/(N-1)|d:1|extractor:thumb v2|n_gen:2|"
        "n_gt:2|v:1"
    )
    assert [m.name for m in found.measurements] == ["frechet_distance"]


def test_jedis_published_example() -> None:
    one, other = np.arange(1, 10).reshape(3, 3), [[7, 6, 5], [4, 3, 2], [1, 1, 8], [0, 2, 5]]
    found = rushes.compare_features(one, other, extractor="v-jepa", metrics="kernel_distance", kernel="jedi")
    assert found["kernel_distance"].value == pytest.approx(270.7222, abs=5e-5)
    assert "|coef0:0.0|d:3|degree:2|estimator:biased|extractor:v-jepa|" in found["kernel_distance"].signature
    own = Kernel(degree=2, coef0=0.0, unbiased=False)
    again = rushes.compare_features(one, other, extractor="v-jepa", metrics="kernel_distance", kernel=own)
    assert again["kernel_distance"].as_dict() == found["kernel_distance"].as_dict()


def test_features_of_a_run_given_as_files_give_its_bits(
    sets: Path, random_weights: dict[str, Path], averages: list[Any], tmp_path: Path
) -> None:
    options: dict[str, Any] = {"metrics": ("fvd", "kvd"), "weights": random_weights["i3d"], "device": "cpu", "jobs": 0}
    options["protocol"] = "genhoi"
    own = rushes.compare_sets(sets / "gen", sets / "gt", interval="jackknife", **options)
    for side, name in (("gen", "gen.npz"), ("gt", "gt.npz")):
        own.save(side, tmp_path / name)  # type: ignore[arg-type]
    rows = [part[0][1].features for part in (own.gen, own.gt)]
    np.save(tmp_path / "gen.npy", rows[0])
    torch.save(torch.from_numpy(rows[1]), tmp_path / "gt.pt")
    for gen, gt in (("gen.npz", "gt.npz"), ("gen.npy", "gt.pt")):
        found = rushes.compare_features(
            tmp_path / gen,
            tmp_path / gt,
            extractor="i3d",
            metrics=("frechet_distance", "kernel_distance"),
            interval="jackknife",
        )
        for name, theirs in (("fvd", "frechet_distance"), ("kvd", "kernel_distance")):
            assert found[theirs].value == own[name].value and found[theirs].interval == own[name].interval


def test_double_precision_is_kept_and_half_is_widened() -> None:
    """1e8 apart by 1: float32 could not tell them."""
    x, y = np.array([[1e8], [1e8 + 2]]), np.array([[1e8 + 1], [1e8 + 3]])
    assert rushes.compare_features(x, y, extractor="e")["frechet_distance"].value == 1.0
    half = rushes.compare_features(GEN.astype(np.float16), GT.astype(np.float16), extractor="e")
    same = rushes.compare_features(
        torch.from_numpy(GEN).half(), torch.from_numpy(GT.astype(np.float16).astype(np.float64)), extractor="e"
    )
    assert half["frechet_distance"].value == same["frechet_distance"].value
    brain = torch.from_numpy(GEN).bfloat16()
    assert np.array_equal(given_features(brain, "x").features, brain.float().numpy())


@pytest.mark.parametrize("kind", ["npz", "pt"])
def test_names_come_along(tmp_path: Path, kind: str) -> None:
    names = [f"take{number // 2}" for number in range(12)]
    if kind == "npz":
        np.savez(tmp_path / "gen.npz", feats=GEN, names=names, other=np.zeros(2))
    else:
        torch.save({"features": torch.from_numpy(GEN), "names": names, "epoch": 3}, tmp_path / "gen.pt")
    found = rushes.compare_features(tmp_path / f"gen.{kind}", GT, extractor="e")
    assert list(found.gen[0][1].videos) == [f"take{n}" for n in range(6)]
    assert "the 12 rows of the generated set are of 6 videos" in found["frechet_distance"].note


def test_few_rows_and_one_point_are_said() -> None:
    wide = np.tile(np.arange(8.0), (3, 1))
    note = rushes.compare_features(wide, wide + np.eye(3, 8), extractor="e")["frechet_distance"].note
    assert (
        "fewer rows than features (3 and 3 for D = 8)" in note and "all rows of the generated set are the same" in note
    )


def test_extrapolation_and_intervals(files: Path) -> None:
    found = rushes.compare_features(
        files / "gen.npy", files / "gt.npy", extractor="e", extrapolate=True, interval="subsampling"
    )
    assert found["frechet_distance"].interval is not None
    assert keys_of(found["frechet_distance_extrapolated"])["extractor"] == "e"


# ---- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "line"),
    [
        (np.zeros(5), r"expected rows of features \(N, D\); got shape \(5,\)"),
        (np.zeros((4, 8, 5)), r"got shape \(4, 8, 5\); pool over time and tokens"),
        (np.zeros((1, 5)), "at least two rows"),
        (np.zeros((4, 0)), "at least two rows"),
        (np.array([[0.0, 1], [np.nan, 1], [1, 1]]), "row 1 holds NaN or infinite"),
        (np.array([[0.0, 1], [1, 1], [1, np.inf]]), "row 2 holds NaN or infinite"),
        (np.zeros((3, 2), complex), "expected rows of numbers; got complex128"),
        (np.array([["a"], ["b"]]), "expected rows of numbers"),
        (np.zeros((3, 4)), "the generated set has rows of 4 features, the ground truth of 5"),
    ],
)
@pytest.mark.parametrize("suffix", ["npy", "npz"])
def test_rows_that_are_none(tmp_path: Path, rows: np.ndarray, line: str, suffix: str) -> None:
    path = tmp_path / f"gen.{suffix}"
    np.save(path, rows) if suffix == "npy" else np.savez(path, rows=rows)
    with pytest.raises(InputError, match=line) as caught:
        rushes.compare_features(path, GT, extractor="e")
    assert "\n" not in str(caught.value)


def test_files_that_are_no_features(tmp_path: Path) -> None:
    def refused(name: str, line: str) -> None:
        with pytest.raises(InputError, match=line) as caught:
            rushes.compare_features(tmp_path / name, GT, extractor="e")
        assert "\n" not in str(caught.value) and "unsafe" not in str(caught.value)

    refused("none.npy", "none.npy: expected a file of features; found nothing")
    refused("none.pt", "none.pt: expected a file of features; found nothing")
    for name in ("junk.npy", "junk.npz", "junk.pt"):
        (tmp_path / name).write_bytes(b"junk")
        refused(name, f"{name}: cannot be read as features")
    np.save(tmp_path / "objects.npy", np.array([{}, {}]), allow_pickle=True)
    refused("objects.npy", "it holds Python objects")
    torch.save({"model": torch.nn.Linear(2, 2)}, tmp_path / "code.pt")
    refused("code.pt", "code.pt: cannot be read as features")
    torch.save([1, "a"], tmp_path / "list.pt")
    refused("list.pt", "list.pt: expected rows of numbers")
    np.savez(tmp_path / "two.npz", a=GEN, b=GEN)
    refused("two.npz", "expected one array, or one called features; it holds a, b")
    np.savez(tmp_path / "named.npz", a=GEN, names=["x"])
    refused("named.npz", "expected a name for each of 12 rows; got 1")
    (tmp_path / "gen.csv").write_text("1,2")
    refused("gen.csv", "expected features in a .npy, .npz or .pt file")
    with pytest.raises(InputError, match="expected an array or a tensor of features; got int"):
        rushes.compare_features(3, GT, extractor="e")


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"extractor": ""}, "expected the extractor's name"),
        ({"extractor": "a|b"}, "expected the extractor's name"),
        ({"extractor": "e", "metrics": "fvd"}, "metrics are frechet_distance, kernel_distance; got 'fvd'"),
        ({"extractor": "e", "metrics": ()}, "at least one metric"),
        ({"extractor": "e", "kernel": "rbf"}, "expected a kernel out of kid, jedi; got 'rbf'"),
    ],
)
def test_settings_that_are_none(options: dict[str, Any], line: str) -> None:
    with pytest.raises(InputError, match=line):
        rushes.compare_features(GEN, GT, **options)


# ---- command, run, report --------------------------------------------------------------------------------------------


def test_the_command_takes_features_and_asks_for_their_extractor(files: Path) -> None:
    found = json.loads(
        command("fvd", files / "gen.npy", files / "gt.npy", "--extractor", "dino b", "--json", "-o", files / "run")
    )
    want = rushes.compare_features(GEN, GT, extractor="dino b")["frechet_distance"]
    assert found["measurements"][0]["value"] == pytest.approx(want.value, rel=1e-7)
    assert found["measurements"][0]["signature"] == want.signature
    run = rushes.read_run(files / "run")
    assert run.one("frechet_distance").signature == want.signature
    assert [subject.facts["clips"] for subject in run.subjects] == [12, 9]
    assert summary(run).startswith("frechet_distance on dino b ") and not charts(run), "one value has no chart"
    text = command("fvd", files / "gen.npy", files / "gt.npy", "--extractor", "d", "--metric", "kernel_distance", "-v")
    assert "kernel_distance on d" in text and "estimator:unbiased" in text
    np.savez(files / "gen.npz", GEN)
    for name in ("gen.npy", "gen.npz"):
        assert f"{name}: name the network that made these features" in command("fvd", files / name, "gt.npz", code=1)
    moot = command("fvd", files / "gen.npy", files / "gt.npy", "--extractor", "d", "--backbone", "i3d", code=1)
    assert "--backbone is about clips" in moot


def test_the_tables_show_it() -> None:
    rows = distance_rows(rushes.compare_features(GEN, GT, extractor="dino b", extrapolate=True).measurements)
    (line,) = distances_table(rows).texts()
    assert line[:2] == ["frechet_distance on dino b", "–"] and line[-3:] == ["12", "9", "5"]
