"""Roles in one study, programs' tokens, and people whom a proxy has signed in: what each sees, and what none sees."""

from __future__ import annotations

import io
import logging
from collections.abc import Callable

import httpx
import pytest
from sqlalchemy import text
from tests.processes import until

from rushes.study import StudyPlan
from rushes.web.http.operations import log_to
from rushes.web.study.permissions import ARTICLES, may, token_may

from .livesite import Client, Site, Study

PASSWORD = "quite a long one"


def signed_in(study: Study, name: str, role: str) -> Client:
    study.admin()
    study.service.add_admin(name, role=role, password=PASSWORD)
    client = study.site.client()
    assert client.send_form("/login", {"username": name, "password": PASSWORD}).status_code == 303
    return client


def program(study: Study, *scopes: str, of: str = "", **more: object) -> httpx.Client:
    secret = study.service.make_token(f"ci-{len(study.service.tokens())}", scopes, study=of, **more)
    headers = {"authorization": f"Bearer {secret}", "accept": "application/json"}
    return httpx.Client(base_url=study.site.url, headers=headers, timeout=30)


def other_study(study: Study) -> None:
    study.service.create_study(StudyPlan(name="other", gold_every=0, repeat_every=0), training=False)


def test_a_member_sees_the_studies_that_name_them_and_nothing_else(study: Study) -> None:
    other_study(study)
    member = signed_in(study, "maria", "member")
    assert "No study has given you a role yet" in member.get("/").text
    assert member.get("/studies/bars").status_code == 403
    study.service.set_study_role("bars", "maria", "viewer")
    assert [one["name"] for one in member.get("/", headers={"accept": "application/json"}).json()["studies"]] == [
        "bars"
    ]
    assert member.get("/studies/bars/results").status_code == 200
    with study.service.database.read() as connection:
        clip = connection.execute(text("SELECT token FROM clip WHERE path != ''")).scalars().first()
    assert member.get(f"/media/{clip}").status_code == 200
    for path in ("/studies/other", "/studies/other.json", "/studies/new", "/accounts.json", "/home/stamp.json"):
        assert member.get(path).status_code == 403, path
    assert member.send_form("/studies/bars/invite", {"count": "1"}).status_code == 403
    study.service.set_study_role("bars", "maria", "none")
    assert member.get("/studies/bars").status_code == member.get("/studies/bars.json").status_code == 403
    assert member.get(f"/media/{clip}").status_code == 404


def test_a_studys_owner_runs_it_and_gives_roles_in_it_alone(study: Study) -> None:
    other_study(study)
    member = signed_in(study, "maria", "member")
    study.service.add_admin("otto", role="viewer", password=PASSWORD)
    study.service.set_study_role("bars", "maria", "owner")
    assert member.send_form("/studies/bars/invite", {"count": "1"}).status_code == 200
    assert 'action="/studies/bars/roles"' in member.get("/studies/bars/running").text
    assert member.send_form("/studies/bars/roles", {"name": "otto", "role": "adjudicator"}).status_code == 303
    assert study.service.roles_of("otto") == {"bars": "adjudicator"}
    for path, data in (("/studies/other/roles", {"name": "otto", "role": "owner"}), ("/tokens/add", {"name": "x"})):
        assert member.send_form(path, data).status_code == 403, path
    assert ("maria", "role given") in [(line.actor, line.action) for line in study.service.audit("bars")]


def test_a_role_in_a_study_may_be_less_than_elsewhere(study: Study) -> None:
    other_study(study)
    viewer = signed_in(study, "otto", "viewer")
    study.service.set_study_role("bars", "otto", "adjudicator")
    assert viewer.get("/studies/other").status_code == 200
    assert viewer.get("/studies/bars/results").status_code == 403
    assert viewer.get("/studies/bars/disagreements").status_code == 200


@pytest.mark.parametrize("role", [*ARTICLES, "view"])
def test_no_role_but_an_owner_makes_tokens_or_gives_roles(role: str) -> None:
    for path in ("/tokens/add", "/tokens/ci/revoke", "/studies/takes/roles", "/accounts/add"):
        assert may(role, "POST", path) == (role == "owner"), (role, path)


def test_a_token_does_what_its_scopes_say(study: Study) -> None:
    other_study(study)
    with program(study, "read") as reads, program(study, "export") as exports, program(study, "import") as imports:
        assert reads.get("/studies/bars.json").json()["summary"]["name"] == "bars"
        assert reads.get("/studies/bars/export/csv").status_code == 403
        assert exports.get("/studies/bars/export/csv").status_code == 200
        assert exports.get("/studies/bars.json").status_code == 403
        assert imports.post("/studies/new", data={"title": "By a program"}).status_code != 403
        for client in (reads, exports):
            assert client.post("/studies/new", data={"title": "x"}).status_code == 403
            assert client.post("/studies/bars/invite", data={"count": "1"}).status_code == 403
        for client in (reads, exports, imports):
            for path in ("/account", "/accounts.json", "/studies/bars/payments.csv"):
                assert client.get(path).status_code == 403, path
            assert client.post("/tokens/add", data={"name": "more", "scopes": "read"}).status_code == 403
    with program(study, "read", of="bars") as bound:
        assert bound.get("/studies/bars.json").status_code == 200
        assert bound.get("/studies/other.json").status_code == 403


def test_a_token_ends_when_it_is_revoked_or_past_its_time(study: Study) -> None:
    with program(study, "read") as one, program(study, "read", days=1) as other:
        assert one.get("/studies/bars.json").status_code == other.get("/studies/bars.json").status_code == 200
        study.service.revoke_token("ci-0")
        assert one.get("/studies/bars.json").status_code == 401
        study.site.app.state.pass_time(86_400_000)
        assert other.get("/studies/bars.json").status_code == 401
        other.headers["authorization"] = "Bearer rushes_made_up"
        assert other.get("/studies/bars.json").status_code == 401


def test_a_token_is_stored_as_a_hash_and_reaches_no_log(study: Study) -> None:
    owner, stream, logger = study.admin(), io.StringIO(), logging.getLogger("rushes")
    before = logger.handlers[:], logger.propagate, logger.level
    log_to(stream, "json")
    try:
        page = owner.send_form("/tokens/add", {"name": "nightly", "scopes": ["read", "export"], "study": "bars"}).text
        secret = page.split('value="rushes_')[1].partition('"')[0]
        headers = {"authorization": f"Bearer rushes_{secret}"}
        assert httpx.get(f"{study.site.url}/studies/bars.json", headers=headers).status_code == 200
        until(lambda: "/studies/{study}.json" in stream.getvalue(), "the request is in the log")  # after its answer
    finally:
        logger.handlers[:], logger.propagate = before[:2]
        logger.setLevel(before[2])
    assert secret not in stream.getvalue()
    assert secret not in owner.get("/account").text and "nightly" in owner.get("/account").text
    with study.service.database.read() as connection:
        rows = (
            connection.execute(text("SELECT * FROM api_token")).all()
            + connection.execute(text("SELECT detail FROM audit")).all()
        )
    assert "nightly" in str(rows) and secret not in str(rows)
    assert owner.send_form("/tokens/nightly/revoke").status_code == 303
    assert httpx.get(f"{study.site.url}/studies/bars.json", headers=headers).status_code == 401


def test_a_token_beside_a_cookie_is_the_token_alone_and_a_password_is_no_token(study: Study) -> None:
    """A browser sends a proxy's Basic password by itself: it must not stand in for the form's token."""
    owner = study.admin()
    with program(study, "read") as reads:
        reads.cookies = owner.cookies
        assert reads.post("/studies/bars/invite", data={"count": "1"}).status_code == 403
    for kind in ("Basic YWRtaW46cGFzc3dvcmQ=", "bearer"):
        forged = owner.post("/studies/bars/invite", data={"count": "1"}, headers={"authorization": kind})
        assert forged.status_code in (401, 403), kind


def test_scopes_are_exact() -> None:
    assert not token_may(["read", "export"], "", "POST", "/studies/new")
    assert not token_may(["read", "import", "export"], "", "POST", "/studies/takes/erase")
    assert not token_may(["read"], "takes", "GET", "/runs/demo")


@pytest.fixture
def proxied(make_site: Callable[..., Site]) -> Callable[[str], Site]:
    def make(proxy: str) -> Site:
        site = make_site(sso_header="x-remote-user", trusted_proxies=[proxy])
        site.service.set_admin_password("correct horse battery")
        site.service.add_admin("ana@example.org", role="viewer", password=None)
        return site

    return make


def test_whom_a_trusted_proxy_names_is_signed_in(proxied: Callable[[str], Site]) -> None:
    client = proxied("127.0.0.1").client()
    named = {"x-remote-user": "Ana@Example.org"}
    assert client.get("/account", headers=named).status_code == 200
    assert client.get("/accounts.json", headers=named).status_code == 403  # a viewer
    unknown = client.get("/account", headers={"x-remote-user": "nobody"})
    assert unknown.status_code == 403 and "no account here" in unknown.text
    assert client.get("/account").status_code == 303  # no header: to the sign-in page


def test_the_header_of_anybody_else_is_never_looked_at(proxied: Callable[[str], Site], site: Site) -> None:
    named = {"x-remote-user": "ana@example.org"}
    assert proxied("10.0.0.7").client().get("/account", headers=named).status_code == 303
    site.service.set_admin_password("correct horse battery")
    assert site.client().get("/account", headers={"x-remote-user": "admin"}).status_code == 303  # it is off
