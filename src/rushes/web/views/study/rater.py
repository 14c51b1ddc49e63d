"""A rater's pages: invitation or open link, consent, instructions, the training pair, the work, the end."""

from __future__ import annotations

import secrets
from dataclasses import asdict
from math import ceil
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from rushes.instruments.preference.rubric import rubric
from rushes.study import NotAllowed, RaterSession, StudyError, Task, VoteForm
from rushes.study.raters.presentation import Presentation
from rushes.study.recruiting.open_links import Ending
from rushes.study.recruiting.platforms import NOT_ACCEPTED_YET, PLATFORMS
from rushes.web.http.access import rater_token, signed_in, signed_off, signed_out
from rushes.web.http.errors import Refusal
from rushes.web.http.pages import page, reply, see
from rushes.web.http.routes import Form, Rater, with_json_view
from rushes.web.http.security import client_key
from rushes.web.study.languages import Strings, strings
from rushes.web.study.vote_forms import UNITS, tag_keys, task_data, trial_words
from rushes.web.workbench import workbench

router = APIRouter()

LONGEST_ID = 128
JOINS_PER_HOUR = 60
"""Tries to join from one address; a laboratory's raters may all come through one."""
BREAK_AFTER_MINUTES = 30
STEPS = ("consent", "instructions", "training", "work")


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
            token,
            participant=str(form.get("participant", ""))[:LONGEST_ID],
            session=str(form.get("session", ""))[:LONGEST_ID],
        )
    except NotAllowed:
        return page(request, "rater/used.html", status=410)
    except StudyError:
        raise Refusal(400, t(f"join.bad_{link.platform}"), code="participant") from None
    if joined.ending is not None:
        return _ended(request, joined.ending, t)
    if joined.session is None:
        return page(request, "rater/resting.html", state="paused", ending=None, t=t)
    return signed_in(request, "rater", joined.session.token, "/rate")


def _let_join(request: Request, t: Strings) -> None:
    """Made-up ids would fill the places: one address may try so often in an hour. Coming back counts too."""
    wait = workbench(request).service.begin_try({f"join {client_key(request)}": JOINS_PER_HOUR}, window_s=3600)
    if wait:
        raise Refusal(429, t("join.often", minutes=max(1, ceil(wait / 60))), code="wait", wait_s=wait)


@router.post("/rate/decline", response_model=None)
def decline(request: Request, session: Rater) -> Response:
    """A rater who does not agree to take part; their place goes to another."""
    service, t = workbench(request).service, _strings(request)
    response = _ended(request, service.running.refuse(rater_token(request)), t)
    service.sign_out(rater_token(request))
    return signed_off(request, "rater", response)


@router.post("/rate/stop", response_model=None)
def stop(request: Request, session: Rater) -> Response:
    """A rater's own way out after agreeing, with a code for what they did."""
    t = _strings(request)
    ending = workbench(request).service.running.stop(rater_token(request))
    return page(request, "rater/stopped.html", ending=ending, t=t, **_own(request))


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


@router.get("/i/{token}", response_model=None)
def invitation(request: Request, token: str) -> Response:
    """The link from the invitation. Nothing is used up by looking: mail scanners follow links too."""
    return page(request, "rater/invitation.html", token=token, signed_in=_signed_in(request))


@router.post("/i/{token}", response_model=None)
def accept(request: Request, token: str) -> Response:
    try:
        session = workbench(request).service.accept_invite(token)
    except NotAllowed:
        return see("/rate") if _signed_in(request) else page(request, "rater/used.html", status=410)
    return signed_in(request, "rater", session.token, "/rate")


def _signed_in(request: Request) -> bool:
    token = rater_token(request)
    if not token:
        return False
    try:
        workbench(request).service.session(token)
    except NotAllowed:
        return False
    return True


@with_json_view(router, "/rate")
def work(request: Request) -> Response:
    """Where the rater stands: the page of their stage; for "work", the pair to judge."""
    try:
        session, task = workbench(request).service.standing(rater_token(request))
    except NotAllowed:
        raise signed_out(request, None) from None
    about = workbench(request).service.presentation(rater_token(request))
    if session.stage == "consent":
        facts = {"ids": about.ids, "retain_until": about.retain_until, "screens": about.screens}
        return _stage(request, "consent", "rater/consent.html", session, about, **facts)
    if about.screen_check:
        return see("/rate/screen")
    if about.sound_check:
        return see("/rate/sound")
    if session.stage == "training":
        return _stage(request, "training", "rater/instructions.html", session, about, first=True, **_own(request))
    if session.study_state != "open":
        return resting(request, session)
    notice = strings(about.language)("pair.changed") if request.query_params.get("changed") == "1" else ""
    if task is None:
        service = workbench(request).service
        facts = {
            "has_voted": service.last_vote(rater_token(request)) is not None,
            "votes": about.votes,
            "minutes": about.minutes,
            "ending": service.running.ending(rater_token(request)),
            **_own(request),
        }
        return _stage(request, "done", "rater/done.html", session, about, notice=notice, **facts)
    return pair_page(request, session, task, notice=notice, about=about)


def _stage(
    request: Request, stage: str, template: str, session: RaterSession, about: Presentation, **context: Any
) -> Response:
    data = {"stage": stage, "study_title": session.study_title}
    return reply(request, template, data, steps=STEPS, **spoken(about), **context)


def spoken(about: Presentation) -> dict[str, Any]:
    """What every page of a signed-in rater is rendered with: words, rubric, the study's consent texts."""
    return {
        "t": strings(about.language),
        "rubric": about.rubric,
        "consent": about.consent,
        "switch": True,
        "asked": about.method,
        "unit": UNITS.get(about.method.name, "clip"),
    }


@router.post("/rate/consent", response_model=None)
def consent(request: Request, session: Rater) -> Response:
    if session.stage == "consent":
        workbench(request).service.give_consent(rater_token(request))
    return see("/rate")


@router.get("/rate/instructions", response_model=None)
def instructions(request: Request, session: Rater) -> Response:
    if session.stage == "consent":
        return see("/rate")
    first = session.stage == "training"
    about = workbench(request).service.presentation(rater_token(request))
    return _stage(request, session.stage, "rater/instructions.html", session, about, first=first, **_own(request))


def _own(request: Request) -> dict[str, Any]:
    """The rater's own link to take their votes back; "" where this session may not have it."""
    bench = workbench(request)
    key = bench.service.running.withdrawal_key(rater_token(request))
    return {"withdraw": f"{bench.origin(request)}/withdraw/{key}" if key else ""}


@router.get("/withdraw/{key}", response_model=None)
def withdrawal(request: Request, key: str) -> Response:
    """What a rater's own link takes back. Nothing happens by looking."""
    try:
        votes = workbench(request).service.running.withdrawal(key)
    except NotAllowed:
        return page(request, "rater/used.html", status=410)
    return page(request, "rater/withdraw.html", key=key, votes=votes, gone=votes is None)


@router.post("/withdraw/{key}", response_model=None)
def withdraw(request: Request, key: str) -> Response:
    try:
        votes = workbench(request).service.running.withdraw(key)
    except NotAllowed:
        return page(request, "rater/used.html", status=410)
    return page(request, "rater/withdraw.html", key=key, votes=votes, gone=True)


@with_json_view(router, "/rate/training")
def training(request: Request, session: Rater) -> Response:
    service = workbench(request).service
    about = service.presentation(rater_token(request))
    if session.stage == "consent" or about.screen_check or about.sound_check:
        return see("/rate")
    return pair_page(request, session, service.training_task(rater_token(request)))


@with_json_view(router, "/rate/last")
def last(request: Request, session: Rater) -> Response:
    """The rater's newest vote, filled in, to be changed."""
    task = workbench(request).service.last_vote(rater_token(request))
    if task is None:
        return see("/rate")
    return pair_page(request, session, task, correction=True)


@router.post("/rate/sign-out", response_model=None)
def sign_out(request: Request, session: Rater) -> Response:
    t = _strings(request)
    workbench(request).service.sign_out(rater_token(request))
    return signed_off(request, "rater", page(request, "rater/signed_out.html", t=t))


def pair_page(
    request: Request,
    session: RaterSession,
    task: Task,
    *,
    form: VoteForm | None = None,
    missing: tuple[str, ...] = (),
    status: int = 200,
    correction: bool = False,
    notice: str = "",
    about: Presentation | None = None,
) -> Response:
    """The pair with its form; `missing` is what kept a vote from being taken, `correction` changes one that was.
    `about` is the rater's presentation, where it is at hand."""
    about = about or workbench(request).service.presentation(rater_token(request))
    rules = rubric(task.rubric)
    stage = "training" if task.training else "work"
    data = {"stage": stage, "correction": correction, **task_data(task, rules, form=form)}
    return reply(
        request,
        "rater/pair.html",
        data,
        status=status,
        study_title=session.study_title,
        tag_keys=tag_keys(task),
        **trial_words(task, form),
        missing=missing,
        key=vote_key(task, correction=correction),
        notice=notice,
        break_after=BREAK_AFTER_MINUTES,
        steps=STEPS,
        **spoken(about),
    )


def vote_key(task: Task, *, correction: bool = False) -> str:
    """The idempotency key of this form.

    One per pair, so that a vote whose answer was lost can be sent again from a reloaded page. The training pair may be
    tried again and a vote changed more than once, so their keys are new on every page.
    """
    if task.training or correction:
        return f"{'fix' if correction else 'try'}-{secrets.token_urlsafe(16)}"
    return f"pair-{task.assignment}"[:64]
