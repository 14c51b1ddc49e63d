"""A fidelity metric of another package: measured, shown, catalogued; one that fails costs its own value alone."""

from __future__ import annotations

import json
from pathlib import Path


def test_it_is_measured_beside_one_that_fails(rushes, takes: Path, tmp_path: Path) -> None:
    """barred.mkv differs from full.mkv in eight rows of 32, which are black: their steps are 0."""
    words = ("fidelity", takes / "barred.mkv", takes / "full.mkv", "--jobs", "1", "-o", tmp_path / "run", "--json")
    done = rushes(*words, "--metric", "edge_error", "broken_error", plugins="edges")
    assert done.returncode == 0, done.stderr
    edges, broken = json.loads(done.stdout)["set"]
    assert edges["signature"].startswith("edge_error|aggregate:mean|") and edges["value"] > 0
    assert broken["value"] is None
    (row, _) = [json.loads(line) for line in (tmp_path / "run" / "subjects.jsonl").read_text().splitlines()]
    notes = [json.loads(line)["note"] for line in (tmp_path / "run" / "measurements.jsonl").read_text().splitlines()]
    assert row["facts"]["frames"] == 6 and "broken failed: ZeroDivisionError: a fault of its own" in notes


def test_it_is_in_the_catalogue(rushes) -> None:
    shown = rushes("metrics", "edge_error", "--json", plugins="edges")
    (found,) = json.loads(shown.stdout)
    assert found["open_params"] == ["cut", "lag", "pair", "resize"] and found["params"] == {
        "plane": "luma",
        "range": "full",
    }


def test_without_the_package_it_is_not_known(rushes, takes: Path, tmp_path: Path) -> None:
    done = rushes("fidelity", takes, takes, "--metric", "edge_error", "-o", tmp_path / "run", plugins="")
    assert done.returncode == 1 and "no fidelity metric is called 'edge_error'" in done.stderr


def test_what_finish_gives_wrongly_costs_its_value_and_is_told_at_the_end(rushes, takes: Path, tmp_path: Path) -> None:
    words = ("fidelity", takes / "barred.mkv", takes / "full.mkv", "--jobs", "1", "-o", tmp_path / "run", "--json")
    names = ("edge_error", "gives_none", "gives_a_list", "gives_too_few", "gives_another")
    done = rushes(*words, "--metric", *names, plugins="edges")
    assert done.returncode == 0, done.stderr
    found = {row["signature"].partition("|")[0]: row["value"] for row in json.loads(done.stdout)["set"]}
    assert found["edge_error"] == found["gives_a_list"] > 0  # a list of numbers is numbers
    assert [name for name in names if found[name] is None] == ["gives_none", "gives_too_few", "gives_another"]
    for name, why in (
        ("gives_none", "finish() gives a Seen; got NoneType"),
        ("gives_too_few", "needs 6 values, one per pair of frames; got (2,)"),
        ("gives_another", "KeyError: 'gives_another'"),
    ):
        assert f"{name} failed on 1 of 1 clip (" in done.stderr and why in done.stderr
    assert rushes(*words, "--strict", "--metric", *names, plugins="edges").returncode == 1
