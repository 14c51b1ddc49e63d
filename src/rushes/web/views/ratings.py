"""What a rater's page sends while they work: play, drafts, the vote, a problem; and what to load ahead."""

from __future__ import annotations

import logging
from typing import Annotated, Literal

from fastapi import APIRouter, Depends
from pydantic import BaseModel, ConfigDict, Field
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response

from rushes.preference.study import (
    Accepted,
    Feedback,
    NotAllowed,
    PlayEvent,
    StudyError,
    Task,
    VoteForm,
    VoteRefusal,
)
from rushes.preference.study.records import LONGEST_NOTE, PROBLEMS
from rushes.web.access import posted, rater, rater_token, signed_out
from rushes.web.errors import Refusal, wants_json
from rushes.web.languages import Strings, strings
from rushes.web.pages import json_reply, page, see
from rushes.web.views.rater import STEPS, pair_page, spoken
from rushes.web.vote_forms import read_vote, vote_data, watch_data
from rushes.web.workbench import workbench

router = APIRouter()
log = logging.getLogger("rushes.web")
Form = Annotated[FormData, Depends(posted)]


class Stretch(BaseModel):
    """One stretch of uninterrupted play."""

    model_config = ConfigDict(extra="forbid")
    side: Literal["A", "B"]
    start_ms: float = Field(ge=0, le=86_400_000, allow_inf_nan=False)
    end_ms: float = Field(ge=0, le=86_400_000, allow_inf_nan=False)
    rate: float = Field(ge=0, le=16, allow_inf_nan=False)
    visible: bool
    client_ms: int = Field(ge=0, le=2**53)
    sequence: int = Field(ge=0, le=2**53)


class PlayReport(BaseModel):
    """What the page saw play since its last report."""

    model_config = ConfigDict(extra="forbid")
    assignment: str = Field(max_length=200)
    events: list[Stretch] = Field(max_length=200)


@router.post("/rate/watch", response_model=None)
def watch(request: Request, report: PlayReport) -> Response:
    """Add play to the ledger; the answer is the watch counter."""
    events = [PlayEvent(**event.model_dump()) for event in report.events]
    try:
        state = workbench(request).service.record_play(rater_token(request), report.assignment, events)
    except StudyError as error:
        raise _refused(request, error, None) from None
    return json_reply(watch_data(state))


@router.post("/rate/draft", response_model=None)
def draft(request: Request, form: Form) -> Response:
    """Keep what is filled in so far."""
    try:
        workbench(request).service.save_draft(rater_token(request), str(form.get("assignment", "")), read_vote(form))
    except StudyError as error:
        raise _refused(request, error, form) from None
    return json_reply({"saved": True})


@router.post("/rate/vote", response_model=None)
def vote(request: Request, form: Form) -> Response:
    """Take the vote, or say everything that is missing."""
    filled, key, correction = read_vote(form), str(form.get("key", ""))[:64], form.get("correction") == "1"
    try:
        answer = workbench(request).service.submit_vote(
            rater_token(request), str(form.get("assignment", "")), filled, key=key, correction=correction
        )
    except StudyError as error:
        raise _refused(request, error, form) from None
    onward = "/rate?changed=1" if correction else "/rate"
    return (
        _taken(request, answer, filled, onward)
        if isinstance(answer, Accepted)
        else _not_taken(request, answer, filled, form)
    )


def _taken(request: Request, answer: Accepted, filled: VoteForm, onward: str) -> Response:
    about = workbench(request).service.presentation(rater_token(request))
    lesson = answer.feedback and lesson_data(answer.feedback, filled, strings(about.language))
    if wants_json(request):
        return json_reply({"accepted": True, "repeated": answer.repeated, "feedback": lesson, "next": onward})
    if lesson:
        return page(request, "rater/feedback.html", feedback=lesson, steps=STEPS, **spoken(about))
    return see(onward)


def lesson_data(feedback: Feedback, filled: VoteForm, t: Strings) -> dict[str, object]:
    """What the training pair teaches, in the rater's language; a right answer has the winner and names the tag."""
    tag = feedback.expected_tag or ""
    verdict = "right" if feedback.right else "almost" if feedback.remark == "reason" else "wrong"
    remark = t(f"feedback.remark_{feedback.remark}") if feedback.remark else ""
    winner = t("pair.tie") if feedback.expected == "Tie" else feedback.expected
    named = t("feedback.expected_tag", winner=winner, tag=t.words(tag)) if tag else ""
    return {
        "right": feedback.right,
        "expected": feedback.expected,
        "expected_tag": feedback.expected_tag,
        "title": t(f"feedback.{verdict}"),
        "text": f"{remark} {t.words(feedback.text)}".strip(),
        "expected_text": named or t("feedback.expected", winner=winner),
        "tag_text": t("feedback.other_tag") if feedback.right and tag and filled.primary_tag != tag else "",
    }


def _not_taken(request: Request, answer: VoteRefusal, filled: VoteForm, form: FormData) -> Response:
    if wants_json(request):
        facts = [{"field": item.field, "message": item.message} for item in answer.missing]
        stored = {} if answer.stored is None else {"stored": vote_data(answer.stored)}
        refusal = {"error": "This vote is not complete yet.", "code": "missing", "missing": facts, **stored}
        return json_reply(refusal, status=409)
    if answer.stored is not None:  # another tab was first: the page of this pair has gone
        raise Refusal(409, answer.missing[0].message, code="stands")
    session, task = rater(request), _same_task(request, form)
    if task is None or task.assignment != form.get("assignment"):
        return see("/rate")
    messages = tuple(item.message for item in answer.missing)
    correction = form.get("correction") == "1"
    return pair_page(request, session, task, form=filled, missing=messages, status=409, correction=correction)


def _same_task(request: Request, form: FormData) -> Task | None:
    """The task of the page that this form was on."""
    service, token = workbench(request).service, rater_token(request)
    if form.get("correction") == "1":
        return service.last_vote(token)
    if form.get("training") == "1" or rater(request).stage == "training":
        return service.training_task(token)
    return service.next_task(token)


@router.post("/rate/problem", response_model=None)
def problem(request: Request, form: Form) -> Response:
    """A pair that cannot be judged: it is reported, and the rater goes on."""
    kind = str(form.get("kind", ""))
    if kind not in PROBLEMS:
        raise Refusal(400, f"Say what is wrong: {', '.join(PROBLEMS)}.")
    text = str(form.get("text", ""))[:LONGEST_NOTE]
    try:
        workbench(request).service.report_problem(
            rater_token(request), str(form.get("assignment", "")), kind=kind, text=text
        )
    except StudyError as error:
        raise _refused(request, error, form) from None
    return json_reply({"reported": True, "next": "/rate"}) if wants_json(request) else see("/rate")


@router.get("/rate/next.json", response_model=None)
def ahead(request: Request) -> Response:
    """The clips of the pair after this one, to load while the rater is busy."""
    try:
        tokens = workbench(request).service.clips_ahead(rater_token(request))
    except NotAllowed:
        raise signed_out(request, None) from None
    except StudyError:
        tokens = ()  # still in training
    return json_reply({"clips": [f"/media/{token}" for token in tokens]})


def _refused(request: Request, error: StudyError, form: FormData | None) -> Exception:
    """Whether the session has ended or only this pair has gone; the service's own words stay in the log."""
    try:
        about = workbench(request).service.presentation(rater_token(request))
    except NotAllowed:
        return signed_out(request, form)
    log.warning("%s: %s", request.url.path, error)
    return Refusal(409, strings(about.language)("pair.gone"), code="gone")
