"""Running a study, for its owner: state, open link, payments, retired pairs, reported problems, erasure.

A viewer sees the state, the places taken and the reports; the forms, the codes and the payments are the owners'
(`rushes.web.access.may`). What is done here is logged under the signed-in account's name.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Annotated, cast

from fastapi import APIRouter, Depends
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response

from rushes.errors import InputError
from rushes.preference.study.as_data import overview_data
from rushes.preference.study.payments import payments_csv
from rushes.preference.study.platforms import LARGEST_QUOTA, PLATFORMS, Ids, Platform, RecruitmentPlan
from rushes.preference.study.records import StudyState
from rushes.web.access import admin, posted
from rushes.web.fields import whole_number
from rushes.web.pages import reply, see, with_twin
from rushes.web.workbench import workbench

router = APIRouter(dependencies=[Depends(admin)])
Form = Annotated[FormData, Depends(posted)]


@with_twin(router, "/studies/{study}/running")
def running(request: Request, study: str) -> Response:
    return _running_page(request, study)


def _running_page(request: Request, study: str, *, link: str = "", notice: str = "") -> Response:
    service = workbench(request).service
    facts = overview_data(service.study_status(study))
    recruitment = service.running.recruitment(study)
    data = {
        "summary": facts["summary"],
        "problems": facts["problems"],
        "recruitment": None if recruitment is None else asdict(recruitment),
    }
    owner = request.state.admin.role == "owner"
    if not owner and recruitment is not None:  # codes are money's worth
        data["recruitment"] = asdict(replace(recruitment, codes={}, return_url=""))
    return reply(request, "admin/running.html", data, tab="running", owner=owner, link=link, notice=notice)


@router.post("/studies/{study}/state", response_model=None)
def set_state(request: Request, study: str, form: Form) -> Response:
    state = _text(form, "state")
    if state not in ("open", "paused", "closed"):
        raise InputError(f"A study is open, paused or closed; got {state[:40]!r}.")
    workbench(request).service.running.set_state(study, cast(StudyState, state), why=_text(form, "why"))
    return see(f"/studies/{study}/running")


@router.post("/studies/{study}/link", response_model=None)
def open_link(request: Request, study: str, form: Form) -> Response:
    """The open link. It is in this answer only: the server keeps its hash."""
    bench = workbench(request)
    quota = whole_number(_text(form, "quota"), highest=LARGEST_QUOTA)
    platform = _text(form, "platform")
    plan = RecruitmentPlan(
        platform=cast(Platform, platform),
        quota=quota or 0,
        ids=cast(Ids, _text(form, "ids") or "hashed"),
        completion_code=_text(form, "completion_code"),
        screened_out_code=_text(form, "screened_out_code"),
        full_code=_text(form, "full_code"),
        participant_form=_text(form, "participant_form"),
        return_url=_text(form, "return_url"),
    )
    token = bench.service.running.open_link(study, plan)
    link = f"{bench.origin(request)}/join/{token}{PLATFORMS[plan.platform].link}"
    return _running_page(request, study, link=link)


@router.post("/studies/{study}/retire", response_model=None)
def retire(request: Request, study: str, form: Form) -> Response:
    sample = _text(form, "sample")
    votes = workbench(request).service.running.retire_pair(study, sample, why=_text(form, "why"))
    return _running_page(request, study, notice=f"{sample} is shown to nobody any more; its {votes} votes count.")


@router.post("/studies/{study}/erase", response_model=None)
def erase(request: Request, study: str, form: Form) -> Response:
    rater, participant = _text(form, "rater"), _text(form, "participant")
    if bool(rater) == bool(participant):
        raise InputError("Give the rater's code or the participant's id: one of the two.")
    if form.get("sure") != "yes":
        raise InputError("Tick that this person is to be erased for good.")
    new, votes = workbench(request).service.running.erase_rater(study, rater=rater, participant=participant)
    return _running_page(request, study, notice=f"Erased. The log calls this rater {new} now; {votes} votes concerned.")


@router.post("/studies/{study}/problems/{number}", response_model=None)
def resolve(request: Request, study: str, number: int, form: Form) -> Response:
    workbench(request).service.running.resolve_problem(study, number, note=_text(form, "note"))
    return see(f"/studies/{study}/running")


@router.get("/studies/{study}/payments.csv", response_model=None)
def payments(request: Request, study: str) -> Response:
    lines = workbench(request).service.running.payments(study)
    headers = {"content-disposition": f'attachment; filename="{study}-payments.csv"'}
    return Response(payments_csv(lines), media_type="text/csv; charset=utf-8", headers=headers)


def _text(form: FormData, field: str) -> str:
    return " ".join(str(form.get(field, "")).split())[:1000]
