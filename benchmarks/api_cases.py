"""Made-up requests to every route of the web app, by schemathesis, as anyone, as a rater and as the administrator.

Used by `fuzz_api.py` (`make fuzz`) for tens of thousands of requests and by the tests for some. Everything happens in
this process: no port is opened. What every answer must be: no 5xx, no traceback, a status and a form that the app's own
description names, the security headers, and an error in the caller's format.
"""

from __future__ import annotations

import csv
import json
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import schemathesis
from hypothesis import HealthCheck, Phase, Verbosity, given, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.python import asgi
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

try:
    from benchmarks.api_schema import description
except ImportError:  # run as a script, from this folder
    from api_schema import description
from rushes.instruments.clip.evaluate import evaluate_clips
from rushes.media import write_clip
from rushes.study import StudyPlan
from rushes.study.service import StudyService, open_service
from rushes.web.app import create_app
from rushes.web.http import sessions
from rushes.web.http.security import HEADERS

ROLES = ("anyone", "rater", "admin")
ORIGIN, PASSWORD, VISITOR = "http://127.0.0.1", "correct horse battery", "a visitor's secret"
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
NASTY = [
    "²",  # a digit to isdigit() and not to int()
    "٣",
    "9" * 4301,  # longer than int() reads
    "-1",
    "1e999",
    "nan",
    "\0",
    "a\0b",
    "../../../etc/passwd",
    "/etc/passwd",
    "/dev/null",
    "x" * 300,
    "=1+1",
    "<script>alert(1)</script>",
    "\u202e\ufeff\u2028",
    "a\r\nset-cookie: a=b",
    "%",
    "é.json",
]
"""Texts that have broken programs before, offered to every field beside texts of schemathesis' own."""
OWN_CSP = ".svg"
"""Charts have a stricter policy than pages."""


@dataclass
class Api:
    """A small site, its description, and who is signed in."""

    service: StudyService
    app: Any
    client: Any
    known: dict[str, list[str]]
    cookies: dict[str, str] = field(default_factory=dict)
    statuses: Counter[int] = field(default_factory=Counter)

    def close(self) -> None:
        self.client.close()
        self.app.state.workbench.imports.close()
        self.service.close()

    def operations(self) -> list[Any]:
        """Every operation, in the order of the description."""
        document = json.loads(json.dumps(description(self.app, known=self.known)))
        schema = schemathesis.openapi.from_dict(document, config=schemathesis.Config())
        schema.app = self.app
        return [found.ok() for found in schema.get_all_operations()]

    def sign_in(self, role: str) -> str:
        """A session that lives, for a role; made anew when the last one ended (a request may sign out)."""
        if role == "anyone":
            return ""
        token = self.cookies.get(role, "")
        try:
            (self.service.session if role == "rater" else self.service.admin_session)(token)
        except Exception:
            token = self._rater() if role == "rater" else self.service.admin_login(PASSWORD).token
            self.cookies[role] = token
        return token

    def _rater(self) -> str:
        token = self.service.accept_invite(self.service.invite("bars")[0].token).token
        self.service.give_consent(token)
        return token

    def send(self, case: Any, role: str, *, accept: str) -> Any:
        """Send the request as a page of the site would, and check the answer."""
        cookies = {"rushes_visitor": VISITOR}
        if role != "anyone":
            cookies[f"rushes_{role}"] = self.sign_in(role)
        headers = {
            "origin": ORIGIN,
            "accept": accept,
            "x-csrf-token": sessions.csrf_token(VISITOR),
            "cookie": "; ".join(f"{name}={value}" for name, value in cookies.items()),
        }
        answer = case.call(base_url=ORIGIN, session=self.client, headers=headers, allow_redirects=False)
        self.statuses[answer.status_code] += 1
        case.validate_response(answer, CHECKS)
        check_answer(case.operation.path, answer)
        return answer


def check_answer(path: str, answer: Any) -> None:
    """What the description cannot say: the headers of every answer, and that nothing of our insides shows."""
    got = {name: (answer.headers.get(name) or [""])[0] for name in HEADERS}
    if path.endswith(OWN_CSP) and answer.status_code == 200:
        got["content-security-policy"] = HEADERS["content-security-policy"]
    assert got == HEADERS, f"{path}: {got}"
    assert b"Traceback (most recent call last)" not in answer.content, path


def make_api(folder: Path) -> Api:
    """A study of two systems, two measured runs of the same takes, an administrator and a rater."""
    runs = []
    rows = []
    for shade, system in ((220, "model_a"), (120, "model_b")):
        takes = folder / "takes" / system
        takes.mkdir(parents=True)
        for number in range(2):
            picture = np.random.default_rng(number).integers(0, shade, (48, 64, 3), dtype=np.uint8)
            clip = write_clip(takes / f"take_{number}.mp4", [np.roll(picture, n, axis=1) for n in range(10)])
            rows.append((f"T1_p{number}", "T1", f"p{number}", system, str(clip), "A picture that rolls."))
        runs.append(evaluate_clips([takes], run=folder / "runs" / system, jobs=1).path)
    table = folder / "pairs.csv"
    with open(table, "w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(("sample_id", "task_id", "prompt_id", "system", "path", "prompt_text"))
        writer.writerows(rows)
    service = open_service(str(folder / "studies.db"))
    service.create_study(StudyPlan(name="bars", title="Bars", gold_every=0, repeat_every=0), training=False)
    service.import_csv("bars", table)
    service.set_admin_password(PASSWORD)
    app = create_app(service=service, runs=runs)
    api = Api(service=service, app=app, client=asgi.get_client(app).__enter__(), known={})
    api.known |= _known(api)
    return api


def _known(api: Api) -> dict[str, list[str]]:
    """Names and tokens that exist, so that requests get past "there is no such thing"."""
    task = api.service.next_task(api.sign_in("rater"))
    assert task is not None
    run_cache = api.app.state.workbench.run_cache
    takes = ["model_a/take_0", "model_b/take_1"]
    return {
        "*": NASTY,
        "study": ["bars"],
        "name": ["model_a", "model_b"],
        "rater": [status.rater for status in api.service.study_status("bars").raters],
        "assignment": [task.assignment],
        "token": [task.a.token, task.b.token, run_cache.token("model_a", "take_0")],
        "id": ["take_0", "take_1"],
        "a": [*takes, "model_a"],
        "b": [*takes, "model_b"],
        "run": ["model_a"],
        "runs": ["model_a", "model_b"],
        "only": ["take_0", "take_1"],
        "metric": ["blur_score"],
        "col": ["blur_score"],
        "kind": ["txt", "csv"],
        "chosen": ['["take_0"]'],
        "sort": ["blur_score", "id"],
        "sample": ["T1_p0", "T1_p1"],
        "key": ["csv", "parquet", "dpo", "ratings"],
        "primary_tag": list(task.tags[:2]),
    }


def fuzz(api: Api, operation: Any, role: str, *, cases: int, seed: int) -> int:
    """Send so many made-up requests to one operation as one role; how many were sent. Raises at the first fault."""
    sent = 0

    @seeded(seed)
    @settings(
        max_examples=cases,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        verbosity=Verbosity.quiet,
        suppress_health_check=list(HealthCheck),
    )
    @given(_cases(api, operation, random.Random(seed)), st.booleans())
    def requests(case: Any, as_program: bool) -> None:
        nonlocal sent
        sent += 1
        api.send(case, role, accept="application/json" if as_program else "text/html")

    requests()
    return sent


def _cases(api: Api, operation: Any, chance: random.Random) -> st.SearchStrategy[Any]:
    """Requests that fit the description, requests about things that exist, and requests that fit nothing."""
    parameters = list(operation.iter_parameters())
    made = [operation.as_strategy()]
    there = {
        place: {p.name: chance.choice(api.known[p.name]) for p in parameters if _is(p, place) and p.name in api.known}
        for place in ("path", "query")
    }
    if there["path"]:
        # In a query only what must be there: everything else stays open.
        query = {p.name: there["query"][p.name] for p in parameters if p.is_required and p.name in there["query"]}
        made += 2 * [operation.as_strategy(path_parameters=there["path"], query=query or None)]
    if operation.body or parameters:
        made.append(operation.as_strategy(generation_mode=schemathesis.GenerationMode.NEGATIVE))
    return st.one_of(made)


def _is(parameter: Any, place: str) -> bool:
    return bool(parameter.location.value.startswith(place))


def rounds(api: Api) -> Iterator[tuple[Any, str]]:
    """Every operation as every role."""
    for operation in api.operations():
        for role in ROLES:
            yield operation, role
