"""One table, everywhere: terminal, report, CSV and charts show the cells that the real producer's numbers give."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from rushes.cli.main import app
from rushes.distribution import statistics
from rushes.distribution.charts import charts
from rushes.distribution.distances import measure
from rushes.distribution.feature_set import FeatureSet
from rushes.distribution.protocols import recipe
from rushes.distribution.section import grids
from rushes.distribution.tables import distance_rows, distances_table
from rushes.runs import read_run


def test_the_same_cells_in_terminal_report_and_csv(
    sets: Path, random_weights: dict[str, Path], averages: list[Any], tmp_path: Path
) -> None:
    words = ["fvd", sets / "gen", sets / "gt", "--protocol", "all", "--metric", "kvd", "--interval", "jackknife"]
    words += ["--weights", random_weights["i3d"], "--jobs", 0, "-o", tmp_path / "run"]
    shown = CliRunner().invoke(app, [*map(str, words)])
    assert shown.exit_code == 0, shown.output
    run = read_run(tmp_path / "run")
    table = grids(run)[0]
    assert list(table.header) == ["metric", "protocol", "value ↓", "95 % interval", "N gen", "N real", "D"]
    assert table.texts() == distances_table(distance_rows(run.measurements["generated"])).texts()
    for line, row in zip(table.texts(), run.select("kvd"), strict=True):
        assert any(all(cell in printed for cell in line) for printed in shown.stdout.splitlines()), line
        assert row.interval is not None and line[3] == row.interval.text()
    stored = list(csv.reader(io.StringIO(table.csv())))[1:]
    assert [line[2] for line in stored] == [repr(m.stored_value) for m in run.select("kvd")]
    (figure,) = charts(run)
    assert all(line[2] in figure.svg for line in table.texts())


def test_an_extrapolated_value_stands_beside_its_own_distance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statistics, "EXTRAPOLATION_SIZES", 2)
    monkeypatch.setattr(statistics, "EXTRAPOLATION_REPEATS", 1)

    def some(count: int, seed: int) -> FeatureSet:
        features = np.random.RandomState(seed).normal(size=(count, 400)).astype(np.float32)
        return FeatureSet(tuple(f"c{n}" for n in range(count)), ("d",) * count, features)

    options: dict[str, Any] = {"weights": "w", "precision": "fp32"}
    small = measure("fvd", recipe("genhoi", "fvd"), some(5, 0), some(6, 1), **options)
    large = measure("fvd", recipe("disco", "fvd"), some(410, 0), some(420, 1), extrapolate=True, **options)
    rows = distance_rows([*small, *large])
    assert [row.extrapolated for row in rows] == [None, large[1]]
    table = distances_table(rows)
    assert list(table.header)[2:4] == ["value ↓", "at infinite N"]
    assert [line[3] for line in table.texts()] == ["–", f"{large[1].value:.4f}"]
