"""A board as a LaTeX table: the cells of the page, nothing that pdflatex would stumble over."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from rushes.compare.board.board import write_board
from rushes.compare.board.model import PEOPLE
from rushes.compare.comparison import WhyNot

from .board_made import board_data, reading, verdict

NAMES = ("cogvideo", "modelscope", "text2video-zero", "zeroscope", "ground-truth")


def written(folder: Path) -> str:
    one, other = reading("flicker", label="Flicker & 50 %"), reading("psnr", label="PSNR", better="higher")
    data = board_data(("amber_1", "birch", "cedar"), (one, other))
    verdicts = {
        one.key: verdict(data, one, [["amber_1"], ["birch", "cedar"]]),
        other.key: verdict(data, other, [["amber_1", "birch", "cedar"]]),
    }
    made = write_board(data, folder / "board.tex", title="Which?", verdicts=verdicts)
    text = (folder / "board.tex").read_text(encoding="utf-8")
    assert made.bytes == len(text.encode())
    return text


def test_cells_letters_and_signatures(tmp_path: Path) -> None:
    text = written(tmp_path)
    assert text.isascii() and text.count("\\begin{tabular}{@{}lrr@{}}") == 1
    head, first, second = [line for line in text.splitlines() if line.endswith(" \\\\")][:3]
    assert head.startswith("System &") and "\\& 50 \\%\\textsuperscript{1} $\\downarrow$" in head
    assert first.startswith("amber\\_1 & \\textbf{") and "\\textsuperscript{a}" in first
    assert "\\textbf" not in second and second.count("\\textsuperscript") == 2
    assert text.count("\\texttt{") == 2 and "do not differ significantly" in text
    assert written(tmp_path) == text


MANY = tuple(reading(f"metric_number_{n}", better="neither", raised_by=("noise",)) for n in range(20))
"""Metrics that rank nobody: a difference is no verdict."""


def wide(folder: Path, metrics: int) -> str:
    """People's three questions, so many metrics that rank nobody, and one that was not tested."""
    asked = tuple(
        replace(reading("rating", better="higher", unit=f"points {n}"), label=f"question number {n}", instrument=PEOPLE)
        for n in range(3)
    )
    untested = reading("frames", label="Untested")
    data = board_data(NAMES, (*asked, *MANY[:metrics], untested))
    shown = {one.key: verdict(data, one, [NAMES[:2], NAMES[2:]], ranked=one in asked) for one in data.readings}
    shown[untested.key] = replace(shown[untested.key], why=WhyNot.NOT_TESTED)
    write_board(data, folder / "board.tex", verdicts=shown)
    return (folder / "board.tex").read_text(encoding="ascii")


def test_people_and_every_tested_metric_are_columns(tmp_path: Path) -> None:
    text = wide(tmp_path, 4)
    for word in ("question number 2", "Metric\\_number\\_0", "Metric\\_number\\_3"):
        assert text.count(word) >= 1, word
    assert "Untested" not in text and text.count("\\texttt{") == 7
    assert wide(tmp_path, 20).count("\\texttt{") == 0 and text.startswith("% ")


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex (apt install texlive-latex-recommended)")
@pytest.mark.parametrize("metrics", [0, 9, 20])
def test_pdflatex_takes_it_and_it_fits_the_page(tmp_path: Path, metrics: int) -> None:
    body = wide(tmp_path, metrics) if metrics else written(tmp_path)
    page = f"\\documentclass[twocolumn]{{article}}\\usepackage{{booktabs}}\\begin{{document}}{body}\\end{{document}}"
    (tmp_path / "t.tex").write_text(page, encoding="ascii")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "t.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=240)
    log = done.stdout.decode("latin-1")
    assert done.returncode == 0 and "Overfull" not in log and "Float too large" not in log
