"""`rushes serve` as a user starts it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from rushes.cli.main import app
from rushes.study import NotAllowed
from rushes.study.service import open_service
from rushes.web import serving


class Serving:
    """`rushes serve --json` in a process of its own."""

    def __init__(self, folder: Path, *options: str, **environment: str) -> None:
        command = [sys.executable, "-m", "rushes", "serve", "--db", str(folder / "studies.db"), "--port", "0", "--json"]
        self.process = subprocess.Popen(
            [*command, *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)} | environment,
        )

    def facts(self) -> dict[str, str]:
        assert self.process.stdout is not None
        facts: dict[str, str] = json.loads(self.process.stdout.readline())
        return facts

    def close(self) -> str:
        self.process.terminate()
        return self.process.communicate(timeout=120)[1]


@pytest.fixture
def started() -> Iterator[list[Serving]]:
    running: list[Serving] = []
    yield running
    for one in running:
        one.close()


def test_the_first_start_prints_a_link_that_sets_the_password(tmp_path: Path, started: list[Serving]) -> None:
    started.append(Serving(tmp_path))
    facts = started[-1].facts()
    assert facts["address"].startswith("http://127.0.0.1:") and facts["setup"].startswith(facts["address"])
    with httpx.Client(headers={"origin": facts["address"]}) as client:
        assert "administrator" in client.get(facts["setup"]).text
        token = client.get(f"{facts['address']}/csrf.json").json()["csrf"]
        key = facts["setup"].rsplit("=", 1)[1]
        form = {"csrf_token": token, "key": key, "password": "long enough 1", "again": "long enough 1"}
        assert client.post(f"{facts['address']}/setup", data=form).status_code == 303
        assert "Sign out" in client.get(facts["address"]).text


def test_the_environment_sets_the_first_password_and_never_a_later_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "serve_on", lambda listener, app, **_: None)
    for password in ("from outside 1", "from outside 2"):
        command = ["serve", "--db", str(tmp_path / "studies.db"), "--port", "0", "--json"]
        done = CliRunner().invoke(app, command, env={"RUSHES_ADMIN_PASSWORD": password})
        assert json.loads(done.stdout)["setup"] == ""
    with open_service(tmp_path / "studies.db") as service:
        service.admin_login("from outside 1")
        with pytest.raises(NotAllowed):
            service.admin_login("from outside 2")


@pytest.mark.parametrize(
    ("options", "environment", "says"),
    [
        (["--public-url", "study.example.org"], {}, "--public-url"),
        (["--public-url", "https://study.example.org/path"], {}, "--public-url"),
        ([], {"RUSHES_ADMIN_PASSWORD": "short"}, "RUSHES_ADMIN_PASSWORD"),
        (["--db", "mysql://host/name"], {}, "SQLite or PostgreSQL"),
    ],
)
def test_a_bad_option_is_one_clear_line(
    tmp_path: Path, options: list[str], environment: dict[str, str], says: str
) -> None:
    command = ["serve", "--db", str(tmp_path / "studies.db"), "--port", "0", "--json", *options]
    done = CliRunner().invoke(app, command, env=environment)
    assert done.exit_code == 1
    assert done.stderr.startswith("rushes: ") and says in done.stderr and done.stderr.count("\n") == 1
