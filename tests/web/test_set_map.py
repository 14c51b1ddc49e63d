"""The map of two sets over HTTP: every place is the library's, every clip is reachable, no other file is."""

from __future__ import annotations

import html
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rushes.core.machine.provenance import file_digest
from rushes.instruments.clip.evaluate import evaluate_clips
from rushes.instruments.distribution.features.map import map_of
from rushes.instruments.distribution.features.rows import FeatureSet, keep_features, kept_recipes
from rushes.media import write_clip
from rushes.storage.runs import Entry, RunWriter, Subject

from .livesite import Client, Site
from .runsite import bar, entry, owner, write_run

MakeSite = Callable[..., Site]
HOW = {"backbone": "i3d", "weights": "ab"}


def set_run(folder: Path, *, clips: Path, names: tuple[str, ...] = ("a.mp4", "b.mp4"), kept: bool = True) -> Path:
    """A run of two sets with features made by hand: eight real clips around 0, the generated ones at 1 and far out."""
    real = np.random.default_rng(1).normal(size=(8, 3))
    generated = np.array([[1.0, 0.0, 0.0], [30.0, 30.0, 0.0]])[: len(names)]
    paths = {"generated": clips, "ground_truth": clips.parent / "gone"}
    with RunWriter(folder, instrument="distribution", settings={"metrics": ["fvd"]}, inputs=["x", "y"]) as run:
        for name, path in paths.items():
            run.add(Entry(subject=Subject(id=name, kind="set", path=str(path), sha256="ab" * 32), measurements=()))
        run.finish(list(paths))
    digests = tuple(file_digest(clips / name) if (clips / name).is_file() else "0" * 64 for name in names)
    sets = {
        "generated": [(HOW, FeatureSet(names=names, digests=digests, features=generated.astype(np.float32)))],
        "ground_truth": [
            (HOW, FeatureSet(names=tuple(f"r{n}.mp4" for n in range(8)), digests=("1" * 64,) * 8, features=real))
        ],
    }
    if kept:
        keep_features(folder, sets)
    return folder


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("set") / "generated"
    folder.mkdir()
    for shade, name in ((220, "a.mp4"), (120, "b.mp4")):
        write_clip(folder / name, bar(shade, flash=False), fps=25)
    return folder


@pytest.fixture
def client(make_site: MakeSite, clips: Path, tmp_path: Path) -> Client:
    measured = evaluate_clips([clips / "b.mp4"], run=tmp_path / "measured", jobs=1).path
    return owner(make_site(runs=[set_run(tmp_path / "sets", clips=clips), measured]))


def test_a_map_shows_the_numbers_of_the_library(client: Client, tmp_path: Path) -> None:
    data = client.get("/runs/sets/map.json").json()["map"]
    ((label, sets),) = kept_recipes(tmp_path / "sets", "generated", "ground_truth").items()
    found = map_of(*sets, features=label)
    assert [(p["name"], p["x"], p["y"]) for p in data["points"]] == [
        (p.name, p.x.stored_value, p.y.stored_value) for p in found.points
    ]
    assert data["counts"] == {"generated": 2, "real": 8}
    assert [one["value"] for one in data["axes"]] == [share.stored_value for share in found.shares]
    assert [one["name"] for one in data["outliers"]] == [point.name for point in found.outliers()]
    assert data["outliers"][0]["name"] == "b.mp4" and data["outliers"][0]["set"] == "generated"
    assert {one["name"] for one in data["definitions"]} == {
        "set_map_coordinate",
        "set_map_variance_share",
        "set_map_distance",
    }
    page = html.unescape(client.get("/runs/sets/map").text)
    assert f"{float(found.shares[0].value or 0):.1%}".replace("%", " %") + " of the spread" in page
    assert found.points[0].x.signature in page


def test_dots_lead_to_their_clips(client: Client) -> None:
    points = client.get("/runs/sets/map.json").json()["map"]["points"]
    a, b, real = points[0], points[1], points[2]
    assert client.get(a["picture"]).headers["content-type"] == "image/jpeg"
    assert client.get(a["address"]).headers["content-type"] == "video/mp4"
    assert b["address"].startswith("/runs/measured/clip?id="), "a clip that a served run measured has a page"
    assert client.get(real["picture"]).status_code == 404 and client.get(real["address"]).status_code == 404
    assert client.get("/runs/sets/map/99.jpg").status_code == 404


def test_a_run_without_features_says_what_to_type(make_site: MakeSite, clips: Path, tmp_path: Path) -> None:
    runs = [set_run(tmp_path / "bare", clips=clips, kept=False), write_run(tmp_path / "clip", [entry("a", 0.1)])]
    client = owner(make_site(runs=runs))
    answer = client.get("/runs/bare/map")
    assert answer.status_code == 404 and "--save-features" in answer.text and str(clips) in html.unescape(answer.text)
    assert client.get("/runs/bare/map.json").status_code == 400
    assert "belongs to runs of rushes fvd" in client.get("/runs/clip/map").text
    assert "/runs/bare/map" in client.get("/runs/bare").text


def test_a_name_does_not_lead_out_of_its_set(make_site: MakeSite, clips: Path, tmp_path: Path) -> None:
    (clips.parent / "secret.mp4").write_bytes((clips / "a.mp4").read_bytes())
    run = set_run(tmp_path / "hostile", clips=clips, names=("../secret.mp4", "<b>x</b>.mp4"))
    client = owner(make_site(runs=[run]))
    for kind in ("jpg", "clip"):
        assert client.get(f"/runs/hostile/map/0.{kind}").status_code == 404
    assert "<b>x</b>" not in client.get("/runs/hostile/map").text
