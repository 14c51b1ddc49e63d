"""The demo part and the figures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rushes.instruments.distribution import demo as demo
from rushes.instruments.distribution.evaluate import compare_sets
from rushes.instruments.distribution.show.charts import charts
from rushes.storage.runs import read_run


def test_the_demo_tells_a_far_set_from_a_near_one(tmp_path: Path) -> None:
    part = demo.run(tmp_path)
    assert part.as_expected and len(part.rows) == 4
    assert {row[-1] for row in part.rows} == {"random-seed0" if "weights are random" in part.found else "af5c50f0df57"}
    assert read_run(part.run).status == "complete"
    again = demo.make_set(tmp_path / "again", first=0, warmth=0.0, speed=1.0)
    assert (again / "clip1.mp4").read_bytes() == (tmp_path / "distribution" / "real" / "clip1.mp4").read_bytes()


def test_figures_show_each_protocol_and_are_steady(
    few: Path, random_weights: dict[str, Path], averages: list[Any], tmp_path: Path
) -> None:
    several: dict[str, Any] = {"metrics": "kvd", "protocol": "all", "interval": "jackknife", "device": "cpu", "jobs": 0}
    several["versus"] = few / "gt"
    compare_sets(few / "gen", few / "gt", weights=random_weights["i3d"], run=tmp_path / "all", **several)
    run = read_run(tmp_path / "all")
    figure, second = charts(run)
    assert figure.title == "KVD: the same two sets, 8 protocols" and "95 % intervals" in figure.caption
    assert "Random weights" in figure.caption and "stylegan-v" in figure.svg
    assert charts(run)[0].svg == figure.svg
    # the second set is the real one: it is closer under each protocol, and pairs with the reference by name
    protocols = [m.definition.param("protocol") for m in run.select("kvd", set=None)]
    gaps = run.select("kvd_difference")
    assert [m.definition.param("protocol") for m in gaps] == protocols and len(protocols) > 5
    assert all(m.value is not None and m.value > 0 for m in gaps)
    assert {m.interval.method for m in gaps if m.interval} == {"jackknife-20-paired-with-reference"}
    assert second.title == "KVD: gen less gt" and all(name in second.svg for name in protocols if name)


def test_one_protocol_has_a_sentence_and_no_figure(
    few: Path, random_weights: dict[str, Path], averages: list[Any], tmp_path: Path
) -> None:
    both: dict[str, Any] = {"metrics": ("fvd", "kvd"), "device": "cpu", "jobs": 0}
    compare_sets(few / "gen", few / "gt", weights=random_weights["i3d"], run=tmp_path / "run", **both)
    assert not charts(read_run(tmp_path / "run"))
