"""A study's pages for its owner: overview, raters, disagreements, adjudication, log; and running it: state, open link,
payments, retired pairs, reported problems, erasure.

A viewer sees the state, the places taken and the reports; the forms, the codes and the payments are the owners'
(`rushes.web.http.access.may`). What is done here is logged under the signed-in account's name.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any, cast

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response

from rushes.core.errors import InputError
from rushes.instruments.preference.methods.method import method
from rushes.study import Invitation, StudyStatus
from rushes.study.as_data import log_data, overview_data, rater_data, summary_data
from rushes.study.owner.administrators import STUDY_ROLES
from rushes.study.owner.blinding import blind_data, divided_data
from rushes.study.records import LONGEST_NOTE, StudyState
from rushes.study.recruiting.invitations import letter_data
from rushes.study.recruiting.payments import payments_csv
from rushes.study.recruiting.platforms import LARGEST_QUOTA, PLATFORMS, Ids, Platform, RecruitmentPlan
from rushes.web.http.errors import wants_json
from rushes.web.http.fields import whole_number
from rushes.web.http.pages import json_reply, reply, see
from rushes.web.http.routes import Form, admin_router, with_json_view
from rushes.web.workbench import workbench

router = admin_router()

MOST_INVITATIONS = 500
MOST_DISAGREEMENTS = 50


@with_json_view(router, "/studies/{study}")
def overview(request: Request, study: str) -> Response:
    bench = workbench(request)
    state, text = bench.service.import_progress(study)
    data = overview_data(bench.service.study_status(study)) | {"importing": {"state": state, "text": text}}
    return reply(request, "admin/overview.html", data, tab="overview")


@with_json_view(router, "/studies/{study}/raters")
def raters(request: Request, study: str) -> Response:
    return _raters_page(request, study)


def _raters_page(
    request: Request, study: str, *, invitations: tuple[Invitation, ...] = (), notice: str = ""
) -> Response:
    bench = workbench(request)
    facts = bench.service.study_status(study)
    data = {
        "summary": overview_data(facts)["summary"],
        "raters": [rater_data(rater) for rater in facts.raters],
        "exclusion_rule": facts.exclusion_rule,
    }
    links = [letter_data(one, bench.origin(request), facts.summary.title) for one in invitations]
    return reply(request, "admin/raters.html", data, tab="raters", links=links, notice=notice)


@router.post("/studies/{study}/invite", response_model=None)
def invite(request: Request, study: str, form: Form) -> Response:
    """New raters. Their links are in this answer only: the server keeps hashes."""
    names = [name for line in str(form.get("names", "")).splitlines() if (name := line.strip())]
    count = _count(str(form.get("count", "")))
    if not names and not count:
        raise InputError("Give the number of raters to invite, or their names.")
    made = workbench(request).service.invite(study, count=count or len(names), names=names)
    return _links(request, study, made)


@router.post("/studies/{study}/raters/{rater}/link", response_model=None)
def fresh_link(request: Request, study: str, rater: str) -> Response:
    """A new link for a rater who lost theirs; the old one and its session stop working."""
    return _links(request, study, (workbench(request).service.invite_again(study, rater),))


def _links(request: Request, study: str, made: tuple[Invitation, ...]) -> Response:
    if wants_json(request):
        origin = workbench(request).origin(request)
        return json_reply({"invitations": [{"rater": one.rater, "link": f"{origin}/i/{one.token}"} for one in made]})
    return _raters_page(request, study, invitations=made)


def _count(text: str) -> int:
    if not text.strip():
        return 0
    number = whole_number(text.strip(), highest=MOST_INVITATIONS)
    if not number:
        raise InputError(f"Invite 1 to {MOST_INVITATIONS} raters at a time; got {text[:40]!r}.")
    return number


@router.post("/studies/{study}/exclusions", response_model=None)
def exclude(request: Request, study: str) -> Response:
    """Apply the rule that was declared before the first vote."""
    out = workbench(request).service.apply_exclusions(study)
    if wants_json(request):
        return json_reply({"excluded": list(out)})
    notice = f"Left out by the declared rule: {', '.join(out)}." if out else "No rater meets the declared rule."
    return _raters_page(request, study, notice=notice)


@router.post("/studies/{study}/raters/{rater}/restore", response_model=None)
def restore(request: Request, study: str, rater: str, form: Form) -> Response:
    why = " ".join(str(form.get("why", "")).split())[:500]
    if not why:
        raise InputError("Give a reason for reinstating the rater; it goes into the log.")
    workbench(request).service.restore_rater(study, rater, why=why)
    return see(f"/studies/{study}/raters")


def _is_adjudicator(request: Request) -> bool:
    session = getattr(request.state, "admin", None)
    return session is not None and session.role == "adjudicator"


@with_json_view(router, "/studies/{study}/disagreements")
def disagreements(request: Request, study: str) -> Response:
    facts = workbench(request).service.study_status(study)
    if not method(facts.summary.method).is_pairs:
        return _divided(request, facts)
    shown = facts.disagreements[:MOST_DISAGREEMENTS]
    data = {
        "summary": overview_data(facts)["summary"],
        "disagreements": [blind_data(item, named_if_settled=not _is_adjudicator(request)) for item in shown],
        "total": len(facts.disagreements),
    }
    return reply(request, "admin/disagreements.html", data, tab="disagreements")


def _divided(request: Request, facts: StudyStatus) -> Response:
    """Single clips and sets: nothing is decided about them, and the owner watches those whose raters differ most."""
    asked, found = method(facts.summary.method), workbench(request).service.divided_trials(facts.summary.name)
    named = not _is_adjudicator(request)
    data = {
        "summary": summary_data(facts.summary if named else replace(facts.summary, reference="")),
        "divided": [divided_data(item, asked, named=named) for item in found[:MOST_DISAGREEMENTS]],
        "total": len(found),
    }
    return reply(request, "admin/divided.html", data, tab="disagreements", asked=asked)


@with_json_view(router, "/studies/{study}/faults")
def faults(request: Request, study: str) -> Response:
    """Clips with the faults that raters marked in them, where they are, and the reasons they lost for."""
    service = workbench(request).service
    found = service.faulty_clips(study)
    data = {
        "summary": summary_data(service.study_status(study).summary),
        "clips": [
            asdict(one) | {"address": f"/media/{one.clip.token}" if one.clip.token else ""}
            for one in found[:MOST_DISAGREEMENTS]
        ],
        "total": len(found),
    }
    return reply(request, "admin/faults.html", data, tab="faults")


@with_json_view(router, "/studies/{study}/adjudication")
def adjudication(request: Request, study: str) -> Response:
    service = workbench(request).service
    queue = service.adjudication_queue(study)
    summary = service.study_status(study).summary
    if not method(summary.method).is_pairs and not wants_json(request):
        return see(f"/studies/{study}/disagreements")  # only pairs are decided
    data = {
        "summary": summary_data(summary),
        "queue": [blind_data(item) for item in queue[:MOST_DISAGREEMENTS]],
        "total": len(queue),
    }
    return reply(request, "admin/adjudication.html", data, tab="adjudication", rubric=service.rubric(study))


@router.post("/studies/{study}/adjudication", response_model=None)
def adjudicate(request: Request, study: str, form: Form) -> Response:
    tags = [str(tag) for tag in form.getlist("tags") if tag]
    note, winner = str(form.get("note", ""))[:LONGEST_NOTE], str(form.get("winner", ""))
    if not winner:
        raise InputError("Choose a winner, or Tie.")
    made = workbench(request).service.adjudicate_blind(
        study, str(form.get("sample", "")), choice=winner, tags=tags, note=note
    )
    if wants_json(request):
        told = {"sample": made.sample, "winner": made.winner, "tags": list(made.tags), "note": made.note}
        return json_reply({**told, "by": made.by})
    return see(f"/studies/{study}/adjudication")


@with_json_view(router, "/studies/{study}/log")
def log(request: Request, study: str) -> Response:
    service = workbench(request).service
    entries = [log_data(one) for one in service.audit(study)]
    data = {"summary": overview_data(service.study_status(study))["summary"], "entries": entries}
    return reply(request, "admin/log.html", data, tab="log")


@with_json_view(router, "/studies/{study}/running")
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
    who: dict[str, Any] = {}
    if owner:
        who = {"accounts": service.admins(), "roles": service.roles_in(study), "study_roles": STUDY_ROLES}
    return reply(request, "admin/running.html", data, tab="running", owner=owner, link=link, notice=notice, **who)


@router.post("/studies/{study}/roles", response_model=None)
def set_role(request: Request, study: str, form: Form) -> Response:
    """Give somebody a role in this study, or take it away."""
    workbench(request).service.set_study_role(study, _text(form, "name"), _text(form, "role"))
    return see(f"/studies/{study}/running")


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
    texts = ("completion_code", "screened_out_code", "partial_code", "full_code", "participant_form", "return_url")
    plan = RecruitmentPlan(
        platform=cast(Platform, _text(form, "platform")),
        quota=whole_number(_text(form, "quota"), highest=LARGEST_QUOTA) or 0,
        ids=cast(Ids, _text(form, "ids") or "hashed"),
        **{field: _text(form, field) for field in texts},
    )
    token = bench.service.running.open_link(study, plan)
    link = f"{bench.origin(request)}/join/{token}{PLATFORMS[plan.platform].link}"
    return _running_page(request, study, link=link)


@router.post("/studies/{study}/retire", response_model=None)
def retire(request: Request, study: str, form: Form) -> Response:
    sample = _text(form, "sample")
    votes = workbench(request).service.running.retire_pair(study, sample, why=_text(form, "why"))
    return _running_page(request, study, notice=f"{sample} is no longer shown; its {votes} votes still count.")


@router.post("/studies/{study}/erase", response_model=None)
def erase(request: Request, study: str, form: Form) -> Response:
    rater, participant = _text(form, "rater"), _text(form, "participant")
    if bool(rater) == bool(participant):
        raise InputError("Give the rater's code or the participant's id: one of the two.")
    if form.get("sure") != "yes":
        raise InputError("Tick the box to confirm that this person's data are erased for good.")
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
