"""`rushes table SUITE`: any number by its name, the board's own marks, every format; on a suite that was measured."""

from __future__ import annotations

import csv
import io
import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result
from tests.compare.paper.paper_runs import fvd_run
from typer.testing import CliRunner

import rushes
from rushes.cli.main import app
from rushes.compare.paper.evaluation import Evaluation
from rushes.compare.paper.marks import leaders
from rushes.compare.paper.strengths import question_strengths
from rushes.compare.paper.suite_columns import suite_columns
from rushes.compare.paper.table import paper_table
from rushes.core.errors import InputError
from rushes.suite.folder import read_suite_folder, run_suite

COLUMNS = "rating:look,elo:motion,wins:motion,psnr,luma_alternation,sharpness,signals"


def invoked(*words: object) -> Result:
    return CliRunner().invoke(app, [*map(str, words)])


def test_every_number_has_a_name_and_the_reference_is_the_last_row(small_evaluation: Evaluation) -> None:
    table = paper_table(small_evaluation, columns=COLUMNS)
    assert table.systems == ("amber", "birch", "cedar", "truth")
    assert [column.column.name for column in table.columns] == COLUMNS.split(",")
    frame = table.to_pandas()
    # Every rating is the score or one more, by turns over prompts and raters: 4.5 of amber in the mean.
    assert frame["rating:look"].tolist() == pytest.approx([4.5, 3.5, 2.5, 5.0])
    assert np.isnan(frame.loc["truth", "psnr"]) and np.isnan(frame.loc["truth", "elo:motion"])
    assert not any("truth: not measured" in note for note in table.notes)  # nobody asks why of a reference
    assert "truth is the reference." in table.caption


def test_a_reference_without_a_number_has_no_row_and_columns_of_one_signature_share_a_footnote(
    small_evaluation: Evaluation,
) -> None:
    assert paper_table(small_evaluation, columns="psnr,elo:motion").systems == ("amber", "birch", "cedar")
    both = paper_table(small_evaluation, columns="psnr,sharpness")
    assert both.systems[-1] == "truth" and both.text("csv").count("truth,sharpness,0.") == 1
    (elo,) = small_evaluation.pick("elo:motion")
    twice = [elo, replace(elo, name="elo:again", title="again (Elo)"), *small_evaluation.pick("psnr")]
    columns = suite_columns(small_evaluation, twice, marked=False)
    assert [column.mark for column in columns] == [1, 1, 2]
    table = replace(both, systems=("amber", "birch", "cedar"), columns=tuple(columns))
    assert [note.mark for note in table.footnotes] == [1, 2] and "motion (Elo) ↑, again (Elo) ↑" in table.appendix(
        "text"
    )


def test_marks_are_the_boards_verdicts_without_the_reference(small_evaluation: Evaluation) -> None:
    table = paper_table(small_evaluation, columns="rating:look,psnr,sharpness")
    for column in table.columns:
        pick = small_evaluation.pick(column.column.name)[0]
        verdict = small_evaluation.verdicts[pick.reading.key]  # type: ignore[union-attr]
        pairs = {pair for pair in verdict.ranked if "truth" not in pair}
        best, second = leaders(("amber", "birch", "cedar"), pairs)
        names = ["amber", "birch", "cedar"]
        assert column.best == (names.index(best) if best else None)
        assert column.second == (names.index(second) if second else None)
    look, _, sharpness = table.columns
    assert (look.best, look.second) == (0, 1)
    assert sharpness.best is None and any("sharpness" in note and "not ranked" in note for note in table.notes)
    text = table.markdown()
    assert "**4.50**" in text and "<u>3.50</u>" in text
    assert r"\textbf{4.50}" in table.latex() and r"\underline{3.50}" in table.latex()
    assert paper_table(small_evaluation, columns="rating:look", bold=False).columns[0].best is None


def test_elo_is_choix_and_its_interval_is_over_prompts(measured_suite: Path, small_evaluation: Evaluation) -> None:
    choix = pytest.importorskip("choix")
    (found,) = question_strengths(read_suite_folder(measured_suite)).values()
    wins = []
    with (measured_suite.parent / "votes.csv").open() as file:
        for row in csv.DictReader(file):
            a, b = sorted(found.elo).index(row["system_a"]), sorted(found.elo).index(row["system_b"])
            wins += [(a, b)] * int(row["votes_a"]) + [(b, a)] * int(row["votes_b"])
    theirs = choix.opt_pairwise(3, wins, alpha=0, method="BFGS", tol=1e-12)
    ours = [float(found.elo[name].value or 0) for name in sorted(found.elo)]
    assert ours == pytest.approx(1000 + 400 / np.log(10) * (theirs - theirs.mean()), abs=0.05)
    assert all(m.interval is not None and m.interval.method == "prompt-clustered" for m in found.elo.values())
    assert found.elo["amber"].signature.startswith("bt_elo|clusters:prompt|")
    assert any("raters are unknown" in note for note in paper_table(small_evaluation, columns="elo:motion").notes)


def test_names_that_are_not_there_are_helped(small_evaluation: Evaluation, measured_suite: Path) -> None:
    for name, words in (
        ("shrapness", "no column is called 'shrapness'. Did you mean `sharpness`"),
        ("fvd", "fvd: not measured; .* has rating:look"),
        ("rating:lok", "no question 'lok'. Did you mean `look`"),
        ("rating:motion", "people voted on 'motion', they did not rate it; use wins:motion or elo:motion"),
        ("elo:look", "elo:look: no question 'look'; it has motion"),
        ("signals:odd", "no review signal 'odd'"),
    ):
        with pytest.raises(InputError, match=words):
            paper_table(small_evaluation, columns=name)
    with pytest.raises(InputError, match="a suite makes a table of its own"):
        paper_table(measured_suite, measured_suite)


def test_every_format_from_the_command(measured_suite: Path, tmp_path: Path) -> None:
    for name, sign in (
        ("t.tex", r"\begin{table}"),
        ("t.md", "| System |"),
        ("t.html", "<!doctype html>"),
        ("t.txt", "System"),
    ):
        answer = invoked("table", measured_suite, "--columns", "rating:look,psnr", "-o", tmp_path / name)
        assert answer.exit_code == 0, answer.output
        assert sign in (tmp_path / name).read_text(encoding="utf-8")
    text = invoked("table", measured_suite, "--columns", "psnr", "--format", "csv").stdout
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["system"] for row in rows] == ["amber", "birch", "cedar"] and rows[0]["signature"].startswith("psnr|")
    data = json.loads(invoked("table", measured_suite, "--columns", "rating:look", "--json").stdout)
    assert [cell["best"] for cell in data["cells"]] == [True, False, False, False]


def test_signatures_in_a_file_of_their_own(measured_suite: Path, tmp_path: Path) -> None:
    answer = invoked("table", measured_suite, "--columns", "psnr", "--signatures", "appendix", "-o", tmp_path / "t.tex")
    assert answer.stdout.split() == [str(tmp_path / "t.tex"), str(tmp_path / "t-signatures.tex")]
    assert "psnr|" not in (tmp_path / "t.tex").read_text()
    assert r"\texttt{psnr|" in (tmp_path / "t-signatures.tex").read_text()
    refused = invoked("table", measured_suite, "--signatures", "appendix")
    assert refused.exit_code == 1 and "give -o FILE" in refused.stderr


def test_intervals_beside_and_under(small_evaluation: Evaluation) -> None:
    beside, under = (paper_table(small_evaluation, columns="psnr", interval=where) for where in ("beside", "under"))
    assert "<br>±" in under.markdown() and "<br>" not in beside.markdown() and "±" in beside.markdown()
    assert r"\scriptsize $\pm$" in under.latex(width="one")
    assert "±" in repr(beside.text("text")) and "<small>±" in beside.html()
    with pytest.raises(InputError, match="expected interval beside, under"):
        paper_table(small_evaluation, interval="above")  # type: ignore[arg-type]


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_the_default_table_fits_both_widths(small_evaluation: Evaluation, tmp_path: Path) -> None:
    table = paper_table(small_evaluation, interval="beside")
    body = "\n".join(
        table.latex(width=width, signatures=where) for width in ("one", "two") for where in ("comment", "footnote")
    )  # type: ignore[arg-type]
    (tmp_path / "t.tex").write_text(
        r"\documentclass[twocolumn]{article}\usepackage{booktabs}\begin{document}" + body + r"\end{document}"
    )
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "t.tex"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0 and "Overfull" not in done.stdout


def test_the_same_object_in_python(measured_suite: Path) -> None:
    table = rushes.table(measured_suite, columns=["rating:look", "psnr"], digits={"psnr": 1})
    assert len(table) == 4 and "<table" in table._repr_html_()
    assert table.text("csv") == table.csv() and table.columns[1].digits == 1
    assert "psnr|" in table.appendix() and "psnr|" in table.appendix("markdown")
    with pytest.raises(InputError, match="digits of fvd: the table has no such column"):
        rushes.table(measured_suite, columns="psnr", digits={"fvd": 2})


def test_a_metric_that_is_no_column_of_the_board_is_one_of_the_table(small_evaluation: Evaluation) -> None:
    """Every measured metric can be asked for; one that the board leaves out is shown and not tested."""
    assert "freeze_frame_ratio" not in {one.name for one in small_evaluation.data.readings}
    made = rushes.table(small_evaluation, columns="freeze_frame_ratio,psnr")
    values = made.to_pandas()["freeze_frame_ratio"]
    for system in (one for one in small_evaluation.data.systems if one.name in small_evaluation.systems):
        run = next(run for run in system.runs if run.instrument == "clip")
        found = [
            float(m.value or 0)
            for entry in run.entries
            for m in entry.measurements
            if m.definition.name == "freeze_frame_ratio" and m.definition.param("input") == "raw"
        ]
        assert values[system.name] == pytest.approx(sum(found) / len(found))
    assert any("not tested: it is not a column of the board" in note for note in made.notes)


def test_set_distances_of_a_suite_are_columns(tmp_path: Path) -> None:
    """FVD is a number per system: it is in the table under its signature, with what it rests on, and is not bold."""
    values = {"amber": 120.5, "birch": 310.25}
    for name, value in values.items():
        fvd_run(tmp_path / "runs" / name, value, gen=f"takes/{name}")
    lines = "\n".join(f'{name} = "runs/{name}"' for name in values)
    (tmp_path / "suite.toml").write_text(f'name = "sets"\n[systems]\n{lines}\n')
    suite = run_suite(tmp_path / "suite.toml", tmp_path / "out").path
    table = rushes.table(suite, columns="fvd")
    assert table.to_pandas()["fvd"].tolist() == list(values.values()) and table.columns[0].best is None
    assert table.columns[0].title == "FVD" and table.footnotes[0].signature.startswith("fvd|")
    assert invoked("table", suite, "--columns", "fvd", "--format", "latex").stdout.count("FVD") >= 1
