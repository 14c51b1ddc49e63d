"""The administrator signs in; on the first start, sets the password."""

from __future__ import annotations

import hmac
from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response

from rushes.preference.study import AdminSession, NotAllowed, StudyError
from rushes.preference.study.administrators import FIRST, SHORTEST_PASSWORD
from rushes.preference.study.tokens import token_hash
from rushes.web import sessions
from rushes.web.access import admin_token, posted
from rushes.web.errors import Refusal
from rushes.web.pages import page, see
from rushes.web.security import client_key
from rushes.web.workbench import workbench

router = APIRouter()
Form = Annotated[FormData, Depends(posted)]

TRIES, TRIES_ON_ACCOUNT = 5, 30
"""Tries in five minutes from one address, or one known browser; and on one account from all unknown browsers."""


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
    counted = {f"address {client_key(request)}": TRIES}
    _let_try(request, counted)
    key, password = str(form.get("key", "")), str(form.get("password", ""))
    problem = ""
    if not hmac.compare_digest(key.encode(), bench.setup_key.encode()):
        problem = "Use the whole link that the server printed when it started: its key is missing or wrong."
    elif len(password) < SHORTEST_PASSWORD:
        problem = f"Use at least {SHORTEST_PASSWORD} characters."
    elif password != form.get("again"):
        problem = "The two passwords are not the same."
    else:
        bench.logins.succeeded(counted)
    if problem:
        return page(request, "admin/setup.html", status=400, key=key, shortest=SHORTEST_PASSWORD, problem=problem)
    bench.service.set_admin_password(password)
    return signed_in(request, bench.service.admin_login(password, device=request.state.visitor), "/")


@router.get("/login", response_model=None)
def login_page(request: Request, next: str = "/") -> Response:
    first = not workbench(request).service.admin_exists()
    return page(request, "admin/login.html", next=_local(next), first=first, name=FIRST)


@router.post("/login", response_model=None)
def login(request: Request, form: Form) -> Response:
    bench = workbench(request)
    name = str(form.get("username", "")).strip().lower()[:40] or FIRST
    counted = _counted(request, name)
    _let_try(request, counted)
    target = _local(str(form.get("next", "/")))
    try:
        session = bench.service.admin_login(str(form.get("password", "")), name=name, device=request.state.visitor)
    except NotAllowed:
        problem = "That is not the account's password."
        return page(request, "admin/login.html", status=401, next=target, first=False, name=name, problem=problem)
    except StudyError:
        raise Refusal(429, "Too many people are signing in just now. Try again in a moment.", code="wait") from None
    bench.logins.succeeded(counted)
    return signed_in(request, session, target)


def _counted(request: Request, name: str) -> dict[str, int]:
    """What a try counts against. A browser that has signed in to the account before is counted by itself, so that
    nobody else's wrong tries lock its owner out; any other by its address and, with all the others, by the account."""
    device = request.state.visitor
    if workbench(request).service.knows_device(name, device):
        return {f"device {token_hash(device)} {name}": TRIES}
    return {f"address {client_key(request)}": TRIES, f"account {name}": TRIES_ON_ACCOUNT}


@router.post("/logout", response_model=None)
def logout(request: Request) -> Response:
    bench = workbench(request)
    if token := admin_token(request):
        bench.service.admin_logout(token)
    response = see("/login")
    sessions.drop_cookie(response, "admin", secure=bench.secure)
    return response


def _let_try(request: Request, counted: dict[str, int]) -> None:
    wait = workbench(request).logins.begin(counted)
    if wait:
        raise Refusal(429, f"Too many tries. Wait {wait} seconds, then try again.", code="wait")


def signed_in(request: Request, session: AdminSession, target: str) -> Response:
    response = see(target)
    sessions.set_cookie(response, "admin", session.token, secure=workbench(request).secure)
    return response


def _local(address: str) -> str:
    """Only addresses of this server: a link must not send someone elsewhere after signing in."""
    safe = address.startswith("/") and not address.startswith(("//", "/\\")) and address.isprintable()
    return address if safe else "/"
