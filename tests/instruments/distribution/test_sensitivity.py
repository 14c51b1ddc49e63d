"""One constant at a time exchanged for another protocol's, and what changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from rushes.cli.main import app
from rushes.core import Measurement
from rushes.core.errors import InputError
from rushes.core.selection import keys_of
from rushes.instruments.distribution.definitions import bound_definition
from rushes.instruments.distribution.distances.sensitivity import Departure, departures, is_departure, ranked
from rushes.instruments.distribution.evaluate import compare_sets
from rushes.instruments.distribution.protocols import Recipe
from rushes.instruments.distribution.recipes import recipe
from rushes.instruments.distribution.show.section import grids
from rushes.storage.runs import read_run


def differing(one: Recipe, other: Recipe) -> set[str]:
    free = {"protocol", "asks_n", "network_frames"}
    return {f.name for f in fields(Recipe) if getattr(one, f.name) != getattr(other, f.name)} - free


def test_one_constant_is_exchanged_at_a_time() -> None:
    base = recipe("genhoi", "fvd")
    found = {other.protocol: differing(base, other) for other in departures("fvd", base)}
    assert found["genhoi~resize@google-tf"] == {"resize"} and found["genhoi~bn_eps@videogpt"] == {"bn_eps"}
    assert found["genhoi~pool@stylegan-v"] == {"pool"} and found["genhoi~covariance@stylegan-v"] == {"covariance"}
    assert found["genhoi~clips@disco"] == {"clips_gen", "clips_gt", "clips_pictures"}
    assert found["genhoi~clips@stylegan-v-128"] == {"clips_gen", "clips_gt", "frames"}
    assert found["genhoi~arithmetic@videogpt"] == {"arithmetic"}
    assert sum(name.startswith("genhoi~resize") for name in found) == 4  # five resizers, one of them its own
    assert all(found.values())


def test_every_metric_of_every_network() -> None:
    kvd = [other.protocol for other in departures("kvd", recipe("genhoi", "kvd"))]
    assert kvd and not any("covariance" in name or "arithmetic" in name for name in kvd)
    (clips,) = departures("fid-vid", recipe("genhoi", "fid-vid"))
    assert clips.protocol == "genhoi~clips@disco"
    assert departures("fvd", recipe("genhoi", "fvd"))[0].network_frames == 1
    pooled = next(o for o in departures("fvd", recipe("genhoi", "fvd")) if "pool" in o.protocol)
    assert pooled.network_frames == 9


def test_the_changes_in_the_run_the_table_and_the_report(
    few: Path, random_weights: dict[str, Path], averages: list[Any], tmp_path: Path
) -> None:
    run = tmp_path / "run"
    settings: dict[str, Any] = {"metrics": "fvd", "weights": random_weights["i3d"], "device": "cpu", "jobs": 0}
    settings["protocol"] = "genhoi"
    found = compare_sets(few / "gen", few / "gt", sensitivity=True, run=run, **settings)
    plain = compare_sets(few / "gen", few / "gt", **settings)
    assert found["fvd"].value == plain["fvd"].value and not plain.departures
    rows = {f"{d.constant}@{d.source}": d for d in ranked([*found.measurements, *found.departures])}
    # three clips on each side: 1/N in place of 1/(N-1) takes a third off the spread, and nothing off the means
    assert rows["covariance@stylegan-v"].change is not None and -100 / 3 < rows["covariance@stylegan-v"].change <= 0
    # the stand-in for a network has neither batch norm nor a pool
    assert rows["bn_eps@videogpt"].change == rows["pool@stylegan-v"].change == 0.0
    assert rows["resize@google-tf"].value == "tf1-bilinear-squash" and rows["resize@google-tf"].change != 0.0
    long = rows["clips@stylegan-v-128"]
    assert long.change is None and "needs at least two clips" in long.other.note
    changes = [abs(d.change) for d in rows.values() if d.change is not None]
    assert changes == sorted(changes, reverse=True)
    assert rows["clips@stylegan-v-128-subsample8"].value.endswith("16, every 8th")
    stored = [m for m in read_run(run).measurements["generated"] if is_departure(m)]
    assert [m.signature for m in stored] == [m.signature for m in found.departures]
    titles = [grid.title for grid in grids(read_run(run))]
    assert titles == ["Distances", "How much each constant changes the value", "Protocols"]
    assert not any(is_departure(m) for m in found.measurements) and found.excluded("gen") == {}
    assert {keys_of(m)["protocol"].partition("~")[0] for m in found.departures} == {"genhoi"}


def test_nothing_is_a_per_cent_of_a_distance_below_0() -> None:
    definition = bound_definition("kvd", recipe("genhoi", "kvd"), weights="w", precision="fp32", n_gen=2, n_gt=2)
    below, above = (Measurement(definition=definition, value=value, count=4) for value in (-2.0, 1.0))
    assert Departure(below, above).change is None and Departure(above, below).change == -300.0


LEVELS = (("gen", 60), ("gt", 90))


def test_the_command(
    make_clip: Callable[..., Path], sets: Path, random_weights: dict[str, Path], averages: list[Any]
) -> None:
    for number in range(2):
        gen, gt = (make_clip(f"{side}/{number}.mp4", 9, level=level + 9 * number).parent for side, level in LEVELS)
    words = [
        "fvd",
        gen,
        gt,
        "--protocol",
        "genhoi",
        "--metric",
        "fvd",
        "--weights",
        random_weights["i3d"],
        "--workers",
        0,
    ]
    result = CliRunner().invoke(app, [*map(str, words), "--sensitivity"])
    assert result.exit_code == 0, result.output
    assert "How much each constant changes the value" in result.stdout and "%" in result.stdout
    with pytest.raises(InputError, match="the sensitivity is of one protocol at a time; choose one instead of all"):
        compare_sets(sets / "gen", sets / "gt", protocol="all", sensitivity=True)
