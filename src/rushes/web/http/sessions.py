"""Cookies, and the CSRF token that hangs on one of them.

Three cookies of `rushes serve`, all HttpOnly and SameSite=Lax. `visitor` is a random secret that every browser gets; it
is the key of the CSRF token, so a form stays sendable when a sign-in ends in the middle of it, and when the server was
restarted. `rater` and `admin` hold the secrets the study service gave out at sign-in; they are separate, so that the
owner of a study can try an invitation without losing the admin pages.

`rushes view` has one more, HttpOnly and SameSite=Strict: the token of its printed link. Its name is the token's own: a
browser keeps the cookies of all ports of a machine together, and two servers may run at once.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Mapping
from typing import Literal, TypeAlias

from starlette.requests import Request
from starlette.responses import Response

Role: TypeAlias = Literal["visitor", "rater", "admin"]

LIFETIME_S: Mapping[Role, int] = {"visitor": 365 * 86400, "rater": 30 * 86400, "admin": 7 * 86400}
"""How long a browser keeps the cookie; the service may end a sign-in sooner."""
CSRF_LIFETIME_S = 12 * 3600


def new_visitor() -> str:
    return secrets.token_urlsafe(32)


def csrf_token(visitor: str, *, now: float | None = None) -> str:
    """A token for this browser's forms, good for twelve hours: when it ends, and that time's HMAC.

    >>> token = csrf_token("secret", now=0)
    >>> csrf_holds(token, "secret", now=43200), csrf_holds(token, "secret", now=43201), csrf_holds(token, "x", now=0)
    (True, False, False)
    """
    expires = str(int(time.time() if now is None else now) + CSRF_LIFETIME_S)
    return f"{expires}.{_mac(visitor, expires)}"


def csrf_holds(token: str, visitor: str, *, now: float | None = None) -> bool:
    """Whether a token was made for this browser and has not run out."""
    expires, _, mac = token.partition(".")
    if not hmac.compare_digest(mac.encode(), _mac(visitor, expires).encode()):
        return False
    return int(expires) >= (time.time() if now is None else now)


def _mac(visitor: str, text: str) -> str:
    return hmac.new(visitor.encode(), f"csrf {text}".encode(), hashlib.sha256).hexdigest()


def cookie_name(role: Role, *, secure: bool) -> str:
    """`__Host-` cookies cannot be planted by a neighbour domain; browsers take them over HTTPS only."""
    return f"__Host-rushes_{role}" if secure else f"rushes_{role}"


def read_cookie(request: Request, role: Role, *, secure: bool) -> str:
    """The cookie's secret; "" where there is none."""
    return request.cookies.get(cookie_name(role, secure=secure), "")


def set_cookie(response: Response, role: Role, value: str, *, secure: bool) -> None:
    name = cookie_name(role, secure=secure)
    response.set_cookie(name, value, max_age=LIFETIME_S[role], httponly=True, samesite="lax", secure=secure, path="/")


def view_cookie_name(token: str) -> str:
    """Tells servers apart, and says nothing about the token."""
    return f"rushes_view_{hashlib.sha256(token.encode()).hexdigest()[:8]}"


def set_view_cookie(response: Response, token: str) -> None:
    """For as long as the browser is open; the server seldom runs longer."""
    response.set_cookie(view_cookie_name(token), token, httponly=True, samesite="strict", path="/")


def drop_cookie(response: Response, role: Role, *, secure: bool) -> None:
    response.delete_cookie(cookie_name(role, secure=secure), path="/", httponly=True, samesite="lax", secure=secure)
