"""Clips by opaque token: a rater's own assignments, or anything an administrator looks at."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from rushes.preference.study import Media, NotAllowed
from rushes.web.access import is_admin, rater_token
from rushes.web.errors import Refusal
from rushes.web.media import clip_response
from rushes.web.workbench import workbench

router = APIRouter()


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
        if is_admin(request):
            return service.media(token)
    except NotAllowed:
        pass
    raise Refusal(404, "There is no such clip, or it is not yours to see.")
