"""The robustness report's figures."""

from __future__ import annotations

import hashlib
import itertools
import json
from xml.etree import ElementTree

import pytest

pytest.importorskip("vl_convert")
pytest.importorskip("altair")

from rushes import measure_robustness, read_run
from rushes.instruments.robustness.seed.encoding import run_directory
from rushes.instruments.robustness.show.charts import charts
from rushes.instruments.robustness.show.word_diff_svg import diff_svg


def sweep_run(tmp_path, axes, record):
    """A run directory of a sweep with one seed."""
    folder = tmp_path / "sweep"
    runs = []
    for point in itertools.product(*(axes[name] for name in sorted(axes))):
        values = dict(zip(sorted(axes), point, strict=True))
        run = folder / "runs" / run_directory(values, 1)
        run.mkdir(parents=True)
        (run / "trace_pack.jsonl").write_text(json.dumps(record(values)))
        manifest = json.dumps({"run_id": "r", "timestamp": "t", "seed": 1, "artifacts": []}).encode()
        (run / "manifest.json").write_bytes(manifest)
        runs.append({"axis_values": values, "seed": 1, "manifest_hash": hashlib.sha256(manifest).hexdigest()})
    (folder / "sweep_manifest.json").write_text(json.dumps({"axes": axes, "seeds": [1], "runs": runs}))
    measure_robustness(folder, run=tmp_path / "run")
    return read_run(tmp_path / "run")


def answer(values):
    return {"output": "soft" if values["crf"] > 30 else "sharp", "justification": f"crf {values['crf']} <looks> & fine"}


def texts(figure):
    return [element.text for element in ElementTree.fromstring(figure.svg).iter() if element.text]


def test_lines_heat_and_words_and_the_same_figures_again(tmp_path):
    run = sweep_run(tmp_path, {"crf": [8, 18, 38], "fps": [10.0, 25.0]}, answer)
    lines, heat, worst = charts(run)
    assert charts(run) == (lines, heat, worst)
    assert "baseline (crf=8_fps=10p0_seed=1)" in lines.caption
    drawn = texts(lines)
    assert drawn.index("8") < drawn.index("18") < drawn.index("38")  # by size, not by encoding
    assert {"crf", "fps", "ESI (higher is steadier)", "drift (lower is steadier)"} <= set(drawn)
    assert {"1.00", "0.00"} <= set(texts(heat))
    # "crf 38 <looks> & fine" has 21 characters, one more than the baseline's: drift 1/21.
    assert "crf=38_fps=10p0_seed=1: answers “soft”, baseline “sharp”, drift 0.0476" in " ".join(texts(worst))


def test_one_axis_has_no_heat_chart(tmp_path):
    figures = charts(sweep_run(tmp_path, {"crf": [18, 28]}, lambda v: {"output": "A", "justification": "same"}))
    assert [figure.title for figure in figures] == ["sweep: stability along each axis"]


def test_values_that_are_words_keep_their_order(tmp_path):
    figures = charts(sweep_run(tmp_path, {"mode": ["slow", "fast", "é"]}, lambda v: {"output": v["mode"]}))
    drawn = texts(figures[0])
    assert drawn.index("slow") < drawn.index("fast") < drawn.index("é")


def test_a_difference_is_drawn_with_marks_and_escapes():
    svg = diff_svg([("title", [("same", "a"), ("removed", "<b>"), ("added", "c " * 100 + "x" * 300)])])
    root = ElementTree.fromstring(svg)
    spans = [(span.get("text-decoration"), span.text) for span in root.iter("{http://www.w3.org/2000/svg}tspan")]
    assert (None, "a") in spans and ("line-through", "<b>") in spans
    assert sum(1 for decoration, _ in spans if decoration == "underline") > 4  # wrapped over lines
