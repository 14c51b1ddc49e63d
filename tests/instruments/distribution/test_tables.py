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
from rushes.core.words.definition_text import ends_text, value_text
from rushes.instruments.distribution.distances import intervals as distance_intervals
from rushes.instruments.distribution.distances.labelled import Extras, Sets, measure
from rushes.instruments.distribution.features.rows import FeatureSet, save_statistics
from rushes.instruments.distribution.features.weights import read_weights
from rushes.instruments.distribution.recipes import recipe
from rushes.instruments.distribution.show.charts import charts, class_figures, curve_figures, difference_figures
from rushes.instruments.distribution.show.section import grids, summary
from rushes.instruments.distribution.show.tables import distance_rows, distances_table
from rushes.storage.runs import read_run


def test_the_same_cells_in_terminal_report_and_csv(
    few: Path, random_weights: dict[str, Path], averages: list[Any], tmp_path: Path
) -> None:
    words = ["fvd", few / "gen", few / "gt", "--protocol", "all", "--metric", "kvd", "--interval", "jackknife"]
    words += ["--weights", random_weights["i3d"], "--jobs", 0, "-o", tmp_path / "run"]
    shown = CliRunner().invoke(app, [*map(str, words)], env={"COLUMNS": "200"})
    assert shown.exit_code == 0, shown.output
    run = read_run(tmp_path / "run")
    table = grids(run)[0]
    assert list(table.header) == ["metric", "protocol", "value ↓", "95 % interval", "N gen", "N real", "D"]
    assert table.texts() == distances_table(distance_rows(run.measurements["generated"])).texts()
    for line, row in zip(table.texts(), run.select("kvd"), strict=True):
        assert any(all(cell in printed for cell in line) for printed in shown.stdout.splitlines()), line
        assert row.interval is not None and line[3] == ends_text(row)
    stored = list(csv.reader(io.StringIO(table.csv())))[1:]
    assert [line[2] for line in stored] == [repr(m.stored_value) for m in run.select("kvd")]
    (figure,) = charts(run)
    assert all(line[2] in figure.svg for line in table.texts())


def test_an_extrapolated_value_stands_beside_its_own_distance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distance_intervals, "EXTRAPOLATION_SIZES", 2)
    monkeypatch.setattr(distance_intervals, "EXTRAPOLATION_REPEATS", 1)

    def some(count: int, seed: int) -> FeatureSet:
        features = np.random.RandomState(seed).normal(size=(count, 400)).astype(np.float32)
        return FeatureSet(tuple(f"c{n}" for n in range(count)), ("d",) * count, features)

    options: dict[str, Any] = {"metric": "fvd", "weights": "w", "precision": "fp32"}
    few = Sets(recipe=recipe("genhoi", "fvd"), gen=some(5, 0), gt=some(6, 1), **options)
    many = Sets(recipe=recipe("disco", "fvd"), gen=some(410, 0), gt=some(420, 1), **options)
    small, large = measure(few, Extras()), measure(many, Extras(extrapolate=True))
    rows = distance_rows([*small, *large])
    assert [row.extrapolated for row in rows] == [None, large[1]]
    table = distances_table(rows)
    assert list(table.header)[2:4] == ["value ↓", "at infinite N"]
    assert [line[3] for line in table.texts()] == ["–", value_text(large[1])]


@pytest.fixture
def saved(random_weights: dict[str, Path], tmp_path: Path) -> Path:
    """amber, birch and real as saved statistics: 24 clips of two classes each, birch two off in one feature."""
    chosen = recipe("genhoi", "kvd")
    weights = {"weights": read_weights(random_weights["i3d"]).sha256, "precision": "fp32"}
    for seed, (name, side, shift) in enumerate([("amber", "gen", 0.0), ("birch", "gen", 2.0), ("real", "gt", 0.0)]):
        rows = np.zeros((24, 400), np.float32)
        rows[:, :3] = np.random.RandomState(seed).normal(size=(24, 3))
        rows[:, 0] += shift
        names = tuple(f"{'cats' if n % 2 else 'dogs'}/{name}{n}.mp4" for n in range(24))
        how = chosen.feature_params(side) | weights  # type: ignore[arg-type]
        save_statistics(tmp_path / f"{name}.npz", [(how, FeatureSet(names, names, rows))])
    return tmp_path


def test_a_second_model_a_curve_and_classes(saved: Path, random_weights: dict[str, Path]) -> None:
    words = [
        "fvd",
        "--protocol",
        "genhoi",
        saved / "amber.npz",
        saved / "real.npz",
        "--versus",
        saved / "birch.npz",
        "--metric",
        "kvd",
        "prdc",
    ]
    words += ["--curve", "--groups", "folders", "--weights", random_weights["i3d"], "--jobs", 0, "-o", saved / "run"]
    shown = CliRunner().invoke(app, [*map(str, words)])
    assert shown.exit_code == 0, shown.output
    run = read_run(saved / "run")
    assert [subject.id for subject in run.subjects] == ["generated", "ground_truth", "versus"]
    assert run.subjects[2].facts["clips"] == 24
    titles = [table.title for table in grids(run)]
    assert titles == ["Distances", "Difference: amber less birch", "Value against N", "Classes", "Protocols"]
    distances, difference, curve, classes, _ = grids(run)
    assert list(distances.header)[:4] == ["metric", "protocol", "set", "value"]
    assert [line[0] for line in distances.texts()[::2]] == [
        "kvd ↓",
        "precision ↑",
        "recall ↑",
        "density ↑",
        "coverage ↑",
    ]
    assert [line[2] for line in distances.texts()[:2]] == ["amber", "birch"]
    assert difference.texts()[0][0] == "kvd" and difference.texts()[0][4] == "amber is closer than birch"
    assert "amber is closer than birch" in shown.stdout and "amber is closer" in summary(run)
    assert "Note: amber" not in shown.stdout  # a verdict stands in its table
    assert [line[2] for line in curve.texts()[:3]] == ["6", "12", "24"]
    assert [line[0] for line in classes.texts()] == ["cats", "dogs"]
    assert list(classes.header)[2:7] == ["kvd", "precision", "recall", "density", "coverage"]
    figures = charts(run)
    heads = [figure.title for figure in figures]
    assert heads[:4] == [
        "KVD (protocol genhoi)",
        "Precision, recall, density, coverage (protocol genhoi)",
        "KVD: amber less birch",
        "Shares: amber less birch",
    ]
    assert "Recall against N (protocol genhoi)" in heads and heads[-1] == "Coverage by class (protocol genhoi)"
    # drawn again, one of each kind has the same bytes
    numbers = [m for entry in run.entries for m in entry.measurements]
    drawn = {figure.title: figure.svg for figure in figures}
    for kind in (difference_figures, curve_figures, class_figures):
        again = next(kind(numbers))
        assert drawn[again.title] == again.svg


def test_the_same_bytes_again_and_one_line_for_classes_of_other_clips(
    saved: Path, random_weights: dict[str, Path], sets: Path
) -> None:
    words = [
        "fvd",
        "--protocol",
        "genhoi",
        saved / "amber.npz",
        saved / "real.npz",
        "--versus",
        saved / "birch.npz",
        "--metric",
        "kvd",
    ]
    words += ["--interval", "jackknife", "--curve", "--weights", random_weights["i3d"], "--jobs", 0, "--json"]
    first, second = (CliRunner().invoke(app, [*map(str, words)]).stdout for _ in range(2))
    assert first == second and '"kvd_difference|' in first
    (saved / "c.csv").write_text("name,class\nother.mp4,x\n")
    words = [
        "fvd",
        "--protocol",
        "genhoi",
        sets / "gen",
        sets / "gt",
        "--groups",
        saved / "c.csv",
        "--weights",
        random_weights["i3d"],
    ]
    refused = CliRunner().invoke(app, [*map(str, words)])
    assert refused.exit_code == 1 and "no clip of the generated set is named in" in refused.stderr


def test_one_point_is_a_sentence_and_no_chart(saved: Path, random_weights: dict[str, Path]) -> None:
    words = [
        "fvd",
        "--protocol",
        "genhoi",
        saved / "birch.npz",
        saved / "real.npz",
        "--weights",
        random_weights["i3d"],
        "-o",
        saved / "r",
    ]
    assert CliRunner().invoke(app, [*map(str, words)]).exit_code == 0
    run = read_run(saved / "r")
    assert charts(run) == () and summary(run).startswith("FVD ")
