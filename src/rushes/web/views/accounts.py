"""Administrators' accounts: everybody's own password; for owners, who there is and what they may do."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response

from rushes.errors import InputError
from rushes.preference.study import NotAllowed, StudyError
from rushes.preference.study.administrators import SHORTEST_PASSWORD
from rushes.preference.study.records import ROLES
from rushes.web.access import admin, posted
from rushes.web.pages import page, see, with_twin
from rushes.web.views.login import signed_in
from rushes.web.workbench import workbench

router = APIRouter(dependencies=[Depends(admin)])
Form = Annotated[FormData, Depends(posted)]


@router.get("/account", response_model=None)
def own(request: Request) -> Response:
    return _page(request)


def _page(request: Request, *, problem: str = "", notice: str = "") -> Response:
    who = request.state.admin
    accounts = workbench(request).service.admins() if who.role == "owner" else ()
    facts = {"name": who.name, "role": who.role, "accounts": accounts, "roles": ROLES, "shortest": SHORTEST_PASSWORD}
    return page(request, "admin/account.html", status=400 if problem else 200, problem=problem, notice=notice, **facts)


@router.post("/account/password", response_model=None)
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
    return signed_in(request, service.admin_login(password, name=name, device=request.state.visitor), "/account")


@with_twin(router, "/accounts")
def all_accounts(request: Request) -> Response:
    from rushes.web.errors import wants_json
    from rushes.web.pages import json_reply

    if wants_json(request):
        made = [{"name": one.name, "role": one.role} for one in workbench(request).service.admins()]
        return json_reply({"accounts": made})
    return see("/account")


@router.post("/accounts/add", response_model=None)
def add(request: Request, form: Form) -> Response:
    name, role = str(form.get("name", "")).strip().lower(), str(form.get("role", ""))
    try:
        _agree(form)
        workbench(request).service.add_admin(name, role=role, password=str(form.get("password", "")))
    except (StudyError, InputError) as error:
        return _page(request, problem=str(error))
    return _page(request, notice=f"The account {name} can sign in now.")


@router.post("/accounts/{name}/password", response_model=None)
def reset(request: Request, name: str, form: Form) -> Response:
    """An owner sets somebody's password, who has forgotten it."""
    try:
        _agree(form)
        workbench(request).service.reset_admin_password(name, str(form.get("password", "")))
    except (StudyError, InputError) as error:
        return _page(request, problem=str(error))
    return see("/account")


@router.post("/accounts/{name}/close", response_model=None)
def close(request: Request, name: str) -> Response:
    try:
        workbench(request).service.close_admin(name)
    except StudyError as error:
        return _page(request, problem=str(error))
    return see("/account")


def _agree(form: FormData) -> None:
    if form.get("password") != form.get("again"):
        raise InputError("The two passwords are not the same.")
