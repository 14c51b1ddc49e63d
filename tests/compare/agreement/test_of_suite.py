"""`rushes believe SUITE`: its own ratings, chosen metrics, differences from the reference."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

import pytest
from scipy.stats import spearmanr
from tests.reseal import edit_suite
from typer.testing import CliRunner

import rushes
from rushes.cli.main import app
from rushes.compare.agreement.metric_agreement import believe
from rushes.compare.agreement.tables import agreement_table, labels
from rushes.compare.paper.evaluation import open_evaluation
from rushes.core.errors import InputError


@pytest.fixture(scope="module")
def rated_suite(measured_suite: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The measured suite with its ratings alone."""
    return _asking(measured_suite, tmp_path_factory.mktemp("rated"), votes="")


def _asking(suite: Path, folder: Path, **changed: object) -> Path:
    made = Path(shutil.copytree(suite, folder / "out"))
    edit_suite(made, lambda told: told["suite"].update(changed))
    return made


def test_a_suite_names_its_ratings_and_metrics_are_chosen_by_name(rated_suite: Path) -> None:
    found = rushes.believe(str(rated_suite), only="psnr,sharpness")
    assert found.humans.dimensions == ("look",)
    assert {one.metric.definition.name for one in found.believed} == {"psnr", "sharpness"}
    everything = believe([rated_suite])
    few, many = (
        {one.p.definition.param("judged") for one in f.believed if one.p is not None} for f in (found, everything)
    )
    assert few <= {"1", "2"} and all(int(number or 0) > 2 for number in many)
    assert len(everything.believed) > 10
    one, same = (next(b for b in f.believed if b.metric.definition.name == "psnr") for f in (found, everything))
    assert found.deciding(one).value == everything.deciding(same).value


def test_a_difference_from_the_reference_is_judged_like_a_metric(rated_suite: Path, measured_suite: Path) -> None:
    """ρ over clips is SciPy's of the differences with people's means, turned: closer is better."""
    found = believe(rated_suite, only=["diff:sharpness", "psnr"])
    evaluation = open_evaluation(rated_suite)
    (pick,) = evaluation.pick("diff:sharpness")
    (look,) = evaluation.pick("rating:look")
    keys = [(s, p) for s in evaluation.systems for p in evaluation.values(pick, s)]
    ours, people = ([evaluation.values(one, s)[p] for s, p in keys] for one in (pick, look))
    (one,) = [b for b in found.believed if labels(found)[b.metric.same] == "diff:sharpness"]
    assert one.numbers["clip", "spearman"].value == pytest.approx(-spearmanr(ours, people).statistic, abs=1e-9)
    assert "diff:sharpness" in str(agreement_table(found, "look"))


def test_declared_differences_are_there_without_asking(rated_suite: Path, tmp_path: Path) -> None:
    folder = _asking(rated_suite, tmp_path, differences=["luma_alternation", "gone"])
    found = believe(folder)
    assert "diff:luma_alternation" in labels(found).values()
    assert any("diff:gone" in remark for remark in found.remarks)


def test_what_a_suite_does_not_say_is_one_line(measured_suite: Path, rated_suite: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"names .*ratings.csv and .*votes.csv; give --ratings FILE"):
        believe(measured_suite)
    with pytest.raises(InputError, match="neither ratings nor votes; give --ratings FILE"):
        believe(_asking(rated_suite, tmp_path / "none", ratings=""))
    with pytest.raises(InputError, match="is no longer where the suite found it"):
        believe(_asking(rated_suite, tmp_path / "gone", ratings="gone.csv"))
    with pytest.raises(InputError, match="do not belong to a suite with ratings"):
        believe([rated_suite / "amber" / "clip", rated_suite / "birch" / "clip"])
    with pytest.raises(InputError, match=r"no metric 'sharpnes' was measured here. Did you mean `sharpness`"):
        believe(rated_suite, only="sharpnes")
    with pytest.raises(InputError, match="diff:fvd"):
        believe(rated_suite, only="diff:fvd")


def test_the_command(rated_suite: Path, measured_suite: Path, tmp_path: Path) -> None:
    run = CliRunner().invoke
    out = tmp_path / "agreement.tex"
    answer = run(
        app, ["believe", str(rated_suite), "--metrics", "psnr,diff:sharpness", "--format", "latex", "-o", str(out)]
    )
    assert answer.exit_code == 0 and r"diff:sharpness" in out.read_text() and "luma" not in out.read_text()
    votes = str(measured_suite.parent / "votes.csv")
    text = run(app, ["believe", str(measured_suite), "--ratings", votes, "--metrics", "psnr", "--format", "csv"]).stdout
    assert {row["metric"] for row in csv.DictReader(text.splitlines())} == {"PSNR"}
    assert "one person" not in run(app, ["believe", str(measured_suite), "--ratings", votes]).stdout
