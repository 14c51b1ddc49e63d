"""No address leads out of what is served: traversal as sent on the wire, past any client that would tidy it up."""

from __future__ import annotations

import http.client
from urllib.parse import quote, urlsplit

import pytest

from rushes.web.http.security import HEADERS

from .livesite import Client, Study

UP = ("..", "%2e%2e", "..%2f..", "..%5c..", "%2e%2e%2f%2e%2e", "....//", "..;", "%00", "..%c0%af..", "/etc/passwd")
TARGETS = ("app.py", "etc/passwd", "..%2f..%2f..%2f..%2f..%2fetc%2fpasswd")
PLACES = ("/static/", "/media/", "/clips/", "/i/", "/runs/", "/studies/", "/studies/bars/export/", "/runs/x/figures/")
SECRETS = (b"root:", b"def create_app", b"[project]")


def raw_get(client: Client, path: str) -> tuple[int, dict[str, str], bytes]:
    """GET with the path exactly as given."""
    place = urlsplit(str(client.base_url))
    connection = http.client.HTTPConnection(place.hostname or "", place.port or 0, timeout=120)
    try:
        cookies = "; ".join(f"{cookie.name}={cookie.value}" for cookie in client.cookies.jar)
        connection.putrequest("GET", path, skip_host=True, skip_accept_encoding=True)
        connection.putheader("host", place.netloc)
        connection.putheader("accept", "text/html")
        connection.putheader("cookie", cookies)
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
    finally:
        connection.close()


@pytest.mark.parametrize("role", ["rater", "admin"])
def test_no_address_leads_out(study: Study, role: str) -> None:
    client = study.rater() if role == "rater" else study.admin()
    for place in PLACES:
        for up in UP:
            for target in TARGETS:
                path = f"{place}{up}/{target}"
                status, headers, body = raw_get(client, path)
                assert status in (303, 400, 401, 404, 422), (path, status)
                assert not any(secret in body for secret in SECRETS), path
                assert {name: headers.get(name) for name in HEADERS} == HEADERS, path


def test_a_clips_own_path_is_no_address(study: Study) -> None:
    """Clips answer to tokens only, never to where they lie on the server."""
    clip = study.service.clips(study.name)[0]
    client = study.admin()
    for path in (clip.source, quote(str(clip.source), safe=""), f"../{clip.source}"):
        assert raw_get(client, f"/media/{path}")[0] == 404
        assert raw_get(client, f"/clips/{path}")[0] == 404
