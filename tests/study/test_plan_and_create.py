"""The line that `rushes study plan` prints is taken by `create`, and makes the study of the plan, for every method."""

from __future__ import annotations

import json

import pytest
from tests.study.test_command import done

from rushes.instruments.preference.methods.method import method
from rushes.study import open_service

SIZE = ("--raters", "6", "--prompts", "6", "--votes-per-rater", "6", "--runs", "3", "--power", "0.1")


@pytest.mark.parametrize(
    ("asked", "text", "rubric", "each"),
    [
        ([], "pairs", "0.1", 5),
        (["--simple"], "pairs", "simple-1", 5),
        (["--simple", "--no-tie"], "pairs-2-no-tie", "simple-1", 5),
        (["--scale", "7", "--systems", "3"], "pairs-7", "0.1", 2),
        (["--method", "acr", "--systems", "3"], "acr-5", "opinion-1", 2),
        (["--method", "acr", "--scale", "9", "--min-raters", "2"], "acr-9", "opinion-1", 2),
        (["--method", "acr-hr", "--scale", "11"], "acr-hr-11", "opinion-1", 2),
        (["--method", "dcr"], "dcr-5", "impairment-1", 3),
        (["--method", "best-worst", "--systems", "3", "--scale", "3"], "best-worst-3", "best-worst-1", 6),
    ],
)
def test_the_plans_line_creates_the_planned_study(asked, text, rubric, each, manifest, takes, tmp_path):
    plan = json.loads(done("study", "plan", *SIZE, *asked, "--json").stdout)
    assert plan["min_raters"] == each
    reference = ["--reference", "gamma"] if method(text).needs_reference else []
    db = tmp_path / "studies.db"
    made = ["study", "create", "s", str(manifest), "--clips", str(takes), *reference, "--db", str(db)]
    done(*made, *plan["create"].split())
    with open_service(db) as service:
        status = service.study_status("s")
        settings = service.audit("s")[-1].detail["plan"]
    assert (status.min_raters, status.summary.method) == (each, text)
    assert status.summary.rubric == rubric
    # A quota counts hidden repeats too, one task in twenty: six answers are seven tasks.
    assert settings["quota"] == 7 and settings["repeat_every"] == 20
