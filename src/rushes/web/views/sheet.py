"""What the page of a run asks for by itself: the pictures of its clips."""

from __future__ import annotations

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from rushes.errors import MediaError, RunError
from rushes.web.access import admin
from rushes.web.errors import Refusal
from rushes.web.thumbnails import behind_token, thumbnail
from rushes.web.views.runs import open_run

router = APIRouter(dependencies=[Depends(admin)])


@router.get("/thumbnails/{token}", response_model=None)
def picture(request: Request, token: str, v: str = "") -> Response:
    """A clip's picture by token; 404 with the reason where there is none."""
    found = behind_token(token)
    if found is None:
        raise Refusal(404, "There is no such picture.", code="clip-missing")
    try:
        opened = open_run(request, found[0])
        row = opened.by_id.get(found[1])
        if row is None:
            raise Refusal(404, "This run has no clip of that name any more.", code="clip-missing")
        jpeg = thumbnail(opened, row)
    except (MediaError, RunError, OSError) as error:
        raise Refusal(404, f"No picture: {error}", code="clip-missing") from None
    headers = {"cache-control": "private, max-age=3600" if v else "private, max-age=60"}
    return Response(jpeg, media_type="image/jpeg", headers=headers)
