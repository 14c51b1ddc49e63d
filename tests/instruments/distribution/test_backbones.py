"""A backbone is one file: everything Rushes needs of a new network is in the toy below."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.installed import installed
from torch import nn
from typer.testing import CliRunner

import rushes
from rushes.cli.main import app
from rushes.core.errors import InputError, WeightsError
from rushes.core.selection import keys_of
from rushes.instruments.distribution import BACKBONES, Backbone
from rushes.instruments.distribution.features.weights import find_weights, read_weights
from rushes.instruments.distribution.protocols import ALL
from rushes.instruments.distribution.recipes import recipe, recipes
from rushes.instruments.distribution.seed.video_metrics import as_results
from rushes.instruments.distribution.show.charts import charts
from rushes.instruments.distribution.show.section import grids, summary

# ---- the one file ----------------------------------------------------------------------------------------------------


class Toy(nn.Module):
    """A two-dimensional network over single frames, pooled over time: what CLIP and ViT backbones will look like."""

    def __init__(self) -> None:
        super().__init__()
        self.toy = nn.Conv2d(3, 6, 4, stride=4)

    def forward(self, clips: torch.Tensor) -> torch.Tensor:
        n, channels, t, h, w = clips.shape
        frames = clips.permute(0, 2, 1, 3, 4).reshape(n * t, channels, h, w)
        return self.toy(frames).mean(dim=(2, 3)).reshape(n, t, 6).mean(dim=1)


BACKBONE = Backbone(
    name="toy",
    label="Toy",
    features={"conv6": 6},
    build=lambda recipe: Toy(),
    recognised_by="toy.",
    pool="frame-mean",
    size=16,
    normalise="(x/255-[0.5,0.25,0.5])/[0.5,0.25,0.5]",
)

# ----------------------------------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def toy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As if a package with an entry point were installed."""
    monkeypatch.syspath_prepend(installed(tmp_path / "site", "toys", "rushes.backbones", toy=f"{__name__}:BACKBONE"))
    monkeypatch.delitem(BACKBONES._loaded, "toy", raising=False)


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    command("models", "make-random", "toy", "--seed", "3", "-o", tmp_path / "toy.pt")
    return tmp_path / "toy.pt"


def command(*words: object, code: int = 0) -> Any:
    result = CliRunner().invoke(app, [*map(str, words)])
    assert result.exit_code == code, result.output
    return result


def test_it_is_listed_beside_the_built_in_ones() -> None:
    assert list(BACKBONES) == ["i3d", "r3d50", "inception", "toy"]
    output = command("models", "make-random", "vgg", "-o", "x", code=2).output
    assert "expected one of i3d, r3d50, inception, toy" in " ".join(output.replace("│", " ").split())


def test_its_random_weights_are_recognised(weights: Path, random_weights: dict[str, Path]) -> None:
    found = find_weights("toy", [random_weights["i3d"], weights])
    assert (found.backbone, found.label, found.is_random) == ("toy", "random-seed3", True)
    assert read_weights(random_weights["r3d50"]).backbone == "r3d50"
    with pytest.raises(WeightsError, match="weights for toy are missing: give weights=…; .*make-random toy"):
        find_weights("toy", [])
    torch.save({"toy.weight": torch.zeros(6, 3, 4, 4)}, weights)
    with pytest.raises(WeightsError, match=r"not the layout of toy \(has no toy.bias\); got sha256"):
        read_weights(weights)


def test_a_protocol_lends_its_cutting_and_its_covariance() -> None:
    chosen, own = recipe("genhoi", "fvd", backbone="toy"), recipe("genhoi", "fvd")
    assert (chosen.d, chosen.size, chosen.pool, chosen.bn_eps, chosen.feature) == (6, 16, "frame-mean", "none", "conv6")
    assert (chosen.windows("gen"), chosen.covariance, chosen.resize) == (own.windows("gen"), own.covariance, own.resize)
    with pytest.raises(InputError, match="stylegan-v does not define kvd on toy; these do: genhoi"):
        recipe("stylegan-v", "kvd", backbone="toy")
    assert [r.protocol for _, r in recipes(ALL, ("fvd",), backbone="toy")] == ["genhoi"]


def test_fvd_on_it_from_clips_to_the_report(few: Path, weights: Path, tmp_path: Path) -> None:
    found = rushes.compare_sets(
        few / "gen",
        few / "gt",
        metrics=("fvd", "kvd"),
        backbone="toy",
        weights=weights,
        device="cpu",
        jobs=0,
        interval="jackknife",
        run=tmp_path / "run",
    )
    keys = keys_of(found["fvd"])
    assert (keys["backbone"], keys["feature"], keys["d"], keys["weights"]) == ("toy", "conv6", "6", "random-seed3")
    assert found["fvd"].signature.startswith("fvd|arithmetic:fp64-qr-nuclear|asks_n:all|backbone:toy|bn_eps:none|")
    assert "toy features" in found["fvd"].definition.summary
    assert found["fvd"].value > 0 and found["fvd"].interval is not None
    assert list(as_results(found)) == ["FVD-Toy", "KVD-Toy"]
    run = rushes.read_run(tmp_path / "run")
    assert run.one("fvd").as_dict() == found["fvd"].as_dict()
    assert [row[0].text for row in grids(run)[0].rows] == ["fvd on toy", "kvd on toy"]
    assert summary(run).startswith("FVD on toy ")
    assert not charts(run), "one value is a sentence, not a chart"


def test_fvd_on_it_at_the_command_line(few: Path, weights: Path) -> None:
    words = ["fvd", few / "gen", few / "gt", "--backbone", "toy", "--weights", weights, "--jobs", 0]
    (m,) = json.loads(command(*words, "--json").stdout)["measurements"]
    assert "|backbone:toy|" in m["signature"] and m["value"] > 0
    assert "fvd on toy" in command(*words).stdout


def test_another_built_in_network_under_a_metric(
    few: Path, random_weights: dict[str, Path], averages: list[Any]
) -> None:
    """`fvd` on 3D ResNet-50 features is what `fid-vid` is, under another name."""
    options: dict[str, Any] = {"weights": random_weights["r3d50"], "device": "cpu", "jobs": 0}
    fvd = rushes.compare_sets(few / "gen", few / "gt", metrics="fvd", backbone="r3d50", **options)["fvd"]
    fid_vid = rushes.compare_sets(few / "gen", few / "gt", metrics="fid-vid", **options)["fid-vid"]
    assert fvd.value == fid_vid.value
    assert fvd.signature.removeprefix("fvd|") == fid_vid.signature.removeprefix("fid-vid|")
