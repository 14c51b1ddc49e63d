"""A study's pages for its owner: overview, raters and invitations, disagreements, adjudication, log."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response

from rushes.errors import InputError
from rushes.preference.letters import letter_data
from rushes.preference.rubric import rubric
from rushes.preference.study import Invitation
from rushes.preference.study.as_data import overview_data, rater_data, summary_data
from rushes.preference.study.blinding import blind_data
from rushes.preference.study.records import LONGEST_NOTE
from rushes.web.access import admin, posted
from rushes.web.errors import wants_json
from rushes.web.fields import whole_number
from rushes.web.pages import json_reply, reply, see, with_twin
from rushes.web.workbench import workbench

router = APIRouter(dependencies=[Depends(admin)])
Form = Annotated[FormData, Depends(posted)]

MOST_INVITATIONS = 500
MOST_DISAGREEMENTS = 50


@with_twin(router, "/studies/{study}")
def overview(request: Request, study: str) -> Response:
    bench = workbench(request)
    data = overview_data(bench.service.study_status(study)) | {"importing": bench.imports.state(study)}
    return reply(request, "admin/overview.html", data, tab="overview")


@with_twin(router, "/studies/{study}/raters")
def raters(request: Request, study: str) -> Response:
    return _raters_page(request, study)


def _raters_page(
    request: Request, study: str, *, invitations: tuple[Invitation, ...] = (), notice: str = "", status: int = 200
) -> Response:
    bench = workbench(request)
    facts = bench.service.study_status(study)
    data = {
        "summary": overview_data(facts)["summary"],
        "raters": [rater_data(rater) for rater in facts.raters],
        "exclusion_rule": facts.exclusion_rule,
    }
    links = [letter_data(one, bench.origin(request), facts.summary.title) for one in invitations]
    return reply(request, "admin/raters.html", data, tab="raters", links=links, notice=notice, status=status)


@router.post("/studies/{study}/invite", response_model=None)
def invite(request: Request, study: str, form: Form) -> Response:
    """New raters. Their links are in this answer only: the server keeps hashes."""
    names = [name for line in str(form.get("names", "")).splitlines() if (name := line.strip())]
    count = _count(str(form.get("count", "")))
    if not names and not count:
        raise InputError("Say how many raters to invite, or give their names.")
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
        raise InputError("Say why the rater is taken back: the log keeps it.")
    workbench(request).service.restore_rater(study, rater, why=why)
    return see(f"/studies/{study}/raters")


@with_twin(router, "/studies/{study}/disagreements")
def disagreements(request: Request, study: str) -> Response:
    facts = workbench(request).service.study_status(study)
    shown = facts.disagreements[:MOST_DISAGREEMENTS]
    data = {
        "summary": overview_data(facts)["summary"],
        "disagreements": [blind_data(item) for item in shown],
        "total": len(facts.disagreements),
    }
    return reply(request, "admin/disagreements.html", data, tab="disagreements")


@with_twin(router, "/studies/{study}/adjudication")
def adjudication(request: Request, study: str) -> Response:
    service = workbench(request).service
    queue = service.adjudication_queue(study)
    summary = service.study_status(study).summary
    data = {
        "summary": summary_data(summary),
        "queue": [blind_data(item) for item in queue[:MOST_DISAGREEMENTS]],
        "total": len(queue),
    }
    return reply(request, "admin/adjudication.html", data, tab="adjudication", rubric=rubric(summary.rubric))


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


@with_twin(router, "/studies/{study}/log")
def log(request: Request, study: str) -> Response:
    service = workbench(request).service
    entries = [
        {"at": _when(entry.at_ms), "actor": entry.actor, "action": entry.action, "detail": _detail_text(entry.detail)}
        for entry in service.audit(study)
    ]
    data = {"summary": overview_data(service.study_status(study))["summary"], "entries": entries}
    return reply(request, "admin/log.html", data, tab="log")


def _detail_text(value: object) -> str:
    """A log entry's details in one line; what is not set is left out.

    >>> _detail_text({"raters": ["r1", "r2"], "rule": {"passes": 2, "limit": None}})
    'raters: r1, r2; rule: passes: 2'
    """
    if isinstance(value, Mapping):
        return "; ".join(f"{key}: {_detail_text(one)}" for key, one in value.items() if one not in (None, "", [], {}))
    if isinstance(value, (list, tuple)):
        return ", ".join(_detail_text(one) for one in value)
    return str(value)


def _when(at_ms: int) -> str:
    return datetime.datetime.fromtimestamp(at_ms / 1000, datetime.UTC).strftime("%Y-%m-%d %H:%M:%S")
