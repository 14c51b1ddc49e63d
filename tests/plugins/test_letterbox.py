"""A metric of another package is everywhere a built-in one is; nothing in Rushes names it."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.plugins.conftest import Rushes

from rushes.compare.report import write_report
from rushes.storage.runs import read_run

SIGNATURE = "letterbox_ratio|black:24.0|input:raw|v:1"
LISTED = SIGNATURE.replace("raw", "<…>")
PROFILE = 'name = "cinema"\n[flagged]\nletterbox_ratio = { above = 0.1 }\n'


@pytest.fixture(scope="module")
def measured(rushes: Rushes, takes: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run under a profile that has a rule for it: `rushes clip` was not told of it in any other way."""
    folder = tmp_path_factory.mktemp("measured")
    (folder / "cinema.toml").write_text(PROFILE)
    arguments = ["clip", takes, "--profile", folder / "cinema.toml", "-o", folder / "run", "--csv", folder / "all.csv"]
    done = rushes(*arguments, "--jobs", 2, "-v", fresh=True)
    assert done.returncode == 0, done.stderr
    (folder / "terminal.txt").write_text(done.stdout)
    return folder


def test_the_catalogue_lists_it(rushes: Rushes) -> None:
    assert "letterbox_ratio" in rushes("metrics").stdout
    shown = rushes("metrics", "letterbox_ratio").stdout
    assert "black bars above and below" in shown and LISTED in shown and "  Package     letterbox 1.0\n" in shown
    (listed,) = json.loads(rushes("metrics", "letterbox_ratio", "--json").stdout)
    assert listed["package"] == "letterbox 1.0" and "Package" not in rushes("metrics", "blur_score").stdout
    assert "letterbox_ratio" not in rushes("metrics", plugins="").stdout


def test_a_rule_measures_and_badges_it(measured: Path) -> None:
    run = read_run(measured / "run")
    # 8 of 32 rows are black in every frame: 0.25 > 0.1.
    assert {s.id: (s.badge, s.reasons) for s in run.subjects} == {
        "barred": ("flagged", ("letterbox_ratio=0.2500 > 0.1",)),
        "full": ("pass", ()),
    }
    barred = run.one("letterbox_ratio", subject="barred")
    assert (barred.value, barred.count, barred.signature) == (0.25, 6, SIGNATURE)
    assert run.info["settings"]["metrics"] == {"letterbox_ratio": {"signature": SIGNATURE, "package": "letterbox 1.0"}}
    assert run.series("barred")["letterbox_share"].tolist() == [0.25] * 6


def test_it_is_in_the_csv_and_the_terminal(measured: Path) -> None:
    rows = list(csv.DictReader((measured / "all.csv").read_text().splitlines()))
    assert {row["id"]: row["letterbox_ratio"] for row in rows} == {"barred": "0.25", "full": "0.0"}
    shown = (measured / "terminal.txt").read_text()
    assert re.search(r"\bbars\b", shown) and "0.25" in shown and SIGNATURE in shown


def page_data(page: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The table's data and what the first row shows when it is opened."""
    found = re.findall(r'<script type="application/json" id="run-1-(data|x0)">(.*?)</script>', page.read_text())
    parts = {name: json.loads(text) for name, text in found}
    return parts["data"], parts["x0"]


def test_the_page_has_its_column_and_its_lane(rushes: Rushes, measured: Path) -> None:
    assert rushes("report", measured / "run", "-o", measured / "page.html").returncode == 0
    data, barred = page_data(measured / "page.html")
    names = [data["metrics"][number]["name"] for number in data["columns"]]
    assert names[-1] == "letterbox_ratio" and ">bars ↓<" in (measured / "page.html").read_text()
    lanes = {lane["label"]: lane["series"] for lane in barred["timeline"]["lanes"]}
    assert list(lanes) == ["Luma", "Blur score", "Difference", "Bars"]
    assert (lanes["Bars"][0]["word"], lanes["Bars"][0]["low"], lanes["Bars"][0]["high"]) == ("bars", 0.0, 1.0)


def test_two_runs_compare_by_it(rushes: Rushes, takes: Path, measured: Path, tmp_path: Path) -> None:
    profile = ["--profile", measured / "cinema.toml"]
    assert rushes("clip", takes, *profile, "-o", tmp_path / "run", "--jobs", 1).returncode == 0
    compared = rushes("compare", measured / "run", tmp_path / "run", "--json")
    assert compared.returncode == 0, compared.stderr
    assert SIGNATURE in {metric["signature"] for metric in json.loads(compared.stdout)["metrics"]}
    for name in ("subjects.jsonl", "measurements.jsonl", "series/barred.npz"):
        assert (tmp_path / "run" / name).read_bytes() == (measured / "run" / name).read_bytes(), "1 and 2 workers"


def test_it_runs_when_it_is_named_and_not_otherwise(rushes: Rushes, takes: Path, tmp_path: Path) -> None:
    def names(*more: str) -> list[str]:
        done = rushes("clip", takes / "full.mkv", "-o", tmp_path / f"run{len(more)}", "--json", "--jobs", 1, *more)
        assert done.returncode == 0, done.stderr
        return [m["signature"].split("|")[0] for m in json.loads(done.stdout)["clips"][0]["measurements"]]

    assert "letterbox_ratio" not in names()
    assert names("--metric", "letterbox_ratio")[-1] == "letterbox_ratio"


def test_a_clip_that_cannot_be_read_has_it_missing_with_the_reason(rushes: Rushes, tmp_path: Path) -> None:
    (tmp_path / "broken.mp4").write_text("no video")
    arguments = ["clip", tmp_path / "broken.mp4", "--metric", "letterbox_ratio", "-o", tmp_path / "run", "--json"]
    clip = json.loads(rushes(*arguments).stdout)["clips"][0]
    assert clip["measurements"][-1]["value"] is None and "cannot be read" in clip["measurements"][-1]["note"]


def test_a_run_shows_it_when_the_package_is_gone(measured: Path, tmp_path: Path) -> None:
    """This process does not have the package: the definition in the run is enough."""
    write_report([measured / "run"], tmp_path / "page.html", strips=0)
    data, barred = page_data(tmp_path / "page.html")
    assert data["metrics"][data["columns"][-1]]["name"] == "letterbox_ratio"
    assert ">letterbox_ratio ↓<" in (tmp_path / "page.html").read_text()
    assert "Share of the picture&#39;s rows" in (tmp_path / "page.html").read_text()
    assert [lane["label"] for lane in barred["timeline"]["lanes"]] == ["Luma", "Blur score", "Difference"]


def test_a_name_that_is_not_installed_is_one_line(rushes: Rushes, takes: Path, tmp_path: Path) -> None:
    done = rushes("clip", takes, "--metric", "letterbox_ration", "-o", tmp_path / "run")
    assert done.returncode == 1 and not (tmp_path / "run").exists()
    (line,) = done.stderr.splitlines()
    assert line.startswith("rushes: no clip metric is called 'letterbox_ration'. Did you mean `letterbox_ratio`")
