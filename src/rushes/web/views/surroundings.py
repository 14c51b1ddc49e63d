"""What a rater's page needs beside the pair: the sound check, the source clip of an edit, the language, more work."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response

from rushes.preference.study import NotAllowed, RaterSession, StudyError
from rushes.preference.study.sound_check import GROUPS, MOST_TONES
from rushes.web.access import posted, rater, rater_token, signed_out
from rushes.web.errors import Refusal
from rushes.web.media import clip_response
from rushes.web.pages import json_reply, page, see
from rushes.web.views.rater import spoken
from rushes.web.workbench import workbench

router = APIRouter()
Rater = Annotated[RaterSession, Depends(rater)]
Form = Annotated[FormData, Depends(posted)]
PAGES = ("/rate", "/rate/training", "/rate/last", "/rate/instructions", "/rate/sound")


@router.get("/rate/sound", response_model=None)
def sound(request: Request, session: Rater) -> Response:
    """The sound check, for raters who have agreed and not passed it yet."""
    return _sound(request, session, wrong=False)


def _sound(request: Request, session: RaterSession, *, wrong: bool) -> Response:
    about = workbench(request).service.presentation(rater_token(request))
    if session.stage == "consent" or not about.sound_check:
        return see("/rate")
    import secrets

    # A new address after every try: the browser must not play the old tones from its cache.
    facts: dict[str, Any] = {"wrong": wrong, "groups": GROUPS, "most": MOST_TONES, "tries": secrets.token_hex(4)}
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
        raise Refusal(404, "There is no such clip, or it is not yours to see.") from None
    return clip_response(request, media, bench.service, bench.digests)
