"""What a rater's page asks for and sends during the work: clips, sound check, play, drafts, the vote, a problem."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response

from rushes.study import (
    Accepted,
    Feedback,
    Media,
    NotAllowed,
    PlayEvent,
    RaterSession,
    StudyError,
    Task,
    VoteForm,
    VoteRefusal,
)
from rushes.study.owner.blinding import behind
from rushes.study.raters.sound_check import GROUPS, MOST_TONES
from rushes.study.records import LONGEST_NOTE, PROBLEMS
from rushes.study.recruiting.screening import ScreenFound, speed_bytes
from rushes.study.tokens import token_hash
from rushes.web.http.access import may_see_clip, rater, rater_token, signed_out
from rushes.web.http.errors import Refusal, wants_json
from rushes.web.http.media import clip_response
from rushes.web.http.pages import json_reply, page, see
from rushes.web.http.routes import Form, Rater
from rushes.web.study.languages import Strings, strings
from rushes.web.study.vote_forms import read_vote, vote_data, watch_data
from rushes.web.views.study.rater import STEPS, pair_page, spoken
from rushes.web.workbench import workbench

router = APIRouter()
log = logging.getLogger("rushes.web")

PAGES = ("/rate", "/rate/training", "/rate/last", "/rate/instructions", "/rate/sound", "/rate/screen")


class Stretch(BaseModel):
    """One stretch of uninterrupted play."""

    model_config = ConfigDict(extra="forbid")
    side: Literal["A", "B", "C", "D", "E"]
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
    with _refusing(request, None):
        state = workbench(request).service.record_play(rater_token(request), report.assignment, events)
    return json_reply(watch_data(state))


@router.post("/rate/draft", response_model=None)
def draft(request: Request, form: Form) -> Response:
    """Keep what is filled in so far."""
    with _refusing(request, form):
        workbench(request).service.save_draft(rater_token(request), str(form.get("assignment", "")), read_vote(form))
    return json_reply({"saved": True})


@router.post("/rate/vote", response_model=None)
def vote(request: Request, form: Form) -> Response:
    """Take the vote, or say everything that is missing."""
    filled, key, correction = read_vote(form), str(form.get("key", ""))[:64], form.get("correction") == "1"
    with _refusing(request, form):
        answer = workbench(request).service.submit_vote(
            rater_token(request), str(form.get("assignment", "")), filled, key=key, correction=correction
        )
    onward = "/rate?changed=1" if correction else "/rate"
    return (
        _taken(request, answer, filled, onward)
        if isinstance(answer, Accepted)
        else _not_taken(request, answer, filled, form)
    )


def _taken(request: Request, answer: Accepted, filled: VoteForm, onward: str) -> Response:
    lesson = None
    if answer.feedback is not None:
        about = workbench(request).service.presentation(rater_token(request))
        lesson = lesson_data(answer.feedback, filled, strings(about.language))
        if not wants_json(request):
            return page(request, "rater/feedback.html", feedback=lesson, steps=STEPS, **spoken(about))
    if wants_json(request):
        return json_reply({"accepted": True, "repeated": answer.repeated, "feedback": lesson, "next": onward})
    return see(onward)


def lesson_data(feedback: Feedback, filled: VoteForm, t: Strings) -> dict[str, object]:
    """What the training pair teaches, in the rater's language; a right answer has the winner and names the tag."""
    tag = feedback.expected_tag or ""
    verdict = "right" if feedback.right else "almost" if feedback.remark == "reason" else "wrong"
    remark = t(f"feedback.remark_{feedback.remark}") if feedback.remark else ""
    best, _, worst = feedback.expected.partition(">")
    known = {"Tie": t("pair.tie"), "low": t("trial.low"), "high": t("trial.high")}
    winner = t("trial.set", best=best, worst=worst) if worst else known.get(feedback.expected, feedback.expected)
    verdict = "trial.right" if feedback.right and feedback.expected not in ("A", "B", "Tie") else f"feedback.{verdict}"
    named = t("feedback.expected_tag", winner=winner, tag=t.words(tag)) if tag else ""
    return {
        "right": feedback.right,
        "expected": feedback.expected,
        "expected_tag": feedback.expected_tag,
        "title": t(verdict),
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
    with _refusing(request, form):
        taken = workbench(request).service.report_problem(
            rater_token(request), str(form.get("assignment", "")), kind=kind, text=text
        )
    if not taken:
        about = workbench(request).service.presentation(rater_token(request))
        raise Refusal(409, strings(about.language)("pair.reports_full"), code="reports")
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


@contextmanager
def _refusing(request: Request, form: FormData | None) -> Iterator[None]:
    """Whether the session has ended or only this pair has gone; the service's own words stay in the log."""
    try:
        yield
    except StudyError as error:
        try:
            about = workbench(request).service.presentation(rater_token(request))
        except NotAllowed:
            raise signed_out(request, form) from None
        log.warning("%s: %s", request.url.path, error)
        raise Refusal(409, strings(about.language)("pair.gone"), code="gone") from None


class ScreenReport(BaseModel):
    """What the page measured of its own screen and line."""

    model_config = ConfigDict(extra="forbid")
    width: int = Field(ge=0, le=100_000)
    pointer: bool
    mbps: float = Field(ge=0, le=100_000, allow_inf_nan=False)


@router.get("/rate/screen", response_model=None)
def screen(request: Request, session: Rater) -> Response:
    """The check of screen, device and line, for raters who have agreed and not passed it yet."""
    about = workbench(request).service.presentation(rater_token(request))
    if session.stage == "consent" or not about.screen_check:
        return see("/rate")
    facts: dict[str, Any] = {"study_title": session.study_title, "rule": about.screens}
    return page(request, "rater/screen.html", **facts, **spoken(about))


@router.post("/rate/screen", response_model=None)
def measured(request: Request, report: ScreenReport) -> Response:
    with _refusing(request, None):
        lacks = workbench(request).service.answer_screen(rater_token(request), ScreenFound(**report.model_dump()))
    return json_reply({"passed": not lacks, "lacking": list(lacks)})


@router.get("/rate/speed.bin", response_model=None)
def speed(request: Request, session: Rater) -> Response:
    """Bytes for the page to time."""
    return Response(speed_bytes(), media_type="application/octet-stream", headers={"cache-control": "no-store"})


@router.get("/rate/sound", response_model=None)
def sound(request: Request, session: Rater) -> Response:
    """The sound check, for raters who have agreed and not passed it yet."""
    return _sound(request, session, wrong=False)


def _sound(request: Request, session: RaterSession, *, wrong: bool) -> Response:
    about = workbench(request).service.presentation(rater_token(request))
    if session.stage == "consent" or not about.sound_check:
        return see("/rate")
    # A new address after every try: the browser must not play the old tones from its cache.
    facts: dict[str, Any] = {"wrong": wrong, "groups": GROUPS, "most": MOST_TONES, "tries": secrets.token_hex(4)}
    facts["tries_left"] = about.sound_tries_left
    return page(request, "rater/sound.html", study_title=session.study_title, **facts, **spoken(about))


@router.get("/rate/sound.wav", response_model=None)
def tones(request: Request, session: Rater) -> Response:
    wav = workbench(request).service.sound_check_wav(rater_token(request))
    return Response(wav, media_type="audio/wav", headers={"cache-control": "no-store"})


@router.post("/rate/sound", response_model=None)
def heard(request: Request, session: Rater, form: Form) -> Response:
    typed = str(form.get("heard", ""))[:100]
    if workbench(request).service.answer_sound_check(rater_token(request), typed):
        return see("/rate")
    return _sound(request, session, wrong=True)


@router.post("/rate/language", response_model=None)
def language(request: Request, session: Rater, form: Form) -> Response:
    """Switch the pages' language, and go back to the page that asked."""
    try:
        workbench(request).service.choose_language(rater_token(request), str(form.get("language", "")))
    except StudyError as error:
        raise Refusal(400, str(error)) from None
    back = str(form.get("back", ""))
    return see(back if back in PAGES else "/rate")


@router.get("/rate/more.json", response_model=None)
def more(request: Request) -> Response:
    """Whether there is work again; asking assigns nothing."""
    try:
        return json_reply({"more": workbench(request).service.more_work(rater_token(request))})
    except NotAllowed:
        raise signed_out(request, None) from None


@router.api_route("/rate/source/{assignment}", methods=["GET", "HEAD"], response_model=None)
def source(request: Request, assignment: str) -> Response:
    """The clip that was to be edited; the assignment is its token."""
    bench = workbench(request)
    try:
        media = bench.service.source_media(rater_token(request), assignment)
    except NotAllowed:
        raise Refusal(404, "There is no such clip, or you are not allowed to see it.") from None
    return clip_response(request, media, bench.service, bench.digests)


@router.api_route("/media/{token}", methods=["GET", "HEAD"], response_model=None)
def clip(request: Request, token: str) -> Response:
    bench = workbench(request)
    return clip_response(request, _media(request, token), bench.service, bench.digests)


def _media(request: Request, token: str) -> Media:
    service = workbench(request).service
    try:
        if session := rater_token(request):
            return service.media_for(session, token)
    except NotAllowed:
        pass  # an administrator may hold a rater's cookie too
    try:
        if may_see_clip(request, behind(token)):
            # Validators and padding go by the address, which differs from pair to pair.
            return replace(service.media(behind(token)), etag=token_hash(token)[:16])
    except NotAllowed:
        pass
    raise Refusal(404, "There is no such clip, or you are not allowed to see it.")
