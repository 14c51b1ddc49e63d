"""Tables that fit: pdflatex sets them in one and in both columns of a standard article without an overfull box."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from rushes.core.table import NUMBER, TEXT, Cell, Footnote, Table
from rushes.core.table import Column as Head
from rushes.present.tables.fitting import fitted, head_lines, transposed
from rushes.present.tables.latex import latex, signature_list

needs_pdflatex = pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
SYSTEMS = ("CogVideo", "ModelScope", "Text2Video-Zero", "ZeroScope", "Amber v2.1", "ground-truth")
NAMES = (
    "PSNR ↑",
    "temporal_inconsistency ↓",
    "FVD ↓",
    "alignment ↑",
    "luma_alternation ↓",
    "LPIPS ↓",
    "SSIM ↑",
    "Elo ↑",
)
SIGNATURE = (
    "psnr|aggregate:mean|bits:8|cap:100.0|colour:rgb|cut:shortest|matrix:tag-or-bt601|resize:gt-swscale-bicubic|v:1"
)


def table(columns: int, *, systems: int = 6, beside: str = "[12.34, 23.45]") -> Table:
    cells = [Cell("23.30", beside=beside, bold=True), Cell("−0.1234", beside=beside), Cell("2418.5", beside=beside)]
    heads = [Head(NAMES[n % len(NAMES)], NUMBER, mark=str(n + 1)) for n in range(columns)]
    rows = [
        (Cell(name), *(cells[(n + place) % 3] for n in range(columns))) for place, name in enumerate(SYSTEMS[:systems])
    ]
    notes = [Footnote(mark=n + 1, signature=SIGNATURE, remark="17 prompts") for n in range(columns)]
    return Table(title="", columns=(*TEXT("System"), *heads), rows=rows, caption="Systems.", footnotes=notes)


def overfull(tex: list[str], folder: Path) -> list[str]:
    """pdflatex's complaints about these floats in a two-column article."""
    body = "\n".join(r"\clearpage " + text for text in tex)
    source = (
        r"\documentclass[twocolumn]{article}\usepackage{booktabs}\begin{document}x" + "\n" + body + r"\end{document}"
    )
    (folder / "t.tex").write_text(source, encoding="ascii")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-2000:]
    return [line for line in done.stdout.splitlines() if re.match(r"Overfull \\hbox", line)]


@needs_pdflatex
def test_no_overfull_box_in_one_or_both_columns(tmp_path: Path) -> None:
    """One to eight columns, with and without intervals, beside and under, signatures in every place: one document."""
    made = [
        latex(table(columns, beside=beside), width=width, under=under, signatures=signatures)  # type: ignore[arg-type]
        for columns in (1, 3, 5, 8)
        for width in ("one", "two")
        for beside, under in (("", False), ("± 0.12", False), ("[12.34, 23.45]", True))
        for signatures in (("footnote",) if columns == 8 else ("comment",))
    ]
    made.append(signature_list(table(8)))
    assert overfull(made, tmp_path) == []


@needs_pdflatex
def test_without_a_width_the_same_table_is_too_wide(tmp_path: Path) -> None:
    """The check can fail: this is what the table looked like before it was fitted."""
    assert overfull([latex(table(8), signatures="none")], tmp_path)


def test_letters_shrink_before_intervals_move_and_blocks_come_last() -> None:
    assert fitted(table(3, beside=""), "two").size == "small"
    narrow = fitted(table(8), "one")
    assert narrow.under and narrow.size in ("footnotesize", "scriptsize")
    few = fitted(table(8, systems=2), "one")
    assert len(few.blocks) == 1 and few.blocks[0].columns[0].head == "Metric"  # two systems, eight metrics: turned
    blocks = fitted(table(8), "one").blocks
    assert [cell.text for block in blocks for cell in block.rows[0][1:]] == [c.text for c in table(8).rows[0][1:]]


def test_turned_tables_keep_marks_and_footnotes() -> None:
    turned = transposed(table(2))
    assert [column.head for column in turned.columns] == ["Metric", *SYSTEMS]
    assert turned.rows[0][0].raised == "1" and turned.rows[0][1].bold


def test_signatures_go_where_they_are_asked_for() -> None:
    footnote, comment, none = (latex(table(2), signatures=where) for where in ("footnote", "comment", "none"))  # type: ignore[arg-type]
    assert r"\textsuperscript{1}~\texttt{psnr" in footnote
    assert f"% PSNR: {SIGNATURE}: 17 prompts" in comment and "textsuperscript" not in comment
    assert "psnr|" not in none and "textsuperscript" not in none
    assert signature_list(table(2)).startswith(r"\begin{itemize}") and comment.isascii()


@pytest.mark.parametrize("head", ["PSNR ↑", "temporal_inconsistency ↓", "a b c d e f"])
def test_a_head_in_lines_is_the_same_head(head: str) -> None:
    for lines in (1, 2, 3):
        found = head_lines(head, lines)
        assert len(found) <= lines and "".join(found).replace(" ", "") == head.replace(" ", "")
