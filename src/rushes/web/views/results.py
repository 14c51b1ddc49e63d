"""What the votes say: ranking with intervals, agreement, ratings and tags, each number with its signature."""

from __future__ import annotations

from typing import get_args

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from rushes.errors import InputError
from rushes.preference.rubric import FAMILIES, rubric
from rushes.preference.statistics.tie_models import TiePolicy
from rushes.preference.study.as_data import summary_facts
from rushes.preference.study_measurements import study_measurements
from rushes.web.access import admin
from rushes.web.pages import reply, with_twin
from rushes.web.result_data import place_on, result_facts
from rushes.web.workbench import workbench

router = APIRouter(dependencies=[Depends(admin)])
TIE_POLICIES: tuple[TiePolicy, ...] = get_args(TiePolicy)
BAR_WIDTH = 240.0


@with_twin(router, "/studies/{study}/results")
def results(request: Request, study: str, ties: str = "davidson") -> Response:
    if ties not in TIE_POLICIES:
        raise InputError(f"ties: expected one of {', '.join(TIE_POLICIES)}; got {ties!r}")
    policy = next(one for one in TIE_POLICIES if one == ties)
    service = workbench(request).service
    status = service.study_status(study)
    votes = service.votes(study, excluded=True, adjudicated=True)
    measurements = study_measurements(
        votes,
        rubric_version=status.summary.rubric,
        tie_policy=policy,
        exclusion_rule=status.exclusion_rule,
        excluded=[rater.rater for rater in status.raters if rater.excluded],
        simulated=status.summary.simulated,
    )
    data = {"summary": summary_facts(status.summary), "ties": policy, "blocks": result_facts(measurements)}
    labels = {dimension.key: dimension.label for dimension in rubric(status.summary.rubric).dimensions}
    return reply(
        request,
        "admin/results.html",
        data,
        tab="results",
        policies=TIE_POLICIES,
        place_on=place_on,
        width=BAR_WIDTH,
        dimension_labels=labels,
        family_titles=FAMILIES,
    )
