"""`rushes figure`: every kind in both widths, the numbers in the picture, bytes that stay the same."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result
from scipy.stats import spearmanr
from tests.compare.board.boards import around, metric, numbers, reading
from typer.testing import CliRunner

import rushes
from rushes.cli.main import app
from rushes.compare.board.model import Contrast, ReadingVerdict
from rushes.compare.board.reference_differences import with_declared_differences
from rushes.compare.figures.draw import KINDS, figure
from rushes.compare.figures.figure import PaperFigure
from rushes.compare.figures.strips import even_frames
from rushes.compare.paper.evaluation import Evaluation, open_evaluation
from rushes.core import Measurement
from rushes.core.errors import InputError
from rushes.present.charts.paper import INCHES, PALETTE, SHAPES, looks, picture


def invoked(*words: object) -> Result:
    return CliRunner().invoke(app, [*map(str, words)])


def points_wide(found: PaperFigure) -> float:
    """Width in print, in points, as the PDF's page has it."""
    box = re.search(rb"/MediaBox \[0 0 ([\d.]+)", picture(found.svg, ".pdf"))
    assert box is not None
    return float(box[1])


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_as_wide_as_its_columns_and_the_same_each_time(kind: str, small_evaluation: Evaluation) -> None:
    more = {"strips": {"prompts": "p0"}, "forest": {"columns": "rating:look,psnr"}}.get(kind, {})
    for width in ("one", "two") if kind != "strips" else ("one",):
        found = figure(kind, small_evaluation, width=width, **more)  # type: ignore[arg-type]
        assert points_wide(found) == pytest.approx(72 * INCHES[width], abs=2.5)
        assert found.rows and all(len(row) == len(found.header) for row in found.rows) and found.caption.endswith(".")
    again = figure(kind, small_evaluation, width=width, **more)  # type: ignore[arg-type]
    assert again.svg == found.svg and picture(again.svg, ".pdf") == picture(found.svg, ".pdf")


def test_ratings_are_the_tables_numbers_and_lie_on_the_scale(small_evaluation: Evaluation) -> None:
    found = figure("ratings", small_evaluation, columns="rating:look").to_pandas().set_index("system")
    assert found["value"].to_dict() == pytest.approx({"amber": 4.5, "birch": 3.5, "cedar": 2.5, "truth": 5.0})
    assert found["low"].dropna().min() >= 1 and found["high"].dropna().max() <= 5
    assert (found["signature"] == "rating_mean|over:shared-prompts|question:look|scale:1-5|v:1").all()


def test_rho_is_scipys(small_evaluation: Evaluation) -> None:
    found = figure("scatter", small_evaluation, columns="psnr,rating:look").to_pandas()
    assert found["rho"].iloc[0] == pytest.approx(spearmanr(found["x"], found["y"]).statistic, abs=1e-7)
    assert len(found) == found["n"].iloc[0] == 30  # three systems: the reference has no PSNR
    systems = figure("scatter", small_evaluation, columns="psnr,rating:look", level="system").to_pandas()
    assert len(systems) == 3 and systems["rho"].iloc[0] == pytest.approx(1.0)


def test_rho_has_believes_interval_with_the_sign_that_is_drawn(
    measured_suite: Path, small_evaluation: Evaluation
) -> None:
    believed = rushes.believe(small_evaluation.data, measured_suite.parent / "ratings.csv")
    one = next(b for b in believed.of("look") if b.metric.definition.name == "psnr").numbers["clip", "spearman"]
    found = figure("scatter", small_evaluation, columns="psnr,rating:look")
    row = found.to_pandas().iloc[0]
    assert one.interval is not None and row["rho"] == pytest.approx(one.value, abs=1e-7)
    assert (row["rho_low"], row["rho_high"]) == pytest.approx((one.interval.low, one.interval.high), abs=1e-7)
    assert one.interval.method in found.caption and "95 %: [" in found.svg


def test_five_prompts_are_named_as_too_few(small_evaluation: Evaluation) -> None:
    """No sign flip of five prompts is significant: the table and every figure of differences say how many it takes."""
    data = small_evaluation.data
    five = {prompt.id for prompt in data.prompts[:5]}
    values = {key: {p: m for p, m in row.items() if p in five} for key, row in data.values.items()}
    short = Evaluation(replace(data, prompts=data.prompts[:5], values=values))
    few = short.too_few(short.pick("rating:look"))
    assert re.fullmatch(r"5 prompts cannot show a significant difference; at least \d+ are needed\.", few)
    assert rushes.table(short, columns="rating:look").caption.endswith(few)
    for kind in ("ratings", "forest"):
        assert figure(kind, short, columns="rating:look").caption.endswith(few)  # type: ignore[arg-type]
    assert small_evaluation.too_few(small_evaluation.pick("rating:look")) == ""


def test_ranking_says_which_ranks_are_open(small_evaluation: Evaluation) -> None:
    found = figure("ranking", small_evaluation, columns="rating:look").to_pandas().set_index("system")
    assert found.index.tolist() == ["amber", "birch", "cedar"]  # the reference competes with nobody
    assert found[["rank_best", "rank_worst"]].to_numpy().tolist() == [[1, 1], [2, 2], [3, 3]]
    votes = figure("ranking", small_evaluation)
    assert votes.rows[0][0] == "elo:motion" and "raters are unknown" in votes.notes[0]


def test_a_forest_is_the_boards_differences_with_its_significance(small_evaluation: Evaluation) -> None:
    found = figure("forest", small_evaluation, columns="rating:look,psnr", versus="birch").to_pandas()
    look = found[found["panel"] == "rating:look"].set_index("system")
    assert look["value"].to_dict() == pytest.approx({"amber": 1.0, "cedar": -1.0, "truth": 1.5})
    drawn = look.dropna(subset=["low"])  # amber and cedar differ by the same on every prompt: no interval
    assert list(drawn.index) == ["truth"]
    assert (drawn["low"] <= drawn["value"]).all() and (drawn["value"] <= drawn["high"]).all()
    pick = small_evaluation.pick("rating:look")[0]
    contrasts = small_evaluation.verdicts[pick.reading.key].contrasts  # type: ignore[union-attr]
    sure = {frozenset((c.first, c.second)): c.outcome.is_change for c in contrasts}
    assert all(row["significant"] == sure[frozenset((name, "birch"))] for name, row in look.iterrows())
    with pytest.raises(InputError, match="no system is called 'brich'. Did you mean `birch`"):
        figure("forest", small_evaluation, versus="brich")


def test_a_difference_that_is_not_the_values_difference_says_how_it_was_made() -> None:
    """An fvd_difference of 114 beside values 410 apart: the bias of few clips is off the one and in the others."""
    fvd = metric("fvd", better="lower")
    column = reading(fvd, per_prompt=False, label="FVD", instrument="distribution")
    data = numbers(column, {"amber": around(fvd, 900.0, 30.0), "birch": around(fvd, 490.0, 30.0)})
    drawn = replace(fvd, name="fvd_difference", params=(("bias", "jackknife-off"),))
    p = Measurement(definition=metric("p"), value=0.01, count=9)
    contrast = Contrast.draft(column, ("amber", "birch"), around(drawn, -114.0, 40.0), p)
    evaluation = Evaluation(data)
    evaluation.__dict__["verdicts"] = {
        column.key: ReadingVerdict(key=column.key, contrasts=(contrast,), letters={}, ranks={})
    }
    found = figure("forest", evaluation, columns="fvd", versus="amber")
    assert found.rows[0][2] == -114.0
    assert found.notes == (
        "FVD: the difference of birch from amber has the bias of few clips removed (jackknife-off); the two values "
        "differ by −410",
    )


def test_curves_are_of_quality_against_the_reference_unless_others_are_asked_for(small_evaluation: Evaluation) -> None:
    assert {row[0] for row in figure("curves", small_evaluation).rows} == {"psnr"}


def test_an_axis_has_its_unit_and_one_prompt_is_one_clip(small_evaluation: Evaluation) -> None:
    alone = figure("curves", small_evaluation, columns="psnr", prompts="p3")
    assert "PSNR (dB)" in alone.svg and alone.caption.endswith("prompt p3: each system's clip.")
    assert {row[-1] for row in alone.rows} == {1}


def test_differences_from_the_reference_are_drawn(
    measured_suite: Path, small_evaluation: Evaluation, tmp_path: Path
) -> None:
    """|value − reference's|, prompt by prompt; the reference has none and is no dot."""
    evaluation = open_evaluation(measured_suite)
    dots = figure("scatter", evaluation, columns="diff:sharpness,rating:look")
    (base,) = evaluation.pick("sharpness")
    truth = evaluation.values(base, "truth")
    wanted = {(s, p): abs(v - truth[p]) for s in ("amber", "birch") for p, v in evaluation.values(base, s).items()}
    drawn = {(row[2], row[3]): row[4] for row in dots.rows if row[2] != "cedar"}
    assert drawn == {key: pytest.approx(value, abs=1e-6) for key, value in wanted.items()}
    with pytest.raises(InputError, match=r"diff:sharpness is not tested; add it to differences under \[reference\]"):
        figure("forest", measured_suite, columns="diff:sharpness")
    tested = Evaluation(with_declared_differences(small_evaluation.data, ["luma_alternation"]))
    made = figure("forest", tested, columns="diff:luma_alternation")  # no system is the reference: the first one is it
    assert {row[1] for row in made.rows} == {"birch", "cedar"} and "from amber" in made.caption
    answer = invoked("figure", "forest", measured_suite, "--columns", "diff:fvd", "-o", tmp_path / "x.svg")
    assert answer.exit_code == 1 and "diff:fvd: not measured" in answer.output


def test_a_curve_is_the_mean_of_the_series(small_evaluation: Evaluation) -> None:
    found = figure("curves", small_evaluation, columns="psnr").to_pandas()
    first = found[(found["system"] == "amber") & (found["time_s"] == 0)]
    amber = next(system for system in small_evaluation.data.systems if system.name == "amber")
    run = next(run for run in amber.runs if run.instrument == "fidelity")
    values = [np.load(file)["psnr"][0] for file in sorted((run.path / "series").glob("*.npz"))]
    assert first["mean"].iloc[0] == pytest.approx(np.mean(values), abs=1e-7) and first["clips"].iloc[0] == 10
    assert figure("curves", small_evaluation, columns="blur_score").rows[0][0] == "laplacian_variance"
    with pytest.raises(InputError, match="no per-frame series is called 'zzz'; the runs have"):
        figure("curves", small_evaluation, columns="zzz")
    with pytest.raises(InputError, match="no prompt is called 'p99'"):
        figure("curves", small_evaluation, prompts="p99")


def test_strips_have_the_reference_first_and_say_what_is_gone(small_evaluation: Evaluation) -> None:
    found = figure("strips", small_evaluation, prompts="p3,p1")
    assert found.svg.count("<image") == 2 * 4 * 5
    frame = found.to_pandas()
    assert list(dict.fromkeys(frame["prompt"])) == ["p3", "p1"] and frame["system"].iloc[0] == "truth"
    assert "a square crosses ramp 3" in found.svg and found.svg.index("truth") < found.svg.index("amber")
    with pytest.raises(InputError, match="no prompt is called 'p33'"):
        figure("strips", small_evaluation, prompts="p33")
    assert even_frames(1, 5) == (0,)


def test_files_and_the_numbers_beside_them(measured_suite: Path, tmp_path: Path) -> None:
    for ending, magic in ((".svg", b"<svg"), (".pdf", b"%PDF"), (".png", b"\x89PNG")):
        answer = invoked("figure", "ratings", measured_suite, "-o", tmp_path / f"fig{ending}")
        assert answer.stdout.split()[-2:] == [str(tmp_path / f"fig{ending}"), str(tmp_path / "fig.csv")]
        assert (tmp_path / f"fig{ending}").read_bytes().startswith(magic)
    rows = list(csv.DictReader(io.StringIO((tmp_path / "fig.csv").read_text())))
    assert rows[0]["system"] == "amber" and rows[0]["signature"].startswith("rating_mean|")
    assert str(measured_suite) not in (tmp_path / "fig.csv").read_text()
    data = json.loads(invoked("figure", "ratings", measured_suite, "-o", tmp_path / "a.svg", "--json").stdout)
    assert data["rows"][0]["value"] == 4.5 and data["written"][0].endswith("a.svg")
    wrong = invoked("figure", "ratings", measured_suite, "-o", tmp_path / "a.docx")
    assert wrong.exit_code == 1 and "expected a .pdf, .svg or .png file" in wrong.stderr


def test_a_figure_never_overwrites_what_it_was_drawn_from(small_evaluation: Evaluation, tmp_path: Path) -> None:
    ratings = tmp_path / "ratings.csv"
    ratings.write_text("prompt_id,system,rater,look\np0,amber,r0,5\n")
    with pytest.raises(InputError, match=r"ratings\.csv: exists and is not this figure's data"):
        figure("ratings", small_evaluation).save(tmp_path / "ratings.pdf")
    assert ratings.read_text().startswith("prompt_id") and not (tmp_path / "ratings.pdf").exists()
    for _ in range(2):
        figure("ratings", small_evaluation).save(tmp_path / "fig.svg")  # its own numbers may be replaced


def test_in_python_it_shows_itself(measured_suite: Path) -> None:
    found = rushes.figure("ratings", measured_suite)
    assert found._repr_html_().startswith("<svg") and 'width="234.00pt"' in found._repr_html_()
    assert len(found.data.rows) == len(found.rows) and "rating" in repr(found)
    with pytest.raises(InputError, match="no figure is called 'rating'. Did you mean `ratings`"):
        rushes.figure("rating", measured_suite)  # type: ignore[arg-type]


def test_eight_systems_differ_in_colour_and_in_shape() -> None:
    found = looks([f"s{n}" for n in range(8)])
    assert len({look.colour for look in found.values()}) == len(PALETTE) == 8
    assert len({look.shape for look in found.values()}) == len(SHAPES) == 8
    assert looks(["a", "b"], reference="b")["b"].colour not in PALETTE
