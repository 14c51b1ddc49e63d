"""The open link of a study: participants of a recruiting platform come in here, and hear here how it ended."""

from __future__ import annotations

from dataclasses import asdict
from math import ceil
from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response

from rushes.preference.study import NotAllowed, RaterSession, StudyError
from rushes.preference.study.platforms import NOT_ACCEPTED_YET, PLATFORMS
from rushes.preference.study.recruiting import Ending
from rushes.web import sessions
from rushes.web.access import posted, rater, rater_token
from rushes.web.errors import Refusal
from rushes.web.languages import Strings, strings
from rushes.web.pages import page, reply, see
from rushes.web.security import client_key
from rushes.web.workbench import workbench

router = APIRouter()
Form = Annotated[FormData, Depends(posted)]
Rater = Annotated[RaterSession, Depends(rater)]

LONGEST_ID = 128
JOINS_PER_HOUR = 60
"""Tries to join from one address; a laboratory's raters may all come through one."""


@router.get("/join/{token}", response_model=None)
def arrive(request: Request, token: str) -> Response:
    """The platform's link. Nothing happens by looking: link previews follow links too."""
    try:
        link = workbench(request).service.running.link_facts(token)
    except NotAllowed:
        return page(request, "rater/used.html", status=410)
    terms, asked, t = PLATFORMS[link.platform], request.query_params, strings(link.language)
    if link.state == "paused":
        return page(request, "rater/resting.html", state="paused", ending=None, t=t)
    return page(
        request,
        "rater/join.html",
        t=t,
        token=token,
        platform=link.platform,
        participant=asked.get(terms.participant, "")[:LONGEST_ID],
        session=asked.get(terms.session, "")[:LONGEST_ID],
        looking=asked.get("assignmentId") == NOT_ACCEPTED_YET,
    )


@router.post("/join/{token}", response_model=None)
def join(request: Request, token: str, form: Form) -> Response:
    bench = workbench(request)
    try:
        link = bench.service.running.link_facts(token)
        t = strings(link.language)
        if form.get("decline"):
            return _ended(request, bench.service.running.decline(token), t)
        _let_join(request, t)
        joined = bench.service.running.join(
            token, participant=str(form.get("participant", "")), session=str(form.get("session", ""))[:LONGEST_ID]
        )
    except NotAllowed:
        return page(request, "rater/used.html", status=410)
    except StudyError:
        raise Refusal(400, t(f"join.bad_{link.platform}"), code="participant") from None
    if joined.ending is not None:
        return _ended(request, joined.ending, t)
    if joined.session is None:
        return page(request, "rater/resting.html", state="paused", ending=None, t=t)
    response = see("/rate")
    sessions.set_cookie(response, "rater", joined.session.token, secure=bench.secure)
    return response


def _let_join(request: Request, t: Strings) -> None:
    """Made-up ids would fill the places: one address may try so often in an hour. Coming back counts too."""
    wait = workbench(request).joins.begin({f"join {client_key(request)}": JOINS_PER_HOUR})
    if wait:
        refusal = Refusal(429, t("join.often", minutes=max(1, ceil(wait / 60))), code="wait")
        refusal.headers = {"retry-after": str(wait)}
        raise refusal


@router.post("/rate/decline", response_model=None)
def decline(request: Request, session: Rater) -> Response:
    """A rater who does not agree to take part; their place goes to another."""
    bench = workbench(request)
    t = _strings(request)
    response = _ended(request, bench.service.running.refuse(rater_token(request)), t)
    bench.service.sign_out(rater_token(request))
    sessions.drop_cookie(response, "rater", secure=bench.secure)
    return response


def _ended(request: Request, ending: Ending, t: Strings) -> Response:
    return page(request, "rater/not_today.html", ending=ending, t=t)


def _strings(request: Request) -> Strings:
    """The words in the signed-in rater's language."""
    return strings(workbench(request).service.presentation(rater_token(request)).language)


def resting(request: Request, session: RaterSession) -> Response:
    """A study that is paused or closed: answers are kept, and who has worked gets their code."""
    state, service = session.study_state, workbench(request).service
    ending = asdict(service.running.ending(rater_token(request))) if state == "closed" else None
    data: dict[str, object] = {"stage": state, "study_title": session.study_title, "ending": ending}
    return reply(request, "rater/resting.html", data, state=state, t=_strings(request))
