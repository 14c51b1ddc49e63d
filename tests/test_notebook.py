"""The example notebook is valid, has no outputs, and runs on made clips; results show themselves shortly."""

from __future__ import annotations

import ast
import json
import os
from pathlib import Path

import pytest
from tests.doc_material import MATERIAL

import rushes
from rushes.core import Definition, Interval, Measurement
from rushes.core.table import NUMBER, TEXT, Cell, Table, number

ROOT = Path(__file__).parents[1]
NOTEBOOK = ROOT / "examples" / "first_look.ipynb"
RATIO = Definition(
    name="share", unit="ratio", lowest=0.0, highest=1.0, better="higher", summary="A share.", formula="a / b"
)


def test_the_notebook_is_valid_and_has_no_outputs() -> None:
    nbformat = pytest.importorskip("nbformat", reason="comes with jupyter")
    book = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(book)
    cells = [cell for cell in book.cells if cell.cell_type == "code"]
    assert cells and all(not cell.outputs and cell.execution_count is None for cell in cells)
    text = "".join(cell.source for cell in cells)
    assert all(name in text for name in ("evaluate_clips", "to_frame", ".table(", ".one(", "write_report"))


def test_the_cells_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One after the other, in this process; what a cell ends in is shown as a notebook would show it."""
    monkeypatch.chdir(tmp_path)
    MATERIAL["takes"]()
    cells = [cell for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    known: dict[str, object] = {}
    shown = []
    for cell in cells:
        *steps, last = ast.parse("".join(cell["source"])).body
        is_shown = isinstance(last, ast.Expr)
        before = ast.Module(body=steps if is_shown else [*steps, last], type_ignores=[])
        exec(compile(before, NOTEBOOK.name, "exec"), known)
        if isinstance(last, ast.Expr):
            shown.append(eval(compile(ast.Expression(body=last.value), NOTEBOOK.name, "eval"), known))
    html = shown[0]._repr_html_()
    assert "take0" in html and "|v:" in html
    assert (tmp_path / "report.html").exists()


@pytest.mark.soak
def test_the_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbclient = pytest.importorskip("nbclient", reason="runs notebooks")
    pytest.importorskip("ipykernel", reason="runs notebooks")
    nbformat = pytest.importorskip("nbformat")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", f"{ROOT / 'src'}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    MATERIAL["takes"]()
    book = nbformat.read(NOTEBOOK, as_version=4)
    nbclient.NotebookClient(book, timeout=240, kernel_name="python3").execute()
    shown = [output.data for cell in book.cells for output in cell.get("outputs", ()) if "data" in output]
    assert "take0" in shown[0]["text/html"] and "|v:" in shown[0]["text/html"]
    assert (tmp_path / "report.html").exists()


def test_a_number_shows_its_value_and_its_signature() -> None:
    interval = Interval(low=0.25, high=0.75, level=0.95, method="wilson")
    half = Measurement(definition=RATIO, value=0.5, count=4, at=(("system", "amber"),), interval=interval)
    assert repr(half) == "<share 0.5000, 0.2500 to 0.7500, N 4, system amber · share|v:1>"
    assert repr(RATIO) == "<Definition share|v:1>"
    assert 'title="share|v:1 · N 4"' in half._repr_html_()


def test_what_somebody_wrote_is_no_markup() -> None:
    sly = "<script>alert(1)</script>"
    odd = Measurement(definition=RATIO, value=0.5, count=1, note=f'" onmouseover="{sly}', at=(("system", sly),))
    table = Table(title=sly, columns=(*TEXT("a"), *NUMBER(sly)), rows=[(Cell(sly), number(odd))])
    for html in (table._repr_html_(), odd._repr_html_()):
        assert "<script" not in html and '" onmouseover="' not in html


def test_a_long_table_shows_its_first_rows() -> None:
    table = Table(title="", columns=TEXT("n"), rows=[(Cell(str(n)),) for n in range(1000)])
    assert len(repr(table).splitlines()) == 22 and repr(table).endswith("… and 980 more rows")
    assert table._repr_html_().count("<tr>") == 21 and "980 more rows" in table._repr_html_()


def test_runs_and_comparisons_fit_a_screen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    MATERIAL["two_weeks"]()
    MATERIAL["poses"]()
    before, after = rushes.read_run("runs/last-week"), rushes.read_run("runs/this-week")
    assert repr(before) == "runs/last-week: 24 pairs."
    pair = rushes.compare_runs(before, after)
    pose = rushes.score_pose("pred.npz", "gt.npz", norms="all", px=0.08, run="runs/pose")
    gate = rushes.check_regression(before, after, metrics={"psnr": "1"})
    for one in (before, before.entries[0], before.subjects[0], pair, pose, gate, pair.metrics[0].reading):
        assert len(repr(one)) <= 1000 and len(repr(one).splitlines()) <= 6
    for one in (before, pair, pose, before.table("psnr")):
        html = one._repr_html_()
        assert len(html) < 20_000 and "<script" not in html and "http" not in html
        assert ("mpjpe" if one is pose else "psnr") in html
