"""Scores of other tools: declared, checked, flagged, and then runs like any other."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.compare.agreement.rated import write_csv
from typer.testing import CliRunner

import rushes
from rushes.cli.main import app
from rushes.core.errors import InputError
from rushes.suite.imports.definitions import DeclaredColumn, distinct, parse_definition, read_definitions
from rushes.suite.imports.scores import import_table, scale_groups, scale_warning

SHARE = "clip_score:unit=1,better=higher,lowest=0,highest=1"
HEADER = ("system", "prompt_id", "clip_score")
ROWS = [(s, p, v + 0.01 * n) for s, v in (("amber", 0.3), ("birch", 0.2)) for n, p in enumerate(("p0", "p1", "p2"))]


def declared(*texts: str) -> list[DeclaredColumn]:
    return [parse_definition(text) for text in texts or (SHARE,)]


def test_a_table_becomes_runs_that_compare_and_can_be_believed(tmp_path: Path) -> None:
    made = import_table(write_csv(tmp_path / "s.csv", HEADER, ROWS), tmp_path / "runs", declared())
    assert [run.path.relative_to(tmp_path / "runs").as_posix() for run in made.runs] == ["amber/scores", "birch/scores"]
    assert made.remarks == ()
    assert [run.info["inputs"] for run in made.runs] == [["amber"], ["birch"]]
    assert [run.instrument for run in made.runs] == ["scores", "scores"]
    compared = rushes.compare_runs(*made.runs).find("clip_score")[0].statistics.mean
    assert compared.value == pytest.approx(-0.1) and compared.count == 3
    assert made.runs[0].one("clip_score", subject="p1").signature == (
        "clip_score|origin:imported|range:0.0..1.0|unit:1|v:1"
    )
    rated = [
        (p, s, "r0", 4 if s == "amber" else 2 + n % 2) for s, p, n in ((r[0], r[1], i) for i, r in enumerate(ROWS))
    ]
    ratings = write_csv(tmp_path / "ratings.csv", ("prompt_id", "system", "rater", "quality"), rated)
    found = rushes.believe(tmp_path / "runs", ratings)
    assert found.believed[0].numbers["within-prompt", "pairwise_accuracy"].value == 1.0


def test_prompts_may_be_texts_and_pair_before_files_do(tmp_path: Path) -> None:
    header = ("models", "video_url", "prompt", "clip_score")
    rows = [(s, f"{s}/{n}.mp4", text, 0.5) for s in ("a", "b") for n, text in enumerate(("a cat, running", "rain"))]
    made = import_table(write_csv(tmp_path / "s.csv", header, rows), tmp_path / "runs", declared())
    assert [s.id for s in made.runs[0].subjects] == ["a_cat_running", "rain"]
    rated = [(p, s, "r", n + 1) for n, (s, _, p, _) in enumerate(rows)]
    ratings = write_csv(tmp_path / "ratings.csv", ("prompt", "system", "rater", "quality"), rated)
    assert rushes.believe(tmp_path / "runs", ratings).believed[0].clips == 4


def test_one_row_per_system_and_a_file_about_one(tmp_path: Path) -> None:
    made = import_table(
        write_csv(tmp_path / "s.csv", ("model", "clip_score"), [("a", 0.4), ("b", "")]), tmp_path / "o", declared()
    )
    assert [run.subjects[0].kind for run in made.runs] == ["set", "set"]
    assert made.runs[1].one("clip_score").note == "the table has no value"
    path = write_csv(tmp_path / "t.csv", ("clip", "clip_score", "other"), [("x.mp4", 0.4, 7)])
    made = import_table(path, tmp_path / "t", declared(), system="amber")
    assert made.runs[0].path == tmp_path / "t" / "amber" / "scores"
    assert made.remarks == (f"{path}: not declared, so not read: other",)


def test_a_metric_on_three_scales_is_flagged(tmp_path: Path) -> None:
    """As in a published table: a sum over each system's own number of frames where a mean was meant."""
    rng = np.random.default_rng(0)
    frames = {"gen": 95, "pika": 71, "latte": 15, "vgen": 15}
    rows = [(s, f"p{p}", n * (1 - 0.1 * rng.uniform()), rng.uniform()) for s, n in frames.items() for p in range(20)]
    path = write_csv(tmp_path / "s.csv", ("system", "prompt_id", "consistency", "beauty"), rows)
    columns = declared("consistency:unit=1,better=higher", "beauty:unit=1,better=higher")
    made = import_table(path, tmp_path / "runs", columns)
    (remark,) = made.remarks
    assert remark.startswith("consistency seems to be on 3 scales: ") and "for latte, vgen; " in remark
    assert {m.note for m in made.runs[0].select("consistency")} == {remark}  # it travels with the numbers
    assert {m.note for m in made.runs[0].select("beauty")} == {""}
    rated = [(p, s, "r", n % 5) for n, (s, p, _, _) in enumerate(rows)]
    ratings = write_csv(tmp_path / "ratings.csv", ("prompt_id", "system", "rater", "quality"), rated)
    assert remark in rushes.believe(tmp_path / "runs", ratings).remarks


@pytest.mark.parametrize(
    ("values", "groups"),
    [
        ({"a": [0.6, 0.8], "b": [60.0, 80.0]}, [["a"], ["b"]]),  # share and per cent
        ({"a": [0.6], "b": [61.0]}, [["a"], ["b"]]),
        ({"a": [0.6, 0.8], "b": [0.1, 0.2]}, [["a", "b"]]),  # few and near: nothing to go by
        ({"a": [14.5, 20.0], "b": [133.5, 160.0]}, [["a", "b"]]),  # few, neither a share
        ({"a": [1.0, 2, 3, 4, 5], "b": [4.0, 6, 7, 8, 9]}, [["a", "b"]]),  # they overlap
        ({"a": [1.0, 2, 3, 4, 5], "b": [8.0, 9, 10, 11, 12]}, [["a", "b"]]),  # a gap of 3 beside a width of 4
        ({"a": [1.0, 2, 3, 4, 5], "b": [10.0, 11, 12, 13, 14]}, [["a"], ["b"]]),  # a gap of 5
        ({"a": [], "b": [1.0]}, [["b"]]),
        ({}, []),
    ],
)
def test_scales(values: dict[str, list[float]], groups: list[list[str]]) -> None:
    found = scale_groups(values)
    assert sorted(map(sorted, found)) == sorted(groups)
    assert bool(scale_warning("m", values)) == (len(groups) > 1)


def test_normal_systems_are_not_flagged() -> None:
    """200 tables of 5 systems × 20 prompts that differ by up to two standard deviations: no false alarm."""
    rng = np.random.default_rng(1)
    alarms = 0
    for _ in range(200):
        centres = rng.uniform(-1, 1, 5)
        alarms += bool(scale_warning("m", {f"s{n}": list(c + rng.normal(size=20)) for n, c in enumerate(centres)}))
    assert alarms == 0


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("a", "p0", 0.5), ("a", "p0", 0.5)], "line 3: p0 of a is on line 2 already"),
        ([("a", "p0", "high")], "line 2: clip_score is a number or empty; got 'high'"),
        ([("a", "p0", "nan")], "line 2: clip_score is a number or empty"),
        ([("a", "p0", 0.5), ("b", "p0", 61)], "line 3: clip_score of b is 61, outside the declared 0 to 1; is it on"),
        ([("", "p0", 0.5)], "line 2: expected a system and a clip"),
        ([], "the file has none"),
    ],
)
def test_bad_tables_are_one_line(tmp_path: Path, rows: list[tuple[object, ...]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        import_table(write_csv(tmp_path / "s.csv", HEADER, rows), tmp_path / "runs", declared())
    assert not (tmp_path / "runs").exists()


def test_bad_questions(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "s.csv", HEADER, ROWS)
    with pytest.raises(InputError, match="declare what the columns mean"):
        import_table(path, tmp_path / "o", [])
    with pytest.raises(InputError, match="missing: fvd"):
        import_table(path, tmp_path / "o", declared("fvd:unit=1,better=lower"))
    with pytest.raises(InputError, match="system='x' is not needed"):
        import_table(path, tmp_path / "o", declared(), system="x")
    with pytest.raises(InputError, match="name it with system"):
        import_table(write_csv(tmp_path / "t.csv", HEADER[1:], [("p", 0.5)]), tmp_path / "o", declared())
    with pytest.raises(InputError, match="declared twice"):
        distinct(declared(SHARE, SHARE))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("clip_score", "expected NAME:unit="),
        ("clip_score:unit", "expected NAME:unit="),
        ("clip_score:unit=1", "clip_score needs better"),
        ("clip_score:unit=1,better=up", "better is higher, lower or neither"),
        ("clip_score:unit=1,better=higher,lowest=low", "lowest is a number; got 'low'"),
        ("clip_score:unit=1,better=higher,colour=red", "clip_score has no 'colour'"),
        ("Clip Score:unit=1,better=higher", "a metric name is lower-case"),
    ],
)
def test_bad_definitions_are_one_line(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_definition(text)


def test_definitions_in_toml(tmp_path: Path) -> None:
    path = tmp_path / "d.toml"
    path.write_text(
        '[umt_score]\nunit = "1"\nbetter = "higher"\ncolumn = "UMTScore"\nsummary = "Text and video in UMT."\n'
        'raised_by = ["words in the picture"]\nparams = {model = "umt-l", frames = 8}\n'
    )
    (one,) = read_definitions(path)
    assert one.column == "UMTScore"
    assert one.definition.signature == "umt_score|frames:8|model:umt-l|origin:imported|range:..|unit:1|v:1"
    assert one.definition.verdict(rose=True) == "moved"
    for text, message in (("x", "cannot be read as TOML"), ("a = 1", "a table per metric"), ("", "got nothing")):
        path.write_text(text)
        with pytest.raises(InputError, match=message):
            read_definitions(path)


def test_the_command(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "s.csv", HEADER, ROWS)
    call = ["import-scores", str(path), "-o", str(tmp_path / "runs"), "--define", SHARE]
    shown = CliRunner().invoke(app, call)
    assert shown.exit_code == 0, shown.output
    assert "clip_score" in shown.stdout and "amber" in shown.stdout
    made = json.loads(CliRunner().invoke(app, [*call, "--json"]).stdout)
    assert [run["system"] for run in made["runs"]] == ["amber", "birch"]
    write_csv(path, HEADER, ROWS[:3])
    other = CliRunner().invoke(app, call)  # another file in the same place
    assert other.exit_code == 1 and "--overwrite" in other.stderr
    assert CliRunner().invoke(app, [*call, "--overwrite"]).exit_code == 0
    bad = CliRunner().invoke(app, ["import-scores", str(tmp_path / "none.csv"), "-o", str(tmp_path), "--define", SHARE])
    assert bad.exit_code == 1 and len(bad.stderr.strip().splitlines()) == 1
