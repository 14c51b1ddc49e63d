"""Who may see what: the rater and admin dependencies, and the posted form."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import quote

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response

from rushes.web.http import sessions
from rushes.web.http.errors import Refusal, wants_json
from rushes.web.http.pages import see
from rushes.web.http.security import SAFE_METHODS, StaleForm, text_fields
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
    if workbench(request).viewing:
        return None
    from rushes.study import NotAllowed

    token = admin_token(request)
    if not token:
        return None
    try:
        return workbench(request).service.admin_session(token)
    except NotAllowed:
        return None


def is_admin(request: Request) -> bool:
    return workbench(request).viewing or admin_session(request) is not None


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

    session = await run_in_threadpool(admin_session, request)
    if session is not None:
        if not may(session.role, request.method, request.url.path):
            message = f"Your account {session.name} is {_ARTICLES[session.role]} and may not do that; ask an owner."
            raise Refusal(403, message, code="role")
        request.state.admin, request.state.opens = session, partial(may, session.role, "GET")
        act_as(session.name)  # before the view's thread begins, which takes it along
        return
    if wants_json(request):
        raise Refusal(401, "Sign in as the administrator first.", code="login")
    if request.method not in SAFE_METHODS:
        message = "Your sign-in has ended. Sign in in another tab of this browser, then send again: nothing is lost."
        raise StaleForm(401, message, text_fields(await request.form()))
    raise NeedsLogin(f"/login?next={quote(str(request.url.path))}")


_ARTICLES = {"owner": "an owner", "adjudicator": "an adjudicator", "viewer": "a viewer"}
NOT_IN_VIEW = "rushes view only looks at runs. To make and run studies: rushes serve --db studies.db --run RUN"
_OF_STUDIES = re.compile(r"/(studies|accounts?|setup|login|logout|rate|media|i|join|withdraw)([/.].*)?")
"""What `rushes view` has nothing to do with."""
_NOTES = re.compile(r"/runs/.+")
"""Where notes on a run's clips are sent, which are kept beside the run."""
_OWN = re.compile(r"/account(/password)?")
_FOR_OWNERS = re.compile(r"/accounts.*|/studies/[^/]+/payments\.csv")
"""What only an owner may even look at: accounts, and who is paid what under which id."""
_FOR_ADJUDICATORS = re.compile(r"/studies/[^/]+/(disagreements|adjudication)(\.json)?")


def may(role: str, method: str, path: str) -> bool:
    """Whether a role may make this request. An adjudicator sees the disputed pairs, blind, and nothing that names
    systems; a viewer sees all but accounts and payments and changes nothing; both may change their own password. `view`
    is `rushes view`: runs, boards and comparisons, and notes on a run's clips, but nothing of a study.

    >>> may("viewer", "GET", "/studies/takes/results"), may("viewer", "POST", "/studies/takes/invite")
    (True, False)
    >>> may("viewer", "GET", "/studies/takes/running"), may("viewer", "GET", "/studies/takes/payments.csv")
    (True, False)
    >>> may("adjudicator", "POST", "/studies/takes/adjudication"), may("adjudicator", "GET", "/studies/takes/results")
    (True, False)
    >>> may("view", "POST", "/runs/demo/clip/triage"), may("view", "GET", "/studies/new"), may("view", "POST", "/setup")
    (True, False, False)
    """
    if role == "view":
        return not _OF_STUDIES.fullmatch(path) and (method in SAFE_METHODS or _NOTES.fullmatch(path) is not None)
    if role == "owner" or _OWN.fullmatch(path):
        return True
    if role == "viewer":
        return method in SAFE_METHODS and not _FOR_OWNERS.fullmatch(path)
    return role == "adjudicator" and _FOR_ADJUDICATORS.fullmatch(path) is not None
