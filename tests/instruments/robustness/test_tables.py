"""One table, shown by all: the same cells on the terminal, in the report, in CSV, JSON and the charts."""

from __future__ import annotations

import csv
import io
import json

import pytest
from typer.testing import CliRunner

from rushes import measure_robustness, read_run
from rushes.cli.main import app
from rushes.core.words.number_text import number_text
from rushes.instruments.robustness.show import charts, section
from rushes.instruments.robustness.show.tables import along_axes, over_two_axes, stability_table
from rushes.present.charts import style as chart_style

ODD = ["100%|A", "a,b", "x\ny", "", "=1+1"]
SHOWN = {"100%|A": "100%|A", "a,b": "a,b", "x\ny": "x y", "": "", "=1+1": "=1+1"}


@pytest.fixture
def sweep(make_sweep):
    """Two axes, one of values with odd text; the answer changes with the second of them."""

    def record(values, seed):
        output = "B" if values["mode"] == "a,b" and values["speed"] == 2 else "A"
        return {"output": output, "justification": "why " + output, "confidence_score": 0.5}

    return make_sweep({"mode": ODD, "speed": [1, 2]}, [1, 2], record)


@pytest.fixture
def stored(sweep, tmp_path):
    measure_robustness(sweep, run=tmp_path / "run")
    return read_run(tmp_path / "run")


def test_cells_by_hand(sweep):
    (report,) = measure_robustness(sweep)
    table = report.table()
    assert table.header == ("axis", "value", "ESI ↑", "drift ↓", "ESI alone ↑", "drift alone ↓", "CSI ↑", "runs")
    rows = {(axis, value): rest for axis, value, *rest in table.texts()}
    # a,b: two of four runs answer B; "why A" to "why B" is one of five characters, in half of the runs
    # alone, with the other axis at baseline (speed 1, mode 100%|A), nothing moves
    assert rows["mode", "a,b"] == ["0.5000", "0.1000", "1", "0", "1", "4"]
    assert rows["mode", ""] == ["1", "0", "1", "0", "1", "4"]
    assert rows["mode", "all values"] == ["0.9000", "0.0200", "1", "0", "1", "20"]
    assert rows["speed", "2"] == ["0.8000", "0.0400", "1", "0", "1", "10"]
    assert {value for axis, value in rows if axis == "mode"} == {*SHOWN.values(), "all values"}


def test_the_same_cells_everywhere(sweep, stored, tmp_path):
    (report,) = measure_robustness(sweep)
    cells = report.table().texts()
    grid, alone = section.grids(stored)
    assert alone.texts() == report.effects().texts()
    assert grid.texts() == cells
    printed = CliRunner().invoke(app, ["robust", str(sweep), "-o", str(tmp_path / "again")]).stdout.splitlines()
    for row in cells:
        assert any(line.split() == " ".join(row).split() for line in printed), row
    data = json.loads(CliRunner().invoke(app, ["robust", str(sweep), "-o", str(tmp_path / "json"), "--json"]).stdout)
    esi = {(m["at"]["axis"], m["at"].get("value")): m["value"] for m in data["measurements"] if _is_esi_along(m)}
    assert {key: number_text(value) for key, value in esi.items()} == {
        (axis, None if value == "all values" else value): shown for axis, value, shown, *_ in cells
    }
    lines = list(csv.reader(io.StringIO(grid.csv())))
    assert [line[2] for line in lines[1:]] == [repr(esi[key]) for key in along_axes(report.measurements)]
    assert lines[-1][0] == "speed" and ["mode", "'=1+1"] in [line[:2] for line in lines]


def _is_esi_along(m):
    return m["signature"].startswith("esi|") and "axis" in m["at"]


def test_the_charts_draw_these_cells(stored, monkeypatch):
    pytest.importorskip("altair")
    drawn = []
    monkeypatch.setattr(chart_style, "chart_svg", lambda chart: drawn.append(chart.to_dict()) or "<svg/>")
    lines, heat, _ = charts.charts(stored)
    panels = {panel["encoding"]["x"]["title"]: _points(panel) for panel in _panels(drawn[0])}
    measurements = stored.measurements["sweep"]
    for (axis, value), readings in along_axes(measurements).items():
        if value is not None:
            assert (value, readings["esi"].value) in panels[axis]
    assert heat.title == "sweep: mode and speed together"
    (cells,) = over_two_axes(measurements).values()
    assert set(cells) == {(SHOWN[mode], speed) for mode in ODD for speed in ("1", "2")}
    assert cells["a,b", "2"]["esi"].value == 0.0


def _panels(chart):
    """The charts that are not made of charts."""
    parts = [part for key in ("hconcat", "vconcat", "concat") for part in chart.get(key, ())]
    return [panel for part in parts for panel in _panels(part)] if parts else [chart]


def _points(panel):
    return {(row["value"], row["score"]) for row in panel["data"]["values"] if row["kind"].startswith("ESI")}


def test_a_run_without_places_has_no_table(stored):
    """A run of format 1 keeps its axis in the signature: its numbers are listed, and nothing is made up."""
    assert stability_table(()).rows == []
    bare = type(stored)(stored.path, stored.info, stored.subjects, {})
    assert (section.grids(bare), section.summary(bare)) == ((), "")
