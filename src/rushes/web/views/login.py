"""The administrator signs in; on the first start, sets the password."""

from __future__ import annotations

import hmac
from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response

from rushes.preference.study import AdminSession, NotAllowed
from rushes.web import sessions
from rushes.web.access import admin_token, posted
from rushes.web.errors import Refusal
from rushes.web.pages import page, see
from rushes.web.security import client_key
from rushes.web.workbench import workbench

router = APIRouter()
Form = Annotated[FormData, Depends(posted)]

SHORTEST_PASSWORD = 10


@router.get("/setup", response_model=None)
def setup_page(request: Request, key: str = "") -> Response:
    """The page for the first password; its link is printed where the server was started."""
    if workbench(request).service.admin_exists():
        return see("/login")
    return page(request, "admin/setup.html", key=key, shortest=SHORTEST_PASSWORD)


@router.post("/setup", response_model=None)
def setup(request: Request, form: Form) -> Response:
    bench = workbench(request)
    if bench.service.admin_exists():
        return see("/login")
    _let_try(request)
    key, password = str(form.get("key", "")), str(form.get("password", ""))
    problem = ""
    if not hmac.compare_digest(key.encode(), bench.setup_key.encode()):
        bench.logins.failed(client_key(request))
        problem = "Use the whole link that the server printed when it started: its key is missing or wrong."
    elif len(password) < SHORTEST_PASSWORD:
        problem = f"Use at least {SHORTEST_PASSWORD} characters."
    elif password != form.get("again"):
        problem = "The two passwords are not the same."
    if problem:
        return page(request, "admin/setup.html", status=400, key=key, shortest=SHORTEST_PASSWORD, problem=problem)
    bench.service.set_admin_password(password)
    return _signed_in(request, bench.service.admin_login(password), "/")


@router.get("/login", response_model=None)
def login_page(request: Request, next: str = "/") -> Response:
    first = not workbench(request).service.admin_exists()
    return page(request, "admin/login.html", next=_local(next), first=first)


@router.post("/login", response_model=None)
def login(request: Request, form: Form) -> Response:
    bench = workbench(request)
    _let_try(request)
    target = _local(str(form.get("next", "/")))
    try:
        session = bench.service.admin_login(str(form.get("password", "")))
    except NotAllowed:
        bench.logins.failed(client_key(request))
        problem = "That is not the password."
        return page(request, "admin/login.html", status=401, next=target, first=False, problem=problem)
    bench.logins.succeeded(client_key(request))
    return _signed_in(request, session, target)


@router.post("/logout", response_model=None)
def logout(request: Request) -> Response:
    bench = workbench(request)
    if token := admin_token(request):
        bench.service.admin_logout(token)
    response = see("/login")
    sessions.drop_cookie(response, "admin", secure=bench.secure)
    return response


def _let_try(request: Request) -> None:
    wait = workbench(request).logins.wait_s(client_key(request))
    if wait:
        raise Refusal(429, f"Too many tries. Wait {wait} seconds, then try again.", code="wait")


def _signed_in(request: Request, session: AdminSession, target: str) -> Response:
    response = see(target)
    sessions.set_cookie(response, "admin", session.token, secure=workbench(request).secure)
    return response


def _local(address: str) -> str:
    """Only addresses of this server: a link must not send someone elsewhere after signing in."""
    safe = address.startswith("/") and not address.startswith(("//", "/\\")) and address.isprintable()
    return address if safe else "/"
