"""What an owner's pages say of too few raters, and of what task families ask for."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from starlette.datastructures import FormData

from rushes.core.errors import InputError
from rushes.instruments.preference.votes import Vote
from rushes.study import StudyPlan
from rushes.web.views.study.studies import read_plan

from .livesite import Site, Study

BELOW = "3 of 4 samples have fewer than 2 raters"


def ballot(sample: int, rater: str) -> Vote:
    about = {"family": "retouch", "primary_tag": "Failed to apply edit", "prompt": f"p{sample}"}
    winner = "ab"[(sample + len(rater)) % 2]
    return Vote(sample=f"s{sample}", system_a="x", system_b="y", winner=winner, rater=rater, **about)  # type: ignore[arg-type]


@pytest.fixture
def study(make_site: Callable[..., Site]) -> Study:
    """Four samples; one of them has two raters."""
    site = make_site()
    site.service.create_study(StudyPlan(name="few"), training=False)
    votes = [*(ballot(k, "r1") for k in range(4)), ballot(0, "r22")]
    site.service.import_ratings("few", votes, families={"retouch": "edit"})
    return Study(site=site, name="few")


def test_too_few_raters_are_told_before_any_number(study: Study) -> None:
    admin = study.admin()
    page = admin.get("/studies/few/results").text
    assert f"Below the rubric's minimum: {BELOW}" in page.replace("&#39;", "'")
    assert page.index(BELOW) < page.index("<table")
    (block,) = admin.get("/studies/few/results.json").json()["blocks"]
    assert BELOW in block["below_minimum"] and BELOW in block["ranking"]["title"]
    study.service.import_ratings("few", [ballot(k, "r22") for k in (1, 2, 3)])
    assert "minimum" not in admin.get("/studies/few/results").text.split("Summary statistics")[0]


def test_the_overview_says_what_a_family_asks_for(study: Study) -> None:
    admin = study.admin()
    assert '<span class="pill">edit</span>' in admin.get("/studies/few").text
    assert admin.get("/studies/few.json").json()["summary"]["families"] == {"retouch": "edit"}


def test_an_adjudicator_is_offered_the_tags_of_the_family(study: Study) -> None:
    assert "<option>Failed to apply edit</option>" in study.admin().get("/studies/few/adjudication").text


def test_families_are_declared_on_the_form(study: Study) -> None:
    admin = study.admin()
    bad = admin.send_form("/studies/new", {"name": "new", "families": "retouch=blur", "table_path": "x.csv"})
    assert bad.status_code == 400 and "NAME=KIND" in bad.text and 'value="retouch=blur"' in bad.text


def test_a_study_of_single_clips_is_made_in_the_browser() -> None:
    read = read_plan
    plan = read(FormData({"name": "single", "questions": "dcr-5", "reference": " real "}))
    assert (plan.method.text, plan.reference, plan.rubric.version) == ("dcr-5", "real", "impairment-1")
    assert read(FormData({"name": "s", "questions": "pairs-7"})).rubric.version == "simple-1"
    assert read(FormData({"name": "s"})).method.is_pairs
    with pytest.raises(InputError, match="a method is one of"):
        read(FormData({"name": "s", "questions": "mushra"}))
