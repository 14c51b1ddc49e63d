"""Requests made up by schemathesis: every route, as anyone, as a rater, as the administrator; and what they found.

`make fuzz` sends many more (`benchmarks/fuzz_api.py`); these are few, seeded and quick.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

schemathesis = pytest.importorskip("schemathesis")

from benchmarks.api_cases import ROLES, Api, fuzz, make_api  # noqa: E402
from benchmarks.api_schema import FORMS, QUERIES, description  # noqa: E402

from .livesite import Study  # noqa: E402

CASES = {"anyone": 1, "rater": 1, "admin": 2}


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    made = make_api(tmp_path_factory.mktemp("api"))
    yield made
    made.close()


@pytest.mark.parametrize("role", ROLES)
def test_every_route_answers_as_described(api: Api, role: str) -> None:
    operations = api.operations()
    assert len(operations) >= 55
    for operation in operations:
        assert fuzz(api, operation, role, cases=CASES[role], seed=3) >= 1


def test_the_description_names_only_routes_that_exist(api: Api) -> None:
    paths = description(api.app)["paths"]
    assert set(FORMS) <= {path for path, operations in paths.items() if "post" in operations}
    assert set(QUERIES) <= {path for path, operations in paths.items() if "get" in operations}
    assert all(operation["responses"] for operations in paths.values() for operation in operations.values())


# What the requests have found ---------------------------------------------------------------------------------------
NOT_NUMBERS = ["²", "9" * 4301, "-1", "1e3", "nan", "\0"]
"""Some are digits to Python, and still no numbers to it: each ended in a 500 once."""


@pytest.mark.parametrize("text", NOT_NUMBERS, ids=lambda text: ascii(text[:4]))
def test_what_is_no_number_is_said_to_be_none(study: Study, text: str) -> None:
    client = study.admin()
    answer = client.send_quietly("/studies/new", {"title": "Bars", "quota": text})
    assert answer.status_code == 400 and "quota: expected a whole number" in answer.text
    answer = client.send_quietly("/studies/bars/invite", {"count": text})
    assert answer.status_code == 400 and "Invite 1 to 500" in answer.json()["error"]


@pytest.mark.parametrize("text", NOT_NUMBERS, ids=lambda text: ascii(text[:4]))
def test_a_page_that_is_no_number_is_the_first(text: str) -> None:
    from starlette.datastructures import QueryParams

    from rushes.web.runs.query import read_query

    assert read_query(QueryParams({"page": text}), []).page == 1


def play_report(*sequences: str) -> str:
    """A report whose only fault, if any, is in its stretches' numbers."""
    stretch = '{"side":"A","start_ms":0,"end_ms":9,"rate":1,"visible":true,"client_ms":0,"sequence":'
    return '{"assignment": "x", "events": [' + ",".join(stretch + number + "}" for number in sequences) + "]}"


@pytest.mark.parametrize(
    "body",
    [
        "[" * 100_000,
        "NaN",
        "null",
        '{"assignment": NaN, "events": []}',
        '{"assignment": "\\u0000", "events": []}',
        '{"assignment": "\\ud800", "events": []}',
        play_report("NaN"),
        play_report("-1"),
        play_report("9" * 5000),
        play_report(*["1"] * 201),
        '{"assignment": "x", "events": [], "more": 1}',
        "\ufffe",
    ],
    ids=lambda body: ascii(body[:24]),
)
def test_a_play_report_that_is_none_is_refused(study: Study, body: str) -> None:
    client = study.rater()
    headers = {"x-csrf-token": client.token(), "accept": "application/json", "content-type": "application/json"}
    answer = client.post("/rate/watch", content=body.encode(), headers=headers)
    assert answer.status_code in (400, 409, 422), answer.text
    assert set(answer.json()) == {"error", "code", "missing"} and "\n" not in answer.json()["error"]
