"""Administrators: sign in, set the first password, everybody's own; for owners, who there is and what they may do."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from typing import Any

from fastapi import APIRouter
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response

from rushes.core.errors import InputError
from rushes.study import NotAllowed, StudyError
from rushes.study.owner.administrators import FIRST, ROLES, SHORTEST_PASSWORD
from rushes.study.owner.api_tokens import MOST_DAYS, TOKEN_SCOPES
from rushes.study.tokens import token_hash
from rushes.web.http.access import admin_token, signed_in, signed_off
from rushes.web.http.errors import Refusal, wants_json
from rushes.web.http.fields import whole_number
from rushes.web.http.pages import json_reply, page, see
from rushes.web.http.routes import Form, admin_router, with_json_view
from rushes.web.http.security import client_key
from rushes.web.workbench import workbench

router, inside = APIRouter(), admin_router()

TRIES, TRIES_ON_ACCOUNT, TRIES_WINDOW_S = 5, 30, 300
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
        bench.service.try_succeeded(counted)
    if problem:
        return page(request, "admin/setup.html", status=400, key=key, shortest=SHORTEST_PASSWORD, problem=problem)
    bench.service.set_admin_password(password)
    session = bench.service.admin_login(password, device=request.state.visitor)
    return signed_in(request, "admin", session.token, "/")


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
        raise Refusal(
            429, "Too many people are signing in just now. Try again in a moment.", code="wait", wait_s=2
        ) from None
    bench.service.try_succeeded(counted)
    return signed_in(request, "admin", session.token, target)


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
    return signed_off(request, "admin", see("/login"))


def _let_try(request: Request, counted: dict[str, int]) -> None:
    wait = workbench(request).service.begin_try(counted, window_s=TRIES_WINDOW_S)
    if wait:
        raise Refusal(429, f"Too many tries. Wait {wait} seconds, then try again.", code="wait", wait_s=wait)


def _local(address: str) -> str:
    """Only addresses of this server: a link must not send someone elsewhere after signing in."""
    safe = address.startswith("/") and not address.startswith(("//", "/\\")) and address.isprintable()
    return address if safe else "/"


@inside.get("/account", response_model=None)
def own(request: Request) -> Response:
    return _page(request)


def _page(request: Request, *, problem: str = "", notice: str = "", secret: str = "") -> Response:
    who, service = request.state.admin, workbench(request).service
    owner = who.role == "owner"
    facts: dict[str, Any] = {
        "name": who.name,
        "role": who.role,
        "accounts": service.admins() if owner else (),
        "roles": ROLES,
        "shortest": SHORTEST_PASSWORD,
        "tokens": [one for one in service.tokens() if one.revoked_ms is None] if owner else (),
        "scopes": TOKEN_SCOPES,
        "studies": [one.name for one in service.studies()] if owner else (),
        "secret": secret,
    }
    return page(request, "admin/account.html", status=400 if problem else 200, problem=problem, notice=notice, **facts)


@inside.post("/account/password", response_model=None)
def change_password(request: Request, form: Form) -> Response:
    """The account's own password; its other sessions end, this one goes on."""
    service, name = workbench(request).service, request.state.admin.name
    password = str(form.get("password", ""))
    try:
        _agree(form)
        service.set_admin_password(password, current=str(form.get("current", "")), name=name)
    except NotAllowed:
        return _page(request, problem="That is not your present password.")
    except (StudyError, InputError) as error:
        return _page(request, problem=str(error))
    session = service.admin_login(password, name=name, device=request.state.visitor)
    return signed_in(request, "admin", session.token, "/account")


@with_json_view(inside, "/accounts")
def all_accounts(request: Request) -> Response:
    if wants_json(request):
        made = [{"name": one.name, "role": one.role} for one in workbench(request).service.admins()]
        return json_reply({"accounts": made})
    return see("/account")


@inside.post("/accounts/add", response_model=None)
def add(request: Request, form: Form) -> Response:
    name, role, password = (str(form.get(key, "")) for key in ("name", "role", "password"))
    name, service = name.strip().lower(), workbench(request).service
    made = f"The account {name} can sign in now."
    return _changed(request, lambda: service.add_admin(name, role=role, password=password), form, notice=made)


@inside.post("/accounts/{name}/password", response_model=None)
def reset(request: Request, name: str, form: Form) -> Response:
    """An owner sets somebody's password, who has forgotten it."""
    service, password = workbench(request).service, str(form.get("password", ""))
    return _changed(request, lambda: service.reset_admin_password(name, password), form)


@inside.post("/accounts/{name}/close", response_model=None)
def close(request: Request, name: str) -> Response:
    return _changed(request, lambda: workbench(request).service.close_admin(name))


def _changed(
    request: Request, change: Callable[[], object], form: FormData | None = None, *, notice: str = ""
) -> Response:
    """The page after a change to an account, or with why there is none; in a form the password stands twice."""
    try:
        if form is not None:
            _agree(form)
        change()
    except (StudyError, InputError) as error:
        return _page(request, problem=str(error))
    return _page(request, notice=notice) if notice else see("/account")


@inside.post("/tokens/add", response_model=None)
def add_token(request: Request, form: Form) -> Response:
    """A program's token. Its secret is in this answer only."""
    name, study = str(form.get("name", "")).strip().lower(), str(form.get("study", ""))
    scopes = [str(one) for one in form.getlist("scopes")]
    days = whole_number(str(form.get("days", "")), highest=MOST_DAYS)
    try:
        if days is None and form.get("days"):
            raise InputError(f"A token is good for 1 to {MOST_DAYS} days, or until it is revoked.")
        secret = workbench(request).service.make_token(name, scopes, study=study, days=days)
    except (StudyError, InputError) as error:
        return _page(request, problem=str(error))
    return _page(request, secret=secret)


@inside.post("/tokens/{name}/revoke", response_model=None)
def revoke_token(request: Request, name: str) -> Response:
    return _changed(request, lambda: workbench(request).service.revoke_token(name))


def _agree(form: FormData) -> None:
    if form.get("password") != form.get("again"):
        raise InputError("The two passwords are not the same.")


router.include_router(inside)
