"""A board as a LaTeX table: the cells of the page, nothing that pdflatex would stumble over."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from rushes.compare.board.board import write_board

from .board_made import board_data, reading, verdict


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
    assert text.isascii() and text.count("\\begin{tabular}{lrr}") == 1
    head, first, second = [line for line in text.splitlines() if line.endswith(" \\\\")][:3]
    assert head.startswith("System & Flicker \\& 50 \\%\\textsuperscript{1} $\\downarrow$")
    assert first.startswith("amber\\_1 & \\textbf{") and "\\textsuperscript{a}" in first
    assert "\\textbf" not in second and second.count("\\textsuperscript") == 2
    assert text.count("\\texttt{") == 2 and "do not differ significantly" in text
    assert written(tmp_path) == text


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex (apt install texlive-latex-recommended)")
def test_pdflatex_takes_it(tmp_path: Path) -> None:
    body = written(tmp_path)
    page = f"\\documentclass{{article}}\\usepackage{{booktabs}}\\begin{{document}}{body}\\end{{document}}"
    (tmp_path / "t.tex").write_text(page, encoding="ascii")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "t.tex"]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=60).returncode == 0
