"""What every request passes: headers, cookies, Host, Origin, CSRF, limits, and errors in the caller's format."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from fastapi.routing import APIRoute
from sqlalchemy.exc import OperationalError

from rushes.web.http.limits import BODY_LIMIT
from rushes.web.http.security import CSP, HEADERS

from .livesite import PASSWORD, Site, Study


def test_every_answer_carries_the_security_headers(study: Study) -> None:
    client = study.rater()
    address = client.get("/rate.json").json()["clips"]["A"]["address"]
    for path in ("/", "/login", "/rate", "/rate.json", "/nowhere", "/nowhere.json", "/static/rushes.css", address):
        answer = client.get(path)
        assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS, path
    assert client.get("/rate").headers["cache-control"] == "no-store"
    assert "unsafe" not in CSP and "default-src 'self'" in CSP


def test_no_page_has_inline_script_or_style(study: Study) -> None:
    client = study.admin()
    pages = [client.get(path).text for path in ("/", "/studies/new", "/studies/bars", "/studies/bars/results")]
    pages.append(study.rater().get("/rate").text)
    for page in pages:
        assert not re.search(r"<script(?![^>]*\bsrc=)", page)
        assert not re.search(r"\son\w+=|<style|\sstyle=|javascript:", page)
        assert not re.search(r'(?:src|href)="(?:https?:)?//', page), "nothing is loaded from elsewhere"


def test_cookies_are_httponly_and_samesite(study: Study) -> None:
    client = study.site.client()
    client.get("/login")
    answer = client.send_form(study.invitation())
    study.service.set_admin_password(PASSWORD)
    login = client.send_form("/login", {"password": PASSWORD})
    for header in (answer.headers["set-cookie"], login.headers["set-cookie"]):
        assert "HttpOnly" in header and "SameSite=lax" in header and "Path=/" in header
        assert "Secure" not in header


def test_behind_https_cookies_are_secure_and_links_are_public(make_site: Callable[..., Site]) -> None:
    site = make_site(public_url="https://study.example.org/")
    client = httpx.Client(base_url=site.url, headers={"host": "study.example.org"})
    with client:
        header = client.get("/login").headers["set-cookie"]
    assert header.startswith("__Host-rushes_visitor=") and "Secure" in header


def test_every_changing_route_wants_origin_and_token(study: Study) -> None:
    client = study.admin()
    changing = [path for method, path in all_routes(study.site) if method == "POST"]
    assert len(changing) >= 12
    for path in changing:
        bare = client.post(path, headers={"origin": ""}, json={})
        assert (bare.status_code, bare.json()["code"]) == (403, "origin"), path
        foreign = client.post(path, headers={"origin": "https://elsewhere.example"}, json={})
        assert (foreign.status_code, foreign.json()["code"]) == (403, "origin"), path
        untold = client.post(path, json={})
        assert (untold.status_code, untold.json()["code"]) == (403, "csrf"), path
        forged = client.post(path, json={}, headers={"x-csrf-token": "9999999999.abc"})
        assert (forged.status_code, forged.json()["code"]) == (403, "csrf"), path


def all_routes(site: Site) -> list[tuple[str, str]]:
    from rushes.web.app import OF_RUNS, OF_STUDIES
    from rushes.web.views import home_parts

    return [
        (method, re.sub(r"\{\w+\}", "x", route.path))
        for view in (home_parts, *OF_STUDIES, *OF_RUNS)
        for route in view.router.routes
        if isinstance(route, APIRoute)
        for method in sorted(route.methods)
    ]


def test_every_admin_route_wants_a_sign_in(study: Study) -> None:
    client = study.site.client()
    for method, path in all_routes(study.site):
        if not path.startswith("/studies"):
            continue
        answer = client.get(path) if method == "GET" else client.send_form(path)
        assert answer.status_code in (303, 401), (method, path)
        if answer.status_code == 303:
            assert answer.headers["location"].startswith("/login?next=")
    rater = study.rater()
    assert rater.get("/studies/bars.json").status_code == 401
    assert rater.get("/home.json").status_code == 401


def test_another_browsers_token_does_not_hold(study: Study) -> None:
    mine, theirs = study.site.client(), study.site.client()
    for client in (mine, theirs):
        client.get("/login")
    stolen = {"x-csrf-token": theirs.token(), "accept": "application/json"}
    assert mine.post("/login", headers=stolen).json()["code"] == "csrf"


def test_a_stale_form_is_handed_back_filled_in(study: Study) -> None:
    client = study.site.client()
    client.get("/login")
    page = client.post("/login", data={"csrf_token": "1.old", "next": "/studies/new", "password": '"><b>'})
    assert page.status_code == 403 and "Send again" in page.text
    assert 'name="next" value="/studies/new"' in page.text and "&#34;&gt;&lt;b&gt;" in page.text
    token = re.search(r'name="csrf_token" value="([^"]+)"', page.text)
    assert token and token[1] != "1.old"


def test_a_foreign_host_name_gets_nothing(site: Site) -> None:
    client = site.client()
    assert client.get("/", headers={"host": "rebound.example"}).status_code == 421
    assert client.get("/", headers={"host": "localhost:1"}).status_code == 200


@pytest.mark.parametrize("declared", [True, False])
def test_a_body_past_the_limit_is_refused(study: Study, declared: bool) -> None:
    client = study.rater()
    big = b"x" * (BODY_LIMIT + 1)
    headers = {"x-csrf-token": client.token(), "accept": "application/json", "content-type": "application/json"}
    content: Any = big if declared else iter([big[:100_000], big[100_000:200_000], big[200_000:]])
    answer = client.post("/rate/watch", content=content, headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (413, "too-large")


def test_passwords_cannot_be_tried_without_end(study: Study) -> None:
    study.service.set_admin_password(PASSWORD)
    client = study.site.client()
    tries = [client.send_form("/login", {"password": f"guess {n}"}).status_code for n in range(6)]
    assert tries == [401] * 5 + [429]
    blocked = client.send_form("/login", {"password": PASSWORD})
    assert blocked.status_code == 429 and "Wait" in blocked.text


def test_signing_in_leads_only_to_this_site(study: Study) -> None:
    study.service.set_admin_password(PASSWORD)
    for target in ("https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)"):
        answer = study.site.client().send_form("/login", {"password": PASSWORD, "next": target})
        assert answer.headers["location"] == "/"
    answer = study.site.client().send_form("/login", {"password": PASSWORD, "next": "/studies/new"})
    assert answer.headers["location"] == "/studies/new"


def test_the_first_password_needs_the_printed_key(make_site: Callable[..., Site]) -> None:
    site = make_site(setup_key="printed")
    client = site.client()
    assert "set the administrator" in client.get("/").text
    both = {"password": PASSWORD, "again": PASSWORD}
    assert client.send_form("/setup", {"key": "guess", **both}).status_code == 400
    assert client.send_form("/setup", {"key": "printed", "password": "short", "again": "short"}).status_code == 400
    assert client.send_form("/setup", {"key": "printed", **both, "again": "other password"}).status_code == 400
    assert not site.service.admin_exists()
    assert client.send_form("/setup", {"key": "printed", **both}).headers["location"] == "/"
    assert "Sign out" in client.get("/").text
    assert site.client().send_form("/setup", {"key": "printed", **both}).headers["location"] == "/login"
    client.send_form("/logout")
    assert client.get("/studies/new").status_code == 303


def test_errors_come_in_the_callers_format(study: Study) -> None:
    client = study.admin()
    page = client.get("/studies/none")
    assert page.status_code == 400 and page.headers["content-type"].startswith("text/html")
    assert "no study is called" in page.text
    twin = client.get("/studies/none.json")
    assert twin.json() == {"error": twin.json()["error"], "code": "error", "missing": []}
    assert "no study is called" in twin.json()["error"]
    asked = client.get("/studies/none", headers={"accept": "application/json"})
    assert asked.headers["content-type"] == "application/json"
    assert client.get("/nowhere").status_code == 404
    assert client.post("/csrf.json", headers={"x-csrf-token": client.token()}).status_code == 405


def test_an_unforeseen_error_shows_no_traceback(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    client = study.rater()

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("secret detail of Northwind-XL")

    monkeypatch.setattr(type(study.service), "standing", broken)
    for path in ("/rate", "/rate.json"):
        answer = client.get(path)
        assert answer.status_code == 500 and "secret detail" not in answer.text and "Traceback" not in answer.text
        assert answer.headers["content-security-policy"] == CSP


def test_a_database_that_is_away_is_said_and_can_be_tried_again(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    client = study.rater()

    def away(*_: object, **__: object) -> None:
        raise OperationalError("SELECT secret FROM vote", {}, Exception("server closed the connection\ndetails"))

    monkeypatch.setattr(type(study.service), "standing", away)
    for path in ("/rate", "/rate.json"):
        answer = client.get(path)
        assert answer.status_code == 503 and answer.headers["retry-after"] == "2"
        assert "try again in a moment" in answer.text and "secret" not in answer.text and "details" not in answer.text
    monkeypatch.undo()
    assert client.get("/rate").status_code == 200


def test_a_title_with_html_is_text(make_site: Callable[..., Site], clip_table: Any) -> None:
    from rushes.study import StudyPlan

    site = make_site()
    site.service.create_study(StudyPlan(name="html", title="<script>alert(1)</script>"))
    site.service.import_csv("html", clip_table)
    study = Study(site=site, name="html")
    for page in (study.rater().get("/rate").text, study.admin().get("/studies/html").text):
        assert "<script>alert" not in page and "&lt;script&gt;alert" in page
