"""A rater's pages: invitation, consent, instructions, the training pair, the work, the end."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from rushes.preference.rubric import rubric
from rushes.preference.study import NotAllowed, RaterSession, Task, VoteForm
from rushes.preference.study.presentation import Presentation
from rushes.web import sessions
from rushes.web.access import rater, rater_token, signed_out
from rushes.web.languages import strings
from rushes.web.pages import page, reply, see, with_twin
from rushes.web.views.join import resting
from rushes.web.vote_forms import tag_keys, task_data
from rushes.web.workbench import workbench

router = APIRouter()
Rater = Annotated[RaterSession, Depends(rater)]

BREAK_AFTER_MINUTES = 30
STEPS = ("consent", "instructions", "training", "work")


@router.get("/i/{token}", response_model=None)
def invitation(request: Request, token: str) -> Response:
    """The link from the invitation. Nothing is used up by looking: mail scanners follow links too."""
    return page(request, "rater/invitation.html", token=token, signed_in=_signed_in(request))


@router.post("/i/{token}", response_model=None)
def accept(request: Request, token: str) -> Response:
    bench = workbench(request)
    try:
        session = bench.service.accept_invite(token)
    except NotAllowed:
        return see("/rate") if _signed_in(request) else page(request, "rater/used.html", status=410)
    response = see("/rate")
    sessions.set_cookie(response, "rater", session.token, secure=bench.secure)
    return response


def _signed_in(request: Request) -> bool:
    token = rater_token(request)
    if not token:
        return False
    try:
        workbench(request).service.session(token)
    except NotAllowed:
        return False
    return True


@with_twin(router, "/rate")
def work(request: Request) -> Response:
    """Where the rater stands: the page of their stage; for "work", the pair to judge."""
    try:
        session, task = workbench(request).service.standing(rater_token(request))
    except NotAllowed:
        raise signed_out(request, None) from None
    about = workbench(request).service.presentation(rater_token(request))
    if session.stage == "consent":
        return _stage(request, "consent", "rater/consent.html", session, about, ids=about.ids)
    if about.sound_check:
        return see("/rate/sound")
    if session.stage == "training":
        return _stage(request, "training", "rater/instructions.html", session, about, first=True)
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
        }
        return _stage(request, "done", "rater/done.html", session, about, notice=notice, **facts)
    return pair_page(request, session, task, notice=notice)


def _stage(
    request: Request, stage: str, template: str, session: RaterSession, about: Presentation, **context: Any
) -> Response:
    data = {"stage": stage, "study_title": session.study_title}
    return reply(request, template, data, steps=STEPS, **spoken(about), **context)


def spoken(about: Presentation) -> dict[str, Any]:
    """What every page of a signed-in rater is rendered with: words, rubric, the study's consent texts."""
    return {"t": strings(about.language), "rubric": about.rubric, "consent": about.consent, "switch": True}


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
    return _stage(request, session.stage, "rater/instructions.html", session, about, first=first)


@with_twin(router, "/rate/training")
def training(request: Request, session: Rater) -> Response:
    service = workbench(request).service
    if session.stage == "consent" or service.presentation(rater_token(request)).sound_check:
        return see("/rate")
    return pair_page(request, session, service.training_task(rater_token(request)))


@with_twin(router, "/rate/last")
def last(request: Request, session: Rater) -> Response:
    """The rater's newest vote, filled in, to be changed."""
    task = workbench(request).service.last_vote(rater_token(request))
    if task is None:
        return see("/rate")
    return pair_page(request, session, task, correction=True)


@router.post("/rate/sign-out", response_model=None)
def sign_out(request: Request, session: Rater) -> Response:
    bench = workbench(request)
    language = bench.service.presentation(rater_token(request)).language
    bench.service.sign_out(rater_token(request))
    response = page(request, "rater/signed_out.html", t=strings(language))
    sessions.drop_cookie(response, "rater", secure=bench.secure)
    return response


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
) -> Response:
    """The pair with its form; `missing` is what kept a vote from being taken, `correction` changes one that was."""
    about = workbench(request).service.presentation(rater_token(request))
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
    import secrets

    if task.training or correction:
        return f"{'fix' if correction else 'try'}-{secrets.token_urlsafe(16)}"
    return f"pair-{task.assignment}"[:64]
