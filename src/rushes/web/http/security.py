"""What every request passes: the security headers, the visitor cookie, the Origin check and the CSRF token.

`Guard` is an ASGI layer around the whole app; `csrf_checked` is a dependency of the whole app, so no route that changes
something can forget it. In `rushes view` the Guard asks for the printed link's token too. Order of refusals for an
unsafe request: a foreign Host, no link's token, a foreign or absent Origin, then a missing or stale CSRF token. Only a
request that came from our own pages gets as far as that, and a form with a stale one is handed back with its fields
filled in and a fresh token: nothing typed is lost.
"""

from __future__ import annotations

import hmac
from collections.abc import AsyncIterator, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.datastructures import FormData, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rushes.web.http import sessions
from rushes.web.http.errors import Refusal, answer, unexpected, wants_json
from rushes.web.study.permissions import SAFE_METHODS
from rushes.web.workbench import Workbench, workbench

CSP = (
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self' blob:; "
    "connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": CSP,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",  # "no-referrer" would turn the Origin of our own forms into "null"
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
}
NEEDS_LINK = (
    "Open the whole link that rushes view printed in its terminal, with its token: without it nothing is shown here."
)
TOKEN = "token"  # the name of a field, not its value  # nosec B105


class StaleForm(Exception):
    """A form from our own page that cannot be taken as it is, with the fields to hand back."""

    def __init__(self, status: int, message: str, fields: list[tuple[str, str]]) -> None:
        super().__init__(message)
        self.status, self.message, self.fields = status, message, fields


class Guard:
    """Checks the Host, gives every browser its visitor cookie, and puts the security headers on every answer."""

    def __init__(self, app: ASGIApp, *, bench: Workbench) -> None:
        self.app, self.bench = app, bench

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        known = sessions.read_cookie(request, "visitor", secure=self.bench.secure)
        visitor = known or sessions.new_visitor()
        scope.setdefault("state", {})["visitor"] = visitor

        begun = False
        landed = _take_token(scope, self.bench.view_token) if self.bench.viewing else False
        scope["state"]["landed"] = landed

        async def guarded(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                headers, carrier = MutableHeaders(scope=message), Response()
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("cache-control", "no-store")
                page = headers.get("content-type", "").startswith("text/html")
                if not known and (page or scope["path"] == "/csrf.json"):
                    sessions.set_cookie(carrier, "visitor", visitor, secure=self.bench.secure)
                if landed:
                    sessions.set_view_cookie(carrier, self.bench.view_token)
                for cookie in carrier.headers.getlist("set-cookie"):
                    headers.append("set-cookie", cookie)
            await send(message)

        if not self.bench.serves_host(request.headers.get("host", "")):
            await answer(request, 421, "This server does not answer to that host name.")(scope, receive, guarded)
            return
        if self.bench.viewing and not landed and not _may_view(request, self.bench.view_token):
            await answer(request, 403, NEEDS_LINK, code="link")(scope, receive, guarded)
            return
        try:
            await self.app(scope, receive, guarded)
        except ClientDisconnect:
            return  # the browser has gone; there is nobody to answer
        except Exception as error:
            if begun:
                raise  # half an answer is out: the server closes the connection
            await unexpected(request, error)(scope, receive, guarded)


def _take_token(scope: Scope, token: str) -> bool:
    """Whether the address has the token; it is then taken out, so that no page passes it on.

    The page is answered here and now, not by way of a redirect: one that began on another site (a terminal in a browser
    tab) would not carry a strict cookie to where it leads.
    """
    if scope["method"] not in SAFE_METHODS or TOKEN.encode() not in scope["query_string"]:
        return False
    fields = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    given = [value for name, value in fields if name == TOKEN]
    if not any(_same(value, token) for value in given):
        return False
    scope["query_string"] = urlencode([(name, value) for name, value in fields if name != TOKEN]).encode()
    return True


def _may_view(request: Request, token: str) -> bool:
    """Whether the browser has opened the link before. The style sheet is for everybody: it holds nothing."""
    if request.url.path in ("/static/frame.css", "/static/rushes.css", "/static/icon.svg"):
        return True
    return _same(request.cookies.get(sessions.view_cookie_name(token), ""), token)


def _same(given: str, token: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), token.encode())


def csrf_token(request: Request) -> str:
    """A fresh token for this browser's forms."""
    return sessions.csrf_token(request.state.visitor)


def bearer(request: Request) -> str | None:
    """The token of a program; None where there is none. It counts for owners' pages, and nowhere else."""
    scheme, _, secret = request.headers.get("authorization", "").partition(" ")
    return secret.strip() if scheme.lower() == "bearer" and not workbench(request).viewing else None


def _by_program(request: Request) -> bool:
    """Whether a request for an owner's page carries a token, beside which `access.admin` looks at no cookie. No page
    elsewhere can make a browser send one; a password of the proxy's (Basic) is something else."""
    return request.url.path.startswith("/studies/") and bearer(request) is not None


async def csrf_checked(request: Request) -> AsyncIterator[None]:
    """Dependency of the whole app: an unsafe request must come from our own page and carry its token."""
    if request.method in SAFE_METHODS or _by_program(request):
        yield
        return
    if not _same_origin(request, workbench(request)):
        raise Refusal(403, "This request did not come from this site's own page.", code="origin")
    form = await _form(request)
    try:
        _check_token(request, form)
        yield
    finally:
        if form is not None:
            await form.close()


def _check_token(request: Request, form: FormData | None) -> None:
    token = request.headers.get("x-csrf-token") or ("" if form is None else str(form.get("csrf_token", "")))
    if sessions.csrf_holds(token, request.state.visitor):
        return
    message = "This page was open for too long. Nothing is lost: send it again."
    if form is not None and not wants_json(request):
        raise StaleForm(403, message, text_fields(form))
    raise Refusal(403, message, code="csrf")


async def _form(request: Request) -> FormData | None:
    kind = request.headers.get("content-type", "")
    if kind.startswith(("application/x-www-form-urlencoded", "multipart/form-data")):
        return await request.form(max_files=4, max_fields=200, max_part_size=16 * 1024 * 1024)
    return None


def text_fields(form: FormData) -> list[tuple[str, str]]:
    """The form's fields, without its token and without files."""
    return [(key, value) for key, value in form.multi_items() if isinstance(value, str) and key != "csrf_token"]


def _same_origin(request: Request, bench: Workbench) -> bool:
    source = request.headers.get("origin") or request.headers.get("referer", "")
    parts = urlsplit(source)
    return f"{parts.scheme}://{parts.netloc}" == bench.origin(request)


def client_key(request: Request) -> str:
    """Whom to count password tries against: the address the request comes from.

    That is the connection's own, unless it is a trusted proxy's: then the last address of `X-Forwarded-For` that is not
    a trusted proxy itself. Whatever a client wrote there before is never looked at. IPv6 counts by its /64: a household
    or a hosting customer has a whole one.
    """
    trusted = workbench(request).trusted_proxies
    address = peer(request)
    if within(address, trusted):
        chain = ",".join(request.headers.getlist("x-forwarded-for")).split(",")
        for text in reversed(chain):
            hop = _address(text.strip())
            if hop is None:
                break
            address = hop
            if not within(hop, trusted):
                break
    if address is None:
        return "unknown"
    return str(ip_network((address, 64), strict=False)) if address.version == 6 else str(address)


def _address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        found = ip_address(text)
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found


def peer(request: Request) -> IPv4Address | IPv6Address | None:
    """The other end of the connection."""
    return _address(request.client.host if request.client else "")


def within(address: IPv4Address | IPv6Address | None, networks: Sequence[IPv4Network | IPv6Network]) -> bool:
    return address is not None and any(address in network for network in networks)
