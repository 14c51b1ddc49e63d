"""`rushes believe --format …`: the tables of a paper have every number, and LaTeX fits the page."""

from __future__ import annotations

import csv
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from tests.compare.agreement.rated import made_up
from tests.compare.agreement.test_believe import ratings_file, runs
from typer.testing import CliRunner

import rushes
from rushes.cli.main import app
from rushes.compare.agreement.metric_agreement import MetricAgreement, believe
from rushes.compare.agreement.statistics import LEVELS
from rushes.compare.agreement.tables import written
from rushes.core.errors import InputError

PAPER = r"""\documentclass[%s]{article}
\usepackage[a4paper,margin=2cm]{geometry}\usepackage{booktabs}
\begin{document}
%s
\end{document}
"""


@pytest.fixture(scope="module")
def found() -> MetricAgreement:
    metrics = {
        name: (lambda q, g: q + g.normal(size=q.shape)) for name in ("luma_alternation_of_frames", "flow", "x_2")
    }
    return believe(*made_up(np.random.default_rng(2), prompts=12, metrics=metrics))


def test_rho_and_tau_at_every_level_with_p_and_a_person(found: MetricAgreement) -> None:
    table = found.table("quality")
    assert isinstance(table, rushes.Table)
    assert table.header == (
        "metric",
        "",
        "within prompts",
        "all clips",
        "within a system",
        "over systems",
        "p",
        "verdict",
    )
    assert len(table.rows) == 2 * (3 + 1) and table.rows[-2][0].text == "one person"
    best = found.of("quality")[0]
    for row, statistic in zip(table.rows[:2], ("spearman", "kendall_tau_b"), strict=True):
        for level, cell in zip(LEVELS, row[2:6], strict=True):
            number = best.numbers[level, statistic]  # type: ignore[index]
            assert cell.measurement is number and number.interval is not None
            assert cell.beside == f"[{number.interval.low:.2f}, {number.interval.high:.2f}]"
    assert table.rows[1][6].measurement is best.p and table.rows[0][6].text == ""
    narrow = found.table(levels=("clip", "prompt"))
    assert narrow.header[2:4] == ("all clips", "within prompts")
    with pytest.raises(InputError, match="a level is one of within-prompt, clip"):
        found.table("quality", levels=("scene",))
    with pytest.raises(InputError, match="which question. It has quality; got 'taste'"):
        found.table("taste")


def test_csv_has_every_number(found: MetricAgreement) -> None:
    rows = list(csv.DictReader(written(found, "csv").splitlines()))
    assert len(rows) == sum(len(one.numbers) for one in found.believed) + len(found.ceilings)
    one = found.believed[0]
    decides = next(r for r in rows if r["metric"] == one.metric.label and r["verdict"])
    assert float(decides["value"]) == pytest.approx(float(found.deciding(one).value or 0), abs=1e-8)
    assert one.p is not None and float(decides["adjusted_p"]) == pytest.approx(float(one.p.value or 0), abs=1e-8)


@pytest.mark.parametrize("columns", ["", "twocolumn"])
def test_latex_fits_one_and_two_columns(found: MetricAgreement, tmp_path: Path, columns: str) -> None:
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed")
    (tmp_path / "p.tex").write_text(PAPER % (columns, written(found, "latex")))
    done = subprocess.run(["pdflatex", "-halt-on-error", "p.tex"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull" not in done.stdout, [line for line in done.stdout.splitlines() if "Overfull" in line]


def test_the_command(tmp_path: Path) -> None:
    asked = ["believe", *map(str, runs(tmp_path)), "--ratings", str(ratings_file(tmp_path))]
    out, runner = tmp_path / "t.tex", CliRunner()
    done = runner.invoke(app, [*asked, "--format", "latex", "-o", str(out)])
    assert done.exit_code == 0 and done.stdout.strip() == str(out) and r"$\rho$" in out.read_text()
    assert runner.invoke(app, [*asked, "--format", "markdown"]).stdout.startswith("| metric |")
    assert runner.invoke(app, [*asked, "--format", "csv"]).stdout.startswith("question,metric,statistic,level,value")
    refused = runner.invoke(app, [*asked, "-o", str(out)])
    assert refused.exit_code == 1 and "add --format latex, csv or markdown" in refused.stderr


def test_latex_of_fifty_metrics_fits_one_page(tmp_path: Path) -> None:
    """52 metrics were 10,873 pt too tall and 150 pt too wide: a page has nine, the CSV all."""
    names = [f"flicker_score_of_frames_{n}" for n in range(30)]
    metrics = {name: (lambda q, g: g.normal(size=q.shape)) for name in names} | {"good": lambda q, g: q}
    found = believe(*made_up(np.random.default_rng(2), prompts=12, metrics=metrics))
    table = found.table("quality", most=9)
    shown = [row[0].text for row in table.rows[::2]]
    assert len(shown) == 9 + 1 and "good" in shown and "9 of 31 metrics" in table.caption
    assert len(found.table("quality").rows) == 2 * (31 + 1)
    tex = written(found, "latex")
    assert not any("\\u2" in line or "\\x" in line for line in tex.splitlines() if line.startswith("%"))
    assert tex.count("flicker") <= 9 and written(found, "csv").count("_of_frames_29,spearman,clip") == 1
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed")
    (tmp_path / "paper.tex").write_text(PAPER % ("twocolumn", tex))
    made = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "paper.tex"], cwd=tmp_path, capture_output=True, check=True
    )
    assert b"Overfull" not in made.stdout and b"Float too large" not in made.stdout
