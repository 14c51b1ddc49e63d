"""Errors in the caller's format: a page for people, JSON for programs, and never a traceback.

What a rater sees says nothing about the study's insides: an error that was not written for raters (its text may hold a
path or a system's name) is logged here and answered with a plain sentence.
"""

from __future__ import annotations

import logging
from http import HTTPStatus
from math import ceil
from typing import TYPE_CHECKING, Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from rushes.core.errors import InputError, RushesError
from rushes.web.http.operations import route_of

if TYPE_CHECKING:
    from fastapi import FastAPI

log = logging.getLogger("rushes.web")

_TITLES = {
    400: "That did not work",
    401: "Please sign in",
    403: "Not taken",
    404: "Nothing here",
    408: "Too slow",
    409: "Not possible now",
    413: "Too large",
    421: "Not here",
    429: "Too many tries",
    500: "Something went wrong",
    503: "Not possible now",
}
AWAY = "The server cannot reach its database just now. What you filled in is kept; try again in a moment."
RATER_PATHS = ("/rate", "/media", "/i/", "/join/")
_FOR_RATERS = {
    400: "That request could not be understood. Go back and try again.",
    404: "This page is not here, or not yours. Open your invitation link again.",
    500: "Something went wrong on our side. Your answers are kept. Try again in a moment.",
}


class Refusal(HTTPException):
    """An answer that is safe to show to anyone: what is wrong, what is missing, what to do next."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        missing: tuple[str, ...] = (),
        code: str = "refused",
        wait_s: float | None = None,
    ) -> None:
        super().__init__(status, message, None if wait_s is None else {"retry-after": str(ceil(wait_s))})
        self.message = message
        self.missing = missing
        self.code = code


def wants_json(request: Request) -> bool:
    """Whether the caller is a program: a `.json` address, a JSON body, or an Accept header without HTML."""
    if request.url.path.endswith(".json") or request.headers.get("content-type", "").startswith("application/json"):
        return True
    accept = request.headers.get("accept", "")
    return "application/json" in accept and "text/html" not in accept


def install(app: FastAPI) -> None:
    """Give the app its error answers."""
    from fastapi.exceptions import RequestValidationError
    from sqlalchemy.exc import OperationalError

    @app.exception_handler(HTTPException)
    async def http_error(request: Request, error: HTTPException) -> Response:
        told: dict[str, Any] = {"code": error.code, "missing": error.missing} if isinstance(error, Refusal) else {}
        return answer(request, error.status_code, _http_text(request, error), headers=error.headers, **told)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"][1:])
        return answer(request, 422, f"{where or 'the request'}: {first['msg']}", code="invalid")

    @app.exception_handler(OperationalError)
    async def away(request: Request, error: OperationalError) -> Response:
        # One line: hundreds of raters meet it at once, and its text holds the whole statement.
        log.error("%s %s: %s", request.method, route_of(request.scope), str(error.orig).strip().partition("\n")[0])
        return answer(request, 503, AWAY, code="away", headers={"retry-after": "2"})

    @app.exception_handler(RushesError)
    async def expected(request: Request, error: RushesError) -> Response:
        status = 400 if isinstance(error, InputError) else 500
        if _for_rater(request):
            log.warning("%s %s: %s", request.method, route_of(request.scope), error)
            return answer(request, status, _FOR_RATERS[status])
        return answer(request, status, str(error))


def unexpected(request: Request, error: Exception) -> Response:
    """The answer to an error nobody foresaw; its traceback goes to the log."""
    log.error("%s %s failed", request.method, route_of(request.scope), exc_info=error)
    text = _FOR_RATERS[500] if _for_rater(request) else "Something went wrong; the server's log says what."
    return answer(request, 500, text)


def answer(
    request: Request,
    status: int,
    message: str,
    *,
    code: str = "error",
    missing: tuple[str, ...] = (),
    headers: object = None,
) -> Response:
    """The error as JSON or as a page. JSON: `{"error": …, "code": …, "missing": […]}`."""
    extra = dict(headers) if isinstance(headers, dict) else {}
    if wants_json(request):
        body = {"error": message, "code": code, "missing": list(missing)}
        return JSONResponse(body, status_code=status, headers=extra)
    from rushes.web.http.pages import page

    title = _TITLES.get(status, HTTPStatus(status).phrase)
    response = page(
        request, "error.html", status=status, title=title, message=message, missing=missing, rater=_for_rater(request)
    )
    response.headers.update(extra)
    return response


def _http_text(request: Request, error: HTTPException) -> str:
    if isinstance(error, Refusal):
        return error.message
    if error.status_code == 404:
        return _FOR_RATERS[404] if _for_rater(request) else "There is no such page."
    if error.status_code == 405:
        return "This address does not take that kind of request."
    return str(error.detail)


def _for_rater(request: Request) -> bool:
    return request.url.path.startswith(RATER_PATHS)
