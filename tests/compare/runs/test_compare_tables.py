"""Comparisons as Markdown, LaTeX and CSV."""

from __future__ import annotations

import csv
import io
import shutil
import subprocess
from pathlib import Path

import pytest

from rushes.compare.runs.many import compare_all
from rushes.compare.runs.tables import comparison_table
from rushes.core.definition import parse_signature
from rushes.core.errors import InputError

from .compared_runs import HOSTILE, planted_run, planted_three
from .test_set_distances import write_run as write_distances


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_csv_has_every_number_as_stored_with_its_signature(tmp_path: Path) -> None:
    found = compare_all(planted_three(tmp_path))
    rows = rows_of(comparison_table(found, "csv"))
    assert len(rows) == len(found.judged) == 6
    for row, one in zip(rows, found.judged, strict=True):
        mean = one.statistics.mean
        assert (row["run"], row["metric"], row["verdict"]) == (("bad", "alike")[one.run - 1], one.name, one.text)
        assert float(row["value"]) == mean.stored_value and row["signature"] == mean.signature
        if mean.interval is not None:
            assert float(row["low"]) == mean.interval.as_dict()["low"]
            assert (float(row["p"]), float(row["p_holm"])) == (one.p.stored_value, one.holm.stored_value)
        assert [parse_signature(row[key])[0] for key in ("signature", "p_signature", "p_holm_signature")] == [
            "paired_mean_difference",
            "sign_flip_p",
            "paired_holm_p",
        ]


def test_markdown_names_the_runs_and_every_signature(tmp_path: Path) -> None:
    text = comparison_table(compare_all(planted_three(tmp_path)), "markdown")
    lines = text.splitlines()
    # differences of decode_failures 5 6 7 8 5 6 7 8: mean 6.5
    assert lines[2].startswith("| decode\\_failures¹ | B | +6.500 | ") and lines[2].endswith(" | worse |")
    assert "A is clean, B is bad, C is alike" in text and "after Holm over 3 comparisons" in text
    assert "1. `paired_mean_difference|of:decode_failures;" in text
    assert "- The same on every clip: freeze\\_frame\\_ratio, decode\\_failures (C)" in lines
    assert "paired\\_holm\\_p\\|alternative:two-sided\\|of:…\\|test:sign-flip\\|tests:3\\|v:2" in text


def test_latex_is_ascii_and_balanced_whatever_the_names(tmp_path: Path) -> None:
    odd = {f"{HOSTILE}{n}": (0.1, 100.0 + n, 0) for n in range(4)}
    moved = {name: (freeze, blur - 10 - n % 2, 0) for n, (name, (freeze, blur, _)) in enumerate(odd.items())}
    a, b = planted_run(tmp_path / "50%_a&b", odd), planted_run(tmp_path / "ü{}$", moved | {"new~": (0.1, 1.0, 0)})
    text = comparison_table(compare_all([a, b]), "latex")
    assert text.isascii() and text.count(r"\begin{") == text.count(r"\end{") == 2
    assert r"50\%\_a\&b" in text and r"\"{u}\{\}\$" in text and r"new\textasciitilde{}" in text
    body = text[text.index(r"\midrule") : text.index(r"\bottomrule")]
    assert {line.count("&") - line.count(r"\&") for line in body.splitlines()[1:]} == {6}


def test_refused_and_unshared_readings_are_in_every_format(tmp_path: Path) -> None:
    from rushes.instruments.clip.metrics.motion import FREEZE_FRAME_RATIO, SCENE_CUT_COUNT

    from .test_compare import write_run

    a = write_run(tmp_path / "a", {"x": {FREEZE_FRAME_RATIO: 0.1}, "y": {FREEZE_FRAME_RATIO: 0.2}})
    other = FREEZE_FRAME_RATIO.with_params(eps=2.0)
    b = write_run(tmp_path / "b", {"x": {other: 0.1, SCENE_CUT_COUNT: 1}, "y": {other: 0.3, SCENE_CUT_COUNT: 1}})
    found = compare_all([a, b])  # the badges compare
    rows = rows_of(comparison_table(found, "csv"))
    assert [(row["metric"], row["verdict"]) for row in rows] == [
        ("freeze_frame_ratio", "refused"),
        ("scene_cut_count", "in one run only"),
    ]
    for format in ("markdown", "latex"):
        text = comparison_table(found, format)  # type: ignore[arg-type]
        assert "eps is 1.0 in one and 2.0 in the other" in text and "in one of the two runs only" in text


def test_distances_stay_side_by_side(tmp_path: Path) -> None:
    a, b = (write_distances(tmp_path / n, {"genhoi": v}) for n, v in (("a", 200.0), ("b", 180.0)))
    found = compare_all([a, b])
    text = comparison_table(found, "markdown")
    assert "| fvd¹ | genhoi | 200 | 180 |" in text and "rushes fvd B REAL --versus A" in text
    rows = rows_of(comparison_table(found, "csv"))
    assert [(row["verdict"], float(row["value"])) for row in rows] == [
        ("value", 200.0),
        ("value", 180.0),
        ("difference", -20.0),
    ]


def test_another_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="markdown, latex, csv; got 'pdf'"):
        comparison_table(compare_all(planted_three(tmp_path)), "pdf")  # type: ignore[arg-type]


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex (apt install texlive-latex-recommended)")
def test_pdflatex_takes_the_table_as_it_is(tmp_path: Path) -> None:
    """Names that would end a cell, a row or the document, in one pass without a question asked."""
    names = ["a_b & c%d", "$x^2$ #1 {~} \\\\ \\end{table*}", '"quote" `tick` [star]*', "Zoë Ångström 動画 …"]
    base = {f"p{n}": (0.1, 100.0 + 3 * n, 0) for n in range(9)}
    runs = []
    for n, name in enumerate(names):
        clips = {clip: (freeze, blur - 5 * n - int(clip[1]) % 3, n) for clip, (freeze, blur, _) in base.items()}
        runs.append(planted_run(tmp_path / name, clips))
    found = compare_all(runs)
    table = comparison_table(found, "latex")
    body = "\\documentclass[twocolumn]{article}\\usepackage{booktabs}\\begin{document}\n" + table + "\\end{document}\n"
    (tmp_path / "t.tex").write_text(body, encoding="ascii")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "t.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace", timeout=240)
    assert done.returncode == 0, done.stdout[-2000:]
    assert (tmp_path / "t.pdf").stat().st_size > 1000
