"""Who may see what: the rater and admin dependencies, and the posted form."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import quote

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response

from rushes.web.http import sessions
from rushes.web.http.errors import Refusal, wants_json
from rushes.web.http.pages import see
from rushes.web.http.security import StaleForm, bearer, peer, text_fields, within
from rushes.web.study.permissions import ARTICLES, NOT_IN_VIEW, SAFE_METHODS, may, study_in, token_may
from rushes.web.workbench import workbench

if TYPE_CHECKING:
    from rushes.study import AdminSession, RaterSession

NOT_SIGNED_IN = (
    "You are not signed in here. Open your invitation link in this browser; if it has been used up, ask the study's "
    "owner for a fresh one. Your answers are kept."
)
SIGNED_OUT = (
    "Your session has ended. Nothing is lost: ask the study's owner for a fresh link, open it in another tab of this "
    "browser, then send again."
)


class NeedsLogin(Exception):
    """A person without an admin session opened an admin page."""

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self.address = address


async def posted(request: Request) -> FormData:
    """The form of this request (already read and checked by `csrf_checked`)."""
    return await request.form()


def rater_token(request: Request) -> str:
    return sessions.read_cookie(request, "rater", secure=workbench(request).secure)


def rater(request: Request) -> RaterSession:
    """The signed-in rater, or a refusal that keeps what was typed."""
    from rushes.study import NotAllowed

    try:
        return workbench(request).service.session(rater_token(request))
    except NotAllowed:
        raise signed_out(request, None) from None


def signed_out(request: Request, form: FormData | None) -> Exception:
    """What a rater without a session gets: JSON for the page's own requests, else their form handed back."""
    if form is not None and not wants_json(request):
        return StaleForm(401, SIGNED_OUT, text_fields(form))
    looking = request.method in SAFE_METHODS and not wants_json(request)
    return Refusal(401, NOT_SIGNED_IN if looking else SIGNED_OUT, code="session")


def signed_in(request: Request, role: sessions.Role, token: str, target: str) -> Response:
    """On to `target`, with the cookie of this sign-in."""
    response = see(target)
    sessions.set_cookie(response, role, token, secure=workbench(request).secure)
    return response


def signed_off(request: Request, role: sessions.Role, response: Response) -> Response:
    """This answer, with which the browser forgets the sign-in."""
    sessions.drop_cookie(response, role, secure=workbench(request).secure)
    return response


def admin_token(request: Request) -> str:
    return sessions.read_cookie(request, "admin", secure=workbench(request).secure)


def admin_session(request: Request) -> AdminSession | None:
    """The signed-in administrator; None for anybody else, and where there are no accounts (`rushes view`)."""
    bench = workbench(request)
    if bench.viewing:
        return None
    from rushes.study import NotAllowed

    try:
        if name := _name_from_proxy(request):
            return bench.service.admin_at_proxy(name)
        token = admin_token(request)
        return bench.service.admin_session(token) if token else None
    except NotAllowed:
        return None


def _name_from_proxy(request: Request) -> str:
    """Whom the proxy says it has signed in, in the header that was named for that; "" where it is not a trusted proxy
    that asks. A header from anybody else is never looked at."""
    bench = workbench(request)
    if not bench.sso_header or not within(peer(request), bench.trusted_proxies):
        return ""
    return request.headers.get(bench.sso_header, "").strip().lower()


def may_see_clip(request: Request, token: str) -> bool:
    """Whether whoever asks is an administrator who may see the clip behind a media token."""
    bench = workbench(request)
    who = admin_session(request)
    if who is None:
        return bench.viewing
    return who.role != "member" or bench.service.study_of_media(token) in bench.service.roles_of(who.name)


async def admin(request: Request) -> None:
    """Dependency of every admin page: sign in first, and keep to what the account's role may do.

    In `rushes view` there is nobody to sign in: whoever comes this far has shown the link's token to the Guard.
    """
    if workbench(request).viewing:
        if not may("view", request.method, request.url.path):
            raise Refusal(403, NOT_IN_VIEW, code="role")
        return
    from starlette.concurrency import run_in_threadpool

    from rushes.study.queries import act_as

    secret = bearer(request)
    found = await run_in_threadpool(_by_session if secret is None else _by_token, request)
    if found is not None:
        request.state.admin = found
        act_as(found.name)  # before the view's thread begins, which takes it along
        return
    if name := _name_from_proxy(request):
        message = f"You are signed in as {name}, who has no account here. An owner can add one."
        raise Refusal(403, message, code="account")
    if wants_json(request):
        raise Refusal(401, "Sign in as the administrator first.", code="login")
    if request.method not in SAFE_METHODS:
        message = "Your sign-in has ended. Sign in in another tab of this browser, then send again: nothing is lost."
        raise StaleForm(401, message, text_fields(await request.form()))
    raise NeedsLogin(f"/login?next={quote(str(request.url.path))}")


def _by_session(request: Request) -> AdminSession | None:
    """Whoever is signed in, with the role they have for this address; a refusal where it may not do this."""
    session = admin_session(request)
    if session is None:
        return None
    roles = {} if session.role == "owner" else workbench(request).service.roles_of(session.name)

    def role(path: str) -> str:
        return roles.get(study_in(path), session.role)

    here = role(request.url.path)
    if not may(here, request.method, request.url.path):
        message = f"Your account {session.name} is {ARTICLES[here]} and may not do that; ask an owner."
        raise Refusal(403, message, code="role")
    request.state.opens = lambda path: may(role(path), "GET", path)
    return replace(session, role=here)


def _by_token(request: Request) -> AdminSession:
    """A program with a token; a refusal where it may not do this. Cookies sent along count for nothing."""
    from rushes.study import AdminSession, NotAllowed

    try:
        token = workbench(request).service.read_token(bearer(request) or "")
    except NotAllowed as error:
        raise Refusal(401, str(error), code="token") from None
    if not token_may(token.scopes, token.study, request.method, request.url.path):
        of = f" of {token.study}" if token.study else ""
        raise Refusal(
            403, f"The token {token.name} is for {' and '.join(token.scopes)}{of}, not for this.", code="scope"
        )
    request.state.opens = lambda path: token_may(token.scopes, token.study, "GET", path)
    name = f"token:{token.name}"[:40]  # it stands in the log
    return AdminSession(token="", expires_ms=0, name=name, role="viewer")  # no session of its own  # nosec B106
