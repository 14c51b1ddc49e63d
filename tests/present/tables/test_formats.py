"""One table in the formats of papers and notes: what a column's kind, a footnote, an interval and bold become."""

from __future__ import annotations

from rushes.core.table import COUNT, NUMBER, TEXT, Cell, Column, Footnote, Table
from rushes.present.tables.latex import latex
from rushes.present.tables.markdown import escaped, markdown

TABLE = Table(
    title="Two systems",
    columns=(*TEXT("system"), Column("psnr_y ↑", NUMBER, mark="1"), *COUNT("clips"), *TEXT("verdict")),
    rows=[
        (Cell("a_b", raised="2"), Cell("−0.25", beside="± 0.1", bold=True), Cell("12"), Cell("better")),
        (Cell("c"), Cell("3.1e-04", beside="[-1, 2]", raised="ab"), Cell("–"), Cell("a|b")),
    ],
    caption="What was found.",
    footnotes=(Footnote(mark=1, signature="psnr|v:1"), Footnote(mark=2, signature="x|v:1", remark="3 clips")),
    notes=("50 % more",),
)


def test_markdown() -> None:
    assert (
        markdown(TABLE)
        == """\
| system | psnr\\_y¹ ↑ | clips | verdict |
| :--- | ---: | ---: | :--- |
| a\\_b² | **−0.25** ± 0.1 | 12 | better |
| c | 3.1e-04ab [-1, 2] | – | a\\|b |

Two systems. What was found.

1. `psnr|v:1`
2. `x|v:1`: 3 clips

- 50 % more
"""
    )


def test_latex() -> None:
    lines = latex(TABLE).splitlines()
    assert lines[1:5] == [
        r"\begin{table}[t]",
        r"\centering",
        r"\caption{Two systems. What was found.}",
        r"\begin{tabular}{lrrl}",
    ]
    assert lines[6:10] == [
        r"system & psnr\_y\textsuperscript{1} $\uparrow$ & clips & verdict \\",
        r"\midrule",
        r"a\_b\textsuperscript{2} & $\mathbf{-0.25}$ $\pm$ 0.1 & 12 & better \\",
        r"c & $3.1\times10^{-4}$\textsuperscript{ab} {[}$-1$, 2{]} & -- & a\textbar{}b \\",
    ]
    assert lines[-6:-1] == [
        r"{\footnotesize\raggedright",
        r"\textsuperscript{1}~\texttt{psnr|\allowbreak v:1}\par",
        r"\textsuperscript{2}~\texttt{x|\allowbreak v:1}: 3 clips\par",
        r"50 \% more\par",
        "}",
    ]


def test_an_entity_in_a_name_is_text() -> None:
    assert escaped("A&B &copy; &#42;") == r"A&B \&copy; \&#42;"
