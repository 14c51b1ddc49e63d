"""`rushes failures`: which clips, in which order, and files that open anywhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

import rushes
from rushes.cli.main import app
from rushes.compare.failures.cases import failures
from rushes.compare.paper.evaluation import Evaluation, open_evaluation
from rushes.core import Measurement
from rushes.core.errors import InputError


def invoked(*words: object) -> Result:
    return CliRunner().invoke(app, [*map(str, words)])


def test_worst_and_best_by_direction(small_evaluation: Evaluation) -> None:
    found = failures(small_evaluation, "psnr", top=4)
    worst, best, _ = found.groups
    values = {(n, p): v for n in small_evaluation.systems for p, v in _psnr(small_evaluation, n).items()}
    order = sorted(values, key=lambda key: values[key])
    assert [(row[0].system, row[0].prompt) for row in worst.rows] == order[:4]
    assert [(row[0].system, row[0].prompt) for row in best.rows] == order[::-1][:4]
    assert {row[0].system for row in worst.rows} == {"cedar"} and worst.title == "Worst by PSNR ↑"
    low = failures(small_evaluation, "luma_alternation", top=1).groups[0]
    assert low.title == "Worst by alternation ↓"


def _psnr(evaluation: Evaluation, name: str) -> dict[str, float]:
    return evaluation.values(evaluation.pick("psnr")[0], name)


def test_disagreement_is_a_pair_in_which_both_are_clear(small_evaluation: Evaluation) -> None:
    """PSNR and people agree everywhere here; with one clip's rating turned round, its prompt is the one."""
    agreed = failures(small_evaluation, "psnr", top=2)
    assert agreed.groups[2].rows == () and agreed.notes == ("PSNR and look disagree on no pair of clips",)
    data, key = small_evaluation.data, small_evaluation.pick("rating:look")[0].reading.key  # type: ignore[union-attr]
    old = data.values["cedar", key]
    five = Measurement(definition=old["p4"].definition, value=5.0, count=3)
    turned = dict(data.values) | {("cedar", key): dict(old) | {"p4": five}}
    from dataclasses import replace

    found = failures(Evaluation(replace(data, values=turned)), "psnr", top=3)
    pairs = [tuple(case.system for case in row) for row in found.groups[2].rows]
    assert {row[0].prompt for row in found.groups[2].rows} == {"p4"}
    assert sorted(pairs) == [("amber", "cedar"), ("birch", "cedar")]  # the one that PSNR prefers comes first
    assert pairs[0] == ("birch", "cedar")  # people differ by 1.5 and more there, by less between amber and cedar


def test_files(measured_suite: Path, tmp_path: Path) -> None:
    answer = invoked("failures", measured_suite, "--by", "rating:look", "--top", "1", "-o", tmp_path / "f.html")
    assert answer.exit_code == 0, answer.output
    page = (tmp_path / "f.html").read_text(encoding="utf-8")
    assert "Worst by look ↑" in page and "data:image/jpeg" in page and 'data-signature="clip_rating|' in page
    assert str(measured_suite.parent) not in page and "http" not in page.replace("http-equiv", "")
    for ending in (".pdf", ".png"):
        done = invoked("failures", measured_suite, "--by", "psnr", "--top", "1", "-o", tmp_path / f"f{ending}")
        assert done.exit_code == 0 and (tmp_path / f"f{ending}").stat().st_size > 1000
    assert "signature" in (tmp_path / "f.csv").read_text()
    listed = invoked("failures", measured_suite, "--by", "psnr", "--top", "2")
    assert listed.stdout.count("cedar") == 2 and "Best by PSNR ↑" in listed.stdout
    data = json.loads(invoked("failures", measured_suite, "--by", "psnr", "--json").stdout)
    assert data["by"] == "psnr" and data["against"] == "rating:look" and len(data["groups"][0]["rows"]) == 3


def test_by_difference_from_the_reference(measured_suite: Path, tmp_path: Path) -> None:
    """The worst clip is the one furthest from its reference's sharpness."""
    evaluation = open_evaluation(measured_suite)
    found = failures(evaluation, "diff:sharpness", top=1)
    (base,) = evaluation.pick("sharpness")
    truth = evaluation.values(base, "truth")
    far = {(s, p): abs(v - truth[p]) for s in evaluation.systems for p, v in evaluation.values(base, s).items()}
    (worst,), (best,) = (group.rows[0] for group in found.groups[:2])
    assert (worst.system, worst.prompt) == max(far, key=lambda key: far[key])
    assert (best.system, best.prompt) == min(far, key=lambda key: far[key])
    answer = invoked("failures", measured_suite, "--by", "diff:sharpness", "--top", 1, "-o", tmp_path / "f.html")
    assert answer.exit_code == 0 and "Worst by sharpness difference" in answer.output


def test_what_has_no_value_per_clip_is_refused(measured_suite: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="elo:motion: has no value per clip; choose one of rating:look"):
        rushes.failures(measured_suite, "elo:motion")
    with pytest.raises(InputError, match="expected at least 1 clip"):
        rushes.failures(measured_suite, "psnr", top=0)
    wrong = invoked("failures", measured_suite, "--by", "psnr", "-o", tmp_path / "f.txt")
    assert wrong.exit_code == 1 and "expected a page" in wrong.stderr
