"""The instrument of docs/own-instrument.md, as a reader would install it, is everywhere that a built-in one is."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.clips import write_luma
from tests.plugins.conftest import Rushes, metadata
from tests.web.livesite import Site

import rushes
from rushes.core import group_readings
from rushes.core.registry import load
from rushes.instruments.catalogue import INSTRUMENTS, catalog, find, packages, readings_of
from rushes.integrations.trackers.send import named_numbers
from rushes.storage.runs import Run, read_run
from rushes.web.view_app import view_app

PAGE = Path(__file__).parents[2] / "docs" / "own-instrument.md"
MEAN, DARKEST = (f"light_level|every:1|statistic:{name}|v:1" for name in ("mean", "darkest"))
NAMES = ["light_level (mean)", "light_level (darkest)"]


def block(kind: str) -> str:
    """The page's first block of a kind."""
    found = re.search(rf"^```{kind}\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    assert found is not None
    return found[1]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of packages that has the page's, as an installer would leave it."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "brightness.py").write_text(block("python"))
    (folder / "pyproject.toml").write_text(block("toml"))
    metadata(folder, folder)
    return folder


@pytest.fixture(autouse=True)
def installed(site: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(site))
    yield
    INSTRUMENTS._loaded.pop("brightness", None)
    sys.modules.pop("brightness", None)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight prompts of two systems; birch is 20 levels lighter. Frame n of prompt p has luma 60 + 10 p + n."""
    home = tmp_path_factory.mktemp("takes")
    for system, extra in (("amber", 0), ("birch", 20)):
        (home / system).mkdir()
        for p in range(8):
            frames = [np.full((16, 16), 60 + 10 * p + n + extra, np.uint8) for n in range(4)]
            write_luma(home / system / f"p{p}.mkv", frames, "gray")
    return home


@pytest.fixture
def runs(folder: Path) -> list[Run]:
    measure = load("brightness:measure_brightness")
    return [measure(folder / name, run=folder / f"run-{name}") for name in ("amber", "birch")]


def test_the_catalogue_has_it(runs: list[Run], monkeypatch: pytest.MonkeyPatch, site: Path) -> None:
    (found,) = find("light_level")
    assert found.signature == "light_level|every:<…>|statistic:<…>|v:1" and found.signature in catalog()
    assert packages() == {found.signature: "brightness 1.0"}
    monkeypatch.setattr(sys, "path", [place for place in sys.path if place != str(site)])
    assert found.signature not in catalog(), "without the package it is not there"


def test_its_numbers_are_in_the_table_and_in_a_query(runs: list[Run]) -> None:
    # Prompt 0 of amber: 60, 61, 62, 63.
    assert runs[0].one("light_level", subject="p0", statistic="mean").value == 61.5
    table = runs[0].table()
    assert table.header == ("subject", *(f"{name} ↑" for name in NAMES)) and table.texts()[0] == ["p0", "61.50", "60"]
    pytest.importorskip("duckdb", reason="queries need DuckDB")
    sql = "select id, light_level, light_level_statistic_darkest as dark from clips where light_level > 120 order by id"
    assert rushes.query(runs[0], sql).to_pydict() == {
        "id": ["p6", "p7"],
        "light_level": [121.5, 131.5],
        "dark": [120.0, 130.0],
    }


def test_a_report_and_the_workbench_show_it(runs: list[Run], folder: Path, tmp_path: Path) -> None:
    text = rushes.write_report(runs[:1], tmp_path / "report.html", strips=0).path.read_text()
    assert "How light is the picture?" in text and "<h2" in text and "Brightness" in text
    assert "light_level" in text and '<span class="settings">(darkest)</span>' in text and MEAN in text
    site = Site(view_app([folder], token="token"))  # type: ignore[arg-type]
    try:
        client = site.client()
        assert "run-amber" in client.get("/?token=token").text
        page = client.get("/runs/run-amber?view=table")
        assert page.status_code == 200 and "61.5" in page.text
        assert all(name in page.text for name in NAMES)
    finally:
        site.close()


def test_two_runs_compare_by_it(runs: list[Run]) -> None:
    found = rushes.compare_runs(*runs)
    assert {m.reading.signature: m.statistics.mean.value for m in found.metrics} == {MEAN: 20.0, DARKEST: 20.0}


def test_a_papers_table_has_its_columns(runs: list[Run]) -> None:
    # 61.5, 71.5 … 131.5; the darkest frames 60, 70 … 130
    found = rushes.table(*runs, columns="light_level").text()
    assert all(number in found for number in ("96.5", "116.5", "95.0", "115.0")), found


def test_a_board_has_its_columns(runs: list[Run], folder: Path) -> None:
    board = rushes.collect_board(runs)
    assert [reading.label for reading in board.readings] == NAMES and board.names == ("amber", "birch")
    assert {reading.instrument for reading in board.readings} == {"brightness"}
    # 61.5, 71.5 … 131.5
    assert [board.whole[name, MEAN].value for name in board.names] == [96.5, 116.5]
    assert all(reading.per_prompt for reading in board.readings)


def test_a_run_of_a_package_that_is_gone_is_on_the_board_all_the_same(
    runs: list[Run], monkeypatch: pytest.MonkeyPatch, site: Path
) -> None:
    monkeypatch.setattr(sys, "path", [place for place in sys.path if place != str(site)])
    assert [reading.label for reading in rushes.collect_board(runs).readings] == NAMES


def test_a_gate_goes_by_it(runs: list[Run]) -> None:
    worse = rushes.check_regression(runs[1], runs[0], metrics={"light_level": 1.0})
    assert [(one.label, one.verdict) for one in worse.metrics] == [(name, "worse") for name in NAMES]
    assert rushes.check_regression(runs[0], runs[1], metrics={"light_level": 1.0}).answer == "same"


def test_trackers_log_its_means(runs: list[Run]) -> None:
    found = {name: m.value for name, m in named_numbers(runs[0]).items()}
    assert found == {"light_level/statistic_mean": 96.5, "light_level/statistic_darkest": 95.0}


def test_it_may_say_its_own_readings(runs: list[Run], monkeypatch: pytest.MonkeyPatch) -> None:
    """The page's second block of Python: the darkest frame alone, as "Shadows"."""
    source = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S)[1]
    names: dict[str, object] = {"group_readings": group_readings}
    exec(source, names)  # the page's own words
    module = sys.modules["brightness"]
    monkeypatch.setattr(module, "readings", names["readings"], raising=False)
    own = replace(INSTRUMENTS["brightness"], readings="brightness:readings")
    monkeypatch.setitem(INSTRUMENTS._loaded, "brightness", own)
    assert [(one.label, one.same) for one in readings_of(runs[0])] == [("Shadows", (DARKEST, ()))]
    assert [reading.label for reading in rushes.collect_board(runs).readings] == ["Shadows"]


def test_a_suite_measures_with_it(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "suite.toml").write_text(
        f'name = "light"\n[systems]\namber = "{folder}/amber"\nbirch = "{folder}/birch"\n'
        "[instruments.brightness]\nevery = 2\n"
    )
    done = rushes.run_suite(tmp_path / "suite.toml", tmp_path / "out")
    assert not done.failed and read_run(tmp_path / "out" / "amber" / "brightness").status == "complete"
    board = rushes.collect_board(tmp_path / "out")
    # Frames 0 and 2 of each: 61, 71 … 131
    assert board.whole["amber", MEAN.replace("every:1", "every:2")].value == 96.0
    (tmp_path / "suite.toml").write_text(f'[systems]\namber = "{folder}/amber"\n[instruments.brightness]\nevery = "2"')
    with pytest.raises(rushes.RushesError, match="every is a whole number"):
        rushes.read_suite(tmp_path / "suite.toml")


def test_its_verb_is_a_command(rushes: Rushes, site: Path, folder: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.syspath_prepend(str(site))
    done = rushes("brightness", folder / "amber", "-o", tmp_path / "run", plugins="", fresh=True)
    assert done.returncode == 0, done.stderr
    assert "light_level (darkest)" in done.stdout and "61.50" in done.stdout
